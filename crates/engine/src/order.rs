//! The order of the arms within the blocks: random and balanced.
//!
//! Every first block of two has a fresh random order; the second runs it
//! backwards. Over the two, each arm has stood at the same mean position, so
//! that a machine that slowly warms up or fills up favours none of them, and
//! which of two arms goes first is still decided by chance alone.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Orders blocks, the same ones for the same seed.
pub(crate) struct Orders {
    random: ChaCha8Rng,
    to_mirror: Option<Vec<usize>>,
}

impl Orders {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: ChaCha8Rng::seed_from_u64(seed), to_mirror: None }
    }

    /// The next block's order of those of `arms` (0 to `arms` - 1) that `active` keeps.
    pub(crate) fn next(&mut self, arms: usize, active: impl Fn(usize) -> bool) -> Vec<usize> {
        let order = if let Some(mut last) = self.to_mirror.take() {
            last.reverse();
            last
        } else {
            let mut fresh: Vec<usize> = (0..arms).collect();
            fresh.shuffle(&mut self.random);
            self.to_mirror = Some(fresh.clone());
            fresh
        };
        order.into_iter().filter(|arm| active(*arm)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_blocks_give_every_arm_the_same_mean_position() {
        let mut orders = Orders::new(7);
        for _ in 0..20 {
            let (first, second) = (orders.next(8, |_| true), orders.next(8, |_| true));
            for arm in 0..8 {
                let at = |order: &[usize]| order.iter().position(|a| *a == arm);
                assert_eq!(at(&first).zip(at(&second)).map(|(a, b)| a + b), Some(7));
            }
        }
    }

    #[test]
    fn who_goes_first_is_a_fair_coin() {
        let mut orders = Orders::new(1);
        let first_wins = (0..2000)
            .filter(|_| {
                let order = orders.next(4, |_| true);
                orders.next(4, |_| true);
                order.iter().position(|a| *a == 0) < order.iter().position(|a| *a == 1)
            })
            .count();
        assert!((900..=1100).contains(&first_wins), "{first_wins} of 2000");
    }

    #[test]
    fn the_same_seed_gives_the_same_orders_and_left_out_arms_stay_out() {
        let (mut a, mut b) = (Orders::new(3), Orders::new(3));
        assert_eq!(a.next(5, |_| true), b.next(5, |_| true));
        assert_eq!(a.next(5, |arm| arm != 2).len(), 4);
    }
}
