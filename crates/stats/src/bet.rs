//! A bet against "the true log ratio is at most θ", placed before each block.
//!
//! The stake depends on the past alone; the block then multiplies the wealth
//! by 1 + κ tanh((x - θ) / scale), more than 1 if the block lies above θ and
//! less if below. If θ is the truth and noise is as likely to push a block up
//! as down by the same amount, each factor is 1 on average whatever the size
//! of the noise, so that wealth cannot be expected to grow: it reaches W at
//! any time at all with probability at most 1/W (Ville 1939). Bets on symmetry
//! are those of Ramdas, Ruf, Larsson and Koolen, "Admissible anytime-valid
//! sequential inference must rely on nonnegative martingales" (2020), with
//! stakes set from the past as by Waudby-Smith and Ramdas, "Estimating means
//! of bounded random variables by betting" (2024).

/// Blocks that are only looked at, to learn the scale of the noise.
pub(crate) const FIRST_LOOKS: usize = 3;
/// The part κ of the wealth that is at stake. Much less than all, because where
/// noise has two modes many blocks are outliers and each must cost little: with
/// 0.6 a factor of 2.5 at most.
const AT_STAKE: f64 = 0.6;
/// Sets how steep a bet is: √(2 ln 40) / √n per standard deviation is the
/// steepness at which a Gaussian bettor soonest has 40 times the stake
/// (Waudby-Smith and Ramdas).
const STEEPNESS: f64 = 2.7;

/// A stake on one block, laid before the block was seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bet {
    /// Distance, in log ratio, over which the bet goes from nothing to all;
    /// infinite where nothing is staked.
    scale: f64,
}

impl Bet {
    /// The bet on the block that follows so many blocks with this spread.
    pub(crate) fn after(blocks: usize, spread: f64) -> Self {
        if blocks < FIRST_LOOKS {
            return Self { scale: f64::INFINITY };
        }
        Self { scale: AT_STAKE * spread * (blocks as f64).sqrt() / STEEPNESS }
    }

    /// What the block adds to the logarithm of the wealth, if it lies
    /// `distance` above the θ that is bet against.
    pub(crate) fn log_gain(self, distance: f64) -> f64 {
        (AT_STAKE * self.pull(distance)).ln_1p()
    }

    /// What the block adds to the advantage of the bet that the truth lies
    /// above over the bet that it lies below.
    pub(crate) fn log_odds(self, distance: f64) -> f64 {
        self.log_gain(distance) - self.log_gain(-distance)
    }

    /// How far below a block a θ must lie for all of the stake to be won; zero
    /// where nothing is staked.
    pub(crate) fn reach(self) -> f64 {
        // tanh(20) is 1 in `f64`.
        if self.scale.is_finite() { 20.0 * self.scale } else { 0.0 }
    }

    /// From -1 to 1. Where the past did not vary at all the scale is zero and
    /// only the sign counts.
    fn pull(self, distance: f64) -> f64 {
        if distance == 0.0 { 0.0 } else { (distance / self.scale).tanh() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_staked_before_the_scale_is_known() {
        let bet = Bet::after(2, 0.03);
        assert!(bet.log_gain(7.0) == 0.0 && bet.log_gain(-7.0) == 0.0);
    }

    #[test]
    fn a_fair_coin_cannot_be_beaten() {
        let bet = Bet::after(6, 0.03);
        for distance in [1e-9, 0.01, 0.1, 3.0, 1e9] {
            let mean = 0.5 * (bet.log_gain(distance).exp() + bet.log_gain(-distance).exp());
            assert!((mean - 1.0).abs() < 1e-12, "{distance}: {mean}");
        }
    }

    #[test]
    fn an_outlier_costs_little() {
        let bet = Bet::after(6, 0.03);
        assert!(bet.log_gain(f64::MIN) >= (0.4_f64).ln() - 1e-12);
    }

    #[test]
    fn within_reach_all_is_won() {
        let bet = Bet::after(6, 0.03);
        assert!(bet.log_gain(bet.reach()).to_bits() == AT_STAKE.ln_1p().to_bits());
    }

    #[test]
    fn without_variation_the_sign_alone_counts() {
        let bet = Bet::after(5, 0.0);
        assert!(bet.log_gain(0.0) == 0.0);
        assert!(bet.log_gain(1e-300).to_bits() == AT_STAKE.ln_1p().to_bits());
    }
}
