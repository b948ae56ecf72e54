//! The parts of an operation's time, of runs on a simulated machine, in a terminal and on a
//! page.

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::LazyLock;
use std::time::Duration;

use analysis::analyse;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run};
use model::document::Document;
use model::figure::{FigureDescription, Fold, Unit};
use model::plan::{Draft, StudyPlan};
use model::run::Run;
use model::study::{ParamDescription, ParamKind, StrategyDescription, StudyDescription};
use report::html::{Sheet, page};
use report::terminal;

const TIMES: [f64; 3] = [1_520_000.0, 710_000.0, 30_000.0];
const ALL: [&str; 3] = ["wheel", "coil", "mould"];
const TITLE: &str = "Time per pot, part by part";

static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| StudyDescription {
    strategies: vec![
        StrategyDescription::new("wheel", "by a wheel", ""),
        StrategyDescription::new("coil", "by hand", ""),
        StrategyDescription::new("mould", "by pouring", ""),
    ],
    params: vec![ParamDescription::new(
        "size",
        "litres",
        ParamKind::Count { min: 1, max: 99 },
        "5",
    )],
    figures: vec![
        part("clay_ns", "clay"),
        part("shaping_ns", "shaping"),
        part("spinning_ns", "spinning"),
        part("fire_ns", "in the fire"),
        part("cooling_ns", ""),
    ],
    parts: ["clay_ns", "spinning_ns", "shaping_ns", "fire_ns", "cooling_ns", "unknown_ns"]
        .map(str::to_owned)
        .into(),
    ..StudyDescription::new("pottery", "make pots", "pot")
});

fn part(name: &str, title: &str) -> FigureDescription {
    FigureDescription {
        unit: Unit::Nanoseconds,
        fold: Fold::PerOperation,
        shown: false,
        ..FigureDescription::new(name, title, "")
    }
}

/// A run with these settings, and what each of its arms spends on which part, as shares.
fn made(strategies: &[&str], settings: &[&str], shares: impl Fn(usize) -> Shares) -> Run {
    let places = ["kiln=/srv"].map(|place| place.parse().unwrap()).into();
    let mut draft = Draft {
        budget: Some(Duration::from_secs(60)),
        places,
        studies: vec![StudyPlan::new(&SPEC)],
        ..Draft::default()
    };
    let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    draft.set_all(&owned(settings), &[&SPEC]).unwrap();
    draft.select_strategies(&owned(strategies)).unwrap();
    let plan = draft.finish(7).unwrap();
    let behaviour = |arm: usize| ArmBehaviour::steady(TIMES[arm % TIMES.len()], 0.02);
    let arms = (0..plan.arms().len()).map(behaviour).collect();
    let mut run = run(&plan, &mut SimulatedRunner::new(arms, 1));
    for slice in &mut run.slices {
        for (name, share) in shares(slice.arm) {
            let ns = slice.spent.elapsed_ns as f64 * share;
            slice.outcome.figures.insert((*name).to_owned(), ns);
        }
    }
    run
}

type Shares = &'static [(&'static str, f64)];

/// The wheel has every part, a coil none that spins, a mould only one that took any time.
fn pots() -> Run {
    made(&ALL, &[], |arm| match arm {
        0 => &[
            ("clay_ns", 0.1),
            ("spinning_ns", 0.3),
            ("shaping_ns", 0.05),
            ("fire_ns", 0.545),
            ("cooling_ns", 0.005),
        ],
        1 => &[("clay_ns", 0.25), ("shaping_ns", 0.25), ("fire_ns", 0.5)],
        _ => &[("clay_ns", 0.0), ("spinning_ns", 0.0), ("fire_ns", 1.0)],
    })
}

fn printed(run: &Run, width: usize) -> String {
    let styled = terminal::report(run, &analyse(run), terminal::Rest::Below, width);
    anstream::adapter::strip_str(&styled).to_string()
}

/// What the report prints of the parts.
fn bars(run: &Run, width: usize) -> String {
    let printed = printed(run, width);
    let Some((_, from)) = printed.split_once(TITLE) else { return String::new() };
    from.split("\n\n").next().unwrap().to_owned()
}

/// The page without the record, the styles and the script.
fn page_of(run: &Run) -> String {
    let page = page(&[Sheet::Comparison { run, analysis: &analyse(run) }]);
    let (_, body) = page.split_once("<body>").unwrap();
    body.split_once("<script").unwrap().0.to_owned()
}

