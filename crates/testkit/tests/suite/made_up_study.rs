//! A study that no crate knows is analysed and reported from its record alone,
//! with its own strategies, parameters, figures, causes and notes.

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::LazyLock;
use std::time::Duration;

use analysis::analyse;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run};
use model::cause::CauseCode;
use model::description::{CauseDescription, FigureDescription, NoteDescription};
use model::document::Document;
use model::figure::{Fold, Unit};
use model::plan::{Draft, StudyPlan};
use model::run::Run;
use model::study::{ParamDescription, ParamKind, StrategyDescription, StudyDescription};
use report::terminal;

static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| StudyDescription {
    strategies: vec![
        StrategyDescription::new("kettle", "boil first", "power failure: cold tea"),
        StrategyDescription::new("samovar", "always hot", ""),
    ],
    params: vec![ParamDescription::new(
        "leaves",
        "grams of leaves",
        ParamKind::Count { min: 1, max: 99 },
        "5",
    )],
    ..StudyDescription::new("teapot", "brew a pot of tea", "pot")
});

fn figure(name: &str, title: &str, unit: Unit, fold: Fold) -> FigureDescription {
    let shown = !title.is_empty();
    FigureDescription { unit, fold, shown, ..FigureDescription::new(name, title, "") }
}

/// The study's run: most of a pot's time goes into waiting for the water.
fn brewed() -> Run {
    let draft = Draft {
        budget: Some(Duration::from_secs(60)),
        places: ["kitchen=/srv", "garden=/dev/shm"].map(|p| p.parse().unwrap()).into(),
        studies: vec![StudyPlan::new(&SPEC)],
        ..Draft::default()
    };
    let plan = draft.finish(7).unwrap();
    let typical_times_ns = [40_000.0, 20_000.0, 9_000.0, 9_000.0];
    let arms = typical_times_ns.map(|ns| ArmBehaviour::steady(ns, 0.02)).into();
    let mut run = run(&plan, &mut SimulatedRunner::new(arms, 1));
    let study = &mut run.studies[0];
    study.figures = vec![
        figure("water_wait_ns", "for water", Unit::Nanoseconds, Fold::PerOperation),
        figure("spilled_bytes", "spilled", Unit::Bytes, Fold::Sum),
        figure("burnt", "", Unit::Count, Fold::Sum),
    ];
    study.causes = vec![CauseDescription::new(
        "waiting-for-water",
        "waiting for the water to boil",
        "water_wait_ns",
        0.3,
    )];
    study.notes = vec![NoteDescription::new(
        "burnt",
        "{burnt} fingers were burnt, and {spilled_bytes} spilled.",
    )];
    for slice in &mut run.slices {
        let wait_ns = if slice.arm < 2 { slice.spent.elapsed_ns / 10 * 8 } else { 0 };
        let figures = &mut slice.outcome.figures;
        figures.insert("water_wait_ns".to_owned(), wait_ns as f64);
        figures.insert("spilled_bytes".to_owned(), 100.0);
        if slice.arm == 0 {
            figures.insert("burnt".to_owned(), 1.0);
        }
    }
    run
}

#[test]
fn a_study_made_up_here_is_reported_in_its_own_words() {
    let run = brewed();
    let printed = terminal::report(&run, &analyse(&run), terminal::Rest::Below, 80);
    insta::assert_snapshot!(anstream::adapter::strip_str(&printed).to_string());
}

#[test]
fn its_own_cause_explains_what_differs_and_is_not_found_where_it_is_not() {
    let run = brewed();
    let analysis = analyse(&run);
    let own = CauseCode::OfStudy("waiting-for-water".to_owned());
    let found: Vec<bool> =
        analysis.arms.iter().map(|arm| arm.causes.iter().any(|cause| cause.code == own)).collect();
    assert_eq!(found, [true, true, false, false]);
    let garden = analysis.comparisons.iter().find(|c| c.other == "teapot/kettle@garden").unwrap();
    assert_eq!(garden.causes[0].code, own, "{:?}", garden.causes);
}

#[test]
fn read_back_from_its_file_the_run_is_the_same() {
    let run = brewed();
    let mut file = Vec::new();
    model::document::write(&Document::new(&run, &analyse(&run)), &mut file).unwrap();
    let read = Run::read(&String::from_utf8(file).unwrap()).unwrap();
    assert!(read == run, "what was read is not what was written");
}
