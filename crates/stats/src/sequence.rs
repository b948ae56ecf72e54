//! One paired comparison, fed block by block, that may be looked at after
//! every block.
//!
//! Two arms run in random order within each block, so that whatever disturbs
//! a block falls on one of them at random: the log ratio scatters evenly about
//! the true one, however heavy its tails and whatever happens from block to
//! block. That evenness is all that the bets of [`crate::bet`] rest on. A θ
//! against which a bet has multiplied its stake by 2 / `error_rate` may be
//! given up; the θ that are left are the interval. The truth is among them, at
//! all times together, with probability 1 - `error_rate`.
//!
//! Noise of one arm alone is not evened out by the order, and may linger from
//! block to block, straying for a while to one side of the truth. A θ is
//! therefore given up only if that explains the blocks badly, too: if blocks
//! that are independent of each other are sufficiently more likely than blocks
//! that linger about θ ([`crate::autocorrelation`]). This can only ask for
//! more, so that the guarantee holds whatever comes out. Against noise of one
//! arm that lingers it is approximate, and shown by simulation.

use std::cell::OnceCell;

use crate::autocorrelation::Resemblance;
use crate::bet::{Wealth, patient_log_odds, patient_scale};
use crate::median::{Growing, median};

/// Halvings of the bracket in which a bound or the estimate is searched.
const HALVINGS: usize = 40;

/// How much more likely than lingering about θ it must be that blocks are
/// independent and have another center, as a natural logarithm, where the
/// wealth just suffices at an error rate of 5%. Half the logarithm of the number
/// of blocks comes on top: the price of a center that suits them best (Schwarz
/// 1978).
const RATHER: f64 = 2.08;
/// With fewer blocks than about this many, likelihoods with a scatter that
/// suits them best promise too much: only what is far from noise may pass.
const MANY: f64 = 9.2;
/// Wealth beyond what is asked for is what lingering noise brings, too. So much
/// of its logarithm is asked for in addition.
const SURPLUS: f64 = 0.3;
/// Asked for in addition if the blocks are said to linger about the other center.
const LINGERING: f64 = 2.6;

/// So many blocks that all lie about twofold beyond θ, on one side, do not
/// linger there, however scattered they are.
const UNANIMOUS: usize = 12;

/// What one comparison asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The smallest relative difference that matters: 0.05 is 5%. It is taken
    /// as ± ln(1 + worth) of the log ratio, so that swapping the two arms
    /// swaps the decision exactly: 5% slower is a ratio of 1.05, and 5% faster
    /// one of 1/1.05.
    pub threshold: f64,
    /// The probability, over the whole sequence, with which the interval may
    /// miss the truth.
    pub error_rate: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { threshold: 0.05, error_rate: 0.05 }
    }
}

/// Where the true log ratio lies: the center of the log ratios of the blocks.
/// Its exponential is a ratio of times per operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The log ratio for and against which the evidence is equal, or the bound
    /// next to it; always within the bounds.
    pub estimate: f64,
    /// Lower bound; -∞ as long as nothing is known of it.
    pub low: f64,
    /// Upper bound; +∞ as long as nothing is known of it.
    pub high: f64,
}

/// What is sure about the true log ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing yet.
    Open,
    /// Greater than ln(1 + worth): the other arm is slower.
    Greater,
    /// Less than -ln(1 + worth): the other arm is faster.
    Less,
    /// Between the two: no difference that matters.
    Within,
}

/// The log ratio of a block was infinite or not a number, because one of the
/// two times was zero, negative or unknown.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the log ratio of a block is {0}: one of its two times is zero or unknown; \
     give each slice more operations"
)]
pub struct NotFinite(pub f64);

/// The state of one comparison.
#[derive(Clone, Debug)]
pub struct Sequence {
    edge: f64,
    error_rate: f64,
    log_ratios: Vec<f64>,
    growing: Growing,
    /// The patient bettor's scale for each block, and for the one to come.
    scales: Vec<f64>,
    seen: Seen,
    against: Edges,
    decided: Option<(Decision, usize)>,
}

/// What the blocks are like as a whole.
#[derive(Clone, Debug)]
struct Seen {
    lowest: f64,
    highest: f64,
    center: f64,
    spread: f64,
    /// Found out once it is asked for, which seldom happens after a block.
    resemblance: OnceCell<Resemblance>,
}

/// The direction in which the truth may lie, seen from θ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Above,
    Below,
}

