//! A workload whose slices take just so many times their own time.
//!
//! The real workload does a slice's work under the clock, and the slice then waits, still
//! under the clock, until it has taken the wanted multiple of what the work took. However
//! much slices scatter, each is longer than it would have been by the same known factor.
//! Both arms of a comparison run this way, one of them with a factor of 1, so that the
//! wait is all they differ in. No plan can name it.

use std::hint::spin_loop;

use model::slice::{Outcome, Slice};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::error::StudyError;
use crate::slice_timer::SliceTimer;
use crate::study::{About, Footprint, Ran, Ready, RunsIn, SliceFolders, Workload};

/// What a slice tells of itself: how long its work took, and how long it was to take.
const OWN_NS: &str = "own_ns";
const WANTED_NS: &str = "wanted_ns";
/// A wait during which the processor was taken away ends late. A slice that is thereby
/// longer than it should be by more than this does not count: its factor is another.
const OVERRUN_MAX: f64 = 0.01;

/// Says for each slice how many times its own time it takes.
pub(super) type Factors = Box<dyn FnMut() -> f64>;

/// The same for every slice.
pub(super) fn every(factor: f64) -> Factors {
    Box::new(move || factor)
}

/// `factor` for one slice in so many, any of them, and 1 for the others.
pub(super) fn one_in(slices: u64, factor: f64, seed: u64) -> Factors {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut slice, mut chosen) = (0, 0);
    Box::new(move || {
        if slice % slices == 0 {
            chosen = slice + random.random_range(0..slices);
        }
        slice += 1;
        if slice - 1 == chosen { factor } else { 1.0 }
    })
}

/// How long operations took by themselves, and how long they were to take: each a mean
/// over all of an arm's slices.
pub(super) struct SlowdownTimes {
    pub(super) own_ns: f64,
    pub(super) wanted_ns: f64,
}

impl SlowdownTimes {
    /// Of the slices of an arm.
    pub(super) fn of(slices: &[&Slice]) -> Self {
        let operations: u64 = slices.iter().map(|slice| slice.operations).sum();
        let mean = |name: &str| {
            let told = slices.iter().filter_map(|slice| slice.outcome.evidence.get(name));
            told.sum::<f64>() / operations as f64
        };
        Self { own_ns: mean(OWN_NS), wanted_ns: mean(WANTED_NS) }
    }
}

/// A workload whose slices are stretched.
pub(super) struct Slowdown {
    workload: Box<dyn Workload>,
    factors: Factors,
}

impl Slowdown {
    /// Stretches the slices of a workload.
    pub(super) fn new(workload: Box<dyn Workload>, factors: Factors) -> Self {
        Self { workload, factors }
    }
}

impl Workload for Slowdown {
    fn about(&self) -> About {
        About { runs_in: RunsIn::ThisProcess, ..self.workload.about() }
    }

    fn footprint(&self, operations: u64) -> Footprint {
        self.workload.footprint(operations)
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let slice = self.workload.ready(folders, operations, timer)?;
        Ok(Box::new(StretchedReady { slice, factor: (self.factors)() }))
    }
}

struct StretchedReady<'s> {
    slice: Box<dyn Ready<'s> + 's>,
    factor: f64,
}

impl<'a> Ready<'a> for StretchedReady<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let slice = self.slice.run(timer)?;
        timer.finish();
        let own_ns = timer.elapsed_ns() as f64;
        let wanted_ns = own_ns * self.factor;
        while (timer.elapsed_ns() as f64) < wanted_ns {
            spin_loop();
            timer.check_stop()?;
            timer.finish();
        }
        let overrun = timer.elapsed_ns() as f64 > wanted_ns * (1.0 + OVERRUN_MAX);
        Ok(Box::new(StretchedRan { slice, own_ns, wanted_ns, overrun }))
    }
}

struct StretchedRan<'s> {
    slice: Box<dyn Ran + 's>,
    own_ns: f64,
    wanted_ns: f64,
    overrun: bool,
}

