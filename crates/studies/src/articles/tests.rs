//! That every article's plan is one, and that all that is said of arms is of arms it has.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use model::article_spec::{ArticleSpec, FigureOf, Repetition, TestOf};
use model::param::Rate;
use model::place::PlaceRequest;
use model::plan::Plan;
use model::scaled_rates::HeldHere;

use super::{ALL, ORIGINALS};

fn plan(spec: &ArticleSpec, is_quick: bool, without: &[usize]) -> Plan {
    let missing: Vec<_> = without.iter().map(|need| &spec.needs[*need]).collect();
    let mut draft = spec.draft(&crate::specs(), is_quick, &missing).unwrap();
    let made = spec.places_without(&missing).map(|place| place.label);
    let labels = ["disk", "ram"].into_iter().chain(made);
    draft.places = labels.map(|label| PlaceRequest::directory(label, "/")).collect();
    draft.finish(1).unwrap()
}

fn repetition(spec: &'static ArticleSpec) -> Repetition {
    let labels = ["disk", "ram"].map(str::to_owned);
    Repetition { spec, labels, is_quick: true, missing: Vec::new(), held: Vec::new() }
}

#[test]
fn all_that_is_said_of_arms_is_said_of_one_that_the_plan_has() {
    for spec in ALL {
        let article = repetition(spec).article(&plan(spec, true, &[]));
        for (figure, of) in article.figures.iter().zip(spec.figures) {
            let name = format!("{}: {}, {}", spec.name, figure.group, figure.what);
            assert_eq!(figure.original.is_some(), !of.original.is_empty(), "{name}: {of:?}");
            assert_eq!(figure.native.is_some(), !of.native.is_empty(), "{name}: {of:?}");
            assert_eq!(figure.against.is_some(), !of.against.is_empty(), "{name}: {of:?}");
            assert!(figure.original.is_some() || figure.native.is_some(), "{name}");
        }
        for (conclusion, of) in article.conclusions.iter().zip(spec.conclusions) {
            let name = format!("{}: {}", spec.name, of.says);
            let is_given = |text: &str| if text.is_empty() { 0 } else { of.tests.len() };
            let [original, native] = [of.tests[0].original, of.tests[0].native].map(is_given);
            assert_eq!(conclusion.original.len(), original, "{name}");
            assert_eq!(conclusion.native.len(), native, "{name}");
            assert!(original + native > 0, "{name}: nothing decides it");
            for (precondition, of) in conclusion.preconditions.iter().zip(of.preconditions) {
                let is_given = |side: fn(&TestOf) -> &'static str| {
                    of.test.as_ref().is_some_and(|test| !side(test).is_empty())
                };
                let [original, native] =
                    [is_given(|test| test.original), is_given(|test| test.native)];
                assert_eq!(precondition.original.is_some(), original, "{name}: {}", of.says);
                assert_eq!(precondition.native.is_some(), native, "{name}: {}", of.says);
            }
        }
    }
}

#[test]
fn every_figure_that_was_published_has_its_row() {
    let published = |spec: &&ArticleSpec| {
        spec.figures.iter().filter(|figure| figure.published.is_some()).count()
    };
    // Of the last, 16 are of the view, and 45 of SQLite, with three that are lacking.
    assert_eq!(ALL.iter().map(published).collect::<Vec<_>>(), [8, 4, 7, 6, 61]);
    for spec in ALL {
        for (at, figure) in spec.figures.iter().enumerate() {
            let is_same = |f: &FigureOf| (f.group, f.what) == (figure.group, figure.what);
            assert!(!spec.figures[..at].iter().any(is_same), "twice: {figure:?}");
        }
    }
}

#[test]
fn figures_that_the_text_or_its_data_leave_open_say_so() {
    let noted = |article: &str, word: &str| {
        let spec = super::find(article).unwrap();
        spec.figures.iter().filter(|figure| figure.note.contains(word)).count()
    };
    // The seconds of four ways, and the share that was derived of them.
    assert_eq!(noted("ram-drive-logging", "1.6 s"), 5);
    assert_eq!(noted("journal-compression", "Voron"), 4);
}

