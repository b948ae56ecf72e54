//! When what an arm took changed, over many runs.
//!
//! An arm is followed by what it does and by its place's label, whatever the machine was: a
//! new kernel may be what changed it. Changes are found by [`stats::change_points`].

use std::collections::BTreeMap;

use model::run::{ArmRecord, Run};
use model::trend::{ArmTrend, LevelChange, SCHEMA, Trend, TrendRun};

use crate::diff::facts_between;

/// Fewer runs show no change: their orders are too few for one to be rare.
const RUNS_MIN: usize = 8;
/// So many of an arm's runs are looked at, the latest.
const RUNS_MAX: usize = 400;

/// A run, and the logarithm of what each of its arms took, where that is known.
pub struct Point {
    /// The record; slices are not needed.
    pub run: Run,
    /// In the order of the arms.
    pub log_typical: Vec<Option<f64>>,
}

/// What arms took in these runs, the latest last, and when that changed.
pub fn trend(points: &[Point]) -> Trend {
    let mut names: Vec<(String, &ArmRecord)> = Vec::new();
    let mut series: BTreeMap<String, Vec<(&Point, f64)>> = BTreeMap::new();
    for point in points {
        for (arm, log) in point.run.plan.arms.iter().zip(&point.log_typical) {
            let Some(log) = log.filter(|log| log.exp().is_finite()) else { continue };
            let name = name(arm);
            if !series.contains_key(&name) {
                names.push((name.clone(), arm));
            }
            series.entry(name).or_default().push((point, log));
        }
    }
    let (enough, too_few): (Vec<_>, Vec<_>) =
        names.into_iter().partition(|(name, _)| series[name].len() >= RUNS_MIN);
    let is_only = |id: &str| enough.iter().filter(|(_, arm)| arm.id == id).count() == 1;
    let of = |(name, arm): &(String, &ArmRecord)| {
        of_arm(&series[name], if is_only(&arm.id) { &arm.id } else { name })
    };
    Trend {
        schema: SCHEMA.to_owned(),
        arms: enough.iter().map(of).collect(),
        too_few: too_few.len() as u64,
        runs_min: RUNS_MIN as u64,
    }
}

/// What is the same arm in other runs: what it does with which parameters, and the place's label.
fn name(arm: &ArmRecord) -> String {
    let params: Vec<String> =
        arm.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if params.is_empty() { arm.id.clone() } else { format!("{} {}", arm.id, params.join(" ")) }
}

fn of_arm(all: &[(&Point, f64)], id: &str) -> ArmTrend {
    let latest = &all[all.len().saturating_sub(RUNS_MAX)..];
    let logs: Vec<f64> = latest.iter().map(|(_, log)| *log).collect();
    let changes = stats::change_points(&logs);
    let mut levels: Vec<usize> = vec![0];
    levels.extend(changes.iter().map(|change| change.at));
    levels.push(logs.len());
    let median = |level: usize| stats::median(&mut logs[levels[level]..levels[level + 1]].to_vec());
    let change = |(level, change): (usize, &stats::ChangePoint)| {
        let (before, after) = (median(level), median(level + 1));
        LevelChange {
            at: change.at,
            before_ns: before.exp(),
            after_ns: after.exp(),
            ratio: (after - before).exp(),
            p: change.p,
            facts: facts_between(&latest[change.at - 1].0.run, &latest[change.at].0.run),
        }
    };
    let run = |(point, log): &(&Point, f64)| TrendRun {
        run: point.run.run.id.clone(),
        started: point.run.run.started.clone(),
        typical_ns: log.exp(),
    };
    ArmTrend {
        id: id.to_owned(),
        runs: latest.iter().map(run).collect(),
        changes: changes.iter().enumerate().map(change).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// So many runs, in which the first arm takes 10% longer from the thirteenth on, under
    /// another kernel.
    fn runs(count: usize) -> Vec<Point> {
        let point = |n: usize| {
            let mut run = testing::run(2, Vec::new());
            run.machine.kernel = if n < 12 { "6.1" } else { "6.18" }.to_owned();
            run.run.id = format!("{n:016x}");
            let noise = 0.01 * (((n * n * 7) % 11) as f64 / 5.0 - 1.0);
            let slower = if n < 12 { 0.0 } else { 1.1_f64.ln() };
            Point { run, log_typical: vec![Some(5.0 + noise + slower), Some(6.0 + noise)] }
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn a_change_is_dated_sized_and_comes_with_the_facts_that_changed() {
        let Trend { arms, too_few, .. } = trend(&runs(24));
        assert_eq!((arms.len(), too_few), (2, 0));
        let [change] = &arms[0].changes[..] else { panic!("{:?}", arms[0].changes) };
        assert_eq!(change.at, 12);
        assert!((change.ratio - 1.1).abs() < 0.01, "{change:?}");
        let facts: Vec<&str> = change.facts.iter().map(|fact| fact.what.as_str()).collect();
        assert_eq!(facts, ["kernel"]);
        assert_eq!(arms[1].changes, []);
    }

    #[test]
    fn arms_of_few_runs_are_counted_and_runs_without_a_time_left_out() {
        let mut points = runs(10);
        points[3].log_typical[1] = None;
        points[4].log_typical[0] = Some(f64::INFINITY);
        let Trend { arms, .. } = trend(&points);
        assert_eq!(arms.iter().map(|arm| arm.runs.len()).collect::<Vec<_>>(), [9, 9]);
        assert_eq!(trend(&runs(7)).too_few, 2);
        assert_eq!(trend(&[]).arms, []);
    }
}
