//! A workload that pauses once for each operation, which the clock sees.
//!
//! The real workload does a slice's work, and its pauses follow at the slice's end,
//! still under the clock: the toll grows by one pause, and nothing else changes.
//! Both arms of a comparison run this way, one of them with no pause, so that
//! the pause is all they differ in. No plan can name it.

use std::hint::black_box;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use host::clock::Clock;
use model::slice::Outcome;

use crate::error::StudyError;
use crate::recorder::Recorder;
use crate::study::{Operations, Prepared, Ran, Ready, Workload};

/// What is done once for each operation.
pub(super) type Pause = Arc<dyn Fn() + Send + Sync>;

/// A workload with a pause for each operation.
pub(super) struct Slowed {
    workload: Box<dyn Workload>,
    pause: Pause,
}

impl Slowed {
    /// Slows a workload down.
    pub(super) fn new(workload: Box<dyn Workload>, pause: Pause) -> Self {
        Self { workload, pause }
    }
}

impl Workload for Slowed {
    fn operations(&self) -> Operations {
        self.workload.operations()
    }

    fn warms_up(&self) -> bool {
        self.workload.warms_up()
    }

    fn space_bytes(&self, operations: u64) -> u64 {
        self.workload.space_bytes(operations)
    }

    fn prepare<'a>(
        &'a mut self,
        folder: BorrowedFd<'_>,
    ) -> Result<Box<dyn Prepared + 'a>, StudyError> {
        let slice = self.workload.prepare(folder)?;
        Ok(Box::new(SlowedPrepared { slice, pause: &self.pause }))
    }
}

struct SlowedPrepared<'s> {
    slice: Box<dyn Prepared + 's>,
    pause: &'s Pause,
}

impl Prepared for SlowedPrepared<'_> {
    fn ready<'a>(
        self: Box<Self>,
        operations: u64,
        recorder: &Recorder,
    ) -> Result<Box<dyn Ready + 'a>, StudyError>
    where
        Self: 'a,
    {
        let slice = self.slice.ready(operations, recorder)?;
        Ok(Box::new(SlowedReady { slice, operations, pause: self.pause }))
    }
}

struct SlowedReady<'s> {
    slice: Box<dyn Ready + 's>,
    operations: u64,
    pause: &'s Pause,
}

impl Ready for SlowedReady<'_> {
    fn run<'a>(self: Box<Self>, recorder: &mut Recorder) -> Result<Box<dyn Ran + 'a>, StudyError>
    where
        Self: 'a,
    {
        let slice = self.slice.run(recorder)?;
        for _ in 0..self.operations {
            (self.pause)();
        }
        Ok(Box::new(SlowedRan { slice }))
    }
}

struct SlowedRan<'s> {
    slice: Box<dyn Ran + 's>,
}

impl Ran for SlowedRan<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        self.slice.flush()
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        self.slice.finish()
    }
}

/// No pause at all.
pub(super) fn no_pause() -> Pause {
    Arc::new(|| ())
}

/// A pause of about `wanted_ns`, and how long it turned out.
///
/// It computes rather than watch the clock, whose readings are too far apart
/// for pauses of some ten nanoseconds. Each step needs the one before, across
/// pauses too, so that a processor cannot do two at a time.
pub(super) fn busy_pause(wanted_ns: f64, clock: &Clock) -> (Pause, f64) {
    const ADJUSTMENTS: usize = 4;
    let nothing_ns = cost_ns(&*no_pause(), clock);
    let took_ns = |steps: f64| cost_ns(&*spin(steps as u64), clock) - nothing_ns;
    // Short pauses cost more or less than their part of a long one.
    let mut steps = 100.0;
    for _ in 0..ADJUSTMENTS {
        steps = (steps * wanted_ns / took_ns(steps).max(0.1)).round().clamp(1.0, 1e6);
    }
    (spin(steps as u64), took_ns(steps))
}

fn spin(steps: u64) -> Pause {
    let state = AtomicU64::new(1);
    Arc::new(move || {
        let mut value = state.load(Ordering::Relaxed);
        for _ in 0..steps {
            value = value.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23) ^ 1;
        }
        state.store(black_box(value), Ordering::Relaxed);
    })
}

