//! How long each of many short comparisons takes: real ones, but with the shortest slices
//! that the engine uses, so that there are many of them.

use std::time::Duration;

/// How long a slice is aimed to last.
const SLICE_NS: f64 = 4e6;
/// A comparison may take so many times its even share of what is left, for
/// others will need less.
const PATIENCE: f64 = 1.5;
/// What is left is shared by at least so many comparisons.
const SHARERS_MIN: usize = 4;

/// About how many operations fill a slice, given what one takes.
pub(super) fn full(typical_ns: f64) -> f64 {
    SLICE_NS / typical_ns
}

/// The time of so many blocks, in each of which so much passes outside of the clock.
pub(super) fn time_of(blocks: u32, untimed: Duration) -> Duration {
    (untimed + Duration::from_nanos(2 * SLICE_NS as u64)) * blocks
}

/// How long the next comparison may take, of so many that are wanted.
pub(super) fn allowance(left: Duration, done: usize, wanted: usize) -> Duration {
    let sharers = wanted.saturating_sub(done).max(SHARERS_MIN);
    left.mul_f64(PATIENCE / sharers as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_leaves_time_for_a_hundred() {
        const WANTED: usize = 100;
        let mut left = Duration::from_secs(45);
        for done in 0..WANTED {
            let allowance = allowance(left, done, WANTED);
            assert!(allowance <= left, "{done}");
            // What comes early takes all that it may; so it cannot starve the last by much.
            left -= allowance.min(Duration::from_millis(450));
            assert!(left > Duration::ZERO || done + 1 == WANTED, "{done}");
        }
    }
}
