//! By how much two shares differ, looked at whenever one likes.
//!
//! Each block gives the difference of the two arms' shares, a number from -1 to 1.
//! Against each possible mean δ two gamblers bet before each block: one stakes the part
//! ν of the wealth on "more", the other on "less", and the block multiplies it by
//! 1 ± ν·(difference - δ), ν being so small that no difference can ruin either. Where δ
//! is the mean, whatever the distribution is, no gain can be expected, and wealth of
//! 2 / `error_rate` is reached at any time with a probability of at most half of
//! `error_rate` (Ville 1939). The δ against which neither has come so far are the
//! interval. This is the hedged capital of I. Waudby-Smith and A. Ramdas, "Estimating
//! means of bounded random variables by betting" (2024), with their predictable plug-in
//! stakes.
//!
//! Failures may come in bursts, and in both arms at once. But the mean is to be the same
//! in each block, whatever came before: where one arm fails for ten blocks and then the
//! other, the blocks are fewer facts than they seem. The logarithm of the wealth that is
//! asked for is therefore divided by the effective share of the blocks, (1 - φ) / (1 + φ)
//! at a lag-1 autocorrelation of φ (Bayley and Hammersley 1946). As this only ever asks
//! for more, the guarantee stands where the mean is the same.

use std::cell::OnceCell;

/// The largest part of what may be staked without ruin that is staked.
const AT_STAKE: f64 = 0.9;
/// Variance of a difference before any was seen: that of a half and a half, as if it were
/// one block.
const PRIOR_VARIANCE: f64 = 1.0;
/// Halvings of the bracket in which a bound is searched: to a billionth.
const HALVINGS: usize = 30;

/// Beyond this autocorrelation a series says next to nothing about its mean.
const HIGHEST: f64 = 0.9;

/// A difference of shares so far.
#[derive(Clone, Debug)]
pub struct Shares {
    /// Logarithm of the wealth at which a δ is given up, if blocks do not resemble each
    /// other.
    enough: f64,
    /// The same, with their resemblance allowed for: found out once it is asked for.
    asked: OnceCell<f64>,
    /// The wealth of bets that the mean lies above 0, and below.
    against_none: [f64; 2],
    /// Each block's difference and the stake that was laid on it.
    blocks: Vec<(f64, f64)>,
    sum: f64,
    /// Sum of the squared distances from the mean as it was at the time.
    squares: f64,
    /// In which direction it is sure, once it is.
    decided: Option<f64>,
}

impl Shares {
    /// Nothing known yet. Over the whole sequence, the interval misses the mean with
    /// a probability of at most `error_rate`.
    ///
    /// # Panics
    /// When `error_rate` is not between 0 and 1.
    pub fn new(error_rate: f64) -> Self {
        assert!(error_rate > 0.0 && error_rate < 1.0, "error rate is {error_rate}");
        Self {
            enough: (2.0 / error_rate).ln(),
            asked: OnceCell::new(),
            against_none: [0.0; 2],
            blocks: Vec::new(),
            sum: 0.0,
            squares: 0.0,
            decided: None,
        }
    }

    /// Takes in the two arms' shares in one block, from 0 to 1.
    pub fn push(&mut self, base_share: f64, other_share: f64) {
        let difference = (other_share - base_share).clamp(-1.0, 1.0);
        let block = (difference, self.stake());
        self.blocks.push(block);
        self.sum += difference;
        self.squares += (difference - self.mean()).powi(2);
        self.asked = OnceCell::new();
        let signs = [1.0, -1.0];
        for (wealth, sign) in self.against_none.iter_mut().zip(signs) {
            *wealth += gain(block, 0.0, sign);
        }
        // No less than `enough` is ever asked for.
        let is_sure = |wealth: f64| wealth >= self.enough && wealth >= self.asked();
        let sure = || self.against_none.iter().position(|wealth| is_sure(*wealth));
        self.decided = self.decided.or_else(|| sure().map(|at| signs[at]));
    }

    fn asked(&self) -> f64 {
        if self.blocks.is_empty() {
            return f64::INFINITY;
        }
        *self.asked.get_or_init(|| {
            let phi = self.lag_one().clamp(0.0, HIGHEST);
            self.enough * (1.0 + phi) / (1.0 - phi)
        })
    }

    /// Where the mean of the other's share less the base's lies, as far as is known now.
    pub fn interval(&self) -> (f64, f64) {
        (self.lower_bound(1.0), -self.lower_bound(-1.0))
    }

