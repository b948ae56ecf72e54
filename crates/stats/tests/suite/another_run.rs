//! How often one run's interval holds another run's estimate, by how many saved runs it was
//! learned from.
//!
//! All draws are seeded. The figures are printed by
//! `cargo test -p iotoll-stats --test suite another_run -- --ignored --nocapture`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use iotoll_stats::{Interval, Settings, Stretches, Variation, median, moderate};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};

/// What a log ratio differs by from run to run, as real runs showed, and what each of ten
/// stretches adds to that.
const BETWEEN: f64 = 0.027;
const SCATTER: f64 = 0.028;
const RUNS: u64 = 400;
const MANY_RUNS: u64 = 2_000;

/// A sequence of runs of the same, the last two of which ask each other.
#[derive(Clone, Copy, Debug)]
struct Setting {
    saved: usize,
    pairs: usize,
    stretches: usize,
    /// Whether the interval has what was learned in it.
    with_learned: bool,
}

impl Setting {
    /// The stretches of each pair in one run. All pairs have their base in common.
    fn run(self, random: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
        let mut draw = |deviation: f64| -> f64 {
            let drawn: f64 = StandardNormal.sample(random);
            deviation * drawn
        };
        let base = draw(BETWEEN / 2_f64.sqrt());
        let mut pair = |_| -> Vec<f64> {
            let off = draw(BETWEEN / 2_f64.sqrt()) - base;
            (0..self.stretches).map(|_| off + draw(SCATTER)).collect()
        };
        (0..self.pairs).map(&mut pair).collect()
    }

    fn learned(self, saved: &[Vec<Vec<f64>>]) -> Vec<Option<Variation>> {
        let series = |pair: usize| saved.iter().map(|run| mean(&run[pair])).collect::<Vec<f64>>();
        let learned = |pair| Variation::learned(&[series(pair)]).filter(|_| self.with_learned);
        let mut variations: Vec<Option<Variation>> = (0..self.pairs).map(learned).collect();
        moderate(&mut variations);
        variations
    }

    /// The share of pairs in which an interval holds the next run's estimate, and the median
    /// width.
    fn coverage(self, runs: u64) -> (f64, f64) {
        let (mut held, mut widths) = (0, Vec::new());
        for seed in 0..runs {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let saved: Vec<_> = (0..self.saved).map(|_| self.run(&mut random)).collect();
            let learned = self.learned(&saved);
            let [this, next] = [self.run(&mut random), self.run(&mut random)];
            for (pair, learned) in learned.into_iter().enumerate() {
                let Interval { low, high, .. } = interval(&this[pair], learned);
                held += u64::from((low..=high).contains(&mean(&next[pair])));
                widths.push(high - low);
            }
        }
        (held as f64 / widths.len() as f64, median(&mut widths))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn interval(stretches: &[f64], learned: Option<Variation>) -> Interval {
    let mut of = Stretches::new(Settings::default()).among_runs(learned);
    for mean in stretches {
        of.push(*mean);
    }
    of.interval()
}

const USUAL: Setting = Setting { saved: 5, pairs: 12, stretches: 10, with_learned: true };

#[test]
fn one_runs_interval_holds_another_runs_estimate() {
    for saved in [3, 5, 10] {
        for stretches in [5, 7, 10] {
            let (held, width) = Setting { saved, stretches, ..USUAL }.coverage(RUNS);
            // 0.95 but for what 400 runs may miss by chance.
            assert!(held >= 0.94, "{saved} saved, {stretches} stretches: {held}");
            assert!(stretches < 10 || saved < 5 || width <= 0.2, "{saved} saved: {width}");
        }
    }
    // This run alone does not.
    let (held, width) = Setting { with_learned: false, ..USUAL }.coverage(RUNS);
    assert!(held < 0.75 && width < 0.05, "{held} {width}");
}

#[test]
#[ignore = "prints the table in docs/statistics-appendix.md, in a minute"]
fn how_often_one_run_holds_another() {
    println!("pairs, saved runs, stretches: holds another run's estimate, median log width");
    for pairs in [1, 3, 12, 40] {
        for saved in [0, 2, 3, 4, 5, 6, 10, 20] {
            for stretches in [5, 7, 10] {
                let setting = Setting { saved, pairs, stretches, ..USUAL };
                let (held, width) = setting.coverage(MANY_RUNS / pairs.min(10) as u64);
                let held = held * 100.0;
                println!("{pairs:>5} {saved:>6} {stretches:>6} {held:>8.1}% {width:>7.3}");
            }
        }
    }
}
