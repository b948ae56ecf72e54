//! The answer on one screen, of runs on a simulated machine.

#![allow(clippy::unwrap_used, missing_docs)]

use analysis::analyse;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run};
use model::advice::Group;
use model::guarantee::Guarantee;
use model::place::StorageKind;
use model::plan::Plan;
use model::promise::Promise;
use model::run::Run;
use report::terminal;

/// The most lines that an answer has, 80 columns wide …
const LINES_MAX: usize = 40;
/// … one of four places …
const LINES_OF_FOUR_MAX: usize = 45;
/// … and one of a single study.
const LINES_OF_ONE_MAX: usize = 25;

const TWO: [&str; 2] = ["disk=/var/lib/app", "ram=/dev/shm"];
const FOUR: [&str; 4] = ["disk=/var/lib/app", "ram=/dev/shm", "nvme=/mnt/nvme", "nfs=/net/home"];

/// A default run of the studies, all of them where none is named.
fn plan(studies: &[&str], places: &[&str], settings: &[&str]) -> Plan {
    iotoll_testkit::plan(&studies::specs(), studies, places, settings).unwrap()
}

/// What an operation takes here: other places take so many times as long, and other ways
/// of doing it an eighth.
fn behaviour(plan: &Plan, noise: f64) -> Vec<ArmBehaviour> {
    const OF_PLACE: [f64; 4] = [1.0, 0.1, 0.7, 3.0];
    let arms = plan.arms();
    let ns = |position: usize| {
        let arm = &arms[position];
        let first = arms.iter().position(|a| a.study.name == arm.study.name).unwrap_or_default();
        let own = match arm.study.name.as_str() {
            "log" => 4e3,
            "sqlite" => 14e6,
            "page" => 90e3 * (1 + (position - first) / plan.places.len()) as f64,
            _ => 800e3,
        };
        let way = if arm.strategy.name == arms[first].strategy.name { 1.0 } else { 0.125 };
        own * way * OF_PLACE[arm.place]
    };
    (0..arms.len()).map(|arm| ArmBehaviour::steady(ns(arm), noise)).collect()
}

fn measured(plan: &Plan, noise: f64) -> Run {
    run(plan, &mut SimulatedRunner::new(behaviour(plan, noise), 1))
}

fn printed(run: &Run, width: usize) -> String {
    let styled = terminal::report(run, &analyse(run), terminal::Rest::LATEST, width);
    anstream::adapter::strip_str(&styled).to_string()
}

fn fits(text: &str, lines: usize, width: usize) {
    assert!(text.lines().count() <= lines, "{} lines:\n{text}", text.lines().count());
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > width).collect();
    assert!(long.is_empty(), "{long:?}\n{text}");
}

#[test]
fn a_default_run_fits_one_screen_whatever_its_width() {
    let run = measured(&plan(&[], &TWO, &[]), 0.05);
    for width in [40, 60, 80, 120, 200] {
        let text = printed(&run, width);
        fits(&text, LINES_MAX * 80 / width.min(80), width);
        insta::assert_snapshot!(format!("default_{width}"), text);
    }
}

#[test]
fn four_places_fit_one_screen_too() {
    let text = printed(&measured(&plan(&[], &FOUR, &[]), 0.05), 80);
    fits(&text, LINES_OF_FOUR_MAX, 80);
    insta::assert_snapshot!(text);
}

#[test]
fn noise_that_leaves_much_open_and_fifty_rows_fit_one_screen_too() {
    fits(&printed(&measured(&plan(&[], &FOUR, &[]), 0.9), 80), LINES_OF_FOUR_MAX, 80);
    let sizes = (1..=50).map(|n| format!("{n} KiB")).collect::<Vec<_>>().join(",");
    let sizes = [format!("files.size={sizes}"), "files.operation=write".to_owned()];
    let many = plan(&["files"], &TWO, &sizes.each_ref().map(String::as_str));
    let text = printed(&measured(&many, 0.05), 80);
    fits(&text, LINES_MAX, 80);
    assert!(text.contains("Left out here, see --full: files size 25 KiB"), "{text}");
}

