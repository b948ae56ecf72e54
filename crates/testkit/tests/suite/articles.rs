//! Every conclusion of every article, with data planted for which it holds, for which it does
//! not, and from which it cannot be told; and what is printed of it.

#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use analysis::analyse;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run_article};
use model::analysis::Analysis;
use model::anonymous::without_names;
use model::article::{Is, Measure, Precondition, PublishedConclusion, Quantity, SetAgainst, Test};
use model::article_spec::{ArticleSpec, Repetition};
use model::figure::Fold;
use model::integrity::Integrity;
use model::place::PlaceRequest;
use model::reproduction::Decision;
use model::run::Run;
use model::slice::{Phase, Slice};
use report::terminal;
use studies::articles;

/// Far above what timing an operation takes.
const TOLL_NS: f64 = 2000.0;
const BLOCKS: usize = 40;

/// A run of an article in which nothing differs.
fn even(spec: &'static ArticleSpec) -> Run {
    let mut draft = spec.draft(&studies::specs(), true, &[]).unwrap();
    draft.budget = Some(Duration::from_secs(1));
    let made = spec.places_without(&[]).map(|place| place.label);
    let labels = ["disk", "ram"].into_iter().chain(made);
    draft.places = labels.map(|label| PlaceRequest::directory(label, "/")).collect();
    let plan = draft.finish(1).unwrap();
    let labels = ["disk", "ram"].map(str::to_owned);
    let repetition =
        Repetition { spec, labels, is_quick: true, missing: Vec::new(), held: Vec::new() };
    let arms = vec![ArmBehaviour::steady(TOLL_NS, 0.01); plan.arms().len()];
    let mut runner = SimulatedRunner::new(arms, 1).interrupted_at(Duration::from_millis(1));
    let mut run = run_article(&plan, repetition.article(&plan), &mut runner);
    run.run.interrupted = false;
    run.slices = slices(&run, &Planted::default());
    run
}

/// What is planted besides tolls of one size.
#[derive(Default)]
struct Planted {
    typical_times_ns: BTreeMap<usize, f64>,
    figures: BTreeMap<(usize, String), f64>,
    integrity: BTreeMap<usize, Integrity>,
    /// Shares of operations, in percent.
    failed: BTreeMap<usize, f64>,
    /// Shares of the time, in percent.
    sync: BTreeMap<usize, f64>,
    /// By how much all of that scatters.
    noise: f64,
    /// The day: every arm's time is a little different on each, throughout the run.
    day: Option<usize>,
}

/// Half of what a time of one arm differs by between two days at most. The ratio of two arms has
/// a deviation of 2.7% from day to day.
const DAYS_DIFFER_BY: f64 = 0.0165;

impl Planted {
    fn typical_ns(&self, arm: usize) -> f64 {
        self.typical_times_ns.get(&arm).copied().unwrap_or(TOLL_NS)
    }
}

/// From -2 to 2, another number for each slice.
fn scatter(slice: [usize; 3]) -> f64 {
    let mut hasher = DefaultHasher::new();
    slice.hash(&mut hasher);
    hasher.finish() as f64 / u64::MAX as f64 * 4.0 - 2.0
}

fn slices(run: &Run, planted: &Planted) -> Vec<Slice> {
    let slice = |block: usize, arm: usize| {
        let noise = (planted.noise + 0.004) * scatter([block, arm, 0]);
        let today = planted.day.map_or(0.0, |day| DAYS_DIFFER_BY * scatter([day, arm, 2]));
        let typical_ns = planted.typical_ns(arm) * (noise + today).exp();
        let mut slice =
            Slice { arm, phase: Phase::Block(block), operations: 1000, ..Slice::default() };
        slice.position = arm;
        slice.spent.elapsed_ns = (typical_ns * 1000.0) as u64;
        let sync = planted.sync.get(&arm).copied().unwrap_or_default() / 100.0;
        slice.spent.sync_ns = (slice.spent.elapsed_ns as f64 * sync) as u64;
        slice.outcome.failed = planted.failed.get(&arm).map(|percent| (percent * 10.0) as u64);
        // Figures scatter otherwise than tolls, so that shares of them do as well.
        let noise = (planted.noise + 0.004) * scatter([block, arm, 1]);
        for ((of, name), value) in planted.figures.iter().filter(|((of, _), _)| *of == arm) {
            // A figure that may be 0 scatters by being something now and then.
            let value = match *value {
                0.0 if planted.noise > 0.0 => (block % 2) as f64,
                value => value * noise.exp(),
            };
            let study = run.study(&run.plan.arms[*of].study).unwrap();
            let fold = study.figure(name).map(|figure| figure.fold);
            let value = if fold == Some(Fold::PerOperation) { value * 1000.0 } else { value };
            slice.outcome.figures.insert(name.clone(), value);
        }
        slice.outcome.integrity = planted.integrity.get(&arm).cloned();
        slice
    };
    let arms = run.plan.arms.len();
    (0..BLOCKS)
        .flat_map(|block| (0..arms).map(move |arm| (block, arm)))
        .map(|(b, a)| slice(b, a))
        .collect()
}

