#![allow(clippy::unwrap_used)]

use model::article::{Measure, MissingProgram, SetAgainst};
use model::between_runs::{BetweenRuns, Learned};
use model::integrity::Integrity;
use model::run::Run;
use model::slice::Slice;

use super::*;
use crate::{analyse, testing};

/// Forty blocks of three arms of 10 µs, the others so many times as slow as the first, give
/// or take that much noise.
fn run(times: [f64; 2], noise: f64, change: impl Fn(&mut Slice)) -> Run {
    let mut slices = Vec::new();
    for block in 0..40 {
        for (arm, times) in [1.0, times[0], times[1]].into_iter().enumerate() {
            let mut slice = testing::slice(arm, block);
            let noise = noise * (((block * 7 + arm * 3) % 5) as f64 - 2.0);
            slice.spent.elapsed_ns = (1e6 * times * noise.exp()) as u64;
            change(&mut slice);
            slices.push(slice);
        }
    }
    let mut run = testing::run(3, slices);
    let learned = Learned { deviation: 0.007, degrees: 50.0, runs: 50, level: None };
    run.between_runs = vec![BetweenRuns { time: Some(learned), p99: None }; run.plan.pairs.len()];
    run
}

fn quantity(measure: Measure, arm: usize, set_against: Option<SetAgainst>) -> Quantity {
    Quantity { measure, times: 1.0, arm, set_against }
}

fn conclusion(of: Quantity, is: Is) -> PublishedConclusion {
    PublishedConclusion {
        says: String::new(),
        original: vec![Test { of, is }],
        native: Vec::new(),
        preconditions: Vec::new(),
    }
}

fn article(conclusions: Vec<PublishedConclusion>, figures: Vec<PublishedFigure>) -> Article {
    Article {
        name: "made".to_owned(),
        title: String::new(),
        year: 2001,
        original: "PHP".to_owned(),
        question: String::new(),
        is_quick: false,
        figures,
        conclusions,
        missing: vec![MissingProgram { what: "PHP".to_owned(), install: "x".to_owned() }],
        scaled: Vec::new(),
    }
}

fn decided(mut run: Run, of: Quantity, is: Is) -> Decision {
    run.article = Some(article(vec![conclusion(of, is)], Vec::new()));
    analyse(&run).reproduction.unwrap().conclusions.remove(0).decision
}

fn ratio(arm: usize, base: usize) -> Quantity {
    quantity(Measure::TypicalTime, arm, Some(SetAgainst::Over(base)))
}

#[test]
fn a_ratio_is_decided_on_either_side_of_its_bound_and_unclear_about_it() {
    let at =
        |times: f64, noise: f64, is: Is| decided(run([times, 1.0], noise, |_| ()), ratio(1, 0), is);
    for (is, holds, does_not, bound) in [
        (Is::AtLeast(2.0), 3.0, 1.5, 2.0),
        (Is::AtMost(0.5), 0.3, 0.8, 0.5),
        (Is::Between(1.5, 3.0), 2.0, 4.0, 3.0),
        (Is::Between(1.5, 3.0), 2.0, 1.1, 1.5),
        (Is::Faster, 0.8, 1.0, 0.9524),
        (Is::Slower, 1.3, 1.0, 1.05),
        (Is::Same, 1.0, 1.3, 1.05),
        (Is::NotFaster, 1.0, 0.7, 0.9524),
        (Is::NotFaster, 1.4, 0.7, 0.9524),
    ] {
        assert_eq!(at(holds, 0.01, is), Decision::Holds, "{is:?} at {holds}");
        assert_eq!(at(does_not, 0.01, is), Decision::DoesNotHold, "{is:?} at {does_not}");
        assert_eq!(at(bound, 0.05, is), Decision::Unclear, "{is:?} at {bound}");
    }
}

#[test]
fn arms_that_the_plan_does_not_compare_can_be_set_against_each_other() {
    // The plan holds both against the first.
    let found = decided(run([2.0, 6.0], 0.01, |_| ()), ratio(2, 1), Is::Between(2.8, 3.2));
    assert_eq!(found, Decision::Holds);
    let less = quantity(Measure::TypicalTime, 2, Some(SetAgainst::Minus(1)));
    let of = |is| decided(run([2.0, 6.0], 0.01, |_| ()), less.clone(), is);
    assert_eq!(of(Is::Between(35e3, 45e3)), Decision::Holds);
    assert_eq!(of(Is::AtMost(20e3)), Decision::DoesNotHold);
}

