//! The HTML report, of runs on a simulated machine.

#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Duration;

use analysis::analyse;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run};
use model::analysis::{Advice, Drift};
use model::counters::Level;
use model::matching::Matching;
use model::plan::Plan;
use model::probes::MemoryTraffic;
use model::run::Run;
use model::slice::PlaceTraffic;
use model::spent::Calls;
use report::html::picture::{self, Colours};
use report::html::{Rounds, Sheet, page, page_with, record};

const HOSTILE: &str = "</script><img src=x onerror='alert(1)'>\"&\u{202e}\n";

fn plan(studies: &[&str], places: &[&str], settings: &[&str]) -> Plan {
    iotoll_testkit::plan(&studies::specs(), studies, places, settings).unwrap()
}

fn measured(plan: &Plan) -> Run {
    let ns = |arm: usize| 4000.0 / (1 + arm % 3) as f64;
    let arms = (0..plan.arms().len()).map(|arm| ArmBehaviour::steady(ns(arm), 0.05)).collect();
    run(plan, &mut SimulatedRunner::new(arms, 1))
}

fn two_places() -> Run {
    measured(&plan(&["log", "files"], &["disk=/var/lib/app", "ram=/dev/shm"], &[]))
}

/// The beginning of a run, which is in its page as it is.
fn of_few_slices(mut run: Run) -> Run {
    run.slices.truncate(800);
    run
}

fn page_of(run: &Run) -> String {
    page(&[Sheet::Comparison { run, analysis: &analyse(run) }])
}

fn read_back(page: &str, name: Option<&str>) -> Run {
    let json = record::read(page, name, 1 << 30).unwrap();
    Run::read(&String::from_utf8(json).unwrap()).unwrap()
}

/// The page without the record, the styles and the script.
fn visible(page: &str) -> &str {
    let (_, body) = page.split_once("<body>").unwrap();
    body.split_once("<script").unwrap().0
}

#[test]
fn each_study_has_its_charts_and_each_chart_a_table() {
    let page = page_of(&two_places());
    let count = |text: &str| visible(&page).matches(text).count();
    // Nothing is known of where a simulated combination's time went but that it was no processor's.
    for title in ["Comparisons", "Where the time", "How long single"] {
        assert_eq!(count(&format!("-title\">{title}")), 2, "{title}");
    }
    assert_eq!(count("<figure"), 6);
    assert_eq!(count("The same as a table"), 6);
    assert_eq!(count("<details class=\"study\">"), 5, "two studies, and three sections");
    assert_eq!(count("id=\"reading-"), 3, "how to read a kind of chart is said once");
    assert!(count("<span class=\"maybe\">ONLY IF you do it very often") == 1, "no advice");
}

#[test]
fn the_title_says_what_was_found_and_one_picture_has_all_rows() {
    let run = two_places();
    let page = page_of(&run);
    let title = page.split_once("<title>").unwrap().1.split_once('<').unwrap().0;
    assert!(title.contains("times faster"), "{title}");
    assert!(visible(&page).contains(&format!("<h1>{}</h1>", title.trim_end_matches(" – iotoll"))));
    let analysis = analyse(&run);
    // A set that is to be left as it is has a line of words.
    let is_drawn = |advice: &&Advice| advice.now.len() == 1 || advice.is_a_change();
    let drawn = analysis.advice.iter().filter(is_drawn).filter(|a| a.ratio.is_some()).count();
    let first = visible(&page).split_once("</table>").unwrap().0;
    assert_eq!(first.matches("class=\"centre\"").count() - sections(first), drawn);
    let contents = visible(&page).split_once("</nav>").unwrap().0;
    for id in contents.split("href=\"#").skip(1).map(|rest| rest.split_once('"').unwrap().0) {
        assert_eq!(visible(&page).matches(&format!(" id=\"{id}\"")).count(), 1, "{id}");
    }
}

/// Headings of groups, each of which has a mark.
fn sections(table: &str) -> usize {
    table.matches("class=\"group\"").count()
}

#[test]
fn rounds_are_drawn_where_something_drifted_or_they_are_asked_for() {
    let run = two_places();
    let analysis = analyse(&run);
    let sheet = || Sheet::Comparison { run: &run, analysis: &analysis };
    let drawn = |page: &str| visible(page).matches("-title\">Every round").count();
    assert_eq!(drawn(&page(&[sheet()])), 0);
    assert_eq!(drawn(&page_with(&[sheet()], Rounds::All, &Matching::default())), 2);
    let mut drifting = analysis.clone();
    drifting.arms[0].drift = Some(Drift { start_ns: 100.0, end_ns: 900.0, why: None });
    let page = page(&[Sheet::Comparison { run: &run, analysis: &drifting }]);
    assert_eq!(drawn(&page), 1);
    assert!(visible(&page).contains("drifted 100 ns → 900 ns"));
}

#[test]
fn a_parameter_with_several_numbers_is_a_curve() {
    let places = ["disk=/srv", "ram=/dev/shm"];
    let settings = ["files.size=1 KiB,4 KiB,16 KiB", "files.operation=write"];
    let page = page_of(&measured(&plan(&["files"], &places, &settings)));
    assert!(visible(&page).contains("Time by size"));
    assert_eq!(visible(&page).matches("class=\"points\"").count(), 2);
}

#[test]
fn the_record_inside_is_the_run() {
    let run = of_few_slices(two_places());
    let page = page_of(&run);
    assert!(read_back(&page, None) == run, "what was read is not what was written");
    let other = of_few_slices(measured(&plan(&["log"], &["disk=/srv"], &[])));
    let other = Run { run: model::run::Invocation { id: "f".repeat(16), ..other.run }, ..other };
    let both = report::html::page(&[
        Sheet::Comparison { run: &run, analysis: &analyse(&run) },
        Sheet::Comparison { run: &other, analysis: &analyse(&other) },
    ]);
    assert!(visible(&both).contains("2 runs side by side"));
    assert!(read_back(&both, Some("ff")) == other, "it is another run");
}

