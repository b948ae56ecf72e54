//! What the statistics promise, put to the proof on machines of known truth.
//!
//! Every number is drawn from seeded generators, so that the figures are the
//! same on every machine. They are printed by
//! `cargo test -p iotoll-stats --test suite simulation -- --nocapture`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod intervals;
mod machine;
mod naive;
mod rate;
mod speed;

use std::fmt::Write as _;

use iotoll_stats::{Decision, Sequence, Settings, median};
use machine::{Machine, Noise, PROMISED};
use rate::Rate;

const BLOCKS: usize = 200;
const ERROR_RATE: f64 = 0.05;

fn sequence(threshold: f64) -> Sequence {
    Sequence::new(Settings { threshold, error_rate: ERROR_RATE })
}

/// Feeds a sequence until it decides or `blocks` are used up.
fn decide(threshold: f64, machine: &mut Machine, blocks: usize) -> Sequence {
    let mut sequence = sequence(threshold);
    feed(&mut sequence, machine, blocks);
    sequence
}

fn feed(sequence: &mut Sequence, machine: &mut Machine, blocks: usize) {
    while sequence.decision() == Decision::Open && sequence.blocks() < blocks {
        sequence.push(machine.block()).unwrap();
    }
}

/// How often any verdict at all is given.
fn verdicts(runs: u64, noise: Noise, difference: f64, threshold: f64, blocks: usize) -> Rate {
    Rate::of(runs, |seed| {
        let mut machine = Machine::new(noise, difference, seed);
        decide(threshold, &mut machine, blocks).decision() != Decision::Open
    })
}

/// The noise of the promise, and 5% on each arm's time, which is 7% on the
/// ratio: a stricter reading of "5% noise".
fn promised_and_stricter() -> Vec<Noise> {
    [PROMISED.as_slice(), &[Noise::Gaussian(0.05 * 2.0_f64.sqrt())]].concat()
}

/// With no difference and no worth, each verdict is false. With a difference
/// that lies exactly on the edge of worth, too: it is neither beyond nor within.
#[test]
fn false_verdicts_stay_below_the_error_rate() {
    let mut table = format!(
        "False verdicts, looking after each of {BLOCKS} blocks, 2000 runs (autocorrelated: 10000):\n"
    );
    writeln!(table, "{:22} {:>16} {:>18}", "noise", "no difference", "on the edge of 5%").unwrap();
    for noise in PROMISED {
        // The guarantee is closest to its limit here.
        let runs = if noise == Noise::Autocorrelated(0.5) { 10_000 } else { 2_000 };
        let equal = verdicts(runs, noise, 0.0, 0.0, BLOCKS);
        let edge = verdicts(runs, noise, 1.05_f64.ln(), 0.05, BLOCKS);
        writeln!(table, "{noise:22} {equal:>16} {edge:>18}").unwrap();
        for rate in [equal, edge] {
            assert!(rate.surely_at_most() <= ERROR_RATE, "{noise}: {rate}");
        }
    }
    println!("{table}");
}

/// The positive control: the same harness finds an interval that does not
/// allow for looking, and one that does not allow for autocorrelation, wrong.
#[test]
fn a_t_test_at_every_look_is_caught() {
    let rejects = |noise, test: fn(&mut Machine, usize) -> bool| {
        Rate::of(1_000, |seed| test(&mut Machine::new(noise, 0.0, seed), BLOCKS))
    };
    let mut table = String::from("A t-test finds a difference where there is none, 1000 runs:\n");
    writeln!(table, "{:22} {:>16} {:>16}", "noise", "looking once", "at every block").unwrap();
    for noise in [Noise::Gaussian(0.05), Noise::Autocorrelated(0.5)] {
        let once = rejects(noise, naive::single_t_test_rejects);
        let always = rejects(noise, naive::peeking_t_test_rejects);
        writeln!(table, "{noise:22} {once:>16} {always:>16}").unwrap();
        assert!(always.observed() > 4.0 * ERROR_RATE, "{noise}: {always}");
    }
    println!("{table}");
    // Used as it is meant, the test is sound: it is not the harness that errs.
    let sound = rejects(Noise::Gaussian(0.05), naive::single_t_test_rejects);
    assert!(sound.observed() < 1.4 * ERROR_RATE, "{sound}");
}

