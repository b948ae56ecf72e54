//! A study that no crate knows is analysed and reported from its record alone,
//! with its own strategies, parameters, figures, causes and notes.

#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Duration;

use analysis::analyse;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run};
use model::cause::CauseCode;
use model::description::{CauseDescription, FigureDescription, NoteDescription};
use model::document::Document;
use model::figure::{Better, Fold, Unit};
use model::plan::{Draft, StudyPlan};
use model::run::Run;
use model::study::{ParamKind, ParamSpec, StrategySpec, StudySpec};
use report::terminal;

static SPEC: StudySpec = StudySpec {
    name: "teapot",
    about: "brew a pot of tea",
    operation: "pot",
    strategies: &[
        StrategySpec {
            name: "kettle",
            about: "boil first",
            promise: "power failure: cold tea",
            by_default: true,
        },
        StrategySpec { name: "samovar", about: "always hot", promise: "", by_default: true },
    ],
    params: &[ParamSpec {
        name: "leaves",
        about: "grams of leaves",
        kind: ParamKind::Count { min: 1, max: 99 },
        default: "5",
    }],
    ..StudySpec::EMPTY
};

fn figure(name: &str, title: &str, unit: Unit, fold: Fold) -> FigureDescription {
    FigureDescription {
        name: name.to_owned(),
        title: title.to_owned(),
        about: String::new(),
        unit,
        better: Better::Less,
        fold,
        shown: !title.is_empty(),
    }
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
    let tolls_ns = [40_000.0, 20_000.0, 9_000.0, 9_000.0];
    let arms = tolls_ns.map(|ns| ArmBehaviour::steady(ns, 0.02)).into();
    let mut run = run(&plan, &mut SimulatedRunner::new(arms, 1));
    let study = &mut run.studies[0];
    study.figures = vec![
        figure("water_wait_ns", "for water", Unit::Nanoseconds, Fold::PerOperation),
        figure("spilled_bytes", "spilled", Unit::Bytes, Fold::Sum),
        figure("burnt", "", Unit::Count, Fold::Sum),
    ];
    study.causes = vec![CauseDescription {
        code: "waiting-for-water".to_owned(),
        what: "waiting for the water to boil".to_owned(),
        figure: "water_wait_ns".to_owned(),
        threshold_share: 0.3,
    }];
    study.notes = vec![NoteDescription {
        when: "burnt".to_owned(),
        text: "{burnt} fingers were burnt, and {spilled_bytes} spilled.".to_owned(),
    }];
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
    let printed = terminal::report(&run, &analyse(&run), true, 80);
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