/// The figure of the parts.
fn chart(run: &Run) -> Option<String> {
    let page = page_of(run);
    let mut figures = page.split("<figure").filter(|figure| figure.contains(TITLE));
    let chart = figures.next().map(|figure| figure.split("</figure>").next().unwrap().to_owned());
    assert_eq!(figures.next(), None);
    chart
}

#[test]
fn each_arm_has_a_bar_of_its_parts() {
    let run = pots();
    insta::assert_snapshot!("bars_80", bars(&run, 80));
    insta::assert_snapshot!("bars_60", bars(&run, 60));
}

#[test]
fn a_page_has_the_bars_with_their_letters_and_a_table() {
    let chart = chart(&pots()).unwrap();
    assert_eq!(chart.matches("class=\"p-").count(), 5 + 5 + 3 + 1, "{chart}");
    for text in ["C\u{2002}clay", "I\u{2002}in the fire", "O\u{2002}cooling"] {
        assert!(chart.contains(text), "{text}: {chart}");
    }
    // What took no time has a figure, and what an arm does not have has none.
    let row = |name: &str| {
        let row = chart.split("<tr>").find(|row| row.contains(&format!("{name} on kiln</th>")));
        row.unwrap().matches("></td>").count()
    };
    assert_eq!(["wheel", "coil", "mould"].map(row), [0, 2, 2], "{chart}");
}

#[test]
fn one_arm_has_the_longest_bar() {
    let run = made(&["coil"], &[], |_| &[("clay_ns", 0.25), ("fire_ns", 0.75)]);
    let longest = "C".repeat(15) + &"I".repeat(45);
    assert!(bars(&run, 80).contains(&format!("\n    {longest}\n")), "{}", bars(&run, 80));
    assert!(chart(&run).is_some());
}

#[test]
fn fifty_arms_each_have_a_bar_that_fits() {
    let sizes: Vec<String> = (1..=50).map(|size| size.to_string()).collect();
    let settings = format!("pottery.size={}", sizes.join(","));
    let run = made(&["wheel"], &[&settings], |_| &[("clay_ns", 0.3), ("fire_ns", 0.7)]);
    for width in [44, 80, 120] {
        let bars = bars(&run, width);
        let longest = bars.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= width.min(100), "{longest} of {width}\n{bars}");
        assert_eq!(bars.lines().filter(|line| line.contains("on kiln  ")).count(), 50);
    }
    assert_eq!(chart(&run).unwrap().matches("on kiln</th>").count(), 50);
}

#[test]
fn parts_that_took_no_time_are_no_picture() {
    let nothing = made(&ALL, &[], |_| &[("clay_ns", 0.0), ("fire_ns", 0.0)]);
    assert_eq!((bars(&nothing, 80), chart(&nothing)), (String::new(), None));
    let one =
        made(&ALL, &[], |arm| if arm == 0 { &[("fire_ns", 1.0)] } else { &[("fire_ns", 0.0)] });
    assert!(bars(&one, 80).contains("coil on kiln  0 ns\n"), "{}", bars(&one, 80));
}

#[test]
fn figures_that_no_study_would_write_do_no_harm() {
    for wrong in [f64::MAX, -1.0, 0.001] {
        let mut run = pots();
        for slice in run.slices.iter_mut().filter(|slice| slice.arm == 0) {
            slice.outcome.figures.values_mut().for_each(|value| *value = wrong);
        }
        let (bars, chart) = (bars(&run, 80), chart(&run).unwrap());
        assert!(bars.lines().all(|line| line.chars().count() <= 80), "{bars}");
        assert!(!chart.contains("NaN") && !chart.contains("inf"), "{chart}");
    }
}

#[test]
fn the_record_names_the_parts_and_one_without_has_none() {
    let run = pots();
    let mut file = Vec::new();
    model::document::write(&Document::new(&run, &analyse(&run)), &mut file).unwrap();
    let text = String::from_utf8(file).unwrap();
    let read = Run::read(&text).unwrap();
    assert_eq!(bars(&read, 80), bars(&run, 80));
    let mut older: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(older["studies"][0].as_object_mut().unwrap().remove("parts").is_some());
    assert_eq!(bars(&Run::read(&older.to_string()).unwrap(), 80), "");
}