impl Side {
    /// How far on this side of θ the block lies.
    fn distance(self, log_ratio: f64, theta: f64) -> f64 {
        match self {
            Self::Above => log_ratio - theta,
            Self::Below => theta - log_ratio,
        }
    }
}

/// The bets that decide: that the truth lies above or below the upper or the
/// lower edge of what is worth it.
#[derive(Clone, Copy, Debug)]
struct Edges {
    above_upper: Wealth,
    below_upper: Wealth,
    above_lower: Wealth,
    below_lower: Wealth,
}

impl Edges {
    fn settle(&mut self, log_ratio: f64, edge: f64, scale: f64) {
        self.above_upper.settle(log_ratio - edge, scale);
        self.below_upper.settle(edge - log_ratio, scale);
        self.above_lower.settle(log_ratio + edge, scale);
        self.below_lower.settle(-edge - log_ratio, scale);
    }
}

impl Sequence {
    /// A comparison of which no block has been seen.
    ///
    /// # Panics
    /// When `threshold` is negative or not finite, or `error_rate` not between 0
    /// and 1.
    pub fn new(settings: Settings) -> Self {
        let Settings { threshold, error_rate } = settings;
        assert!(threshold >= 0.0 && threshold.is_finite(), "the threshold is {threshold}");
        assert!(error_rate > 0.0 && error_rate < 1.0, "error rate is {error_rate}");
        let start = Wealth::start();
        Self {
            edge: threshold.ln_1p(),
            error_rate,
            log_ratios: Vec::new(),
            growing: Growing::default(),
            scales: vec![patient_scale(0, 0.0)],
            seen: Seen {
                lowest: f64::INFINITY,
                highest: f64::NEG_INFINITY,
                center: 0.0,
                spread: 0.0,
                resemblance: OnceCell::new(),
            },
            against: Edges {
                above_upper: start,
                below_upper: start,
                above_lower: start,
                below_lower: start,
            },
            decided: None,
        }
    }

    /// Takes in the natural logarithm of the other arm's time per operation
    /// over the base's in one block, before and after the decision. Time grows
    /// with the number of blocks only where a decision is near.
    ///
    /// A log ratio that is not finite is refused and leaves everything as it
    /// was.
    pub fn push(&mut self, log_ratio: f64) -> Result<(), NotFinite> {
        if !log_ratio.is_finite() {
            return Err(NotFinite(log_ratio));
        }
        self.against.settle(log_ratio, self.edge, self.scales[self.blocks()]);
        self.log_ratios.push(log_ratio);
        self.growing.push(log_ratio);
        let (center, spread) = self.growing.center_and_spread();
        self.scales.push(patient_scale(self.blocks(), spread));
        self.seen = Seen {
            lowest: self.seen.lowest.min(log_ratio),
            highest: self.seen.highest.max(log_ratio),
            center,
            spread,
            resemblance: OnceCell::new(),
        };
        if self.decided.is_none() {
            let decision = self.decide();
            self.decided = (decision != Decision::Open).then_some((decision, self.blocks()));
        }
        Ok(())
    }

    /// Blocks taken in, those after the decision among them.
    pub fn blocks(&self) -> usize {
        self.log_ratios.len()
    }

    /// What is sure. Once it is not [`Decision::Open`] it stays.
    pub fn decision(&self) -> Decision {
        self.decided.map_or(Decision::Open, |(decision, _)| decision)
    }

    /// Blocks taken in when the decision was made.
    pub fn decided_at(&self) -> Option<usize> {
        self.decided.map(|(_, blocks)| blocks)
    }

    /// The present interval, which goes on narrowing after the decision; of it,
    /// then, only what agrees with the decision. Computed on each call: some
    /// 4 ms at 1,000 blocks.
    pub fn interval(&self) -> Interval {
        let Interval { estimate, low, high } = self.interval_at(self.error_rate);
        let (least, most) = match self.decision() {
            Decision::Open => return Interval { estimate, low, high },
            Decision::Greater => (self.edge, f64::INFINITY),
            Decision::Less => (f64::NEG_INFINITY, -self.edge),
            Decision::Within => (-self.edge, self.edge),
        };
        let within = |value: f64| value.clamp(least, most);
        Interval { estimate: within(estimate), low: within(low), high: within(high) }
    }