impl Ran for StretchedRan<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        self.slice.flush()
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let mut outcome = self.slice.finish()?;
        let told = [(OWN_NS, self.own_ns), (WANTED_NS, self.wanted_ns)];
        outcome.evidence.extend(told.map(|(name, ns)| (name.to_owned(), ns)));
        let overrun = || "the wait that was planted ended late".to_owned();
        let untrusted = outcome.untrusted.or_else(|| self.overrun.then(overrun));
        Ok(Outcome { untrusted, ..outcome })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::fd::AsFd;
    use std::sync::atomic::Ordering;

    use host::clock::Clock;
    use model::integrity::Integrity;
    use model::material::Material;
    use model::spent::Spent;
    use process::StopFlag;

    use super::*;
    use crate::study::Operations;

    /// A workload that counts what is done with it, and whose slices come to
    /// everything that a slice can come to.
    struct Counting {
        clock: Clock,
        untrusted: Option<String>,
    }

    struct CountingSlice<'a> {
        counting: &'a Counting,
        operations: u64,
        done: u64,
        flushed: u64,
    }

    impl Workload for Counting {
        fn about(&self) -> About {
            About {
                material: Some(Material::own("of one's own".to_owned(), 7)),
                warms_up: false,
                runs_in: RunsIn::ThisProcess,
                kept: Footprint { files: 7, ..Footprint::NOTHING },
                ..About::of(Operations { granule: 1, max: 77 })
            }
        }

        fn footprint(&self, operations: u64) -> Footprint {
            Footprint { files: operations * 3, ..Footprint::NOTHING }
        }

        fn ready<'a>(
            &'a mut self,
            _: SliceFolders<'_>,
            operations: u64,
            _: &SliceTimer,
        ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
            Ok(Box::new(CountingSlice { counting: self, operations, done: 0, flushed: 0 }))
        }
    }

    impl<'a> Ready<'a> for CountingSlice<'a> {
        fn run(
            mut self: Box<Self>,
            timer: &mut SliceTimer,
        ) -> Result<Box<dyn Ran + 'a>, StudyError> {
            for _ in 0..self.operations {
                timer.check_stop()?;
                self.counting.clock.advance(OPERATION_TICKS);
                self.done += 1;
                timer.lap();
            }
            timer.requested(self.done);
            // As studies do that read the time themselves.
            timer.finish();
            Ok(self)
        }
    }

    impl Ran for CountingSlice<'_> {
        fn flush(&mut self) -> Result<(), StudyError> {
            self.flushed += 1;
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
            Ok(outcome(self.done, self.flushed, self.counting.untrusted.clone()))
        }
    }

    fn outcome(records: u64, flushed: u64, untrusted: Option<String>) -> Outcome {
        Outcome {
            integrity: Some(Integrity { records, ..Integrity::default() }),
            figures: [("flushed".to_owned(), flushed as f64)].into(),
            evidence: [("hits".to_owned(), 3.0)].into(),
            score_ns: Some(250.0),
            failed: Some(2),
            tail_untrusted: true,
            untrusted,
        }
    }

    const OPERATION_TICKS: u64 = 50_000;

    /// A slice of 40 operations, by a clock of which each reading takes so long: what was
    /// recorded, and what the slice came to.
    fn slice(
        factor: f64,
        reading_ns: u64,
        untrusted: Option<String>,
        stop: StopFlag,
    ) -> Result<(SliceTimer, Outcome), StudyError> {
        let clock = Clock::simulated(reading_ns);
        let counting = Counting { clock: clock.clone(), untrusted };
        let mut slowdown = Slowdown::new(Box::new(counting), every(factor));
        let root = std::fs::File::open("/").unwrap();
        let folders = SliceFolders::alone(root.as_fd(), root.as_fd(), true);
        let mut timer = SliceTimer::new(clock, stop);
        let ready = slowdown.ready(folders, 40, &timer).unwrap();
        timer.start();
        let mut ran = ready.run(&mut timer)?;
        timer.finish();
        ran.flush().unwrap();
        let outcome = ran.finish().unwrap();
        Ok((timer, outcome))
    }

    #[test]
    fn a_slice_takes_just_so_many_times_its_own_time() {
        for factor in [1.0, 1.1, 3.0] {
            let (timer, outcome) = slice(factor, 100, None, StopFlag::default()).unwrap();
            assert_eq!(timer.latencies().count(), 40);
            assert_eq!(timer.spent(Spent::default()).requested_bytes, 40);
            let own_ns = outcome.evidence[OWN_NS];
            let ratio = timer.elapsed_ns() as f64 / own_ns;
            assert!(own_ns >= (40 * OPERATION_TICKS) as f64 && own_ns < 2.1e6, "{own_ns}");
            assert!((ratio - factor).abs() < 1e-3, "{ratio} instead of {factor}");
            assert_eq!(outcome.untrusted, None);
        }
    }

    #[test]
    fn what_the_workload_says_and_comes_to_is_passed_on() {
        let counting = Counting { clock: Clock::simulated(100), untrusted: None };
        let slowdown = Slowdown::new(Box::new(counting), every(1.1));
        let about = slowdown.about();
        assert_eq!(about.operations, Operations { granule: 1, max: 77 });
        assert_eq!((about.warms_up, slowdown.footprint(5).files), (false, 15));
        assert_eq!(about.kept.files, 7);
        assert_eq!(about.material.map(|material| material.copied_bytes), Some(7));
        let slow_client = Some("the client was the limit".to_owned());
        let (_, mut found) = slice(1.1, 100, slow_client.clone(), StopFlag::default()).unwrap();
        assert!([OWN_NS, WANTED_NS].iter().all(|name| found.evidence.remove(*name).is_some()));
        assert_eq!(found, outcome(40, 1, slow_client));
    }

    #[test]
    fn a_wait_that_ends_late_is_told() {
        // The slice takes 6 ms and wants 6 µs more, and the clock goes on by 100 µs.
        let (_, late) = slice(1.001, 100_000, None, StopFlag::default()).unwrap();
        assert!(late.untrusted.is_some_and(|why| why.contains("late")));
    }

    #[test]
    fn a_raised_flag_ends_the_wait() {
        let stop = StopFlag::default();
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(slice(1.1, 100, None, stop), Err(StudyError::Stopped)));
    }

    #[test]
    fn one_slice_in_ten_stalls_and_nobody_knows_which() {
        let factors = |seed| {
            let mut factors = one_in(10, 2.0, seed);
            (0..1000).map(|_| factors()).collect::<Vec<f64>>()
        };
        let of_one = factors(1);
        assert!(of_one.chunks(10).all(|ten| (ten.iter().sum::<f64>() - 11.0).abs() < 1e-9));
        assert_ne!(of_one, factors(2));
        let first: Vec<&[f64]> = of_one.chunks(10).collect();
        assert!(first.windows(2).any(|two| two[0] != two[1]), "always the same of ten");
    }
}
