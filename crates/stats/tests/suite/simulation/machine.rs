//! Machines of known truth, each disturbed in its way: the log ratios of a run's rounds.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, Exp1, StandardNormal, StudentT};

/// What disturbs the rounds, none of which changes the ratio in the long run. Sizes are of
/// log ratios: 0.05 is about 5%.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Noise {
    /// Independent, of this standard deviation.
    Gaussian(f64),
    /// Student's t with so many degrees of freedom, times 3%: 2 has no variance, 1 no mean.
    Tails(f64),
    /// 5%, of which each round keeps this share of the round before.
    Lingering(f64),
    /// Independent noise of the first size, and lingering noise of the second that keeps
    /// this share.
    SlowUnderWhite(f64, f64, f64),
    /// Two states so far apart, each of which lasts for this part of the run on average, and
    /// independent noise of 3%.
    States { apart: f64, stay: f64 },
    /// Levels of this standard deviation that last for so many rounds each, and independent
    /// noise of the second size.
    Levels(f64, usize, f64),
    /// A random walk that moves by 5% over the run, and independent noise of 5%.
    Walk,
    /// From this much below to this much above, evenly, and independent noise of 5%.
    Drift(f64),
    /// One arm alone takes so many times as long in this share of rounds; noise of 5%.
    Stalls { share: f64, factor: f64 },
    /// An exponential excess of 10% in one arm alone, less its mean; noise of 2%.
    Skewed,
    /// Stalls of either arm that add 2 ms to one slice in ten, of 20 ms and of 2 ms.
    Additive,
}

impl Noise {
    /// All that the promise is about. `Lingering` and `SlowUnderWhite` are of rounds as they
    /// are, so that more rounds in a run make them shorter.
    pub(crate) const PROMISED: [(&str, Self); 21] = [
        ("Gaussian 5%", Self::Gaussian(0.05)),
        ("t(2) 3%", Self::Tails(2.0)),
        ("t(1) 3%", Self::Tails(1.0)),
        ("AR 0.3", Self::Lingering(0.3)),
        ("AR 0.5", Self::Lingering(0.5)),
        ("AR 0.8", Self::Lingering(0.8)),
        ("white 5% + AR 0.8 2.5%", Self::SlowUnderWhite(0.05, 0.025, 0.8)),
        ("white 5% + AR 0.95 2.5%", Self::SlowUnderWhite(0.05, 0.025, 0.95)),
        ("white 5% + AR 0.95 5%", Self::SlowUnderWhite(0.05, 0.05, 0.95)),
        ("states n/20, 20% apart", Self::States { apart: 0.2, stay: 0.05 }),
        ("states n/10, 20% apart", Self::States { apart: 0.2, stay: 0.1 }),
        ("states n/5, 10% apart", Self::States { apart: 0.1, stay: 0.2 }),
        ("levels of 10, 5%", Self::Levels(0.05, 10, 0.05)),
        ("levels of 20, 3%", Self::Levels(0.03, 20, 0.03)),
        ("walk 5%", Self::Walk),
        ("drift ±5%", Self::Drift(0.05)),
        ("drift ±15%", Self::Drift(0.15)),
        ("stalls 5%, ×2", Self::Stalls { share: 0.05, factor: 2.0 }),
        ("stalls 10%, ×3", Self::Stalls { share: 0.1, factor: 3.0 }),
        ("skewed 10%", Self::Skewed),
        ("additive, 20 and 2 ms", Self::Additive),
    ];

    /// The log ratios of a run of so many rounds, about the truth.
    pub(crate) fn rounds(self, count: usize, truth: f64, seed: u64) -> Vec<f64> {
        let mut source = Source(ChaCha8Rng::seed_from_u64(seed));
        let slow = self.slow(count, &mut source);
        let fast = |_: usize| truth + self.fast(&mut source);
        (0..count).map(fast).zip(slow).map(|(fast, slow)| fast + slow).collect()
    }

    /// What each round has by itself.
    fn fast(self, source: &mut Source) -> f64 {
        match self {
            Self::Gaussian(size) | Self::SlowUnderWhite(size, ..) | Self::Levels(.., size) => {
                size * source.gaussian()
            }
            Self::Tails(freedom) => 0.03 * StudentT::new(freedom).unwrap().sample(&mut source.0),
            Self::Lingering(_) => 0.0,
            Self::States { .. } => 0.03 * source.gaussian(),
            Self::Walk | Self::Drift(_) => 0.05 * source.gaussian(),
            Self::Stalls { share, factor } => {
                let stalled = if source.rarely(share) { factor.ln() } else { 0.0 };
                0.05 * source.gaussian() + stalled
            }
            Self::Skewed => 0.02 * source.gaussian() + 0.1 * (source.exponential() - 1.0),
            Self::Additive => {
                let mut stall = |ms: f64| {
                    let size = 2.0 * source.exponential();
                    ((ms + if source.rarely(0.1) { size } else { 0.0 }) / ms).ln()
                };
                stall(20.0) - stall(2.0) + 0.03 * source.gaussian()
            }
        }
    }

    /// What outlasts a round.
    fn slow(self, count: usize, source: &mut Source) -> Vec<f64> {
        match self {
            Self::Lingering(kept) => source.lingering(count, kept, 0.05),
            Self::SlowUnderWhite(_, size, kept) => source.lingering(count, kept, size),
            Self::States { apart, stay } => {
                let mut state = if source.rarely(0.5) { 1.0 } else { -1.0 };
                let leaves = 1.0 / (stay * count as f64);
                let mut next = |_| {
                    let now = state * apart.ln_1p() / 2.0;
                    state = if source.rarely(leaves) { -state } else { state };
                    now
                };
                (0..count).map(&mut next).collect()
            }
            Self::Levels(size, lasts, _) => {
                let first = source.0.random_range(0..lasts);
                let levels: Vec<f64> =
                    (0..=count / lasts + 1).map(|_| size * source.gaussian()).collect();
                (0..count).map(|round| levels[(round + first) / lasts]).collect()
            }
            Self::Walk => {
                let step = 0.05 / (count as f64).sqrt();
                let steps = (0..count).scan(0.0, |at, _| {
                    *at += step * source.gaussian();
                    Some(*at)
                });
                steps.collect()
            }
            Self::Drift(size) => {
                let at = |round: usize| 2.0 * round as f64 / (count - 1) as f64 - 1.0;
                (0..count).map(|round| size * at(round)).collect()
            }
            _ => vec![0.0; count],
        }
    }
}

/// Draws numbers.
pub(crate) struct Source(pub(crate) ChaCha8Rng);

impl Source {
    pub(crate) fn gaussian(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.0)
    }

    pub(crate) fn rarely(&mut self, share: f64) -> bool {
        self.0.random::<f64>() < share
    }

    fn lingering(&mut self, count: usize, kept: f64, size: f64) -> Vec<f64> {
        let fresh = size * (1.0 - kept * kept).sqrt();
        let first = size * self.gaussian();
        let next = |now: &f64| Some(kept * now + fresh * self.gaussian());
        std::iter::successors(Some(first), next).take(count).collect()
    }
}