/// Shares, in percent, that a comparison calls what it is not.
struct Wrong {
    once: f64,
    thrice: f64,
    ours: f64,
    ours_unclear: f64,
}

fn called_what_it_is_not(noise: Noise, truth: f64, right: Decision) -> Wrong {
    let machine = |seed| Machine::new(noise, truth, seed);
    let of_naive = |repeats| {
        let wrong = |seed| naive::a_then_b(&mut machine(seed), repeats, 0.05) != right;
        100.0 * Rate::of(1_000, wrong).observed()
    };
    let ours: Vec<Decision> =
        (0..1_000).map(|seed| decide(0.05, &mut machine(seed), BLOCKS).decision()).collect();
    let count = |decision| ours.iter().filter(|&&ours| ours == decision).count() as f64;
    let unclear = count(Decision::Open);
    Wrong {
        once: of_naive(1),
        thrice: of_naive(3),
        ours: (1_000.0 - count(right) - unclear) / 10.0,
        ours_unclear: unclear / 10.0,
    }
}

#[test]
fn a_then_b_gets_it_wrong_where_ours_does_not() {
    let mut table =
        format!("Called what it is not at a worth of 5%, {BLOCKS} blocks, 1000 runs:\n");
    writeln!(
        table,
        "{:22} {:>10} {:>8} {:>8} {:>8} {:>13}",
        "noise", "truth", "A B", "AAA BBB", "ours", "ours: unclear"
    )
    .unwrap();
    for noise in promised_and_stricter() {
        for (label, truth, right) in
            [("same", 0.0, Decision::Within), ("12% slower", 1.12_f64.ln(), Decision::Greater)]
        {
            let Wrong { once, thrice, ours, ours_unclear } =
                called_what_it_is_not(noise, truth, right);
            writeln!(
                table,
                "{noise:22} {label:>10} {once:7.1}% {thrice:7.1}% {ours:7.1}% {ours_unclear:12.1}%"
            )
            .unwrap();
            assert!(ours <= 100.0 * ERROR_RATE, "{noise} {label}: {ours}%");
            let caught = [Noise::LinearDrift, Noise::RandomWalk, Noise::Autocorrelated(0.5)];
            if truth == 0.0 && caught.contains(&noise) {
                assert!(thrice > 100.0 * ERROR_RATE, "{noise}: {thrice}%");
            }
        }
    }
    println!("{table}");
}

/// What lies beyond the promise: printed so that it is known, not asserted.
#[test]
#[ignore = "figures for the documentation; asserts nothing"]
fn beyond_the_promise() {
    println!("False verdicts beyond what is promised, 2000 runs:");
    for (noise, blocks) in [
        (Noise::Autocorrelated(0.2), BLOCKS),
        (Noise::Autocorrelated(0.3), BLOCKS),
        (Noise::Autocorrelated(0.4), BLOCKS),
        (Noise::Autocorrelated(0.5), 1_000),
        (Noise::Autocorrelated(0.6), BLOCKS),
        (Noise::Autocorrelated(0.7), BLOCKS),
        (Noise::Autocorrelated(0.8), BLOCKS),
        (Noise::Autocorrelated(0.9), BLOCKS),
        (Noise::AutocorrelatedTails(0.5), BLOCKS),
    ] {
        println!("{noise:26} {blocks:>5} blocks {}", verdicts(2_000, noise, 0.0, 0.0, blocks));
    }
    println!("An arm that stalls alone, in 1 slice of 20, at a worth of 5%, 1000 runs:");
    let sequences: Vec<Sequence> = (0..1_000)
        .map(|seed| decide(0.05, &mut Machine::new(Noise::StallsOfOneArm, 0.0, seed), 1_000))
        .collect();
    for decision in [Decision::Greater, Decision::Less, Decision::Within, Decision::Open] {
        let count = sequences.iter().filter(|sequence| sequence.decision() == decision).count();
        println!("{decision:?}: {count}");
    }
    let mut estimates: Vec<f64> = sequences.iter().map(|s| s.interval().estimate).collect();
    println!("median estimate: {:.4}", median(&mut estimates));
}