/// Fails where less detail changes what follows from the stretches, or sums.
#[test]
fn the_record_of_many_slices_comes_to_the_same() {
    let mut run = two_places();
    let most = run.slices.len() as u64;
    assert!(most > 800, "{most} slices");
    for (at, slice) in (0..).zip(&mut run.slices) {
        let up_to = |most: u64| at * 7919 % most;
        slice.spent.system_ns = slice.spent.elapsed_ns / (2 + up_to(3));
        (slice.spent.sync_calls, slice.spent.sync_ns) = (up_to(5), up_to(1000));
        slice.spent.run_queue_ns = Some(up_to(100));
        let elsewhere = if up_to(20) == 0 { 100 << 20 } else { 0 };
        let calls =
            Calls { writes: up_to(7), storage_dirtied_bytes: elsewhere, ..Calls::default() };
        slice.spent.calls = Some(calls);
        slice.other_places = vec![PlaceTraffic { place: 0, bytes: up_to(3) << 20 }];
        let free = Some(Level((most - at + up_to(50)) << 20));
        slice.surroundings.memory =
            Some(MemoryTraffic { free_bytes: free, ..MemoryTraffic::default() });
        slice.spent.minor_faults = up_to(3) << 8;
        slice.outcome.figures.insert("killed_lost".to_owned(), f64::from(u8::from(up_to(3) == 0)));
        slice.outcome.tail_untrusted = at == most / 2;
        let middle = slice.latencies.max;
        slice.latencies.buckets = vec![(middle, 400), (middle * (2 + up_to(3)), 1 + up_to(9))];
        slice.latencies.max = middle * 5;
    }
    let again = read_back(&page_of(&run), None);
    assert!(again != run, "it has no less detail");
    assert!(read_back(&page_of(&again), None) == again, "once more, it has less detail still");
    let [whole, short] = [analyse(&run), analyse(&again)];
    assert_eq!(short.comparisons, whole.comparisons);
    assert_eq!(short.noise, whole.noise);
    assert_eq!(short.arms, whole.arms);
}

#[test]
fn whatever_a_run_says_stays_text() {
    let mut run = of_few_slices(two_places());
    for place in &mut run.places {
        place.label = format!("{}{HOSTILE}", place.label);
        place.path = HOSTILE.into();
        place.filesystem = HOSTILE.to_owned();
        place.device = Some(HOSTILE.to_owned());
        place.unread.push(HOSTILE.to_owned());
    }
    for arm in &mut run.plan.arms {
        arm.id = format!("{}{HOSTILE}", arm.id);
        arm.strategy += HOSTILE;
        arm.params.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    }
    run.machine.cpu = HOSTILE.to_owned();
    run.run.id = HOSTILE.to_owned();
    run.run.started = HOSTILE.to_owned();
    run.run.version = HOSTILE.to_owned();
    run.run.ended_early = Some(HOSTILE.to_owned());
    run.unread.push(HOSTILE.to_owned());
    for study in &mut run.studies {
        study.about = HOSTILE.to_owned();
    }
    let page = page_of(&run);
    let body = page.split_once("<body>").unwrap().1;
    assert!(body.contains("&lt;img src=x"));
    assert!(!body.contains("<img"));
    assert!(!body.contains('\u{202e}'));
    assert_eq!(body.matches("</script>").count(), 2);
    assert!(read_back(&page, None) == run, "what was read is not what was written");
}

#[test]
fn a_chart_by_itself_needs_nothing_of_the_page() {
    let mut run = two_places();
    let picture = |run: &Run, colours| {
        let svg = picture::overview(run, &analyse(run), colours).unwrap();
        assert!(svg.contains("times faster") && svg.contains("Source: iotoll"));
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("var(--"));
        svg
    };
    let light = picture(&run, Colours::Light);
    assert!(!light.contains("\\n"), "what is escaped in it is no style");
    assert_ne!(light, picture(&run, Colours::Dark));
    run.plan.arms.iter_mut().for_each(|arm| arm.id = format!("{}{HOSTILE}", arm.id));
    assert!(!picture(&run, Colours::Light).contains("<img"));
}

#[test]
fn a_run_without_a_block_is_a_page_that_says_so() {
    let plan = plan(&["log"], &["disk=/srv", "ram=/dev/shm"], &[]);
    let arms = vec![ArmBehaviour::steady(4000.0, 0.05); plan.arms().len()];
    let mut runner = SimulatedRunner::new(arms, 1).interrupted_at(Duration::from_millis(1));
    let page = page_of(&run(&plan, &mut runner));
    assert!(visible(&page).contains("Nothing is known yet"));
    assert!(!visible(&page).contains("<figure"));
}

#[test]
fn one_arm_is_compared_with_nothing_and_has_its_other_charts() {
    let plan = plan(&["log"], &["disk=/srv"], &[]);
    let only = Plan { ..plan };
    let page = page_of(&measured(&only));
    assert!(visible(&page).contains("How long single operations take"));
}

#[test]
fn the_command_that_repeats_a_run_asks_for_the_same_arms() {
    let settings = ["log.sync=never,each"];
    let page = page_of(&measured(&plan(&["log"], &["disk=/my srv", "ram=/dev/shm"], &settings)));
    let command = "iotoll compare &#39;disk=/my srv&#39; ram=/dev/shm --study log \
                   --set log.sync=never,each --budget 60s --seed 7";
    assert!(
        visible(&page).contains(command),
        "{}",
        visible(&page).split("How to repeat").nth(1).unwrap()
    );
}
