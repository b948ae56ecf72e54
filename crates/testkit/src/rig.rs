//! A rig whose slices take as long as they are told to.

use std::io;
use std::time::Duration;

use engine::rig::Rig;
use engine::study::{Doing, Operations, StudyError};
use model::result::Floor;
use model::sample::Sample;
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
pub struct Conduct {
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

impl Conduct {
    /// A steady arm.
    pub fn steady(time_per_op_ns: f64, noise: f64) -> Self {
        Self { time_per_op_ns, noise, drift_per_s: 0.0, cold_factor: 1.0, full_from_slice: None }
    }
}

/// Runs slices in simulated time.
pub struct SimulatedRig {
    arms: Vec<Conduct>,
    slices: Vec<u64>,
    now: Duration,
    interrupt_at: Option<Duration>,
    random: ChaCha8Rng,
}

impl SimulatedRig {
    /// A rig for arms that behave so.
    pub fn new(arms: Vec<Conduct>, seed: u64) -> Self {
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
        let conduct = &self.arms[arm];
        let noise = Normal::new(0.0, conduct.noise).map_or(0.0, |n| n.sample(&mut self.random));
        let drift = 1.0 + conduct.drift_per_s * self.now.as_secs_f64();
        let cold = 1.0 + (conduct.cold_factor - 1.0) / 2_f64.powi(self.slices[arm] as i32);
        conduct.time_per_op_ns * noise.exp() * drift * cold
    }
}

impl Rig for SimulatedRig {
    fn elapsed(&self) -> Duration {
        self.now
    }

    fn stopped(&self) -> bool {
        self.interrupt_at.is_some_and(|at| self.now >= at)
    }

    fn floor(&mut self) -> Floor {
        Floor { record_ns: 12.0, clock: "simulated".to_owned(), clock_off_by: None }
    }

    fn tick_ns(&self) -> f64 {
        1.0
    }

    fn operations(&self, _arm: usize) -> Operations {
        Operations { granule: 1, max: 1_000_000 }
    }

    fn slice(
        &mut self,
        arm: usize,
        operations: u64,
        latencies: &mut Histogram,
    ) -> Result<Sample, StudyError> {
        if self.arms[arm].full_from_slice.is_some_and(|first| self.slices[arm] >= first) {
            return Err(io::Error::from(io::ErrorKind::StorageFull)).doing("appending to the log");
        }
        let time_per_op_ns = self.time_per_op_ns(arm);
        self.slices[arm] += 1;
        let elapsed_ns = (time_per_op_ns * operations as f64) as u64;
        latencies.clear();
        for _ in 0..operations.min(LATENCIES_MAX) {
            latencies.record(time_per_op_ns as u64);
        }
        self.now += Duration::from_nanos(elapsed_ns) + AROUND_SLICE;
        Ok(Sample {
            operations,
            elapsed_ns,
            p99_ns: latencies.quantile(0.99),
            requested_bytes: operations * 70,
            ..Sample::default()
        })
    }
}
