//! One paired comparison, fed block by block, that may be looked at after
//! every block.
//!
//! Two arms run in random order within each block, so that whatever disturbs
//! a block falls on one of them at random: the log ratio scatters evenly about
//! the true one, however heavy its tails and whatever happens from block to
//! block. That evenness is all that the bets of [`crate::bet`] rest on. A θ
//! against which a bet has multiplied its stake by 2 / `error_rate` is given
//! up; the θ that are left are the interval. The truth is among them, at all
//! times together, with probability 1 - `error_rate`.
//!
//! Noise of one arm alone is not evened out by the order, and may linger from
//! block to block. Evidence is therefore discounted: the logarithm of the
//! wealth that is asked for is divided by the effective share of the blocks
//! ([`crate::autocorrelation`]). As the share is at most 1, this can only ask
//! for more, and the guarantee holds whatever the share is taken to be.

use crate::autocorrelation::effective_share;
use crate::bet::{Bet, FIRST_LOOKS};
use crate::median::{center_and_spread, median};

/// Halvings of the bracket in which a bound or the estimate is searched.
const HALVINGS: usize = 40;

/// What one comparison asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The smallest relative difference that matters: 0.05 is 5%. It is taken
    /// as ± ln(1 + worth) of the log ratio, so that swapping the two arms
    /// swaps the decision exactly: 5% slower is a ratio of 1.05, and 5% faster
    /// one of 1/1.05.
    pub worth: f64,
    /// The probability, over the whole sequence, with which the interval may
    /// miss the truth.
    pub error_rate: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { worth: 0.05, error_rate: 0.05 }
    }
}

/// Where the true log ratio lies: the center of the log ratios of the blocks.
/// Its exponential is a ratio of times per operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The log ratio for and against which the evidence is equal; always
    /// within the bounds.
    pub estimate: f64,
    /// Lower bound; -∞ as long as too few blocks were seen.
    pub low: f64,
    /// Upper bound; +∞ as long as too few blocks were seen.
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
    /// Logarithm of the wealth at which a θ is given up, if blocks are
    /// independent of each other.
    enough: f64,
    /// The same, with the blocks' resemblance to each other allowed for.
    asked: f64,
    log_ratios: Vec<f64>,
    bets: Vec<Bet>,
    /// The bet on the block to come.
    next: Bet,
    against: Edges,
    decided: Option<(Decision, Interval)>,
}

/// Logarithms of the wealth of the four bets that decide: that the truth lies
/// above or below the upper or the lower edge of what is worth it.
#[derive(Clone, Copy, Debug, Default)]
struct Edges {
    above_upper: f64,
    below_upper: f64,
    above_lower: f64,
    below_lower: f64,
}

impl Edges {
    fn settle(&mut self, bet: Bet, log_ratio: f64, edge: f64) {
        self.above_upper += bet.log_gain(log_ratio - edge);
        self.below_upper += bet.log_gain(edge - log_ratio);
        self.above_lower += bet.log_gain(log_ratio + edge);
        self.below_lower += bet.log_gain(-edge - log_ratio);
    }

    fn decide(self, enough: f64) -> Decision {
        if self.above_upper >= enough {
            Decision::Greater
        } else if self.below_lower >= enough {
            Decision::Less
        } else if self.above_lower >= enough && self.below_upper >= enough {
            Decision::Within
        } else {
            Decision::Open
        }
    }
}

impl Sequence {
    /// A comparison of which no block has been seen.
    ///
    /// # Panics
    /// When `worth` is negative or not finite, or `error_rate` not between 0
    /// and 1.
    pub fn new(settings: Settings) -> Self {
        let Settings { worth, error_rate } = settings;
        assert!(worth >= 0.0 && worth.is_finite(), "worth is {worth}");
        assert!(error_rate > 0.0 && error_rate < 1.0, "error rate is {error_rate}");
        Self {
            edge: worth.ln_1p(),
            enough: (2.0 / error_rate).ln(),
            asked: f64::INFINITY,
            log_ratios: Vec::new(),
            bets: Vec::new(),
            next: Bet::after(0, 0.0),
            against: Edges::default(),
            decided: None,
        }
    }