#[test]
fn one_study_takes_half_a_screen() {
    for study in ["log", "sqlite", "page", "files", "cache", "stream", "journal"] {
        let text = printed(&measured(&plan(&[study], &TWO, &[]), 0.05), 80);
        fits(&text, LINES_OF_ONE_MAX, 80);
    }
    insta::assert_snapshot!(printed(&measured(&plan(&["sqlite"], &TWO, &[]), 0.05), 80));
}

#[test]
fn several_parameters_make_a_grid_in_which_every_place_has_its_column() {
    let settings = ["log.record=70,700,7000", "log.writers=1,4", "log.sync=never,each"];
    let plan = plan(&["log"], &TWO, &settings);
    let run = measured(&plan, 0.05);
    for width in [60, 80, 120] {
        let text = printed(&run, width);
        fits(&text, if width < 80 { 75 } else { LINES_OF_FOUR_MAX }, width);
        insta::assert_snapshot!(format!("grid_{width}"), text);
    }
}

#[test]
fn another_value_and_another_way_elsewhere_are_held_against_what_is_done_now() {
    let plan = plan(&["log"], &TWO, &["log.sync=each,never"]);
    let run = measured(&plan, 0.03);
    let analysis = analyse(&run);
    let with = |other: &str| {
        let base = "log/reopen(sync=each)@disk";
        let found = analysis.comparisons.iter().find(|c| c.base == base && c.other == other);
        found.unwrap_or_else(|| panic!("{other} is not held against {base}"))
    };
    for arm in analysis.arms.iter().skip(1) {
        assert!(with(&arm.id).blocks > 0, "{} was not measured against it", arm.id);
    }
    assert!(analysis.advice.iter().all(|advice| advice.now == ["log/reopen(sync=each)@disk"]));
    let text = printed(&run, 80);
    assert!(text.contains("keep the file open"), "{text}");
}

/// A run of all of a study's strategies that can be combined with its default parameters, where
/// each but the first is faster, on a disk and in memory.
fn all_strategies(study: &str) -> Run {
    let mut plan = plan(&[study], &TWO, &[]);
    for study in &mut plan.studies {
        study.strategies = study.spec.strategies.iter().collect();
    }
    measured(&plan, 0.02)
}

