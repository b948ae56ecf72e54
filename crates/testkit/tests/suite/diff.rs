//! Two whole runs of a simulated machine held against each other, from plan to verdict.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::time::Duration;

use analysis::{Analysed, Judged, analyse, diff, setting};
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run};
use model::analysis::{Analysis, Verdict};
use model::diff::Diff;
use model::matching::Matching;
use model::plan::{Draft, Plan, StudyPlan};
use model::run::Run;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};

/// What a run's tolls vary by from the next one's.
const BETWEEN: f64 = 0.01;
/// Runs of the same that are saved besides the two.
const SAVED: usize = 10;
const DIFFS: usize = 20;
const JUDGED: Judged = Judged { threshold: 0.05, error_rate: 0.05 };

fn plan(places: [&str; 2]) -> Plan {
    let registry = studies::specs();
    let log = model::plan::find_study("log", &registry).unwrap();
    let mut draft = Draft {
        budget: Some(Duration::from_secs(5)),
        places: places.iter().map(|place| place.parse().unwrap()).collect(),
        studies: vec![StudyPlan::new(log)],
        ..Draft::default()
    };
    draft.select_strategies(&["reopen".to_owned(), "held".to_owned()]).unwrap();
    draft.finish(7).unwrap()
}

fn usual() -> Plan {
    plan(["disk=/var/lib/app", "ram=/dev/shm"])
}

/// A run on another day; its second arm takes so many times as long.
fn measured(plan: &Plan, factor: f64, seed: u64) -> (Run, Analysis) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut gauss = || -> f64 { StandardNormal.sample(&mut random) };
    let mut typical_times = [1930.0, 290.0, 1620.0, 292.0].map(|ns| ns * (BETWEEN * gauss()).exp());
    typical_times[1] *= factor;
    let mut runner =
        SimulatedRunner::new(typical_times.map(|ns| ArmBehaviour::steady(ns, 0.04)).to_vec(), seed);
    let mut run = run(plan, &mut runner);
    run.run.id = format!("{seed:016x}");
    let analysis = analyse(&run);
    (run, analysis)
}

fn compared(
    before: &(Run, Analysis),
    after: &(Run, Analysis),
    saved: &HashMap<String, Vec<f64>>,
) -> Diff {
    let [before, after] = [before, after].map(|(run, analysis)| Analysed { run, analysis });
    let mut repeats = |setting: &str| saved.get(setting).cloned().unwrap_or_default();
    diff(before, after, &Matching::default(), JUDGED, &mut repeats)
}

/// What is kept of runs: the log tolls by their settings.
fn saved(runs: &[(Run, Analysis)]) -> HashMap<String, Vec<f64>> {
    let mut typical_times: HashMap<String, Vec<f64>> = HashMap::new();
    for (run, analysis) in runs {
        for (arm, result) in run.plan.arms.iter().zip(&analysis.arms) {
            let setting = setting(run, arm).unwrap();
            typical_times.entry(setting).or_default().push(result.typical_ns.unwrap().ln());
        }
    }
    typical_times
}

#[test]
fn of_two_runs_of_the_same_no_change_is_named_and_15_percent_are() {
    let plan = usual();
    let others: Vec<_> = (0..SAVED as u64).map(|seed| measured(&plan, 1.0, seed)).collect();
    let others = saved(&others);
    let (mut falsely, mut rightly) = (0, 0);
    for seed in 0..DIFFS as u64 {
        let before = measured(&plan, 1.0, 1000 + seed);
        let after = measured(&plan, 1.0, 2000 + seed);
        let slower = measured(&plan, 1.15, 2000 + seed);
        let same = compared(&before, &after, &others);
        assert!(same.facts.is_empty() && same.missing.is_empty(), "{same:?}");
        assert!(same.arms.iter().all(|arm| arm.learned_from == Some(SAVED)), "{same:?}");
        falsely += usize::from(same.changed().next().is_some());
        let found = compared(&before, &slower, &others);
        let named = found.arms.iter().position(|arm| arm.verdict == Verdict::Slower);
        rightly += usize::from(named == Some(1));
    }
    assert!(falsely <= 1, "{falsely} of {DIFFS} diffs of the same name a change");
    assert!(rightly >= DIFFS - 1, "{rightly} of {DIFFS} diffs name the change");
}

#[test]
fn a_regression_that_was_saved_several_times_is_still_one() {
    let plan = usual();
    let quiet = (0..6).map(|seed| measured(&plan, 1.0, seed));
    let slower = (10..15).map(|seed| measured(&plan, 1.5, seed));
    let others = saved(&quiet.chain(slower).collect::<Vec<_>>());
    let before = measured(&plan, 1.0, 1000);
    let found = compared(&before, &measured(&plan, 1.5, 2000), &others);
    assert_eq!(found.arms[1].verdict, Verdict::Slower, "{found:?}");
    assert!(found.arms[1].runs_vary_by < 0.03, "{found:?}");
    assert_eq!(found.slower().count(), 1, "{found:?}");
}

#[test]
fn ten_percent_is_found_after_six_quiet_runs() {
    let plan = usual();
    let others = saved(&(0..6).map(|seed| measured(&plan, 1.0, seed)).collect::<Vec<_>>());
    let before = measured(&plan, 1.0, 1000);
    let mut slower = measured(&plan, 1.0, 2000);
    let time = |(_, analysis): &(Run, Analysis)| analysis.arms[1].typical_ns.unwrap();
    let times = 1.1 * time(&before) / time(&slower);
    slower.0.slices.iter_mut().filter(|slice| slice.arm == 1).for_each(|slice| {
        slice.spent.elapsed_ns = (slice.spent.elapsed_ns as f64 * times) as u64;
    });
    slower.1 = analyse(&slower.0);
    let found = compared(&before, &slower, &others);
    assert_eq!(found.arms[1].verdict, Verdict::Slower, "{found:?}");
}