/// What has to be planted for a test to be decided so.
fn target(is: Is, decision: Decision) -> f64 {
    let [holds, does_not, unclear] = match is {
        Is::AtLeast(least) => [least * 2.0, least / 2.0, least],
        Is::AtMost(0.0) => [0.0, 5.0, 0.0],
        Is::AtMost(most) => [most / 2.0, most * 2.0, most],
        Is::Between(least, most) => [(least * most).sqrt(), most * 2.0, most],
        Is::Faster => [0.5, 2.0, 0.9524],
        Is::Slower => [2.0, 0.5, 1.05],
        Is::Same => [1.0, 2.0, 1.05],
        Is::NotFaster => [1.0, 0.5, 0.9524],
        Is::Intact => [0.0, 1.0, 0.0],
    };
    match decision {
        Decision::Holds => holds,
        Decision::DoesNotHold => does_not,
        Decision::Unclear | Decision::NotComparable => unclear,
    }
}

fn plant(test: &Test, decision: Decision, planted: &mut Planted) {
    let Test { of: Quantity { measure, arm, set_against, .. }, is } = test;
    let target = target(*is, decision);
    if *is == Is::Intact {
        let torn = target as u64;
        let whole = Integrity { records: 1000, torn, ..Integrity::default() };
        planted.integrity.extend((decision != Decision::Unclear).then_some((*arm, whole)));
        return;
    }
    match (measure, *set_against) {
        (Measure::TypicalTime | Measure::MeanTime, Some(SetAgainst::Over(base))) => {
            planted.typical_times_ns.insert(*arm, planted.typical_ns(base) * target);
        }
        // An arm is far below any bound as it is.
        (Measure::MeanTime, None) if target > 100.0 * TOLL_NS && !is_met(*is, TOLL_NS) => {
            planted.typical_times_ns.insert(*arm, target);
        }
        (Measure::MeanTime, None) if decision == Decision::DoesNotHold => {
            planted.typical_times_ns.insert(*arm, target);
        }
        (Measure::MeanTime, None) => {}
        (Measure::FailedShare, None) => {
            planted.failed.insert(*arm, target);
        }
        (Measure::SyncShare, None) => {
            planted.sync.insert(*arm, target);
        }
        (Measure::TypicalTime, Some(SetAgainst::Minus(_))) => {
            planted.typical_times_ns.insert(*arm, TOLL_NS + target);
        }
        (Measure::Figure(name), Some(SetAgainst::Over(base))) => {
            planted.figures.insert((base, name.clone()), 1.0);
            planted.figures.insert((*arm, name.clone()), target);
        }
        (Measure::Figure(name), None) => {
            planted.figures.insert((*arm, name.clone()), target);
        }
        (Measure::Sum(names), Some(SetAgainst::Over(base))) => {
            let each = 1.0 / names.len() as f64;
            for name in names {
                planted.figures.insert((base, name.clone()), each);
                planted.figures.insert((*arm, name.clone()), each * target);
            }
        }
        (Measure::Share(names), None) => {
            let each = target / 100.0 * TOLL_NS / names.len() as f64;
            let figures = names.iter().map(|name| ((*arm, name.clone()), each));
            planted.figures.extend(figures);
        }
        other => panic!("no conclusion is about {other:?} so far"),
    }
}

fn is_met(is: Is, value: f64) -> bool {
    is.range(0.05).is_some_and(|[least, most]| (least..=most).contains(&value))
}

