use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, LogNormal};
use stats::{Decision, STRETCHES};

use super::*;

fn slice(operations: u64, distribution: LogNormal<f64>, random: &mut ChaCha8Rng) -> Slice {
    let mut values: Vec<u64> =
        (0..operations).map(|_| distribution.sample(random) as u64).collect();
    values.sort_unstable();
    let buckets = values.into_iter().map(|value| (value, 1)).collect();
    let latencies = Latencies { buckets, ..Latencies::default() };
    Slice { operations, latencies, ..Slice::default() }
}

/// What is decided after ten stretches of so many rounds of so many operations of each arm,
/// of one distribution but for the other's being `slower` times as slow. At a threshold of 0
/// every verdict on equal arms is false.
fn decided(operations: [u64; 2], slower: f64, rounds: usize, seed: u64) -> Decision {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut tails = Tails::new(Settings { threshold: 0.0, error_rate: 0.05 }, None);
    let of = |factor: f64| LogNormal::new((1e5 * factor).ln(), 0.5).unwrap();
    for _ in 0..STRETCHES {
        for _ in 0..rounds {
            let base = slice(operations[0], of(1.0), &mut random);
            let other = slice(operations[1], of(slower), &mut random);
            tails.take(&base, &other);
        }
        tails.end_stretch();
    }
    tails.stretches.decision()
}

/// The statistics' own simulations have more runs and distributions. Compared slice by
/// slice, the largest of 16 with the second largest of 100, most were `slower`.
#[test]
fn arms_that_differ_in_the_number_of_operations_alone_are_not_told_apart() {
    for operations in [[16, 100], [100, 16]] {
        let wrong = |seed: &u64| decided(operations, 1.0, 20, *seed) != Decision::Open;
        let wrong = (0..40).filter(wrong).count();
        assert!(wrong <= 5, "{operations:?}: {wrong} of 40");
    }
}

#[test]
fn a_slower_tail_is_found_however_few_operations_a_slice_has() {
    let found = |seed: &u64| decided([16, 100], 2.0, 20, *seed) == Decision::Greater;
    assert_eq!((0..5).filter(found).count(), 5);
}

#[test]
fn a_percentile_is_not_judged_before_both_arms_have_enough_operations() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let even = LogNormal::new(10.0, 0.1).unwrap();
    let mut tails = Tails::new(Settings::default(), None);
    let judged: Vec<usize> = (0..6)
        .map(|_| {
            tails.take(&slice(100, even, &mut random), &slice(5000, even, &mut random));
            tails.end_stretch();
            tails.stretches.count()
        })
        .collect();
    assert_eq!(judged, [0, 0, 1, 1, 1, 2]);
}

#[test]
fn positions_differ_from_stretch_to_stretch_and_are_spread_evenly() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let even = LogNormal::new(10.0, 0.1).unwrap();
    let drawn = || position(&slice(300, even, &mut random).latencies);
    let positions: Vec<f64> = std::iter::repeat_with(drawn).take(2_000).collect();
    for quarter in 0..4 {
        let low = f64::from(quarter) / 4.0;
        let within = positions.iter().filter(|p| (low..low + 0.25).contains(*p)).count();
        assert!((430..=570).contains(&within), "{quarter}: {within} of 2000");
    }
}