#[test]
fn nothing_that_keeps_less_than_now_is_to_be_done_without_a_condition() {
    let mut seen = 0;
    for spec in studies::specs() {
        let run = all_strategies(&spec.name);
        let promise = |id: &str| {
            let arm = run.plan.arms.iter().find(|arm| arm.id == id).unwrap();
            let text = spec.promise_of(&arm.strategy, &arm.params);
            let is_lost = run.places[arm.place].kind == StorageKind::Memory;
            (Promise::read(text), is_lost)
        };
        let analysis = analyse(&run);
        for advice in analysis.advice.iter().filter(|advice| advice.is_a_change()) {
            let other = &analysis.comparisons[advice.comparisons[0]].other;
            let ((now, was_lost), (then, is_lost)) = (promise(&advice.now[0]), promise(other));
            let keeps = then.power_failure <= now.power_failure
                && then.process_crash <= now.process_crash
                && then.besides.iter().all(|clause| now.besides.contains(clause))
                && (was_lost || !is_lost);
            assert_eq!(keeps, advice.keeps_promises, "{other}: {advice:?}");
            assert!(keeps || advice.group == Group::OnlyIf, "{other}: {advice:?}");
            assert!(!then.is_control(), "{other}");
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} changes were advised");
}

#[test]
fn every_clause_of_every_promise_is_understood() {
    // What may happen besides what a crash or a power failure undoes.
    let known = [
        "several writers: records that a full buffer splits are mixed with others",
        "the order between writers is only as exact as their clocks",
        "a full queue drops records",
        "records keep their order only if the ring's entries are linked",
        "a block that is being written may be left part old, part new",
        "none with several writers: they overwrite one another (a control, which must fail)",
    ];
    for spec in studies::specs() {
        let promises = spec.strategies.iter().map(|strategy| &strategy.promise);
        for text in promises.chain(spec.promise_when.iter().map(|rule| &rule.promise)) {
            for clause in Promise::read(text).besides {
                assert!(known.contains(&clause), "{}: {clause}", spec.name);
            }
            let says_nothing =
                text.is_empty() || text.contains("power failure") || text.contains("a crash");
            assert!(says_nothing || Promise::read(text).is_control(), "{}: {text}", spec.name);
        }
    }
}

#[test]
fn a_rate_says_what_it_is_worth() {
    let mut run = measured(&plan(&["log"], &TWO, &[]), 0.03);
    assert_eq!(analyse(&run).advice[0].group, Group::OnlyIf);
    assert!(printed(&run, 80).contains("a second on"));
    run = run.with_per_second(20_000.0);
    // 3.5 µs less, 20,000 times a second.
    let text = printed(&run, 80).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(analyse(&run).advice[0].group, Group::Do);
    assert!(text.contains("saves 69") || text.contains("saves 7"), "{text}");
    run = run.with_per_second(10.0);
    assert_eq!(analyse(&run).advice[0].group, Group::Leave);
    assert!(printed(&run, 80).contains("pays from 2,8"), "{}", printed(&run, 80));
}

#[test]
fn what_a_way_relies_on_and_its_place_does_not_keep_is_told() {
    let places = ["nfs=/net/home", "ram=/dev/shm"];
    let mut run = measured(&plan(&["log", "sqlite", "stream"], &places, &[]), 0.05);
    run.places[0].not_kept = Some(vec![Guarantee::Appends]);
    let analysis = analyse(&run);
    let lacking = |id: &str| analysis.arm(id).unwrap().not_kept.clone();
    assert_eq!(lacking("log/reopen@nfs"), [Guarantee::Appends]);
    for sound in
        ["log/flock@nfs", "log/reopen@ram", "sqlite/delete-full@nfs", "stream/sequential@nfs"]
    {
        assert_eq!(lacking(sound), [], "{sound}");
    }
    let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let what = "rely on appends (O_APPEND), which nfs does not keep between machines: several \
                that write there may overwrite each other's records.";
    let text = on_one_line(&printed(&run, 80));
    assert!(text.contains(&format!("log/reopen, log/held {what}")), "{text}");
    let full = |run: &Run| {
        let styled = terminal::report(run, &analyse(run), terminal::Rest::Below, 80);
        on_one_line(&anstream::adapter::strip_str(&styled).to_string())
    };
    assert!(full(&run).contains(&format!("• reopen, held {what}")), "{}", full(&run));
    run.places[0].not_kept = Some(Guarantee::ALL.to_vec());
    let what = "wal-normal rely on locks of fcntl(2), which nfs does not keep between machines: \
                several that write there do not wait for each other.";
    assert!(full(&run).contains(what), "{}", full(&run));
}

#[test]
fn an_answer_in_few_words_has_nothing_that_a_terminal_heeds() {
    let mut run = measured(&plan(&["log"], &TWO, &[]), 0.03);
    for arm in &mut run.plan.arms {
        arm.study.push_str("\0\u{202e}");
        arm.strategy.push_str("\u{1b}[31m");
    }
    for study in &mut run.studies {
        study.name.push_str("\0\u{202e}");
    }
    let answer = report::in_short(&run, &analyse(&run));
    assert!(!answer.contains(['\0', '\u{202e}', '\u{1b}']), "{answer:?}");
    assert!(answer.contains("log"), "{answer:?}");
}
