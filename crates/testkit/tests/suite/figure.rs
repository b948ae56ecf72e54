//! Figures for articles, of runs on a simulated machine.

#![allow(clippy::unwrap_used, missing_docs)]

use analysis::analyse;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run};
use model::analysis::Analysis;
use model::run::Run;
use report::html::figure::{Figure, FigureError, Kind, figure};
use report::html::picture::Colours;

const PLACES: [&str; 2] = ["disk=/srv", "ram=/dev/shm"];
const ALL: [Kind; 5] = [Kind::Forest, Kind::Lines, Kind::Grid, Kind::Parts, Kind::Distribution];

fn measured(studies: &[&str], settings: &[&str]) -> Run {
    let plan = iotoll_testkit::plan(&studies::specs(), studies, &PLACES, settings).unwrap();
    let ns = |arm: usize| 4000.0 / (1 + arm % 3) as f64;
    let arms = (0..plan.arms().len()).map(|arm| ArmBehaviour::steady(ns(arm), 0.05)).collect();
    run(&plan, &mut SimulatedRunner::new(arms, 1))
}

fn asked(kind: Kind, study: &str) -> Figure<'_> {
    Figure { kind, study: Some(study), x: None, facet: None, colours: Colours::Light }
}

fn sizes() -> Run {
    let sizes = "files.size=1 KiB,4 KiB,16 KiB";
    measured(&["files"], &[sizes, "files.operation=write,read"])
}

#[test]
fn each_kind_is_a_file_that_stands_by_itself() {
    let run = sizes();
    let analysis = analyse(&run);
    for kind in ALL {
        let figure = Figure { x: Some("size"), ..asked(kind, "files") };
        let drawn = figure_of(&run, &figure).unwrap();
        assert_eq!(drawn.0, format!("files-{kind:?}").to_lowercase());
        let svg = drawn.1;
        assert!(svg.starts_with("<svg xmlns=") && !svg.contains("var(--"), "{kind:?}");
        assert!(svg.contains("<title>files: ") && svg.contains("Source: iotoll"));
    }
    let intervals = |svg: &str| svg.matches("class=\"interval\"").count();
    let forest = figure_of(&run, &asked(Kind::Forest, "files")).unwrap().1;
    assert!(intervals(&forest) >= analysis.comparisons.len(), "each has its interval");
    let lines = figure_of(&run, &asked(Kind::Lines, "files")).unwrap().1;
    assert_eq!(intervals(&lines), run.plan.arms.len(), "each point has its rounds");
}

fn figure_of(run: &Run, asked: &Figure) -> Result<(String, String), FigureError> {
    figure(run, &analyse(run), asked).map(|drawn| (drawn.name, drawn.svg))
}

#[test]
fn lines_have_a_panel_for_each_value_and_every_one_of_them_or_none() {
    let run = sizes();
    let facet = Figure { facet: Some("operation"), ..asked(Kind::Lines, "files") };
    let svg = figure_of(&run, &facet).unwrap().1;
    for value in ["operation=write<", "operation=read<"] {
        assert_eq!(svg.matches(value).count(), 1, "{value} is a heading, and in no name");
    }
    assert_eq!(svg.matches("class=\"curve\" d=").count(), 4);
    let many = measured(
        &["files"],
        &["files.size=1 KiB,4 KiB,16 KiB", "files.operation=write,read", "files.folders=1,2"],
    );
    let lines = figure_of(&many, &asked(Kind::Lines, "files"));
    assert_eq!(lines.unwrap_err(), FigureError::TooMany(8, String::new()));
}

#[test]
fn what_cannot_be_drawn_says_why_and_what_can() {
    let run = measured(&["log", "files"], &[]);
    let wrong = |figure: Figure| figure_of(&run, &figure).unwrap_err().to_string();
    let which = Figure { study: None, ..asked(Kind::Parts, "log") };
    assert_eq!(wrong(which), "the run has several studies: name one with --study: log, files");
    assert_eq!(wrong(asked(Kind::Grid, "lgo")), "the run has no study lgo; it has log and files");
    let unknown = Figure { x: Some("recrd"), ..asked(Kind::Lines, "log") };
    assert!(wrong(unknown).starts_with("log has no parameter recrd; it has record"));
    let one = Figure { x: Some("record"), ..asked(Kind::Lines, "log") };
    assert!(wrong(one).starts_with("log has no numbers to draw along record"));
    let all = Figure { study: None, ..asked(Kind::Forest, "") };
    assert_eq!(figure_of(&run, &all).unwrap().0, "iotoll-forest");
}

#[test]
fn a_comparison_that_found_no_ratio_has_no_row() {
    let run = sizes();
    let mut analysis = analyse(&run);
    let rows = |analysis: &Analysis| {
        let forest = figure(&run, analysis, &asked(Kind::Forest, "files")).unwrap();
        forest.svg.matches("class=\"centre\"").count()
    };
    assert_eq!(rows(&analysis), analysis.comparisons.len());
    analysis.comparisons[0].ratio = None;
    assert_eq!(rows(&analysis), analysis.comparisons.len() - 1);
}
