//! How often one of two arms is said to fail more often, where neither does and where
//! one does, looking after every block.
//!
//! All draws are seeded. The figures are printed by
//! `cargo test -p iotoll-stats --test suite shares -- --nocapture`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use iotoll_stats::{Shares, median};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution as _};

const RUNS: u64 = 1_000;
const BLOCKS: usize = 300;
const OPERATIONS: u64 = 100;

/// The probability with which an operation fails, of the base and of the other.
type Failing = fn(&mut State) -> [f64; 2];

struct State {
    random: ChaCha8Rng,
    /// Which arm a regime has hit.
    hit: Option<usize>,
}

impl State {
    fn rarely(&mut self, share: f64) -> bool {
        self.random.random::<f64>() < share
    }
}

/// One arm fails in bursts, the other evenly; 2% either.
fn bursts(state: &mut State) -> [f64; 2] {
    [0.02, if state.rarely(0.1) { 0.2 } else { 0.0 }]
}

/// Regimes that last ten blocks on average hit one arm or the other at random.
fn regimes(state: &mut State) -> [f64; 2] {
    if state.rarely(0.1) {
        let arm = state.random.random_range(0..2);
        state.hit = state.rarely(0.4).then_some(arm);
    }
    let mut failing = [0.01; 2];
    if let Some(arm) = state.hit {
        failing[arm] = 0.06;
    }
    failing
}

/// As above, but 20% of the operations fail in them.
fn harsh_regimes(state: &mut State) -> [f64; 2] {
    regimes(state).map(|share| if share > 0.05 { 0.2 } else { share })
}

fn feed(failing: Failing, seed: u64, mut looked: impl FnMut(&Shares) -> bool) {
    let mut state = State { random: ChaCha8Rng::seed_from_u64(seed), hit: None };
    let mut shares = Shares::new(0.05);
    for _ in 0..BLOCKS {
        let failing = failing(&mut state);
        let [base, other] = failing.map(|probability| {
            let failed = Binomial::new(OPERATIONS, probability).unwrap();
            failed.sample(&mut state.random) as f64 / OPERATIONS as f64
        });
        shares.push(base, other);
        if looked(&shares) {
            return;
        }
    }
}

/// How often a difference is found.
fn found(failing: Failing) -> f64 {
    let hits = (0..RUNS).filter(|&seed| {
        let mut decided = false;
        feed(failing, seed, |shares| {
            decided = shares.decision() != 0;
            decided
        });
        decided
    });
    hits.count() as f64 / RUNS as f64
}

#[test]
fn equal_shares_are_seldom_told_apart() {
    let cases: [(&str, Failing); 6] = [
        ("2% evenly", |_| [0.02; 2]),
        ("50% evenly", |_| [0.5; 2]),
        ("2%, one arm in bursts", bursts),
        ("all or nothing, one arm", |state| [0.02, if state.rarely(0.02) { 1.0 } else { 0.0 }]),
        ("regimes of 6%", regimes),
        ("regimes of 20%", harsh_regimes),
    ];
    println!("Told apart though their shares are the same, {BLOCKS} blocks, {RUNS} runs");
    for (name, failing) in cases {
        let rate = found(failing);
        println!("{name}: {:.1}%", 100.0 * rate);
        assert!(rate <= 0.05, "{name}: {rate}");
    }
}

#[test]
fn different_shares_are_told_apart() {
    println!("Median blocks to tell apart, of {OPERATIONS} operations each");
    let cases: [(&str, Failing); 4] = [
        ("5% against 1%", |_| [0.05, 0.01]),
        ("10% against 1%", |_| [0.1, 0.01]),
        ("20% against 10%", |_| [0.2, 0.1]),
        ("60% against 10%", |_| [0.6, 0.1]),
    ];
    for (name, failing) in cases {
        let blocks = |seed| {
            let mut blocks = 0;
            feed(failing, seed, |shares| {
                blocks += 1;
                shares.decision() != 0
            });
            f64::from(blocks)
        };
        let median = median(&mut (0..200).map(blocks).collect::<Vec<_>>());
        println!("{name}: {median}");
        assert!(median < BLOCKS as f64, "{name}: {median}");
    }
}
