//! By how much two shares of failed operations differ at the most, whatever failures are like.
//!
//! A server that fails now and then fails for all clients at once. Rounds in which none did say
//! little about how often: a t interval, which goes by what was seen, would be far too narrow.
//! Here each round gives the difference of the two arms' shares, a number from -1 to 1.
//! Against each possible mean δ two gamblers bet before each round: one stakes the part
//! ν of the wealth on "more", the other on "less", and the round multiplies it by
//! 1 ± ν·(difference - δ), ν being so small that no difference can ruin either. Where δ
//! is the mean, whatever the distribution is, no gain can be expected, and wealth of
//! 2 / `error_rate` is reached at any time with a probability of at most half of
//! `error_rate` (Ville 1939). The δ against which neither has come so far are the
//! interval. This is the hedged capital of I. Waudby-Smith and A. Ramdas, "Estimating
//! means of bounded random variables by betting" (2024), with their predictable plug-in
//! stakes.
//!
//! It takes the mean to be the same in each round. Where one arm fails for a while and then the
//! other, [`Stretches`](crate::Stretches) allow for it; a verdict needs both.

use crate::bisect::bisect;

/// The largest part of what may be staked without ruin that is staked.
const AT_STAKE: f64 = 0.9;
/// Variance of a difference before any was seen: that of a half and a half, as if it were
/// one round.
const PRIOR_VARIANCE: f64 = 1.0;
/// Halvings of the bracket in which a bound is searched: to a billionth.
const HALVINGS: usize = 30;

/// A difference of shares so far.
#[derive(Clone, Debug)]
pub struct Shares {
    /// Logarithm of the wealth at which a δ is given up.
    enough: f64,
    /// Each round's difference and the stake that was laid on it.
    rounds: Vec<(f64, f64)>,
    sum: f64,
    /// Sum of the squared distances from the mean as it was at the time.
    squares: f64,
}

impl Shares {
    /// Nothing known yet. The interval misses the mean at any time with a probability of at
    /// most `error_rate`.
    ///
    /// # Panics
    /// When `error_rate` is not between 0 and 1.
    pub fn new(error_rate: f64) -> Self {
        assert!(error_rate > 0.0 && error_rate < 1.0, "error rate is {error_rate}");
        Self { enough: (2.0 / error_rate).ln(), rounds: Vec::new(), sum: 0.0, squares: 0.0 }
    }

    /// Takes in by how much the two arms' shares differ in one round, from -1 to 1.
    pub fn push(&mut self, difference: f64) {
        let difference = difference.clamp(-1.0, 1.0);
        let stake = self.stake();
        self.rounds.push((difference, stake));
        self.sum += difference;
        self.squares += (difference - self.mean()).powi(2);
    }

    /// Where the mean difference lies.
    pub fn interval(&self) -> (f64, f64) {
        (self.lower_bound(1.0), -self.lower_bound(-1.0))
    }

    /// The mean of the differences, towards none as if one more round had had none.
    fn mean(&self) -> f64 {
        self.sum / (self.rounds.len() as f64 + 1.0)
    }

    /// What is staked on the next round for each unit of difference, before it is kept
    /// from ruin.
    fn stake(&self) -> f64 {
        let next = self.rounds.len() as f64 + 1.0;
        let variance = (PRIOR_VARIANCE + self.squares) / next;
        (2.0 * self.enough / (variance * next * next.ln_1p())).sqrt()
    }

    /// The greatest δ that the bet on "more" gives up. `sign` is -1 to look at the mirror
    /// image, in which the upper bound is the lower one.
    fn lower_bound(&self, sign: f64) -> f64 {
        bisect(-1.0, 1.0, HALVINGS, |delta| self.log_wealth(delta, sign) >= self.enough).0
    }

    /// The logarithm of the wealth of the bet that the mean is more than δ.
    fn log_wealth(&self, delta: f64, sign: f64) -> f64 {
        self.rounds.iter().map(|round| gain(*round, delta, sign)).sum()
    }
}

/// What a round adds to the wealth of a bet that the mean, in this direction, is beyond δ.
fn gain((difference, stake): (f64, f64), delta: f64, sign: f64) -> f64 {
    // The least that a difference can be is -1.
    let most = AT_STAKE / (1.0 + delta);
    (stake.min(most) * (sign * difference - delta)).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(rounds: usize, difference: f64) -> Shares {
        let mut shares = Shares::new(0.05);
        (0..rounds).for_each(|_| shares.push(difference));
        shares
    }

    #[test]
    fn before_any_round_anything_is_possible() {
        assert_eq!(Shares::new(0.05).interval(), (-1.0, 1.0));
    }

    #[test]
    fn the_interval_holds_a_steady_difference_and_narrows() {
        let mut before = 2.1;
        for rounds in [1, 10, 50, 90] {
            let (low, high) = after(rounds, -0.04).interval();
            assert!(low < -0.04 && -0.04 < high, "{low} {high}");
            assert!(high - low < before, "{low} {high}");
            before = high - low;
        }
    }

    #[test]
    fn swapping_the_arms_mirrors_everything() {
        let ((low, high), mirrored) = (after(200, 0.04).interval(), after(200, -0.04).interval());
        assert!((low + mirrored.1).abs() < 1e-8 && (high + mirrored.0).abs() < 1e-8);
        assert!(low > 0.0, "{low}");
    }

    #[test]
    fn one_round_in_which_all_fail_ruins_nobody() {
        let mut shares = after(5, -0.5);
        shares.push(1.0);
        (0..40).for_each(|_| shares.push(-0.5));
        let (low, high) = shares.interval();
        assert!(low < -0.4 && high < 0.0, "{low} {high}");
    }
}
