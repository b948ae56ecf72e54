//! Machines of known truth, each disturbed in its own way.

use std::fmt;

use rand::Rng;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal, StudentT};

/// What disturbs a machine. Sizes are of log times: 0.05 is about 5%.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Noise {
    /// Gaussian, with this standard deviation of the log ratio of a block.
    Gaussian(f64),
    /// Student's t with this many degrees of freedom on each slice: 2 has no
    /// variance, 1.5 almost no mean.
    Tails(f64),
    /// Every slice is 3% slower than the one before, or every one 3% faster.
    LinearDrift,
    /// The environment wanders by 5% from slice to slice.
    RandomWalk,
    /// One arm alone is disturbed, and each block keeps this share of the
    /// disturbance of the one before: AR(1) on the log ratios.
    Autocorrelated(f64),
    /// As above, with innovations of Student's t with 2 degrees of freedom.
    AutocorrelatedTails(f64),
    /// 3 slices in 10 are 35% slower.
    Bimodal,
    /// 1 slice in 20 stalls: 2.7 times as slow on average, never faster.
    Stalls,
    /// As above, but one arm alone stalls.
    StallsOfOneArm,
    /// Noise of 1% and of 20% in turns of 25 blocks, either first.
    Regimes,
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self {
            Self::Gaussian(of_ratio) => format!("Gaussian, {:.0}%", 100.0 * of_ratio),
            Self::Tails(freedom) => format!("heavy tails, t({freedom})"),
            Self::LinearDrift => "drift".into(),
            Self::RandomWalk => "random walk".into(),
            Self::Autocorrelated(kept) => format!("autocorrelated, {kept}"),
            Self::AutocorrelatedTails(kept) => format!("autocorrelated t(2), {kept}"),
            Self::Bimodal => "two modes".into(),
            Self::Stalls => "stalls".into(),
            Self::StallsOfOneArm => "stalls of one arm".into(),
            Self::Regimes => "calm and loud turns".into(),
        })
    }
}

/// The noise under which the promises are kept.
pub(crate) const PROMISED: [Noise; 9] = [
    Noise::Gaussian(0.05),
    Noise::Tails(2.0),
    Noise::Tails(1.5),
    Noise::LinearDrift,
    Noise::RandomWalk,
    Noise::Autocorrelated(0.5),
    Noise::Bimodal,
    Noise::Stalls,
    Noise::Regimes,
];

/// A machine that runs slices of two arms, one of which takes
/// `exp(difference)` times as long as the other.
pub(crate) struct Machine {
    noise: Noise,
    difference: f64,
    rng: ChaCha8Rng,
    slices: u64,
    drift: f64,
    wandered: f64,
    lingering: Option<f64>,
}

impl Machine {
    pub(crate) fn new(noise: Noise, difference: f64, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let drift = if rng.random() { 0.03 } else { -0.03 };
        Self { noise, difference, rng, slices: 0, drift, wandered: 0.0, lingering: None }
    }

    /// Both arms in random order: the log ratio of their times.
    pub(crate) fn block(&mut self) -> f64 {
        if self.rng.random() {
            let base = self.base();
            self.other() - base
        } else {
            self.other() - self.base()
        }
    }

    /// The log time of a slice of the base.
    pub(crate) fn base(&mut self) -> f64 {
        self.slice()
    }

    /// The log time of a slice of the other arm.
    pub(crate) fn other(&mut self) -> f64 {
        self.difference + self.slice() + self.of_other_arm_alone()
    }

    /// What befalls whichever arm runs now.
    fn slice(&mut self) -> f64 {
        self.slices += 1;
        match self.noise {
            Noise::Gaussian(of_ratio) => of_ratio / 2.0_f64.sqrt() * self.gaussian(),
            Noise::Tails(freedom) => 0.03 * self.student(freedom),
            Noise::LinearDrift => self.drift * self.slices as f64 + 0.02 * self.gaussian(),
            Noise::RandomWalk => {
                self.wandered += 0.05 * self.gaussian();
                self.wandered + 0.02 * self.gaussian()
            }
            Noise::Bimodal => self.rarely(0.3, 0.3) + 0.02 * self.gaussian(),
            Noise::Stalls => self.stall() + 0.02 * self.gaussian(),
            Noise::StallsOfOneArm => 0.02 * self.gaussian(),
            Noise::Regimes => {
                let loud = (self.slices / 50 % 2 == 1) == (self.drift > 0.0);
                if loud { 0.2 * self.gaussian() } else { 0.01 * self.gaussian() }
            }
            Noise::Autocorrelated(_) | Noise::AutocorrelatedTails(_) => 0.0,
        }
    }

    fn of_other_arm_alone(&mut self) -> f64 {
        match self.noise {
            Noise::Autocorrelated(kept) => {
                let fresh = self.gaussian();
                0.05 * self.linger(kept, fresh, (1.0 - kept * kept).sqrt())
            }
            Noise::AutocorrelatedTails(kept) => {
                let fresh = self.student(2.0);
                0.03 * self.linger(kept, fresh, 1.0)
            }
            Noise::StallsOfOneArm => self.stall(),
            _ => 0.0,
        }
    }

    fn linger(&mut self, kept: f64, fresh: f64, weight: f64) -> f64 {
        let now = self.lingering.map_or(fresh, |before| kept * before + weight * fresh);
        self.lingering = Some(now);
        now
    }

    fn rarely(&mut self, probability: f64, size: f64) -> f64 {
        if self.rng.random::<f64>() < probability { size } else { 0.0 }
    }

    fn stall(&mut self) -> f64 {
        let size: f64 = Exp1.sample(&mut self.rng);
        self.rarely(0.05, size)
    }

    fn gaussian(&mut self) -> f64 {
        StandardNormal.sample(&mut self.rng)
    }

    fn student(&mut self, freedom: f64) -> f64 {
        StudentT::new(freedom).unwrap().sample(&mut self.rng)
    }
}
