//! What a run says where saved runs showed how much its comparisons differ from run to run.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use analysis::analyse;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run_among};
use model::analysis::{Analysis, Comparison, Verdict};
use model::between_runs::{BetweenRuns, Learned};
use model::document::Document;
use model::noise::NoiseCode;
use model::plan::{Draft, Plan, StudyPlan};
use model::run::Run;

/// One strategy on two places.
fn plan() -> Plan {
    let registry = studies::specs();
    let log = model::plan::find_study("log", &registry).unwrap();
    let mut draft = Draft {
        budget: Some(Duration::from_secs(10)),
        places: ["disk=/var/lib/app", "ram=/dev/shm"].map(|p| p.parse().unwrap()).to_vec(),
        studies: vec![StudyPlan::new(log)],
        ..Draft::default()
    };
    draft.select_strategies(&["held".to_owned()]).unwrap();
    draft.finish(7).unwrap()
}

/// A run whose second arm takes so many times as long, and six saved runs differ by this much.
fn measured(factor: f64, deviation: Option<f64>) -> Run {
    measured_after(factor, deviation, None)
}

/// The same where the second arm took so many times as long in the last saved runs.
fn measured_after(factor: f64, deviation: Option<f64>, saved: Option<f64>) -> Run {
    let level = saved.map(f64::ln);
    let arms = [1000.0, 1000.0 * factor].map(|ns| ArmBehaviour::steady(ns, 0.03)).to_vec();
    let learned = |deviation| Learned { deviation, degrees: 5.0, runs: 6, level };
    let between = |deviation| {
        let learned = Some(learned(deviation));
        BetweenRuns { time: learned, p99: learned }
    };
    let between_runs: Vec<BetweenRuns> = deviation.into_iter().map(between).collect();
    run_among(&plan(), &between_runs, &mut SimulatedRunner::new(arms, 1))
}

fn compared(run: &Run) -> Comparison {
    analyse(run).comparisons.remove(0)
}

#[test]
fn a_difference_that_another_run_may_not_show_has_no_verdict() {
    let alone = compared(&measured(1.2, None));
    assert_eq!((alone.verdict, alone.other_runs), (Verdict::Slower, None));
    let varied = compared(&measured(1.2, Some(0.06)));
    assert_eq!(varied.verdict, Verdict::Unclear);
    let why = varied.why.unwrap();
    assert_eq!(why, "slower in this run, but saved runs differ from each other, by 6%");
    let other_runs = varied.other_runs.unwrap();
    assert_eq!(other_runs.learned_from, 6);
    assert!(other_runs.this_run_low > varied.ratio_low, "{other_runs:?}");
    assert!(other_runs.this_run_high < varied.ratio_high, "{other_runs:?}");
    assert_eq!(varied.more_seconds, None, "no longer run would tell");
    let clear = compared(&measured(2.0, Some(0.06)));
    assert_eq!(clear.verdict, Verdict::Slower);
}

#[test]
fn percentiles_hold_for_another_run_too() {
    let [alone, varied] =
        [None, Some(0.2)].map(|deviation| compared(&measured(1.2, deviation)).p99);
    let width = |low: Option<f64>, high: Option<f64>| (high.unwrap() / low.unwrap()).ln();
    let other_runs = varied.other_runs.unwrap();
    assert!(width(varied.ratio_low, varied.ratio_high) > 0.8, "{varied:?}");
    assert!(width(alone.ratio_low, alone.ratio_high) < 0.4, "{alone:?}");
    assert!(width(other_runs.this_run_low, other_runs.this_run_high) < 0.4, "{other_runs:?}");
}

#[test]
fn a_run_ends_early_only_where_another_would_say_the_same() {
    let stretches = |run: &Run| analyse(run).stretches;
    assert_eq!(stretches(&measured(1.2, None)), 5);
    assert_eq!(stretches(&measured(1.2, Some(0.06))), 10, "it is never sure");
    assert_eq!(stretches(&measured(5.0, Some(0.06))), 5);
}

#[test]
fn a_run_far_from_the_saved_ones_says_so_and_has_wider_intervals() {
    let found = |saved| {
        let mut run = measured_after(1.2, Some(0.02), saved);
        // There is another source.
        (run.watch.after.processors, run.watch.after.uptime_ns) = (2, 1_000_000_000);
        analyse(&run)
    };
    let width = |of: &Analysis| {
        let Comparison { ratio_low, ratio_high, .. } = &of.comparisons[0];
        (ratio_high.unwrap() / ratio_low.unwrap()).ln()
    };
    // The first source is the one that a short report has.
    let said = |of: &Analysis| {
        let first = of.noise.sources.first();
        first.filter(|source| source.code == NoiseCode::UnlikeSaved).cloned()
    };
    let [untold, like, unlike] = [None, Some(1.2), Some(1.1)].map(found);
    assert!(said(&untold).is_none() && said(&like).is_none(), "{:?}", like.noise);
    assert!(width(&like) < width(&untold) && width(&untold) < 0.6 * width(&unlike));
    let said = said(&unlike).unwrap();
    assert!((3.5..4.5).contains(&said.evidence["unlike_saved"]), "{said:?}");
    assert!(said.text.contains("times as far from the last of 6 saved runs"), "{said:?}");
}

#[test]
fn what_was_learned_is_saved_with_the_run_and_earlier_runs_open_without_it() {
    let run = measured(1.2, Some(0.06));
    let analysis = analyse(&run);
    let text = serde_json::to_string(&Document::new(&run, &analysis)).unwrap();
    let read = Run::read(&text).unwrap();
    assert_eq!(read.between_runs, run.between_runs);
    assert_eq!(analyse(&read), analysis);
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value.as_object_mut().unwrap().remove("between_runs");
    let earlier = Run::read(&value.to_string()).unwrap();
    assert_eq!(compared(&earlier).verdict, Verdict::Slower);
    value["between_runs"] =
        serde_json::json!([{"time": {"deviation": -1, "degrees": 2, "runs": 3}}]);
    assert!(Run::read(&value.to_string()).is_err());
}

#[test]
fn the_full_report_has_both_intervals_and_says_what_they_rest_on() {
    let full = |run: &Run| {
        let styled =
            report::terminal::report(run, &analyse(run), report::terminal::Rest::Below, 80);
        anstream::adapter::strip_str(&styled).to_string().replace("\n    ", " ").replace('\n', " ")
    };
    let varied = full(&measured(1.2, Some(0.06)));
    assert!(varied.contains("What another run would find"), "{varied}");
    assert!(varied.contains("in this run alone 19–20%"), "{varied}");
    assert!(varied.contains("6 saved runs vary by 6%"), "{varied}");
    let alone = full(&measured(1.2, None));
    assert!(alone.contains("Intervals are of this run alone"), "{alone}");
    assert!(!alone.contains("What another run would find"), "{alone}");
}
