//! A slice runner whose slices take as long as they are told to.

use std::io;
use std::time::Duration;

use engine::runner::SliceRunner;
use engine::study::{Doing, Operations, StudyError};
use model::run::{Floor, Writes};
use model::slice::{Latencies, Slice};
use model::spent::Spent;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};
use stats::Histogram;

/// Time that a slice needs besides its operations: making and removing files.
const AROUND_SLICE: Duration = Duration::from_millis(5);
/// Latencies recorded per slice; more would only repeat themselves.
const LATENCIES_MAX: u64 = 1000;

/// How an arm behaves.
#[derive(Clone, Debug)]
pub struct ArmBehaviour {
    /// Time per operation when nothing disturbs.
    pub time_per_op_ns: f64,
    /// Standard deviation of the logarithm of a slice's time.
    pub noise: f64,
    /// Growth of the time per operation per simulated second.
    pub drift_per_s: f64,
    /// The first slices take this many times as long, halving with each.
    pub cold_factor: f64,
    /// From this slice on, every one fails: the device is full.
    pub full_from_slice: Option<u64>,
}

impl ArmBehaviour {
    /// A steady arm.
    pub fn steady(time_per_op_ns: f64, noise: f64) -> Self {
        Self { time_per_op_ns, noise, drift_per_s: 0.0, cold_factor: 1.0, full_from_slice: None }
    }
}

/// Runs slices in simulated time.
pub struct SimulatedRunner {
    arms: Vec<ArmBehaviour>,
    slices: Vec<u64>,
    now: Duration,
    interrupt_at: Option<Duration>,
    random: ChaCha8Rng,
}

impl SimulatedRunner {
    /// A runner for arms that behave so.
    pub fn new(arms: Vec<ArmBehaviour>, seed: u64) -> Self {
        let slices = vec![0; arms.len()];
        let random = ChaCha8Rng::seed_from_u64(seed);
        Self { arms, slices, now: Duration::ZERO, interrupt_at: None, random }
    }

    /// Ctrl-C at that time.
    #[must_use]
    pub fn interrupted_at(mut self, time: Duration) -> Self {
        self.interrupt_at = Some(time);
        self
    }

    fn time_per_op_ns(&mut self, arm: usize) -> f64 {
        let behaviour = &self.arms[arm];
        let noise = Normal::new(0.0, behaviour.noise).map_or(0.0, |n| n.sample(&mut self.random));
        let drift = 1.0 + behaviour.drift_per_s * self.now.as_secs_f64();
        let cold = 1.0 + (behaviour.cold_factor - 1.0) / 2_f64.powi(self.slices[arm] as i32);
        behaviour.time_per_op_ns * noise.exp() * drift * cold
    }
}

impl SliceRunner for SimulatedRunner {
    fn elapsed(&self) -> Duration {
        self.now
    }

    fn end_at(&mut self, _budget: Duration) {}

    fn stopped(&self) -> bool {
        self.interrupt_at.is_some_and(|at| self.now >= at)
    }

    fn floor(&mut self) -> Floor {
        let clock = "simulated".to_owned();
        Floor { record_ns: 12.0, clock, tick_ns: 1.0, ..Floor::default() }
    }

    fn clock_off_by(&self) -> Option<f64> {
        None
    }

    fn unread(&self) -> Vec<String> {
        Vec::new()
    }

    fn writes(&self) -> Option<Writes> {
        None
    }

    fn warms_up(&self, _arm: usize) -> bool {
        true
    }

    fn operations(&self, _arm: usize) -> Operations {
        Operations { granule: 1, max: 1_000_000 }
    }

    fn begin_stretch(&mut self) {}

    fn end(&mut self) {}

    fn slice(&mut self, arm: usize, operations: u64) -> Result<Slice, StudyError> {
        if self.arms[arm].full_from_slice.is_some_and(|first| self.slices[arm] >= first) {
            return Err(io::Error::from(io::ErrorKind::StorageFull)).doing("appending to the log");
        }
        let time_per_op_ns = self.time_per_op_ns(arm);
        self.slices[arm] += 1;
        let elapsed_ns = (time_per_op_ns * operations as f64) as u64;
        let mut latencies = Histogram::new();
        latencies.record_many(time_per_op_ns as u64, operations.min(LATENCIES_MAX));
        self.now += Duration::from_nanos(elapsed_ns) + AROUND_SLICE;
        let requested_bytes = operations * 70;
        Ok(Slice {
            operations,
            spent: Spent { elapsed_ns, requested_bytes, ..Spent::default() },
            latencies: Latencies::from(&latencies),
            ..Slice::default()
        })
    }
}
