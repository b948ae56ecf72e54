//! A plan made of the record of a run has the same arms and comparisons, in the same order.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use engine::job::Job;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run};
use model::plan::{Draft, Plan, StudyPlan, find_study};
use model::run::Run;

/// A plan of all studies, with parameters that some arms have no use for.
fn plan(assignments: &[&str]) -> Plan {
    let registry = studies::specs();
    let mut draft = Draft {
        budget: Some(Duration::from_secs(1)),
        threshold: Some(0.07),
        seed: Some(99),
        places: ["a=/a", "b=/b"].iter().map(|place| place.parse().unwrap()).collect(),
        studies: registry.iter().map(|spec| StudyPlan::new(spec)).collect(),
        ..Draft::default()
    };
    let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
    draft.set_all(&assignments, &registry).unwrap();
    draft.set_per_second("log=40", &registry).unwrap();
    draft.finish(1).unwrap()
}

fn recorded(plan: &Plan) -> Run {
    let arms = plan.arms().len();
    run(plan, &mut SimulatedRunner::new(vec![ArmBehaviour::steady(1e6, 0.01); arms], 1))
}

fn again(run: &Run) -> Plan {
    let plan = Draft::of_run(run, &studies::specs()).unwrap().finish(1).unwrap();
    plan.check_against(run).unwrap();
    plan
}

#[test]
fn every_study_is_planned_again_as_it_was() {
    for assignments in [
        &[][..],
        &["log.record=70,8193,uniform 1 KiB..2 KiB", "log.sync=never,every 10,every 250ms"],
        &["log.batch=1,64", "sqlite.rows=100,2000", "serve.rate=max,200"],
    ] {
        let before = plan(assignments);
        let after = again(&recorded(&before));
        let [then, now] = [&before, &after].map(Job::of);
        let ids = |job: &Job| job.arms.iter().map(|arm| arm.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&now), ids(&then));
        for (a, b) in now.arms.iter().zip(&then.arms) {
            assert_eq!((a.place, &a.params.0), (b.place, &b.params.0), "{}", a.id);
        }
        assert_eq!(now.pairs, then.pairs);
        assert_eq!((now.seed, now.budget, &now.per_second), (99, then.budget, &then.per_second));
        assert!((now.threshold - 0.07).abs() < 1e-12);
    }
}

#[test]
fn one_study_planned_twice_is_planned_again_as_it_was() {
    let registry = studies::specs();
    let log = find_study("log", &registry).unwrap();
    let mut twice = plan(&[]);
    let study = |strategy: &str, sync: &str| {
        let mut study = StudyPlan::new(log);
        study.strategies = vec![log.strategy(strategy).unwrap()];
        study.set("sync", vec![log.param("sync").unwrap().parse(sync).unwrap()]);
        study
    };
    twice.studies = vec![study("held", "never"), study("reopen", "each")];
    let run = recorded(&twice);
    let ids: Vec<String> = again(&run).arms().into_iter().map(|arm| arm.id).collect();
    let expected: Vec<String> = run.plan.arms.iter().map(|arm| arm.id.clone()).collect();
    assert_eq!(ids, expected);
}

#[test]
fn what_this_version_does_not_know_is_said() {
    let whole = recorded(&plan(&[]));
    let says = |change: &dyn Fn(&mut Run), says: &str| {
        let mut run = whole.clone();
        change(&mut run);
        let made = Draft::of_run(&run, &studies::specs());
        let checked = made.and_then(|draft| draft.finish(1)).and_then(|p| p.check_against(&run));
        let error = checked.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    says(&|run| run.plan.arms[0].study = "ledger".into(), "no study `ledger`");
    says(&|run| run.plan.arms[0].strategy = "new".into(), "has no strategy `new`");
    let param = |run: &mut Run, name: &str, value: &str| {
        run.plan.arms[0].params.insert(name.to_owned(), value.to_owned());
    };
    says(&|run| param(run, "colour", "red"), "has no key `colour`");
    says(&|run| param(run, "record", "much"), "log.record: ");
    says(&|run| run.plan.budget_s = f64::MAX, "a budget of");
    says(&|run| run.places[0].label = "a\nb".into(), "is not a label");
    says(&|run| drop(run.plan.arms.pop()), "comparisons, but this version of iotoll gets");
    says(
        &|run| run.plan.arms = vec![run.plan.arms[0].clone(); 300],
        "it has 300 combinations, but at most 256",
    );
}
