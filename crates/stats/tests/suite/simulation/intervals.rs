//! The interval: how narrow it is, and whether it holds the truth all the time.

use std::fmt::Write as _;

use iotoll_stats::{Decision, median};

use crate::simulation::machine::{Machine, Noise, PROMISED};
use crate::simulation::rate::Rate;
use crate::simulation::{ERROR_RATE, sequence};

/// Blocks after which the interval is looked at.
const LOOKS: [usize; 10] = [10, 14, 20, 28, 40, 56, 80, 113, 160, 200];

/// Whether the interval misses the truth at one of the looks, most of which
/// come after the verdict.
fn misses(noise: Noise, truth: f64, seed: u64) -> bool {
    let mut machine = Machine::new(noise, truth, seed);
    let mut sequence = sequence(0.05);
    LOOKS.into_iter().any(|look| {
        while sequence.blocks() < look {
            sequence.push(machine.block()).unwrap();
        }
        let interval = sequence.interval();
        truth < interval.low || interval.high < truth
    })
}

/// That no θ which is the truth is given up at any look is shown by the false
/// verdicts at a worth of 0. This is about what is shown.
#[test]
fn the_interval_covers_the_truth_before_and_after_the_verdict() {
    const RUNS: u64 = 200;
    let percents = [0.0, 3.0, 12.0, -20.0];
    let mut table = format!(
        "Intervals that miss the truth at one of {} looks up to {} blocks, {RUNS} runs:\n",
        LOOKS.len(),
        LOOKS[LOOKS.len() - 1]
    );
    write!(table, "{:22}", "noise").unwrap();
    for percent in percents {
        write!(table, " {:>14}", format!("{percent}%")).unwrap();
    }
    for noise in PROMISED {
        write!(table, "\n{noise:22}").unwrap();
        let mut hits = 0;
        for (index, percent) in percents.into_iter().enumerate() {
            let truth = (1.0_f64 + percent / 100.0).ln();
            // Other noise for each, as a difference merely shifts all.
            let first = RUNS * index as u64;
            let rate = Rate::of(RUNS, |seed| misses(noise, truth, first + seed));
            write!(table, " {rate:>14}").unwrap();
            hits += rate.hits;
        }
        let all = Rate { hits, runs: RUNS * percents.len() as u64 };
        assert!(all.observed() <= ERROR_RATE, "{noise}: {all}\n{table}");
    }
    println!("{table}\n");
}

/// Half-widths in standard deviations of a block's log ratio, one for each run.
/// A side without a bound makes it infinite.
fn half_widths(truth: f64, looks: &[usize]) -> Vec<Vec<f64>> {
    let mut widths = vec![Vec::new(); looks.len()];
    for seed in 0..300 {
        let mut machine = Machine::new(Noise::Gaussian(0.05), truth, seed);
        let mut sequence = sequence(0.05);
        for (look, widths) in looks.iter().zip(&mut widths) {
            while sequence.blocks() < *look {
                sequence.push(machine.block()).unwrap();
            }
            let interval = sequence.interval_at(ERROR_RATE);
            widths.push(0.5 * (interval.high - interval.low) / 0.05);
        }
    }
    widths
}

#[test]
fn the_interval_is_narrow_and_goes_on_narrowing() {
    let looks = [11, 15, 20, 40, 80, 160];
    let mut table = String::from(
        "Median half-width of the interval in standard deviations, Gaussian noise\n\
         (in brackets the share of runs in which a side is without a bound):\n",
    );
    write!(table, "{:12}", "truth").unwrap();
    for look in looks {
        write!(table, " {:>12}", format!("{look} blocks")).unwrap();
    }
    for (label, ratio) in [("same", 1.0), ("12% slower", 1.12), ("doubling", 2.0), ("-90%", 0.1)] {
        write!(table, "\n{label:12}").unwrap();
        let mut last = f64::INFINITY;
        for (look, mut widths) in looks.into_iter().zip(half_widths(f64::ln(ratio), &looks)) {
            let unbounded = widths.iter().filter(|width| width.is_infinite()).count() as f64;
            let unbounded = unbounded / widths.len() as f64;
            let width = median(&mut widths);
            write!(table, " {:>12}", format!("{width:.2} ({unbounded:.2})")).unwrap();
            assert!(look != 40 || width <= 0.57, "{label}: {width}");
            assert!(width < last || width.is_infinite(), "{label}: {width} after {last}");
            last = width;
        }
    }
    println!("{table}\n");
}

/// What is undecided has a bound on one side where there is evidence for that.
#[test]
fn one_side_has_a_bound_early() {
    let mut table = String::from("Runs with a bound on the near side, with both, 300 runs:\n");
    writeln!(table, "{:12} {:>10} {:>10} {:>10}", "truth", "8 blocks", "10 blocks", "12 blocks")
        .unwrap();
    for (label, ratio) in [("12% slower", 1.12), ("doubling", 2.0)] {
        write!(table, "{label:12}").unwrap();
        for blocks in [8, 10, 12] {
            let bounded = |sides: fn(bool, bool) -> bool| {
                Rate::of(300, |seed| {
                    let mut machine = Machine::new(Noise::Gaussian(0.05), f64::ln(ratio), seed);
                    let mut sequence = sequence(0.05);
                    (0..blocks).for_each(|_| sequence.push(machine.block()).unwrap());
                    let interval = sequence.interval_at(ERROR_RATE);
                    sides(interval.low.is_finite(), interval.high.is_finite())
                })
                .observed()
            };
            let (near, both) = (bounded(|low, _| low), bounded(|low, high| low && high));
            write!(table, " {:>10}", format!("{near:.2}, {both:.2}")).unwrap();
            assert!(blocks < 10 || near >= 0.9, "{label} {blocks}: {near}");
        }
        writeln!(table).unwrap();
    }
    println!("{table}");
}

/// When the truth changes after the verdict this is said; without a change it
/// hardly ever is.
#[test]
fn a_change_after_the_verdict_is_noticed() {
    let contradicted = |after: f64, seed: u64| {
        let noise = Noise::Gaussian(0.05);
        let mut sequence = sequence(0.05);
        let mut machine = Machine::new(noise, 0.0, seed);
        while sequence.decision() == Decision::Open {
            sequence.push(machine.block()).unwrap();
        }
        let mut machine = Machine::new(noise, after, seed + 10_000);
        (0..200).any(|_| {
            sequence.push(machine.block()).unwrap();
            sequence.is_contradicted()
        })
    };
    let change = Rate::of(200, |seed| contradicted(0.3, seed));
    let none = Rate::of(200, |seed| contradicted(0.0, seed));
    println!("Contradicted by 200 more blocks: {none} where all stays the same, {change} after");
    println!("a change from none to 35% slower.\n");
    assert!(change.observed() >= 0.95 && none.observed() <= 0.01, "{change} {none}");
}
