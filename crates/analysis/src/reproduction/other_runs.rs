//! By how much the ratios of an article differ from run to run.
//!
//! A conclusion is decided for this machine rather than for this run, so that the next run
//! decides the same. Saved runs of the same plan show how much its comparisons vary. An article
//! has ratios of other pairs too; these vary as much as the plan's. Where no saved run
//! shows anything, the usual variation is assumed.

use model::arm::Pair;
use model::between_runs::{BetweenRuns, Learned};
use model::run::Run;

/// What six default runs of every study differed by: the standard deviation of the logarithm
/// of a ratio of times.
const USUAL: Learned = Learned { deviation: 0.027, degrees: 100.0, runs: 0, level: None };

/// How much each pair's ratio of times varies.
pub(super) fn of_pairs(run: &Run, pairs: &[Pair]) -> Vec<BetweenRuns> {
    let shown = |pair: &Pair| {
        let is_it = |planned: &Pair| {
            let sides = [planned.base, planned.other];
            sides == [pair.base, pair.other] || sides == [pair.other, pair.base]
        };
        let place = run.plan.pairs.iter().position(is_it)?;
        // The level of the figures that an article reads is not known.
        Some(Learned { level: None, ..run.between_runs.get(place)?.time? })
    };
    let usual = of_all(run).unwrap_or(USUAL);
    let of_pair = |pair| BetweenRuns { time: Some(shown(pair).unwrap_or(usual)), p99: None };
    pairs.iter().map(of_pair).collect()
}

/// What is assumed; nothing where saved runs show how much the plan's comparisons vary.
pub(super) fn assumed(run: &Run) -> Option<f64> {
    of_all(run).is_none().then_some(USUAL.deviation)
}

/// How much the plan's comparisons vary on the whole.
fn of_all(run: &Run) -> Option<Learned> {
    let known = || run.between_runs.iter().filter_map(|of| of.time);
    let mean = |of: fn(Learned) -> f64| known().map(of).sum::<f64>() / known().count() as f64;
    Some(Learned {
        deviation: mean(|learned| learned.deviation.powi(2)).sqrt(),
        degrees: mean(|learned| learned.degrees),
        runs: known().map(|learned| learned.runs).max()?,
        level: None,
    })
}