    /// Whether the present interval, taken by itself, is at odds with all that
    /// the decision says: something has changed since.
    pub fn is_contradicted(&self) -> bool {
        match self.decision() {
            Decision::Open => false,
            Decision::Greater => self.is_below_upper(),
            Decision::Less => self.is_above_lower(),
            Decision::Within => self.is_above_upper() || self.is_below_lower(),
        }
    }

    /// The present interval at another error rate, whatever was decided. For a
    /// selection among several comparisons. As slow as [`Sequence::interval`].
    ///
    /// # Panics
    /// When `error_rate` is not between 0 and 1.
    pub fn interval_at(&self, error_rate: f64) -> Interval {
        assert!(error_rate > 0.0 && error_rate < 1.0, "error rate is {error_rate}");
        if self.log_ratios.is_empty() {
            return Interval { estimate: 0.0, low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let asked = (2.0 / error_rate).ln();
        let low = self.bound(Side::Above, asked);
        let high = self.bound(Side::Below, asked);
        Interval { estimate: self.estimate().clamp(low, high), low, high }
    }

    fn decide(&self) -> Decision {
        if self.is_above_upper() {
            Decision::Greater
        } else if self.is_below_lower() {
            Decision::Less
        } else if self.is_above_lower() && self.is_below_upper() {
            Decision::Within
        } else {
            Decision::Open
        }
    }

    fn is_above_upper(&self) -> bool {
        self.is_given_up(self.edge, Side::Above, &self.against.above_upper, self.asked())
    }

    fn is_below_upper(&self) -> bool {
        self.is_given_up(self.edge, Side::Below, &self.against.below_upper, self.asked())
    }

    fn is_above_lower(&self) -> bool {
        self.is_given_up(-self.edge, Side::Above, &self.against.above_lower, self.asked())
    }

    fn is_below_lower(&self) -> bool {
        self.is_given_up(-self.edge, Side::Below, &self.against.below_lower, self.asked())
    }

    /// How far the blocks resemble those before them.
    fn resemblance(&self) -> &Resemblance {
        let Seen { center, spread, resemblance, .. } = &self.seen;
        resemblance.get_or_init(|| Resemblance::of(&self.log_ratios, *center, *spread))
    }

    /// Logarithm of the wealth that each of the two sides takes.
    fn asked(&self) -> f64 {
        (2.0 / self.error_rate).ln()
    }

    /// Whether a bet of this wealth, that the truth lies on this side of θ, is
    /// to be believed. `asked` is the logarithm of the wealth that it takes.
    fn is_given_up(&self, theta: f64, side: Side, wealth: &Wealth, asked: f64) -> bool {
        if wealth.log() < asked || side.distance(self.resemblance().mean(), theta) <= 0.0 {
            return false;
        }
        let (blocks, seen) = (self.blocks() as f64, self.resemblance());
        let few = 0.5 * blocks.ln() + (MANY / blocks).powi(4);
        let rather = RATHER + few + asked - 40.0_f64.ln();
        let surplus = SURPLUS * (wealth.log_without_stubborn() - asked).max(0.0);
        seen.independent_rather_than_about(theta) >= rather + surplus
            || seen.elsewhere_rather_than_about(theta) >= rather + LINGERING
            || self.is_unanimous(theta, side)
    }

    /// Whether many blocks all lie about twofold to this side of θ: as far as
    /// what is beyond twofold lies beyond the edge.
    fn is_unanimous(&self, theta: f64, side: Side) -> bool {
        let nearest = match side {
            Side::Above => self.seen.lowest,
            Side::Below => self.seen.highest,
        };
        let twofold = (std::f64::consts::LN_2 - self.edge).max(0.25);
        self.blocks() >= UNANIMOUS && side.distance(nearest, theta) >= twofold
    }

    /// How far the truth surely lies on this side: where the θ that are given up
    /// end, or -∞ or ∞ if none is. Seldom they end more than once, as the bold
    /// bettor's first stake leaps where θ passes the first block; then this is
    /// one of the ends.
    fn bound(&self, side: Side, asked: f64) -> f64 {
        let is_out = |theta: f64| self.is_out(theta, side, asked);
        let (edges, far) = self.outside(side);
        // The edges first, so that the bound agrees with the decision exactly.
        let Some(mut out) = edges.into_iter().chain([far]).find(|&theta| is_out(theta)) else {
            return if side == Side::Above { f64::NEG_INFINITY } else { f64::INFINITY };
        };
        let mut left = self.resemblance().mean();
        for edge in edges {
            if side.distance(edge, out) > 0.0 && side.distance(left, edge) > 0.0 {
                left = edge;
            }
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * out + 0.5 * left;
            if is_out(middle) {
                out = middle;
            } else {
                left = middle;
            }
        }
        out
    }

    /// Whether this θ is given up by the blocks so far.
    fn is_out(&self, theta: f64, side: Side, asked: f64) -> bool {
        let mut wealth = Wealth::start();
        for (log_ratio, scale) in self.log_ratios.iter().zip(&self.scales) {
            wealth.settle(side.distance(*log_ratio, theta), *scale);
        }
        self.is_given_up(theta, side, &wealth, asked)
    }

    /// The edges of worth, the one farther to this side first, and a θ so far to
    /// the other side that all bets on this one are won.
    fn outside(&self, side: Side) -> ([f64; 2], f64) {
        let Seen { lowest, highest, .. } = self.seen;
        let scales = self.scales[..self.blocks()].iter().filter(|scale| scale.is_finite());
        // tanh(20) is 1 in `f64`.
        let reach = 20.0 * scales.copied().fold(highest - lowest, f64::max);
        match side {
            Side::Above => {
                let outermost = lowest.min(-self.edge);
                ([self.edge, -self.edge], (outermost - reach).min(outermost.next_down()))
            }
            Side::Below => {
                let outermost = highest.max(self.edge);
                ([-self.edge, self.edge], (outermost + reach).max(outermost.next_up()))
            }
        }
    }

    /// Where the patient bets on "above" and on "below" are worth the same: at
    /// first near the median of the blocks, later near their mean.
    fn estimate(&self) -> f64 {
        let odds = |theta: f64| -> f64 {
            let blocks = self.log_ratios.iter().zip(&self.scales);
            blocks.map(|(x, scale)| patient_log_odds(x - theta, *scale)).sum()
        };
        let Seen { lowest: mut low, highest: mut high, .. } = self.seen;
        if self.scales[..self.blocks()].iter().all(|scale| scale.is_infinite()) {
            return median(&mut self.log_ratios.clone());
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * low + 0.5 * high;
            match odds(middle) {
                above if above > 0.0 => low = middle,
                above if above < 0.0 => high = middle,
                _ => return middle,
            }
        }
        0.5 * low + 0.5 * high
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Nothing is decided of it, as the blocks lie about the only edge, or are few.
    fn open(log_ratios: impl Iterator<Item = f64>) -> Option<Sequence> {
        let mut sequence = Sequence::new(Settings { threshold: 0.0, error_rate: 0.05 });
        for log_ratio in log_ratios {
            sequence.push(log_ratio).ok()?;
        }
        (sequence.decision() == Decision::Open).then_some(sequence)
    }

    /// Whether θ is where those that are given up end, or about where.
    fn is_an_end(sequence: &Sequence, side: Side, theta: f64) -> bool {
        let nudge = if side == Side::Above { 1e-9 } else { -1e-9 };
        let is_out = |theta: f64| sequence.is_out(theta, side, sequence.asked());
        is_out(theta - nudge) && !is_out(theta + nudge)
    }

    proptest! {
        // A bound moves with the blocks. Where the θ that are given up end more than
        // once, it may move to another end, for the edges of worth, which are looked at
        // first, do not move along; and with few blocks the edges alone may be given up.
        #[test]
        fn a_constant_moves_all_that_is_found(
            noise in vec(-1.0..1.0, 0..60),
            shift in -0.05..0.05,
        ) {
            let blocks = || std::iter::once(0.0).chain(noise.iter().copied());
            let pair = open(blocks()).zip(open(blocks().map(|block| block + shift)));
            prop_assume!(pair.is_some());
            let Some((one, other)) = pair else { return Ok(()) };
            let off_by: f64 = one.estimate() + shift - other.estimate();
            prop_assert!(off_by.abs() < 1e-9);
            for side in [Side::Above, Side::Below] {
                let bound = |sequence: &Sequence| sequence.bound(side, sequence.asked());
                let (here, there) = (bound(&one), bound(&other));
                if here.is_finite() && there.is_finite() {
                    prop_assert!(is_an_end(&one, side, here));
                    prop_assert!(is_an_end(&one, side, there - shift));
                    prop_assert!(is_an_end(&other, side, here + shift));
                }
            }
        }
    }
}
