//! What one of two arms leaves to the next makes no false verdict where each arm
//! follows itself as often as the other.

use iotoll_stats::{Decision, Sequence, Settings, Step};

use crate::carry_over::machine::{DIFFERENCE, Machine, Noise, Order};

const RUNS: u64 = 1_000;
/// Slices of each arm: 200 blocks of two, or 100 of four.
const SLICES: usize = 200;

/// How often a verdict is reached by the time that each arm has had so many slices,
/// where the truth is exactly on the edge of worth, so that any verdict is false.
fn false_verdicts(order: Order, left: f64, threshold: f64) -> f64 {
    let hits = (0..RUNS).filter(|&seed| {
        let mut machine = Machine::new(2, Noise::Gaussian, left, seed);
        let mut sequence = Sequence::new(Settings { threshold, error_rate: 0.05 });
        for _ in 0..SLICES / Machine::slices_of_arm(order) {
            let block = machine.block(order);
            let log_ratio = mean(&block, 1) - mean(&block, 0);
            sequence.push(log_ratio - DIFFERENCE - threshold.ln_1p()).unwrap();
        }
        sequence.decision() != Decision::Open
    });
    hits.count() as f64 / RUNS as f64
}

/// The mean log toll of an arm's slices.
fn mean(block: &[Step], arm: usize) -> f64 {
    let of_arm = || block.iter().filter(|step| step.arm == arm);
    of_arm().map(|step| step.log_typical).sum::<f64>() / of_arm().count() as f64
}

#[test]
fn blocks_of_four_are_not_fooled_and_blocks_of_two_are() {
    println!("False verdicts where arm 1 leaves so much to what follows, {RUNS} runs");
    for left in [0.0, 0.1, 0.2] {
        for threshold in [0.0, 0.05] {
            let [four, two] = [Order::Rotated, Order::Shuffled]
                .map(|order| false_verdicts(order, left, threshold));
            println!("left {left}, worth {threshold}: blocks of four {four}, of two {two}");
            assert!(four <= 0.05, "left {left}, worth {threshold}: {four}");
            assert!(left == 0.0 || two > 0.5, "left {left}, worth {threshold}: {two}");
        }
    }
}