/// What a pause takes among others, as a slice has them at its end. The shortest
/// of many rounds, so short that most are not disturbed.
fn cost_ns(pause: &(dyn Fn() + Send + Sync), clock: &Clock) -> f64 {
    const PAUSES: u64 = 200;
    const ROUNDS: usize = 200;
    let rounds_ns = (0..ROUNDS).map(|_| {
        let began = clock.ticks();
        for _ in 0..PAUSES {
            pause();
        }
        clock.between(began, clock.ticks()).as_nanos() as f64 / PAUSES as f64
    });
    rounds_ns.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::fd::AsFd;
    use std::time::Duration;

    use model::integrity::Integrity;
    use model::spent::Spent;

    use super::*;
    use process::StopFlag;

    /// A workload that counts what is done with it, and whose slices come to
    /// everything that a slice can come to.
    struct Counting {
        prepared: u64,
    }

    struct CountingSlice<'a> {
        prepared: &'a mut u64,
        operations: u64,
        done: u64,
        flushed: u64,
    }

    impl Workload for Counting {
        fn operations(&self) -> Operations {
            Operations { granule: 1, max: 77 }
        }

        fn warms_up(&self) -> bool {
            false
        }

        fn space_bytes(&self, operations: u64) -> u64 {
            operations * 3
        }

        fn prepare<'a>(
            &'a mut self,
            _: BorrowedFd<'_>,
        ) -> Result<Box<dyn Prepared + 'a>, StudyError> {
            let prepared = &mut self.prepared;
            Ok(Box::new(CountingSlice { prepared, operations: 0, done: 0, flushed: 0 }))
        }
    }

    impl Prepared for CountingSlice<'_> {
        fn ready<'a>(
            mut self: Box<Self>,
            operations: u64,
            _: &Recorder,
        ) -> Result<Box<dyn Ready + 'a>, StudyError>
        where
            Self: 'a,
        {
            *self.prepared += 1;
            self.operations = operations;
            Ok(self)
        }
    }

    impl Ready for CountingSlice<'_> {
        fn run<'a>(
            mut self: Box<Self>,
            recorder: &mut Recorder,
        ) -> Result<Box<dyn Ran + 'a>, StudyError>
        where
            Self: 'a,
        {
            for _ in 0..self.operations {
                recorder.check_stop()?;
                self.done += 1;
                recorder.lap();
            }
            recorder.requested(self.done);
            // As studies do that read the time themselves.
            recorder.finish();
            Ok(self)
        }
    }

    impl Ran for CountingSlice<'_> {
        fn flush(&mut self) -> Result<(), StudyError> {
            self.flushed += 1;
            Ok(())
        }

        fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
            Ok(outcome(self.done, self.flushed))
        }
    }

    fn outcome(records: u64, flushed: u64) -> Outcome {
        Outcome {
            integrity: Some(Integrity { records, ..Integrity::default() }),
            figures: [("flushed".to_owned(), flushed as f64)].into(),
            evidence: [("hits".to_owned(), 3.0)].into(),
            score_ns: Some(250.0),
            failed: Some(2),
            tail_untrusted: true,
            untrusted: Some("the client was the limit".to_owned()),
        }
    }

    const PAUSE: Duration = Duration::from_micros(100);

    /// Slowed down by a pause that counts how often it was made.
    fn slowed() -> (Slowed, Arc<AtomicU64>) {
        let pauses = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&pauses);
        let pause: Pause = Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(PAUSE);
        });
        (Slowed::new(Box::new(Counting { prepared: 0 }), pause), pauses)
    }

    #[test]
    fn every_operation_is_done_once_and_has_one_pause() {
        let (mut slowed, pauses) = slowed();
        let folder = std::fs::File::open("/").unwrap();
        let stop = StopFlag::default();
        let mut recorder = Recorder::new(Clock::new(), StopFlag::clone(&stop));
        let ready = slowed.prepare(folder.as_fd()).unwrap().ready(40, &recorder).unwrap();
        recorder.start();
        let ran = ready.run(&mut recorder).unwrap();
        recorder.finish();
        assert_eq!(recorder.latencies().count(), 40);
        let paused_ns = 40 * PAUSE.as_nanos() as u64;
        assert!(recorder.elapsed_ns() >= paused_ns, "the pauses are not on the clock");
        let requested_bytes = recorder.spent(Spent::default()).requested_bytes;
        assert_eq!((pauses.load(Ordering::Relaxed), requested_bytes), (40, 40));
        drop(ran);

        stop.store(true, Ordering::Relaxed);
        let ready = slowed.prepare(folder.as_fd()).unwrap().ready(40, &recorder).unwrap();
        assert!(matches!(ready.run(&mut recorder), Err(StudyError::Stopped)));
        assert_eq!(pauses.load(Ordering::Relaxed), 40);
    }

    #[test]
    fn what_the_workload_says_and_comes_to_is_passed_on() {
        let (mut slowed, _) = slowed();
        assert_eq!(slowed.operations(), Operations { granule: 1, max: 77 });
        assert_eq!((slowed.warms_up(), slowed.space_bytes(5)), (false, 15));
        let folder = std::fs::File::open("/").unwrap();
        let mut recorder = Recorder::new(Clock::new(), StopFlag::default());
        let ready = slowed.prepare(folder.as_fd()).unwrap().ready(40, &recorder).unwrap();
        let mut ran = ready.run(&mut recorder).unwrap();
        ran.flush().unwrap();
        assert_eq!(ran.finish().unwrap(), outcome(40, 1));
    }
}