#[test]
fn a_figure_is_decided_by_the_median_slice() {
    let value = |value: f64| {
        move |slice: &mut Slice| {
            let odd = slice.block().unwrap() % 2 == 1;
            let of_arm = value * if slice.arm == 1 { 2.0 } else { 1.0 };
            let of_slice = of_arm * if odd { 1.1 } else { 0.9 };
            slice.outcome.figures.insert("x".to_owned(), of_slice);
        }
    };
    let figure = || Measure::Figure("x".to_owned());
    let level =
        |at: f64, is| decided(run([1.0; 2], 0.01, value(at)), quantity(figure(), 0, None), is);
    assert_eq!(level(5.0, Is::AtLeast(3.0)), Decision::Holds);
    assert_eq!(level(5.0, Is::AtLeast(9.0)), Decision::DoesNotHold);
    assert_eq!(level(5.0, Is::AtLeast(5.0)), Decision::Unclear);
    assert_eq!(level(0.0, Is::AtMost(0.0)), Decision::Holds);
    let over = quantity(figure(), 1, Some(SetAgainst::Over(0)));
    let of = |is| decided(run([1.0; 2], 0.01, value(5.0)), over.clone(), is);
    assert_eq!(of(Is::Between(1.8, 2.2)), Decision::Holds);
    assert_eq!(of(Is::AtMost(1.5)), Decision::DoesNotHold);
}

#[test]
fn a_decision_allows_for_what_saved_runs_differ_by_or_for_the_usual() {
    let decided_where = |of: Option<f64>, is: Is| {
        let mut run = run([1.1, 1.0], 0.001, |_| ());
        run.between_runs.clear();
        if let Some(deviation) = of {
            let time = Some(Learned { deviation, degrees: 50.0, runs: 50, level: None });
            run.between_runs = vec![BetweenRuns { time, p99: None }; run.plan.pairs.len()];
        }
        // The plan compares the first with the second, and neither with the other two.
        run.article = Some(article(vec![conclusion(ratio(1, 2), is)], Vec::new()));
        let found = analyse(&run).reproduction.unwrap();
        assert_eq!(found.assumed_variation.is_some(), of.is_none());
        found.conclusions[0].decision
    };
    let near = Is::AtLeast(1.05);
    assert_eq!(decided_where(Some(0.007), near), Decision::Holds);
    assert_eq!(decided_where(Some(0.03), near), Decision::Unclear);
    assert_eq!(decided_where(None, near), Decision::Unclear);
    assert_eq!(decided_where(None, Is::AtLeast(1.0)), Decision::Holds);
}

#[test]
fn failures_have_the_interval_of_clopper_and_pearson() {
    // One of 4,000 operations, in the last slice of all.
    let one = |slice: &mut Slice| {
        slice.outcome.failed = Some(u64::from(slice.arm == 1 && slice.block() == Some(39)));
    };
    let share = quantity(Measure::FailedShare, 1, None);
    let of = |is| decided(run([1.0; 2], 0.01, one), share.clone(), is);
    assert_eq!(of(Is::AtMost(0.0)), Decision::DoesNotHold, "one did fail");
    assert_eq!(of(Is::AtMost(0.5)), Decision::Holds);
    let mut run = run([1.0; 2], 0.01, |slice| slice.outcome.failed = Some(0));
    run.article = Some(article(vec![conclusion(share.clone(), Is::AtMost(0.0))], Vec::new()));
    let found = analyse(&run).reproduction.unwrap().conclusions.remove(0);
    let TestHere { low, high, unit, .. } = &found.tests[0];
    // 1 - 0.025^(1/4000): none of so many failed, which more of them may.
    assert!(high.is_some_and(|high| (high - 0.0922).abs() < 1e-3), "{high:?}");
    assert_eq!((*low, *unit, found.decision), (Some(0.0), Unit::Percent, Decision::Unclear));
}

#[test]
fn a_precondition_is_tested_from_the_run_or_asks_for_the_articles_program() {
    let synced = |percent: u64| {
        move |slice: &mut Slice| slice.spent.sync_ns = slice.spent.elapsed_ns / 100 * percent
    };
    let most = Test { of: quantity(Measure::SyncShare, 0, None), is: Is::AtLeast(50.0) };
    let of = |percent, original: bool, precondition: Precondition| {
        let mut run = run([3.0, 1.0], 0.01, synced(percent));
        let test = vec![Test { of: ratio(1, 0), is: Is::AtLeast(2.0) }];
        let (original, native) = if original { (test, Vec::new()) } else { (Vec::new(), test) };
        let (says, preconditions) = (String::new(), vec![precondition]);
        let conclusion = PublishedConclusion { says, original, native, preconditions };
        run.article = Some(article(vec![conclusion], Vec::new()));
        let here = analyse(&run).reproduction.unwrap().conclusions.remove(0);
        (here.decision, here.native)
    };
    let tested = |side: &Test| Precondition {
        says: "most is sync".to_owned(),
        original: Some(side.clone()),
        native: Some(side.clone()),
    };
    let (holds, not_comparable) = (Decision::Holds, Decision::NotComparable);
    assert_eq!(of(70, true, tested(&most)), (holds, None));
    assert_eq!(of(30, true, tested(&most)), (not_comparable, None));
    assert_eq!(of(30, false, tested(&most)), (not_comparable, Some(not_comparable)));
    // There is no integrity to look at.
    let unknown = Test { is: Is::Intact, ..most };
    assert_eq!(of(70, true, tested(&unknown)), (Decision::Unclear, None));
    let program = || Precondition { says: "PHP".to_owned(), original: None, native: None };
    assert_eq!(of(70, true, program()), (holds, None));
    assert_eq!(of(70, false, program()), (not_comparable, Some(holds)));
}

