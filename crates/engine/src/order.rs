//! The order of the arms within a block: every arm once, in an order drawn at
//! random for this block alone.
//!
//! Such complete blocks balance the arms over time: each has as many slices as
//! any other at every moment. Balancing their positions as well, by running
//! every second block backwards, would cancel steady drift, but then chance no
//! longer decides which of two arms a disturbance hits, and that is all that
//! the verdicts rest on. Drift is left to be noise, which they bear.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Orders blocks, the same ones for the same seed.
pub(crate) struct Orders {
    random: ChaCha8Rng,
}

impl Orders {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// The next block's order of those of `arms` (0 to `arms` - 1) that `active` keeps.
    pub(crate) fn next(&mut self, arms: usize, active: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut order: Vec<usize> = (0..arms).filter(|arm| active(*arm)).collect();
        order.shuffle(&mut self.random);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_stands_in_a_block_once_and_those_left_out_do_not() {
        let mut order = Orders::new(7).next(8, |arm| arm != 2);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn who_goes_first_is_a_fair_coin_that_forgets() {
        let mut orders = Orders::new(1);
        let first: Vec<bool> = (0..4000)
            .map(|_| {
                let order = orders.next(4, |_| true);
                order.iter().position(|a| *a == 0) < order.iter().position(|a| *a == 1)
            })
            .collect();
        let heads = first.iter().filter(|first| **first).count();
        assert!((1900..=2100).contains(&heads), "{heads} of 4000");
        let repeats = first.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!((1900..=2100).contains(&repeats), "{repeats} of 3999 like the one before");
    }

    #[test]
    fn the_same_seed_gives_the_same_orders() {
        let (mut a, mut b) = (Orders::new(3), Orders::new(3));
        assert_eq!(a.next(5, |_| true), b.next(5, |_| true));
    }
}
