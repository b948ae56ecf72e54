//! The order of the arms within a round.
//!
//! A slice may change how long the next one takes (*carry-over*). So in a round of two to
//! four arms each follows each, itself too, equally often: the round is a walk along all ways
//! from one arm to the next, each once, which has each arm as often as there are arms (a
//! serially balanced sequence: Finney and Outhwaite, "Serially balanced sequences in
//! bioassay", 1956; a de Bruijn sequence of order 2). Which of all such walks it is, is drawn
//! at random. The next round goes on where the walk ended, so that a stretch is balanced as a
//! whole.
//!
//! With more arms a round would be long. It has each of them once, in random order: each
//! follows every other about equally often, and what one leaves is spread over many.

use rand::SeedableRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand_chacha::ChaCha8Rng;

/// Rounds of up to so many arms are balanced.
pub(crate) const BALANCED_MAX: usize = 4;

/// Orders rounds, the same ones for the same seed.
pub(crate) struct Orders {
    random: ChaCha8Rng,
    /// Where the last balanced round of the stretch ended.
    last: Option<usize>,
}

impl Orders {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: ChaCha8Rng::seed_from_u64(seed), last: None }
    }

    /// A stretch does not go on where the one before ended.
    pub(crate) fn begin_stretch(&mut self) {
        self.last = None;
    }

    /// The next round's order, with each of the arms in it once.
    pub(crate) fn once(&mut self, mut arms: Vec<usize>) -> Vec<usize> {
        arms.shuffle(&mut self.random);
        arms
    }

    /// The next round's order, in which each arm follows each once.
    pub(crate) fn balanced(&mut self, arms: &[usize]) -> Vec<usize> {
        let last = self.last.filter(|last| arms.contains(last));
        let Some(first) = last.or_else(|| arms.choose(&mut self.random).copied()) else {
            return Vec::new();
        };
        self.last = Some(first);
        // A walk may be back before it has gone all ways; of four arms most are.
        loop {
            let order = self.walk(arms, first);
            if order.len() == arms.len().pow(2) {
                return order;
            }
        }
    }

    /// A walk that starts from an arm and goes no way twice, until there is none left. It ends
    /// where it started.
    fn walk(&mut self, arms: &[usize], first: usize) -> Vec<usize> {
        let mut ways: Vec<(usize, usize)> =
            arms.iter().flat_map(|from| arms.iter().map(|to| (*from, *to))).collect();
        ways.shuffle(&mut self.random);
        let (mut at, mut order) = (first, Vec::new());
        while let Some(next) = ways.iter().position(|(from, _)| *from == at) {
            at = ways.swap_remove(next).1;
            order.push(at);
        }
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
    fn each_arm_follows_each_equally_often() {
        for arms in [vec![3, 8], vec![0, 1, 2], vec![5, 1, 7, 2]] {
            let mut orders = Orders::new(5);
            let rounds: Vec<Vec<usize>> = (0..30).map(|_| orders.balanced(&arms)).collect();
            let sequence = [vec![rounds[0][rounds[0].len() - 1]], rounds.concat()].concat();
            for from in &arms {
                for to in &arms {
                    let followed = sequence.windows(2).filter(|pair| *pair == [*from, *to]);
                    assert_eq!(followed.count(), 30, "{to} after {from}");
                }
            }
            assert!(rounds.iter().any(|round| *round != rounds[0]), "all are the same");
        }
    }

    #[test]
    fn a_stretch_starts_from_any_arm_and_an_arm_that_failed_is_not_in_it() {
        let mut orders = Orders::new(9);
        let mut lasts: Vec<Option<usize>> = (0..40)
            .map(|_| {
                orders.begin_stretch();
                orders.balanced(&[0, 1, 2]).last().copied()
            })
            .collect();
        lasts.sort_unstable();
        lasts.dedup();
        assert_eq!(lasts, [0, 1, 2].map(Some));
        for _ in 0..20 {
            assert!(!orders.balanced(&[0, 2]).contains(&1));
        }
        assert!(orders.balanced(&[]).is_empty());
    }

    #[test]
    fn the_same_seed_gives_the_same_orders() {
        let (mut a, mut b) = (Orders::new(3), Orders::new(3));
        assert_eq!(a.once(vec![0, 1, 2, 3, 4]), b.once(vec![0, 1, 2, 3, 4]));
        assert_eq!(a.balanced(&[0, 1]), b.balanced(&[0, 1]));
    }
}
