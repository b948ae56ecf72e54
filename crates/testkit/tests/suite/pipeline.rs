//! The whole way from a plan to the printed report, on a simulated machine.

#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Duration;

use analysis::analyse;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run};
use model::analysis::Verdict;
use model::plan::{Draft, Plan, StudyPlan};
use model::run::Run;
use model::slice::Slice;
use report::formats::markdown;
use report::terminal;

/// A plan for the study `log` with those strategies, on `disk` and `ram`.
fn plan(strategies: &[&str], places: &[&str], budget_s: u64) -> Plan {
    let registry = studies::specs();
    let log = model::plan::find_study("log", &registry).unwrap();
    let names: Vec<String> = strategies.iter().map(ToString::to_string).collect();
    let mut draft = Draft {
        budget: Some(Duration::from_secs(budget_s)),
        places: places.iter().map(|p| p.parse().unwrap()).collect(),
        studies: vec![StudyPlan::new(log)],
        ..Draft::default()
    };
    draft.select_strategies(&names).unwrap();
    draft.finish(7).unwrap()
}

fn steady(times_ns: &[f64]) -> Vec<ArmBehaviour> {
    times_ns.iter().map(|ns| ArmBehaviour::steady(*ns, 0.03)).collect()
}

fn printed(result: &Run, width: usize) -> String {
    let analysis = analyse(result);
    let styled = terminal::report(result, &analysis, terminal::Rest::Below, width);
    // A saved run is shown without its slices.
    let bare = result.without_slices();
    assert_eq!(terminal::report(&bare, &analysis, terminal::Rest::Below, width), styled);
    assert_eq!(markdown::text(&bare, &analysis), markdown::text(result, &analysis));
    anstream::adapter::strip_str(&styled).to_string()
}

fn verdict(result: &Run, other: &str, base: &str) -> Verdict {
    let comparisons = analyse(result).comparisons;
    let found = comparisons.iter().find(|c| c.other == other && c.base == base);
    found.unwrap().verdict
}

const PLACES: [&str; 2] = ["disk=/var/lib/app", "ram=/dev/shm"];

#[test]
fn a_run_with_clear_differences() {
    let plan = plan(&["reopen", "held", "flock"], &PLACES, 60);
    let times_ns = [1930.0, 1620.0, 290.0, 292.0, 560.0, 480.0];
    let result = run(&plan, &mut SimulatedRunner::new(steady(&times_ns), 1));
    insta::assert_snapshot!(printed(&result, 80));
    assert_eq!(verdict(&result, "log/reopen@ram", "log/reopen@disk"), Verdict::Faster);
    assert_eq!(verdict(&result, "log/held@ram", "log/held@disk"), Verdict::Same);
    assert!(result.run.seconds < 31.0, "it should stop when sure: {} s", result.run.seconds);
    assert_eq!(analyse(&result).stretches, 5);
}

#[test]
fn a_narrow_terminal_is_not_overrun() {
    let plan = plan(&["reopen", "held"], &PLACES, 60);
    let result = run(&plan, &mut SimulatedRunner::new(steady(&[1930.0, 1620.0, 290.0, 292.0]), 1));
    let text = printed(&result, 44);
    insta::assert_snapshot!(text);
}

#[test]
fn one_place_compares_strategies_alone() {
    let plan = plan(&["reopen", "held"], &["disk=/var/lib/app"], 60);
    let result = run(&plan, &mut SimulatedRunner::new(steady(&[1930.0, 290.0]), 1));
    insta::assert_snapshot!(printed(&result, 80));
}

#[test]
fn one_arm_alone_is_described() {
    let plan = plan(&["held"], &["disk=/var/lib/app"], 60);
    let result = run(&plan, &mut SimulatedRunner::new(steady(&[290.0]), 1));
    assert!(analyse(&result).comparisons.is_empty());
    insta::assert_snapshot!(printed(&result, 80));
}

#[test]
fn a_budget_that_runs_out_leaves_unclear_what_is_too_close() {
    let plan = plan(&["held"], &PLACES, 2);
    let arms = vec![ArmBehaviour::steady(290.0, 0.3), ArmBehaviour::steady(275.0, 0.3)];
    let result = run(&plan, &mut SimulatedRunner::new(arms, 1));
    assert_eq!(verdict(&result, "log/held@ram", "log/held@disk"), Verdict::Unclear);
    assert!(result.run.seconds <= 2.0, "the budget was overrun: {} s", result.run.seconds);
    insta::assert_snapshot!(printed(&result, 80));
}

