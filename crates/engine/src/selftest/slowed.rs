//! A study that pauses once for each operation, which the clock sees.
//!
//! The real study does a slice's work, and its pauses follow at the slice's end,
//! still under the clock: the toll grows by one pause, and nothing else changes.
//! Both arms of a comparison run this way, one of them with no pause, so that
//! the pause is all they differ in. No plan can name it.

use std::hint::black_box;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use host::clock::Clock;
use model::integrity::Integrity;
use model::study::{Params, StudySpec};

use crate::recorder::Recorder;
use crate::study::{Operations, Study, StudyError, Task};

/// What is done once for each operation.
pub type Pause = Arc<dyn Fn() + Send + Sync>;

/// A study with a pause for each operation.
pub struct Slowed {
    study: &'static dyn Study,
    pause: Pause,
}

impl Slowed {
    /// Slows a study down.
    pub fn new(study: &'static dyn Study, pause: Pause) -> Self {
        Self { study, pause }
    }
}

impl Study for Slowed {
    fn spec(&self) -> &'static StudySpec {
        self.study.spec()
    }

    fn operations(&self, params: &Params) -> Result<Operations, String> {
        self.study.operations(params)
    }

    fn space_bytes(&self, strategy: &str, params: &Params, operations: u64) -> u64 {
        self.study.space_bytes(strategy, params, operations)
    }

    fn prepare(
        &self,
        strategy: &str,
        params: &Params,
        folder: BorrowedFd<'_>,
    ) -> Result<Box<dyn Task>, StudyError> {
        let task = self.study.prepare(strategy, params, folder)?;
        Ok(Box::new(SlowedTask { task, pause: Arc::clone(&self.pause) }))
    }
}

struct SlowedTask {
    task: Box<dyn Task>,
    pause: Pause,
}

impl Task for SlowedTask {
    fn ready(&mut self, operations: u64, recorder: &Recorder) -> Result<(), StudyError> {
        self.task.ready(operations, recorder)
    }

    fn run(&mut self, operations: u64, recorder: &mut Recorder) -> Result<(), StudyError> {
        self.task.run(operations, recorder)?;
        for _ in 0..operations {
            (self.pause)();
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StudyError> {
        self.task.flush()
    }

    fn check(&mut self) -> Result<Option<Integrity>, StudyError> {
        self.task.check()
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        self.task.figures()
    }

    fn requested_bytes(&self) -> u64 {
        self.task.requested_bytes()
    }
}

/// No pause at all.
pub fn no_pause() -> Pause {
    Arc::new(|| ())
}

/// A pause of about `wanted_ns`, and how long it turned out.
///
/// It computes rather than watch the clock, whose readings are too far apart
/// for pauses of some ten nanoseconds. Each step needs the one before, across
/// pauses too, so that a processor cannot do two at a time.
pub fn busy_pause(wanted_ns: f64, clock: &Clock) -> (Pause, f64) {
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

    use super::*;
    use crate::recorder::StopFlag;

    static SPEC: StudySpec = StudySpec {
        name: "made",
        about: "",
        operation: "step",
        moves_bytes: false,
        by_default: true,
        compared: &[],
        strategies: &[],
        figures: &[],
        params: &[],
    };

    struct Made;

    struct MadeTask(u64, u64);

    impl Study for Made {
        fn spec(&self) -> &'static StudySpec {
            &SPEC
        }

        fn operations(&self, _: &Params) -> Result<Operations, String> {
            Ok(Operations { granule: 1, max: 77 })
        }

        fn space_bytes(&self, _: &str, _: &Params, operations: u64) -> u64 {
            operations * 3
        }

        fn prepare(
            &self,
            _: &str,
            _: &Params,
            _: BorrowedFd<'_>,
        ) -> Result<Box<dyn Task>, StudyError> {
            Ok(Box::new(MadeTask(0, 0)))
        }
    }

    impl Task for MadeTask {
        fn ready(&mut self, operations: u64, _: &Recorder) -> Result<(), StudyError> {
            self.1 = operations;
            Ok(())
        }

        fn run(&mut self, operations: u64, recorder: &mut Recorder) -> Result<(), StudyError> {
            assert_eq!(operations, self.1, "it was not made ready");
            for _ in 0..operations {
                recorder.check_stop()?;
                self.0 += 1;
                recorder.lap();
            }
            Ok(())
        }

        fn flush(&mut self) -> Result<(), StudyError> {
            self.0 += 1000;
            Ok(())
        }

        fn check(&mut self) -> Result<Option<Integrity>, StudyError> {
            Ok(Some(Integrity { records: self.0, ..Integrity::default() }))
        }

        fn requested_bytes(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn every_operation_is_done_once_and_has_one_pause() {
        let pauses = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&pauses);
        let pause: Pause = Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let slowed = Slowed::new(&Made, pause);
        let params = Params(Vec::new());
        assert_eq!(slowed.operations(&params), Ok(Operations { granule: 1, max: 77 }));
        assert_eq!(slowed.space_bytes("held", &params, 5), 15);

        let folder = std::fs::File::open("/").unwrap();
        let mut task = slowed.prepare("", &params, folder.as_fd()).unwrap();
        let stop = StopFlag::default();
        let mut recorder = Recorder::new(Clock::new(), StopFlag::clone(&stop));
        task.ready(40, &recorder).unwrap();
        recorder.start();
        task.run(40, &mut recorder).unwrap();
        recorder.finish();
        assert_eq!(recorder.latencies().count(), 40);
        assert_eq!((pauses.load(Ordering::Relaxed), task.requested_bytes()), (40, 40));

        task.flush().unwrap();
        assert_eq!(task.check().unwrap().unwrap().records, 1040);
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(task.run(40, &mut recorder), Err(StudyError::Stopped)));
        assert_eq!(pauses.load(Ordering::Relaxed), 40);
    }
}
