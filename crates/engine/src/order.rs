//! The order of the arms within a block: every arm once, in an order drawn at
//! random for this block alone.
//!
//! Such complete blocks balance the arms over time: each has as many slices as
//! any other at every moment. Balancing their positions as well, by running
//! every second block backwards, would cancel steady drift, but then chance no
//! longer decides which of two arms a disturbance hits, and that is all that
//! the verdicts rest on. Drift is left to be noise, which they bear.
//!
//! What a slice leaves behind may change the next one's toll (*carry-over*). Among
//! many arms each follows every other about equally often. Of two, each would follow
//! the other three times in four, and what one leaves behind would be counted as the
//! other's toll. A block of two arms therefore has each of them twice, in one of four
//! orders that are rotations of one another: A A B B, A B B A, B B A A, B A A B. Over a
//! round of these each arm follows itself as often as the other (a serially balanced
//! sequence: Finney and Outhwaite, "Serially balanced sequences in bioassay", 1956), and
//! since the rotation is drawn at random, carry-over becomes noise that is even about 0.

use rand::seq::SliceRandom;
use rand::{Rng as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Orders blocks, the same ones for the same seed.
pub(crate) struct Orders {
    random: ChaCha8Rng,
}

impl Orders {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// The next block's order, with each of the arms in it once.
    pub(crate) fn once(&mut self, mut arms: Vec<usize>) -> Vec<usize> {
        arms.shuffle(&mut self.random);
        arms
    }

    /// The next block's order, with each of two arms in it twice.
    pub(crate) fn twice(&mut self, a: usize, b: usize) -> Vec<usize> {
        let mut order = vec![a, a, b, b];
        order.rotate_left(self.random.random_range(0..4));
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_stands_in_a_block_once() {
        let mut order = Orders::new(7).once(vec![0, 1, 3, 4, 5, 6, 7]);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn who_goes_first_is_a_fair_coin_that_forgets() {
        let mut orders = Orders::new(1);
        let first: Vec<bool> = (0..4000)
            .map(|_| {
                let order = orders.once(vec![0, 1, 2, 3]);
                order.iter().position(|a| *a == 0) < order.iter().position(|a| *a == 1)
            })
            .collect();
        let heads = first.iter().filter(|first| **first).count();
        assert!((1900..=2100).contains(&heads), "{heads} of 4000");
        let repeats = first.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!((1900..=2100).contains(&repeats), "{repeats} of 3999 like the one before");
    }

    #[test]
    fn two_arms_follow_themselves_as_often_as_each_other() {
        let mut orders = Orders::new(5);
        let sequence: Vec<usize> = (0..4000).flat_map(|_| orders.twice(3, 8)).collect();
        for arm in [3, 8] {
            let followers = sequence.windows(2).filter(|pair| pair[1] == arm);
            let itself = followers.filter(|pair| pair[0] == arm).count();
            assert!((3850..=4150).contains(&itself), "{arm} after itself: {itself} of 8000");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_orders() {
        let (mut a, mut b) = (Orders::new(3), Orders::new(3));
        assert_eq!(a.once(vec![0, 1, 2, 3, 4]), b.once(vec![0, 1, 2, 3, 4]));
        assert_eq!(a.twice(0, 1), b.twice(0, 1));
    }
}