#[test]
fn an_interrupt_reports_what_was_measured() {
    let plan = plan(&["reopen", "held"], &PLACES, 60);
    let arms = steady(&[1930.0, 1840.0, 290.0, 275.0]);
    let mut runner = SimulatedRunner::new(arms, 1).interrupted_at(Duration::from_secs(1));
    let result = run(&plan, &mut runner);
    assert!(result.run.interrupted);
    assert!(analyse(&result).arms.iter().all(|arm| arm.slices > 0));
    insta::assert_snapshot!(printed(&result, 80));
}

#[test]
fn an_interrupted_run_keeps_what_its_complete_stretches_allow() {
    let plan = plan(&["held"], &PLACES, 60);
    let arms = || vec![ArmBehaviour::steady(290.0, 0.3), ArmBehaviour::steady(100.0, 0.3)];
    let stretches = |seconds: f64| {
        let time = Duration::from_secs_f64(seconds);
        let result = run(&plan, &mut SimulatedRunner::new(arms(), 1).interrupted_at(time));
        (analyse(&result).stretches, verdict(&result, "log/held@ram", "log/held@disk"))
    };
    assert_eq!(stretches(29.0), (4, Verdict::Unclear));
    assert_eq!(stretches(40.0), (6, Verdict::Faster));
}

#[test]
fn a_run_saved_before_there_were_stretches_is_cut_afterwards_and_says_so() {
    let plan = plan(&["reopen", "held"], &PLACES, 10);
    let mut result =
        run(&plan, &mut SimulatedRunner::new(steady(&[1930.0, 1620.0, 290.0, 292.0]), 1));
    let said = |result: &Run| {
        let text = printed(result, 100).replace('\n', " ");
        ["cut into stretches afterwards", "intervals may be too narrow"].map(|s| text.contains(s))
    };
    assert_eq!(said(&result), [false; 2]);
    result.slices.iter_mut().for_each(|slice| slice.stretch = None);
    assert_eq!(said(&result), [true; 2]);
    assert_eq!(analyse(&result).stretches, 10);
    assert_eq!(verdict(&result, "log/held@disk", "log/reopen@disk"), Verdict::Faster);
}

#[test]
fn a_place_that_fills_up_fails_alone() {
    let plan = plan(&["reopen", "held"], &PLACES, 60);
    let mut arms = steady(&[1930.0, 1620.0, 290.0, 250.0]);
    arms[1].full_from_slice = Some(9);
    let result = run(&plan, &mut SimulatedRunner::new(arms, 1));
    assert_eq!(verdict(&result, "log/reopen@ram", "log/reopen@disk"), Verdict::Invalid);
    assert_eq!(verdict(&result, "log/held@ram", "log/held@disk"), Verdict::Faster);
    insta::assert_snapshot!(printed(&result, 80));
}

#[test]
fn a_drifting_machine_favours_no_arm() {
    let plan = plan(&["held"], &PLACES, 60);
    let arm = ArmBehaviour { drift_per_s: 0.5, ..ArmBehaviour::steady(290.0, 0.01) };
    let result = run(&plan, &mut SimulatedRunner::new(vec![arm.clone(), arm], 3));
    assert_eq!(verdict(&result, "log/held@ram", "log/held@disk"), Verdict::Same);
}

#[test]
fn cold_slices_are_left_out() {
    let plan = plan(&["held"], &PLACES, 60);
    // Still a third too slow when calibration is over, which takes seven slices.
    let cold = ArmBehaviour { cold_factor: 40.0, ..ArmBehaviour::steady(290.0, 0.01) };
    let arms = vec![cold, ArmBehaviour::steady(290.0, 0.01)];
    let result = run(&plan, &mut SimulatedRunner::new(arms, 3));
    assert_eq!(verdict(&result, "log/held@ram", "log/held@disk"), Verdict::Same);
    let compared = result.slices.iter().filter(|slice| slice.block().is_some());
    let typical_times_ns = compared.map(Slice::time_per_op_ns);
    let slowest_ns = typical_times_ns.fold(0.0, f64::max);
    assert!(slowest_ns < 290.0 * 1.15, "a slice of {slowest_ns} ns per operation counts");
}