    /// Takes in the natural logarithm of the other arm's time per operation
    /// over the base's in one block. Time grows with the number of blocks, by
    /// some 10 µs at 1,000.
    ///
    /// Once decided, further blocks are ignored. A log ratio that is not
    /// finite is refused and leaves everything as it was.
    pub fn push(&mut self, log_ratio: f64) -> Result<(), NotFinite> {
        if !log_ratio.is_finite() {
            return Err(NotFinite(log_ratio));
        }
        if self.decided.is_some() {
            return Ok(());
        }
        self.log_ratios.push(log_ratio);
        self.bets.push(self.next);
        self.against.settle(self.next, log_ratio, self.edge);
        let (center, spread) = center_and_spread(&self.log_ratios);
        self.next = Bet::after(self.blocks(), spread);
        self.asked = self.enough / effective_share(&self.log_ratios, center, spread);
        let decision = self.against.decide(self.asked);
        if decision != Decision::Open {
            self.decided = Some((decision, self.current()));
        }
        Ok(())
    }

    /// Blocks taken in; those after the decision are not among them.
    pub fn blocks(&self) -> usize {
        self.log_ratios.len()
    }

    /// After how many blocks that was.
    pub fn decided_at(&self) -> Option<usize> {
        self.decided.map(|_| self.blocks())
    }

    /// Whether what came after the decision says otherwise.
    pub fn is_contradicted(&self) -> bool {
        false
    }

    /// What is sure so far. Once it is not [`Decision::Open`] it stays.
    pub fn decision(&self) -> Decision {
        self.decided.map_or(Decision::Open, |(decision, _)| decision)
    }

    /// The interval that decided, or the present one as long as none has.
    /// Computed on each call while open: some 4 ms at 1,000 blocks.
    pub fn interval(&self) -> Interval {
        self.decided.map_or_else(|| self.current(), |(_, interval)| interval)
    }

    fn current(&self) -> Interval {
        if self.log_ratios.is_empty() {
            return Interval { estimate: 0.0, low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let estimate = self.estimate();
        let low = self.lower_bound(estimate, 1.0);
        let high = -self.lower_bound(-estimate, -1.0);
        Interval { estimate, low, high }
    }

    /// Where the bet on "above" and the bet on "below" are worth the same.
    /// There both have lost, so that neither bound can pass it.
    fn estimate(&self) -> f64 {
        if self.blocks() <= FIRST_LOOKS {
            return median(&mut self.log_ratios.clone());
        }
        let odds = |theta: f64| self.sum(1.0, |bet, x| bet.log_odds(x - theta));
        let mut low = self.log_ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let mut high = self.log_ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
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

    /// The greatest θ below the estimate that is given up. `sign` is -1 to
    /// look at the mirror image, in which the upper bound is the lower one.
    fn lower_bound(&self, estimate: f64, sign: f64) -> f64 {
        let wealth = |theta: f64| self.sum(sign, |bet, x| bet.log_gain(x - theta));
        let lowest = self.log_ratios.iter().map(|x| sign * x).fold(estimate, f64::min);
        let reach = self.bets.iter().map(|bet| bet.reach()).fold(0.0, f64::max);
        let (mut low, mut high) = ((lowest - reach).min(lowest.next_down()), estimate);
        if wealth(low) < self.asked {
            return f64::NEG_INFINITY;
        }
        // The edges first, so that the bound agrees with the decision exactly.
        for step in 0..HALVINGS + 2 {
            let theta = match step {
                0 => -self.edge,
                1 => self.edge,
                _ => 0.5 * low + 0.5 * high,
            };
            if theta <= low || theta >= high {
                continue;
            }
            if wealth(theta) >= self.asked {
                low = theta;
            } else {
                high = theta;
            }
        }
        low
    }

    fn sum(&self, sign: f64, term: impl Fn(Bet, f64) -> f64) -> f64 {
        self.bets.iter().zip(&self.log_ratios).map(|(bet, x)| term(*bet, sign * x)).sum()
    }
}
