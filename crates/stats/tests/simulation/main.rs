//! What the statistics promise, put to the proof on machines of known truth.
//!
//! Every number is drawn from seeded generators, so that the figures are the
//! same on every machine. They are printed by
//! `cargo test -p iotoll-stats --test simulation -- --nocapture`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod machine;
mod rate;

use iotoll_stats::{Decision, Sequence, Settings, median};
use machine::{Machine, Noise, PROMISED};
use rate::Rate;

const BLOCKS: usize = 200;
const ERROR_RATE: f64 = 0.05;

fn sequence(worth: f64) -> Sequence {
    Sequence::new(Settings { worth, error_rate: ERROR_RATE })
}

/// Feeds a sequence until it decides or `blocks` are used up.
fn decide(worth: f64, machine: &mut Machine, blocks: usize) -> Sequence {
    let mut sequence = sequence(worth);
    while sequence.decision() == Decision::Open && sequence.blocks() < blocks {
        sequence.push(machine.block()).unwrap();
    }
    sequence
}

/// How often any verdict at all is given in `runs` runs.
fn verdicts(noise: Noise, difference: f64, worth: f64, runs: u64, blocks: usize) -> Rate {
    Rate::of(runs, |seed| {
        let mut machine = Machine::new(noise, difference, seed);
        decide(worth, &mut machine, blocks).decision() != Decision::Open
    })
}

/// With no difference and no worth, each verdict is false. With a difference
/// that lies exactly on the edge of worth, too: it is neither beyond nor within.
#[test]
fn false_verdicts_stay_below_the_error_rate() {
    println!("\nFalse verdicts, looking after each of {BLOCKS} blocks, at most 5% promised:");
    println!("{:26} {:>22} {:>22}", "noise", "no difference", "on the edge of 5%");
    for noise in PROMISED {
        let equal = verdicts(noise, 0.0, 0.0, 2_000, BLOCKS);
        let edge = verdicts(noise, 1.05_f64.ln(), 0.05, 2_000, BLOCKS);
        println!("{:26} {equal:>22} {edge:>22}", format!("{noise:?}"));
        for rate in [equal, edge] {
            assert!(rate.surely_at_most() <= ERROR_RATE, "{noise:?}: {rate}");
        }
    }
}

/// The interval that is shown, be it the one that decided or the one at the end
/// of the budget, holds the truth.
#[test]
fn the_interval_covers_the_truth() {
    const LENGTHS: [usize; 3] = [20, 60, 200];
    println!("\nThe shown interval misses the truth, after at most {LENGTHS:?} blocks:");
    for noise in PROMISED {
        for percent in [0.0, 3.0, 5.0, 12.0, -20.0] {
            let truth = (1.0_f64 + percent / 100.0).ln();
            let mut missed = LENGTHS.map(|_| 0);
            let runs = 500;
            for seed in 0..runs {
                let mut machine = Machine::new(noise, truth, seed);
                let mut sequence = sequence(0.05);
                for (length, missed) in LENGTHS.iter().zip(&mut missed) {
                    while sequence.decision() == Decision::Open && sequence.blocks() < *length {
                        sequence.push(machine.block()).unwrap();
                    }
                    let interval = sequence.interval();
                    *missed += u64::from(truth < interval.low || interval.high < truth);
                }
            }
            let rates = missed.map(|hits| Rate { hits, runs });
            let [short, middle, long] = rates;
            println!(
                "{:24} {percent:>4}% {short:>20} {middle:>20} {long:>20}",
                format!("{noise:?}")
            );
            for rate in rates {
                assert!(rate.observed() <= ERROR_RATE, "{noise:?} at {percent}%: {rate}");
            }
        }
    }
}

/// Median number of blocks to a decision, of which all must be `expected`
/// but for the error rate.
fn blocks_needed(noise: Noise, difference: f64, expected: Decision) -> f64 {
    let mut needed = Vec::new();
    let mut wrong = 0;
    for seed in 0..1_000 {
        let mut machine = Machine::new(noise, difference, seed);
        let sequence = decide(0.05, &mut machine, 1_000);
        wrong += u64::from(sequence.decision() != expected);
        needed.push(sequence.blocks() as f64);
    }
    assert!(wrong <= 50, "{noise:?} at {difference}: {wrong} of 1000 not {expected:?}");
    median(&mut needed)
}

#[test]
fn differences_are_found_with_few_blocks() {
    println!("\nMedian number of blocks to a verdict at a worth of 5%:");
    println!("{:26} {:>14} {:>14} {:>10}", "noise", "12% slower", "20% faster", "same");
    let stricter = Noise::Gaussian(0.05 * 2.0_f64.sqrt());
    for noise in [PROMISED.as_slice(), &[stricter]].concat() {
        let slower = blocks_needed(noise, 1.12_f64.ln(), Decision::Greater);
        let faster = blocks_needed(noise, 0.8_f64.ln(), Decision::Less);
        let same = blocks_needed(noise, 0.0, Decision::Within);
        println!("{:26} {slower:>14} {faster:>14} {same:>10}", format!("{noise:?}"));
        if noise == Noise::Gaussian(0.05) {
            assert!(slower <= 20.0 && same <= 40.0, "{slower} {same}");
        }
    }
}