/// Has a conclusion of the run decided so, with its preconditions met.
fn plant_conclusion(run: &Run, conclusion: usize, decision: Decision, planted: &mut Planted) {
    let conclusion = &run.article.as_ref().unwrap().conclusions[conclusion];
    for test in of_preconditions(conclusion) {
        plant(test, Decision::Holds, planted);
    }
    for test in conclusion.original.iter().chain(&conclusion.native) {
        plant(test, decision, planted);
    }
}

fn of_preconditions(conclusion: &PublishedConclusion) -> impl Iterator<Item = &Test> {
    conclusion.preconditions.iter().flat_map(|of| of.original.iter().chain(&of.native))
}

/// The article's run, with one of its conclusions planted to be decided so.
fn planted(spec: &'static ArticleSpec, conclusion: usize, decision: Decision) -> (Run, Analysis) {
    let mut run = even(spec);
    let noise = if decision == Decision::Unclear { 0.05 } else { 0.0 };
    let mut planted = Planted { noise, ..Planted::default() };
    plant_conclusion(&run, conclusion, decision, &mut planted);
    run.slices = slices(&run, &planted);
    let analysis = analyse(&run);
    (run, analysis)
}

/// Whether a conclusion is about a program that is never measured.
fn is_about_another_program(conclusion: &PublishedConclusion) -> bool {
    let is_program = |of: &Precondition| of.original.is_none() && of.native.is_none();
    conclusion.original.is_empty() && conclusion.preconditions.iter().any(is_program)
}

#[test]
fn each_conclusion_is_decided_by_what_is_planted() {
    for spec in articles::ALL {
        for (number, of) in spec.conclusions.iter().enumerate() {
            for decision in [Decision::Holds, Decision::DoesNotHold, Decision::Unclear] {
                let (run, analysis) = planted(spec, number, decision);
                let found = &analysis.reproduction.unwrap().conclusions[number];
                let name = format!("{}: {} {decision:?}\n{found:#?}", spec.name, of.says);
                let conclusion = &run.article.as_ref().unwrap().conclusions[number];
                let expected = if is_about_another_program(conclusion) {
                    Decision::NotComparable
                } else {
                    decision
                };
                assert_eq!(found.decision, expected, "{name}");
                assert!(found.native.is_none_or(|native| native == decision), "{name}");
            }
        }
    }
}

#[test]
fn a_conclusion_whose_precondition_fails_cannot_be_compared() {
    let mut tested = 0;
    for spec in articles::ALL {
        for number in 0..spec.conclusions.len() {
            let mut run = even(spec);
            let conclusion = run.article.as_ref().unwrap().conclusions[number].clone();
            let mut planted = Planted::default();
            plant_conclusion(&run, number, Decision::Holds, &mut planted);
            let preconditions: Vec<&Test> = of_preconditions(&conclusion).collect();
            if preconditions.is_empty() {
                continue;
            }
            for test in &preconditions {
                plant(test, Decision::DoesNotHold, &mut planted);
            }
            run.slices = slices(&run, &planted);
            let analysis = analyse(&run);
            let found = &analysis.reproduction.as_ref().unwrap().conclusions[number];
            let name = format!("{}: {}\n{found:#?}", spec.name, found.says);
            assert_eq!(found.decision, Decision::NotComparable, "{name}");
            assert_eq!(found.native, Some(Decision::NotComparable), "{name}");
            let failed = &found.preconditions[0];
            assert!(failed.test.as_ref().unwrap().value.is_some(), "{name}");
            let text = plain(&terminal::report(&run, &analysis, terminal::Rest::LATEST, 80));
            let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flowing.contains(&format!("Precondition not met: {}", failed.says)), "{text}");
            tested += 1;
        }
    }
    assert!(tested >= 10, "{tested} preconditions are tested from the run");
}

#[test]
fn without_the_articles_program_its_speed_is_not_compared() {
    for spec in articles::ALL {
        let mut run = even(spec);
        let without = |conclusion: &mut PublishedConclusion| conclusion.original.clear();
        run.article.as_mut().unwrap().conclusions.iter_mut().for_each(without);
        let found = analyse(&run).reproduction.unwrap().conclusions;
        for (here, of) in found.iter().zip(spec.conclusions) {
            if of.preconditions.iter().any(|precondition| precondition.test.is_none()) {
                assert_eq!(here.decision, Decision::NotComparable, "{}", of.says);
            }
        }
    }
}

