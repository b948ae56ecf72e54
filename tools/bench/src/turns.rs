//! In which order those that are compared take their turns.

use rand::seq::SliceRandom as _;

/// So many numbers, from 0 on, in an order that is drawn anew.
pub(crate) fn in_any_order(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.shuffle(&mut rand::rng());
    order
}