#[test]
fn without_other_runs_a_change_must_be_greater() {
    let plan = usual();
    let (before, none) = (measured(&plan, 1.0, 1), HashMap::new());
    let of = |factor: f64| compared(&before, &measured(&plan, factor, 2), &none);
    assert_eq!(of(1.15).changed().count(), 0);
    assert!(of(1.15).arms.iter().all(|arm| arm.learned_from.is_none()));
    let (half, twice) = (of(0.5), of(2.0));
    assert_eq!((half.changed().count(), half.arms[1].verdict), (1, Verdict::Faster));
    assert_eq!((twice.changed().count(), twice.arms[1].verdict), (1, Verdict::Slower));
    assert!(twice.slower().count() == 1 && half.slower().count() == 0);
}

#[test]
fn what_else_differs_is_found_and_runs_of_it_are_no_repeats() {
    let plan = usual();
    let before = measured(&plan, 1.0, 1);
    let mut after = measured(&plan, 1.0, 2);
    "6.18.5".clone_into(&mut after.0.machine.kernel);
    after.0.places[0].mount_options = vec!["noatime".to_owned()];
    after.0.places[1].total_bytes *= 2;
    after.0.places[1].free_bytes *= 2;
    after.0.run.version = "9.9.9".to_owned();
    let settings = [&before, &after].map(|(run, _)| setting(run, &run.plan.arms[0]).unwrap());
    assert_ne!(settings[0], settings[1]);
    let found = compared(&before, &after, &HashMap::new());
    let facts: Vec<String> = found
        .facts
        .iter()
        .map(|fact| format!("{}: {} -> {}", fact.what, fact.before, fact.after))
        .collect();
    let expected = [
        "iotoll: 0.0.0 -> 9.9.9",
        "kernel: simulated -> 6.18.5",
        "disk: mounted: relatime -> noatime",
        "ram: size: 100 GB -> 200 GB",
    ];
    assert_eq!(facts, expected);
    assert_eq!(found.arms.len(), 4);
}

#[test]
fn arms_are_matched_by_what_they_do_and_places_by_label_or_in_order() {
    let before = measured(&usual(), 1.0, 1);
    let moved = measured(&plan(["new=/mnt/new", "ram=/dev/shm"]), 1.0, 2);
    let found = compared(&before, &moved, &HashMap::new());
    let ids: Vec<&str> = found.arms.iter().map(|arm| arm.id.as_str()).collect();
    assert_eq!(ids, ["log/reopen@new", "log/reopen@ram", "log/held@new", "log/held@ram"]);
    assert!(found.facts.iter().any(|fact| fact.what == "new: label" && fact.before == "disk"));

    let mut fewer = measured(&usual(), 1.0, 2);
    "flock".clone_into(&mut fewer.0.plan.arms[2].strategy);
    fewer.0.plan.arms[0].params.insert("record".to_owned(), "71 B".to_owned());
    // What an older version did not have is as if it were at its default.
    fewer.0.plan.arms[1].params.remove("sync");
    let found = compared(&before, &fewer, &HashMap::new());
    assert_eq!(found.arms.len(), 2, "{found:?}");
    assert_eq!(found.missing.len(), 4, "{found:?}");
    assert!(found.missing.iter().all(|missing| !missing.failed));
}

#[test]
fn a_parameter_that_keeps_arms_apart_is_named_and_may_be_any_if_that_is_asked_for() {
    let before = measured(&usual(), 1.0, 1);
    let mut after = measured(&usual(), 1.0, 2);
    for arm in &mut after.0.plan.arms {
        arm.params.insert("record".to_owned(), "0.07 kB".to_owned());
    }
    let found = compared(&before, &after, &HashMap::new());
    assert_eq!((found.arms.len(), found.is_complete()), (4, true), "0.07 kB is 70 B: {found:?}");
    for arm in &mut after.0.plan.arms {
        arm.params.insert("record".to_owned(), "71 B".to_owned());
    }
    let found = compared(&before, &after, &HashMap::new());
    assert_eq!((found.arms.len(), found.missing.len(), found.lost().count()), (0, 8, 4));
    let why = &found.missing[0].why;
    assert!(why.contains("record is `70 B` here and `71 B` in the later run"), "{why}");
    assert!(why.contains("`--match log.record=*` pairs them"), "{why}");
    let any = Matching { any: vec!["log.record=*".parse().unwrap()] };
    assert_eq!(any.arms(&before.0, &after.0), [(0, 0), (1, 1), (2, 2), (3, 3)]);
    assert_eq!(any.unmatched(&before.0, &after.0), []);
    assert!(any.check([&before.0, &after.0]).is_ok());
    let typo = Matching { any: vec!["log.recrod=*".parse().unwrap()] };
    assert!(typo.check([&before.0, &after.0]).unwrap_err().0.contains("did you mean"));
}

#[test]
fn an_arm_that_was_not_measured_is_said_to_be_missing() {
    let before = measured(&usual(), 1.0, 1);
    let mut after = measured(&usual(), 1.0, 2);
    after.0.slices.retain(|slice| slice.arm != 3);
    after.1 = analyse(&after.0);
    let found = compared(&before, &after, &HashMap::new());
    assert_eq!(found.arms.len(), 3);
    assert_eq!(found.missing.len(), 1);
    assert!(found.missing[0].failed && found.missing[0].why.contains("in the later run"));
}

#[test]
fn a_record_may_say_that_a_machine_has_any_memory() {
    let (mut run, _) = measured(&usual(), 1.0, 1);
    run.machine.memory_bytes = u64::MAX;
    assert!(setting(&run, &run.plan.arms[0]).is_some());
}