#[test]
fn data_is_intact_broken_or_was_not_checked() {
    let of = |integrity: Option<Integrity>| {
        let run = run([1.0; 2], 0.01, |slice| slice.outcome.integrity.clone_from(&integrity));
        decided(run, quantity(Measure::TypicalTime, 1, None), Is::Intact)
    };
    let whole = Integrity { records: 100, ..Integrity::default() };
    assert_eq!(of(Some(whole.clone())), Decision::Holds);
    assert_eq!(of(Some(Integrity { torn: 1, ..whole })), Decision::DoesNotHold);
    assert_eq!(of(None), Decision::Unclear);
}

#[test]
fn what_cannot_be_trusted_decides_nothing() {
    let mut failed = run([3.0, 1.0], 0.01, |_| ());
    failed.failures.push(model::run::ArmFailure { arm: 1, why: "no space".to_owned() });
    assert_eq!(decided(failed.clone(), ratio(1, 0), Is::AtLeast(2.0)), Decision::Unclear);
    let level = quantity(Measure::TypicalTime, 1, None);
    assert_eq!(decided(failed, level, Is::AtLeast(2.0)), Decision::Unclear);
}

#[test]
fn native_arms_decide_where_the_originals_are_missing() {
    let of = |original: Vec<Test>, native: Vec<Test>| {
        let mut run = run([3.0, 1.0], 0.01, |_| ());
        let (says, preconditions) = ("so".to_owned(), Vec::new());
        let conclusion = PublishedConclusion { says, original, native, preconditions };
        run.article = Some(article(vec![conclusion], Vec::new()));
        let here = analyse(&run).reproduction.unwrap().conclusions.remove(0);
        (here.decision, here.native, here.tests.len())
    };
    let test = |arm| vec![Test { of: ratio(arm, 0), is: Is::AtLeast(2.0) }];
    let (holds, does_not) = (Decision::Holds, Decision::DoesNotHold);
    assert_eq!(of(test(1), test(2)), (holds, Some(does_not), 1));
    assert_eq!(of(Vec::new(), test(2)), (does_not, Some(does_not), 1));
    assert_eq!(of(test(1), Vec::new()), (holds, None, 1));
    assert_eq!(of(Vec::new(), Vec::new()), (Decision::Unclear, None, 0));
    assert_eq!(of([test(1), test(2)].concat(), Vec::new()), (does_not, None, 2));
}

#[test]
fn figures_stand_beside_what_was_published_with_their_ratios() {
    let figure = |published, against, arm, times| PublishedFigure {
        group: "seconds".to_owned(),
        what: format!("arm {arm}"),
        unit: Unit::Nanoseconds,
        published: Some(published),
        against,
        original: Some(Quantity { times, ..quantity(Measure::TypicalTime, arm, None) }),
        native: None,
        note: Some("of what, nobody knows".to_owned()),
    };
    let mut run = run([3.0, 1.0], 0.01, |_| ());
    let figures = vec![figure(10e9, None, 0, 1000.0), figure(40e9, Some(0), 1, 1000.0)];
    run.article = Some(article(Vec::new(), figures));
    let found = analyse(&run).reproduction.unwrap();
    let other = &found.figures[1];
    assert_eq!(other.published_ratio, Some(4.0));
    assert_eq!(other.note.as_deref(), Some("of what, nobody knows"));
    assert_eq!(other.against.as_deref(), Some("arm 0"));
    let here = other.original.as_ref().unwrap();
    assert!(here.value.is_some_and(|ns| (29e6..31e6).contains(&ns)), "{here:?}");
    assert!(here.ratio.is_some_and(|ratio| (2.9..3.1).contains(&ratio)), "{here:?}");
    assert!(here.ratio_low < here.ratio && here.ratio < here.ratio_high, "{here:?}");
    assert_eq!(found.missing.len(), 1);
}