#[test]
fn scaled_rates_name_the_same_arms() {
    let spec = super::find("plain-files-and-sqlite").unwrap();
    let mut draft = spec.draft(&crate::specs(), false, &[]).unwrap();
    draft.places = ["disk", "ram"].map(|label| PlaceRequest::directory(label, "/")).to_vec();
    let as_published = repetition(spec).article(&draft.clone().finish(1).unwrap());
    let held: Vec<HeldHere> = spec
        .scaled
        .iter()
        .zip([8.0, 2.0, 4.0, 0.5])
        .map(|(of, times)| HeldHere { of, per_second: of.held * times })
        .collect();
    for of in spec.scaled {
        let search = of.search(&draft).unwrap().finish(1).unwrap().arms();
        assert_eq!(search.len(), 1, "{}: one search for the rate of one server", of.arms);
        assert_eq!(search[0].params.rate("rate"), Rate::Max);
    }
    for held in &held {
        held.scale(&mut draft);
    }
    let plan = draft.finish(1).unwrap();
    let scaled = Repetition { held, ..repetition(spec) }.article(&plan);
    assert_eq!(scaled.figures, as_published.figures);
    assert_eq!(scaled.conclusions, as_published.conclusions);
    assert_eq!(scaled.scaled.len(), 4);
    let arms = plan.arms();
    let rates = |name: &str| -> Vec<String> {
        let arms = arms.iter().filter(|arm| arm.id.contains(name) && arm.place == 0);
        arms.map(|arm| {
            format!("{} {}", arm.params.written()["rate"], arm.params.count("connections"))
        })
        .collect()
    };
    assert_eq!(rates("page"), ["1600 8000", "2400 8000"], "slices do not grow without end");
    assert_eq!(rates("django"), ["800 8000", "1200 8000"]);
    assert_eq!(rates("php-cgi")[..2], ["10 50", "15 50"]);
}

#[test]
fn a_quick_run_has_the_same_arms_and_a_tenth_of_the_rest() {
    for spec in ALL {
        let [whole, quick] = [false, true].map(|is_quick| plan(spec, is_quick, &[]));
        assert_eq!(whole.budget, quick.budget * 10, "{}", spec.name);
        let [whole, quick] = [whole, quick].map(|plan| plan.arms());
        assert_eq!(whole.len(), quick.len());
        for (whole, quick) in whole.iter().zip(&quick) {
            for name in spec.tenth.iter().filter(|name| whole.study.param(name).is_some()) {
                let [whole, quick] = [whole, quick].map(|arm| arm.params.count(name));
                assert_eq!(whole, quick * 10, "{}: {name}", spec.name);
            }
        }
    }
}

#[test]
fn all_quick_runs_together_take_less_than_ten_minutes() {
    let budgets: Duration = ALL.iter().map(|spec| plan(spec, true, &[]).budget).sum();
    // To look at the machine, and to make and unmake places, takes some more.
    assert!(budgets < Duration::from_secs(580), "{budgets:?}");
}

#[test]
fn every_arm_can_be_measured_by_its_study() {
    for spec in ALL {
        for arm in plan(spec, false, &[]).arms().iter().chain(&plan(spec, true, &[]).arms()) {
            let study = crate::find(&arm.study.name).unwrap();
            let workload = study.workload(&arm.strategy.name, &arm.params);
            assert!(workload.is_ok(), "{}: {}: {:?}", spec.name, arm.id, workload.err());
        }
    }
}

#[test]
fn without_what_is_missing_there_are_native_arms_alone() {
    for spec in ALL {
        let all: Vec<usize> = (0..spec.needs.len()).collect();
        let without = plan(spec, true, &all);
        let is_foreign = |id: &str| id.contains("php") || id.contains("serve/command");
        let ids: Vec<String> = without.arms().into_iter().map(|arm| arm.id).collect();
        assert!(!ids.is_empty() && !ids.iter().any(|id| is_foreign(id)), "{ids:?}");
        assert!(ids.iter().all(|id| id.ends_with("@disk") || id.ends_with("@ram")), "{ids:?}");
        let article = repetition(spec).article(&without);
        assert!(article.figures.iter().all(|figure| figure.original.is_none()), "{}", spec.name);
        let natively = article.conclusions.iter().filter(|c| !c.native.is_empty());
        assert!(natively.count() > 2, "{}: hardly anything is decided natively", spec.name);
    }
}

#[test]
fn names_of_arms_are_short_enough_for_a_report() {
    for spec in ALL {
        for arm in plan(spec, true, &[]).arms() {
            assert!(arm.id.len() < 90, "{}", arm.id);
        }
    }
}

#[test]
fn the_programs_that_plans_start_are_there() {
    for spec in ALL {
        for (at, _) in spec.plan.match_indices("{plan}/") {
            let path = spec.plan[at + "{plan}/".len()..].split([' ', '"']).next().unwrap();
            assert!(ORIGINALS.iter().any(|file| file.path == path), "{}: {path}", spec.name);
        }
    }
    // What they refer to in turn lies beside them.
    let named = |name: &str| ORIGINALS.iter().any(|file| file.path == name);
    assert!(named("php-stack/serve.sh") && named("php-sqlite/index.php"));
}
