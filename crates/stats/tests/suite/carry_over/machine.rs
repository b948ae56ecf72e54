//! A machine on which one arm leaves something to whatever runs next.

use iotoll_stats::Step;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal, StudentT};

/// What each arm's log toll is higher by than that of the one before it.
pub(crate) const DIFFERENCE: f64 = 0.3;

/// How the slices of a block are ordered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// Every arm once, in random order.
    Shuffled,
    /// Every arm as often as there are arms, so that each follows each, itself too, once.
    Balanced,
}

/// What disturbs the slices; sizes are of log tolls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noise {
    /// Gaussian, of 5%.
    Gaussian,
    /// Student's t with 2 degrees of freedom.
    Tails,
    /// Arm 1 alone keeps half of its disturbance from block to block.
    OneArmLingers,
    /// Arm 0 alone stalls in 1 slice of 10: it takes 2.7 times as long.
    OneArmStalls,
    /// The machine wanders by 5% from slice to slice.
    RandomWalk,
    /// 3 slices in 10 are 35% slower.
    Modes,
}

impl Noise {
    pub(crate) const ALL: [Self; 6] = [
        Self::Gaussian,
        Self::Tails,
        Self::OneArmLingers,
        Self::OneArmStalls,
        Self::RandomWalk,
        Self::Modes,
    ];
}

/// Runs blocks of slices, of which each that follows arm 1 has `left` added to its log toll.
pub(crate) struct Machine {
    noise: Noise,
    left: f64,
    random: ChaCha8Rng,
    arms: usize,
    blocks: usize,
    before: Option<usize>,
    wandered: f64,
    lingering: f64,
}

impl Machine {
    pub(crate) fn new(arms: usize, noise: Noise, left: f64, seed: u64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        Self { noise, left, random, arms, blocks: 0, before: None, wandered: 0.0, lingering: 0.0 }
    }

    /// The slices of the next block, in the order in which they ran.
    pub(crate) fn block(&mut self, order: Order) -> Vec<Step> {
        let order = match order {
            Order::Shuffled => {
                let mut order: Vec<usize> = (0..self.arms).collect();
                order.shuffle(&mut self.random);
                order
            }
            Order::Balanced => self.balanced(),
        };
        self.lingering = 0.5 * self.lingering + 0.75_f64.sqrt() * self.gaussian();
        let block = order.into_iter().map(|arm| self.slice(arm)).collect();
        self.blocks += 1;
        block
    }

    /// A walk along all ways from an arm to the next, each once, found by trying.
    fn balanced(&mut self) -> Vec<usize> {
        let last = self.before.unwrap_or_default();
        loop {
            let mut left = vec![vec![true; self.arms]; self.arms];
            let mut order = vec![last];
            while let Some(&at) = order.last() {
                let free: Vec<usize> = (0..self.arms).filter(|next| left[at][*next]).collect();
                let Some(&next) = free.choose(&mut self.random) else { break };
                left[at][next] = false;
                order.push(next);
            }
            if order.len() > self.arms * self.arms {
                return order.split_off(1);
            }
        }
    }

    fn slice(&mut self, arm: usize) -> Step {
        let left = if self.before == Some(1) { self.left } else { 0.0 };
        let log_typical = DIFFERENCE * arm as f64 + left + self.disturbance(arm);
        Step { arm, block: self.blocks, before: self.before.replace(arm), log_typical }
    }

    fn disturbance(&mut self, arm: usize) -> f64 {
        match self.noise {
            Noise::Gaussian => 0.05 * self.gaussian(),
            Noise::Tails => 0.03 * StudentT::new(2.0).unwrap().sample(&mut self.random),
            Noise::OneArmLingers if arm == 1 => 0.1 * self.lingering,
            Noise::OneArmLingers => 0.02 * self.gaussian(),
            Noise::OneArmStalls => {
                let stalls = arm == 0 && self.rarely(0.1);
                0.02 * self.gaussian() + if stalls { 1.0 } else { 0.0 }
            }
            Noise::RandomWalk => {
                self.wandered += 0.05 * self.gaussian();
                self.wandered
            }
            Noise::Modes => 0.02 * self.gaussian() + if self.rarely(0.3) { 0.3 } else { 0.0 },
        }
    }

    fn rarely(&mut self, share: f64) -> bool {
        self.random.random::<f64>() < share
    }

    fn gaussian(&mut self) -> f64 {
        StandardNormal.sample(&mut self.random)
    }
}
