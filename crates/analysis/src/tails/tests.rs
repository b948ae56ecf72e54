use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, LogNormal};
use stats::Decision;

use super::*;

fn slice(operations: u64, distribution: LogNormal<f64>, random: &mut ChaCha8Rng) -> Slice {
    let mut values: Vec<u64> =
        (0..operations).map(|_| distribution.sample(random) as u64).collect();
    values.sort_unstable();
    let buckets = values.into_iter().map(|value| (value, 1)).collect();
    let latencies = Latencies { buckets, ..Latencies::default() };
    Slice { operations, latencies, ..Slice::default() }
}

/// What is decided after so many blocks of so many operations of each arm, of one
/// distribution but for the other's being `slower` times as slow. At no worth every verdict
/// on equal arms is false.
fn decided(operations: [u64; 2], slower: f64, blocks: usize, seed: u64) -> Decision {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut tails = Tails::new(Settings { threshold: 0.0, error_rate: 0.05 });
    let of = |factor: f64| LogNormal::new((1e5 * factor).ln(), 0.5).unwrap();
    for _ in 0..blocks {
        let base = slice(operations[0], of(1.0), &mut random);
        let other = slice(operations[1], of(slower), &mut random);
        tails.take(&base, &other);
    }
    tails.sequence.decision()
}

/// The statistics' own simulations have more runs and distributions. Compared slice by
/// slice, the largest of 16 against the second largest of 100, most were `slower`.
#[test]
fn arms_that_differ_in_the_number_of_operations_alone_are_not_told_apart() {
    for operations in [[16, 100], [100, 16]] {
        let wrong = |seed: &u64| decided(operations, 1.0, 400, *seed) != Decision::Open;
        let wrong = (0..20).filter(wrong).count();
        assert!(wrong <= 1, "{operations:?}: {wrong} of 20");
    }
}

#[test]
fn a_slower_tail_is_found_however_few_operations_a_slice_has() {
    let found = |seed: &u64| decided([16, 100], 2.0, 400, *seed) == Decision::Greater;
    assert_eq!((0..5).filter(found).count(), 5);
}

#[test]
fn a_percentile_is_not_judged_before_both_arms_have_enough_operations() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let even = LogNormal::new(10.0, 0.1).unwrap();
    let mut tails = Tails::new(Settings::default());
    let judged: Vec<usize> = (0..6)
        .map(|_| {
            tails.take(&slice(100, even, &mut random), &slice(5000, even, &mut random));
            tails.sequence.blocks()
        })
        .collect();
    assert_eq!(judged, [0, 0, 1, 1, 1, 2]);
}
