//! Which of two is the larger more often than not, looked at whenever one likes.
//!
//! Where two arms are alike, the order in a block being random, either is as
//! likely to have more of something. A bet on the next block that stakes what the
//! past blocks' signs suggest, mixed over all biases of a coin evenly (the
//! estimator of Krichevsky and Trofimov's kind that Laplace gave), is worth
//! 2ⁿ·k!·(n-k)!/(n+1)! after n blocks of which k went one way; under a fair coin
//! it reaches 1/α at any time with a probability of at most α (Ville 1939).

/// Blocks that went one way and the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    more: u32,
    less: u32,
}

impl Signs {
    /// Takes in one block's difference; none says nothing.
    pub fn push(&mut self, difference: f64) {
        if difference > 0.0 {
            self.more += 1;
        } else if difference < 0.0 {
            self.less += 1;
        }
    }

    /// 1 where it is surely more, -1 where surely less, 0 where neither is sure.
    pub fn decision(self, error_rate: f64) -> i8 {
        if self.log_wealth() < -error_rate.ln() || self.more == self.less {
            return 0;
        }
        if self.more > self.less { 1 } else { -1 }
    }

    fn log_wealth(self) -> f64 {
        let log_factorial = |n: u32| (1..=n).map(|i| f64::from(i).ln()).sum::<f64>();
        let blocks = self.more + self.less;
        f64::from(blocks) * std::f64::consts::LN_2
            + log_factorial(self.more)
            + log_factorial(self.less)
            - log_factorial(blocks + 1)
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn a_steady_difference_is_decided_in_eight_blocks() {
        let mut signs = Signs::default();
        for block in 1..=8 {
            assert_eq!(signs.decision(0.05), 0, "after {} blocks", block - 1);
            signs.push(-0.1);
            signs.push(0.0);
        }
        assert_eq!(signs.decision(0.05), -1);
    }

    #[test]
    fn a_fair_coin_is_seldom_called_biased_however_often_one_looks() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let runs = 2000;
        let mut wrong = 0;
        for _ in 0..runs {
            let mut signs = Signs::default();
            let decided = (0..300).any(|_| {
                signs.push(if random.random::<bool>() { 1.0 } else { -1.0 });
                signs.decision(0.05) != 0
            });
            wrong += u32::from(decided);
        }
        assert!(wrong <= runs / 20, "{wrong} of {runs}");
    }
}