#[test]
fn fifty_arms_are_still_readable() {
    let registry = studies::specs();
    let mut draft = Draft {
        places: PLACES.iter().map(|p| p.parse().unwrap()).collect(),
        studies: vec![StudyPlan::new(model::plan::find_study("log", &registry).unwrap())],
        ..Draft::default()
    };
    let records = "log.record=70,100,200,500,1000,2000,4096,8193".to_owned();
    draft.set_all(&[records], &registry).unwrap();
    let plan = draft.finish(7).unwrap();
    let arms = plan.arms().len();
    assert_eq!(arms, 48);
    let times: Vec<f64> = (0..arms).map(|arm| 300.0 + 40.0 * arm as f64).collect();
    let result = run(&plan, &mut SimulatedRunner::new(steady(&times), 1));
    let text = printed(&result, 80);
    // A command is to be copied, and stays whole.
    let mut prose = text.lines().filter(|line| !line.trim_start().starts_with("iotoll compare"));
    assert!(prose.all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let plan = plan(&["reopen", "held"], &PLACES, 60);
    let once = || {
        let arms = steady(&[1930.0, 1620.0, 290.0, 250.0]);
        printed(&run(&plan, &mut SimulatedRunner::new(arms, 5)), 80)
    };
    assert_eq!(once(), once());
}

/// The report of a study's run with these settings, in one line of words.
fn told(study: &str, strategies: &[&str], settings: &[&str]) -> String {
    let registry = studies::specs();
    let mut draft = Draft {
        budget: Some(Duration::from_secs(5)),
        places: PLACES.iter().map(|p| p.parse().unwrap()).collect(),
        studies: vec![StudyPlan::new(model::plan::find_study(study, &registry).unwrap())],
        ..Draft::default()
    };
    let names: Vec<String> = strategies.iter().map(ToString::to_string).collect();
    draft.select_strategies(&names).unwrap();
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    draft.set_all(&settings, &registry).unwrap();
    let plan = draft.finish(7).unwrap();
    let arms = vec![ArmBehaviour::steady(300.0, 0.03); plan.arms().len()];
    let result = run(&plan, &mut SimulatedRunner::new(arms, 1));
    printed(&result, 80).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_promised_follows_the_parameters() {
    let lost = "power failure: data not yet written back is lost";
    let kept = "power failure: nothing acknowledged is lost, provided that the device honours";
    let never = told("log", &["held"], &[]);
    assert!(never.contains(lost) && !never.contains(kept), "{never}");
    let each = told("log", &["held", "reopen"], &["log.sync=each"]);
    assert!(each.contains("held, reopen: process crash:"), "{each}");
    assert!(each.contains(kept) && !each.contains(lost), "{each}");
    let both = told("log", &["held", "dsync"], &["log.sync=never", "log.sync=each"]);
    assert!(both.contains("held(sync=never): process crash:"), "{both}");
    assert!(both.contains("dsync, held(sync=each): process crash:"), "{both}");
    // What reads has nothing to lose.
    let files = told("files", &["rename-fsync"], &["files.operation=read"]);
    assert!(!files.contains("Durability"), "{files}");
    let files = told("files", &["rename-fsync"], &["files.operation=read,write"]);
    assert!(files.contains("rename-fsync(operation=write): readers see"), "{files}");
}

#[test]
fn parameters_that_mean_nothing_are_not_shown() {
    let made = told("page", &["read"], &["page.cache=warm"]);
    assert!(made.contains("files 5"), "{made}");
    let own = told("page", &["read"], &["page.cache=warm", "page.set=/srv/page"]);
    assert!(own.contains("set /srv/page") && !own.contains("files 5"), "{own}");
    let unused = told("log", &["held"], &["log.batch=9"]);
    assert!(!unused.contains("batch"), "{unused}");
    let used = told("log", &["held", "batched"], &["log.batch=9"]);
    assert!(used.contains("batch 9"), "{used}");
}