    /// 1 where the other's share is surely larger, -1 where surely smaller, 0 where
    /// neither is sure.
    pub fn decision(&self) -> i8 {
        self.decided.map_or(0, |sign| sign as i8)
    }

    /// The lag-1 autocorrelation of the differences; 0 where nothing varies.
    fn lag_one(&self) -> f64 {
        let mean = self.sum / self.blocks.len() as f64;
        let squares: f64 = self.blocks.iter().map(|(d, _)| (d - mean).powi(2)).sum();
        let product = |pair: &[(f64, f64)]| (pair[0].0 - mean) * (pair[1].0 - mean);
        let products: f64 = self.blocks.windows(2).map(product).sum();
        if squares > f64::EPSILON { products / squares } else { 0.0 }
    }

    /// The mean of the differences, towards none as if one more block had had none.
    fn mean(&self) -> f64 {
        self.sum / (self.blocks.len() as f64 + 1.0)
    }

    /// What is staked on the next block for each unit of difference, before it is kept
    /// from ruin.
    fn stake(&self) -> f64 {
        let next = self.blocks.len() as f64 + 1.0;
        let variance = (PRIOR_VARIANCE + self.squares) / next;
        (2.0 * self.enough / (variance * next * next.ln_1p())).sqrt()
    }

    /// The greatest δ that the bet on "more" gives up. `sign` is -1 to look at the mirror
    /// image, in which the upper bound is the lower one.
    fn lower_bound(&self, sign: f64) -> f64 {
        let given_up = |delta: f64| self.log_wealth(delta, sign) >= self.asked();
        // None first, so that the bound agrees with the decision exactly.
        let (mut low, mut high) = if given_up(0.0) { (0.0, 1.0) } else { (-1.0, 0.0) };
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if given_up(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The logarithm of the wealth of the bet that the mean is more than δ.
    fn log_wealth(&self, delta: f64, sign: f64) -> f64 {
        self.blocks.iter().map(|block| gain(*block, delta, sign)).sum()
    }
}

/// What a block adds to the wealth of a bet that the mean, in this direction, is beyond δ.
fn gain((difference, stake): (f64, f64), delta: f64, sign: f64) -> f64 {
    // The least that a difference can be is -1.
    let most = AT_STAKE / (1.0 + delta);
    (stake.min(most) * (sign * difference - delta)).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(blocks: usize, base_share: f64, other_share: f64) -> Shares {
        let mut shares = Shares::new(0.05);
        (0..blocks).for_each(|_| shares.push(base_share, other_share));
        shares
    }

    #[test]
    fn before_any_block_anything_is_possible() {
        assert_eq!(Shares::new(0.05).interval(), (-1.0, 1.0));
        assert_eq!(Shares::new(0.05).decision(), 0);
    }

    #[test]
    fn the_interval_holds_a_steady_difference_and_narrows() {
        let mut before = 2.1;
        for blocks in [1, 10, 50, 90] {
            let (low, high) = after(blocks, 0.05, 0.01).interval();
            assert!(low < -0.04 && -0.04 < high, "{low} {high}");
            assert!(high - low < before, "{low} {high}");
            before = high - low;
        }
    }

    #[test]
    fn swapping_the_arms_mirrors_everything() {
        let (more, less) = (after(200, 0.01, 0.05), after(200, 0.05, 0.01));
        assert_eq!((more.decision(), less.decision()), (1, -1));
        let ((low, high), mirrored) = (more.interval(), less.interval());
        assert!((low + mirrored.1).abs() < 1e-8 && (high + mirrored.0).abs() < 1e-8);
        assert!(low >= 0.0, "{low}");
    }

    #[test]
    fn one_block_in_which_all_fail_ruins_nobody() {
        let mut shares = after(5, 0.5, 0.0);
        shares.push(0.0, 1.0);
        (0..40).for_each(|_| shares.push(0.5, 0.0));
        assert_eq!(shares.decision(), -1);
        let (low, high) = shares.interval();
        assert!(low < -0.4 && high <= 0.0, "{low} {high}");
    }

    #[test]
    fn blocks_that_resemble_each_other_are_fewer_facts() {
        let fed = |run: usize| {
            let mut shares = Shares::new(0.05);
            (0..60).for_each(|block| shares.push(0.0, [0.3, 0.02][block / run % 2]));
            let (low, high) = shares.interval();
            high - low
        };
        assert!(fed(1) < fed(10), "{} {}", fed(1), fed(10));
    }
}