/// What is decided of all conclusions, all planted alike, on a day.
fn decisions_on(day: usize, even: &Run, decision: Decision) -> Vec<Decision> {
    let decided = |number: usize| {
        let mut run = even.clone();
        let mut planted = Planted { day: Some(day), ..Planted::default() };
        plant_conclusion(&run, number, decision, &mut planted);
        run.slices = slices(&run, &planted);
        analyse(&run).reproduction.unwrap().conclusions[number].decision
    };
    (0..even.article.as_ref().unwrap().conclusions.len()).map(decided).collect()
}

#[test]
fn an_article_that_is_decided_on_two_days_has_the_same_decisions() {
    for spec in articles::ALL {
        let even = even(spec);
        // At the bound itself as well, where a run alone would say one thing or the other.
        for decision in [Decision::Holds, Decision::DoesNotHold, Decision::Unclear] {
            let [one, other] = [1, 2].map(|day| decisions_on(day, &even, decision));
            assert_eq!(one, other, "{}: {decision:?}", spec.name);
        }
    }
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn what_is_printed_has_every_figure_and_conclusion_in_80_columns() {
    for spec in articles::ALL {
        let (run, analysis) = planted(spec, 0, Decision::DoesNotHold);
        let text = plain(&terminal::report(&run, &analysis, terminal::Rest::LATEST, 80));
        let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let all = spec.conclusions.iter().map(|conclusion| conclusion.says);
        for said in all.chain(spec.figures.iter().map(|figure| figure.group)) {
            assert!(flowing.contains(said), "{said}\n{text}");
        }
        assert!(flowing.contains("does not hold here: "), "{text}");
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 80, "{widest} columns\n{text}");
    }
}

#[test]
fn a_screen_of_an_article() {
    let spec = articles::find("log-locking").unwrap();
    let (run, analysis) = planted(spec, 2, Decision::DoesNotHold);
    insta::assert_snapshot!(plain(&terminal::report(&run, &analysis, terminal::Rest::LATEST, 80)));
    insta::assert_snapshot!(report::articles(&[(&run, &analysis)]).unwrap());
}

#[test]
fn a_page_has_a_chart_of_each_group_with_a_table_of_the_same() {
    for spec in articles::ALL {
        let (run, analysis) = planted(spec, 0, Decision::Holds);
        let sheet = || report::html::Sheet::Comparison { run: &run, analysis: &analysis };
        let page = report::html::page(&[sheet()]);
        for figure in spec.figures {
            assert!(page.contains(&figure.group.replace('\'', "&#39;")), "{}", figure.group);
            let what = figure.what.replace('\'', "&#39;");
            assert!(page.matches(&what).count() > 1, "{what}");
        }
        let both = report::html::page(&[sheet(), sheet()]);
        assert!(both.contains("run 2: native"), "theirs and ours are side by side");
    }
}

#[test]
fn what_is_shared_says_the_same_of_the_article() {
    for spec in articles::ALL {
        let (run, analysis) = planted(spec, 1, Decision::DoesNotHold);
        let shared = without_names(run);
        let decisions = |analysis: &Analysis| -> Vec<Decision> {
            let reproduction = analysis.reproduction.as_ref().unwrap();
            reproduction.conclusions.iter().map(|conclusion| conclusion.decision).collect()
        };
        assert_eq!(decisions(&analyse(&shared)), decisions(&analysis));
        // What is written is read again.
        let document = model::document::Document::new(&shared, &analysis);
        let text = serde_json::to_string(&document).unwrap();
        assert!(text.contains("\"reproduction\":{\"article\":"));
        assert_eq!(Run::read(&text).unwrap(), shared);
    }
}

#[test]
fn an_article_that_refers_to_what_is_not_there_is_refused() {
    let mut run = even(articles::ALL[0]);
    let text = |run: &Run| {
        let analysis = Analysis { reproduction: None, ..analyse(&even(articles::ALL[0])) };
        serde_json::to_string(&model::document::Document::new(run, &analysis)).unwrap()
    };
    run.article.as_mut().unwrap().figures[0].native.as_mut().unwrap().arm = 99;
    assert!(Run::read(&text(&run)).is_err());
    let mut run = even(articles::ALL[0]);
    run.article.as_mut().unwrap().figures[0].against = Some(99);
    assert!(Run::read(&text(&run)).is_err());
}
