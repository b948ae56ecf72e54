//! What a run says of the published measurement that it repeats: each figure here, and
//! whether each conclusion holds.
//!
//! A conclusion is decided by intervals alone: it holds where all that it asks for surely is
//! so, it does not where some of that surely is not, and in between it is unclear. It cannot be
//! compared where something that it depends on surely is not as it was for the article.

mod estimate;
mod other_runs;

use model::analysis::ArmResult;
use model::article::{
    Article, Is, Precondition, PublishedConclusion, PublishedFigure, Quantity, SetAgainst, Test,
};
use model::figure::Unit;
use model::reproduction::{
    ConclusionHere, Decision, FigureHere, Measured, PreconditionHere, Reproduction, TestHere,
};
use units::counted;

use self::estimate::{Estimate, Estimates};
use crate::indexed::Indexed;
use crate::noise::Neighbours;
use crate::totals::ArmTotals;

/// What follows for the article of a run; nothing where it repeats none.
pub(crate) fn of(
    run: &Indexed<'_>,
    arms: &[ArmResult],
    totals: &[ArmTotals],
    neighbours: &Neighbours,
) -> Option<Reproduction> {
    let article = run.article.as_ref()?;
    let estimates = Estimates::of(article, run, arms, totals, neighbours);
    let figure = |figure: &PublishedFigure| figure_here(figure, article, &estimates);
    let conclusion = |conclusion: &PublishedConclusion| conclusion_here(conclusion, &estimates);
    Some(Reproduction {
        article: article.name.clone(),
        title: article.title.clone(),
        year: article.year,
        original: article.original.clone(),
        question: article.question.clone(),
        is_quick: article.is_quick,
        figures: article.figures.iter().map(figure).collect(),
        conclusions: article.conclusions.iter().map(conclusion).collect(),
        missing: article.missing.clone(),
        scaled: article.scaled.clone(),
        assumed_variation: other_runs::assumed(run),
    })
}

fn figure_here(
    figure: &PublishedFigure,
    article: &Article,
    estimates: &Estimates<'_>,
) -> FigureHere {
    let base = figure.against.and_then(|index| article.figures.get(index));
    let published = base.and_then(|base| figure.published.zip(base.published));
    let side = |of: fn(&PublishedFigure) -> Option<&Quantity>| {
        Some(measured(of(figure)?, base.and_then(of), estimates))
    };
    FigureHere {
        group: figure.group.clone(),
        what: figure.what.clone(),
        unit: figure.unit,
        published: figure.published,
        against: base.map(|base| base.what.clone()),
        published_ratio: published.map(|(own, base)| own / base).filter(|r| r.is_finite()),
        original: side(|figure| figure.original.as_ref()),
        native: side(|figure| figure.native.as_ref()),
        note: figure.note.clone(),
    }
}

fn measured(own: &Quantity, base: Option<&Quantity>, estimates: &Estimates<'_>) -> Measured {
    let Estimate { value, low, high, .. } = estimates.of_quantity(own);
    let arms = estimates.ids(own);
    if let Some(SetAgainst::Over(_)) = own.set_against {
        // The figure is a ratio itself.
        return Measured { arms, value, ratio: value, ratio_low: low, ratio_high: high };
    }
    let ratio = base.and_then(|base| estimates.ratio_of(own, base)).unwrap_or_default();
    Measured { arms, value, ratio: ratio.value, ratio_low: ratio.low, ratio_high: ratio.high }
}

fn conclusion_here(conclusion: &PublishedConclusion, estimates: &Estimates<'_>) -> ConclusionHere {
    let of = |tests: &[Test]| -> Vec<(TestHere, Option<String>)> {
        tests.iter().map(|test| test_here(test, estimates)).collect()
    };
    let preconditions = |by: MeasuredBy| -> Vec<PreconditionHere> {
        let all = conclusion.preconditions.iter();
        all.map(|precondition| precondition_here(precondition, by, estimates)).collect()
    };
    let decide = |tests: &[(TestHere, Option<String>)], preconditions: &[PreconditionHere]| {
        let decided = match tests {
            [] => Decision::Unclear,
            tests => Decision::of_all(tests.iter().map(|(test, _)| test.decision)),
        };
        let met = Decision::of_all(preconditions.iter().map(|of| of.decision));
        decided.under(met)
    };
    let (original, native) = (of(&conclusion.original), of(&conclusion.native));
    let of_native = (!native.is_empty()).then(|| {
        // Of native arms nobody claims that they are the article's program.
        let tested: Vec<PreconditionHere> =
            preconditions(MeasuredBy::Native).into_iter().filter(|of| of.test.is_some()).collect();
        decide(&native, &tested)
    });
    let (deciding, by) = if original.is_empty() {
        (native, MeasuredBy::Native)
    } else {
        (original, MeasuredBy::Original)
    };
    let preconditions = preconditions(by);
    ConclusionHere {
        says: conclusion.says.clone(),
        decision: decide(&deciding, &preconditions),
        native: of_native,
        preconditions,
        cause: deciding.iter().find_map(|(_, cause)| cause.clone()),
        tests: deciding.into_iter().map(|(test, _)| test).collect(),
    }
}

/// Which arms decide.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MeasuredBy {
    /// Those that measure with the article's own program.
    Original,
    /// Native ones.
    Native,
}

/// Whether a precondition is met by the arms that decide.
fn precondition_here(
    precondition: &Precondition,
    by: MeasuredBy,
    estimates: &Estimates<'_>,
) -> PreconditionHere {
    let Precondition { says, original, native } = precondition;
    let is_program = original.is_none() && native.is_none();
    let test = if by == MeasuredBy::Original { original } else { native };
    let test = test.as_ref().map(|test| test_here(test, estimates).0);
    let decision = match (&test, is_program) {
        (Some(test), _) => test.decision,
        (None, true) if by == MeasuredBy::Original => Decision::Holds,
        (None, true) => Decision::DoesNotHold,
        (None, false) => Decision::Unclear,
    };
    PreconditionHere { says: says.clone(), decision, test }
}

/// What became of a test, and what explains it.
fn test_here(test: &Test, estimates: &Estimates<'_>) -> (TestHere, Option<String>) {
    let arms = estimates.ids(&test.of);
    let unit = estimates.unit(&test.of);
    let of = estimates.title(&test.of);
    let Some([least, most]) = test.is.range(estimates.threshold()) else {
        return (intact(test, arms, estimates), None);
    };
    let Estimate { value, low, high, why, cause } = estimates.of_quantity(&test.of);
    let decision = match (low, high, &why) {
        (_, _, Some(_)) => Decision::Unclear,
        (low, high, None) => decide([low, high], [least, most]),
    };
    let bound = |bound: f64| bound.is_finite().then_some(bound);
    let (at_least, at_most) = (bound(least), bound(most));
    let is_known = low.is_some() || high.is_some();
    let too_few = || (value.is_some() && !is_known).then(|| TOO_FEW.to_owned());
    let note = why.or_else(too_few);
    let here = TestHere { of, arms, unit, value, low, high, at_least, at_most, decision, note };
    (here, cause)
}

/// What is said of a figure without an interval.
const TOO_FEW: &str = "too few rounds for an interval";
/// Intervals end where a verdict does, which may be the very bound.
const NEARLY: f64 = 1e-9;

/// Whether what lies in an interval surely lies within the bounds, or surely does not.
fn decide([low, high]: [Option<f64>; 2], [least, most]: [f64; 2]) -> Decision {
    let low = low.unwrap_or(f64::NEG_INFINITY);
    let high = high.unwrap_or(f64::INFINITY);
    if low >= least - NEARLY && high <= most + NEARLY {
        Decision::Holds
    } else if high < least - NEARLY || low > most + NEARLY {
        Decision::DoesNotHold
    } else {
        Decision::Unclear
    }
}

/// Whether an arm's data is as it was written.
fn intact(test: &Test, arms: Vec<String>, estimates: &Estimates<'_>) -> TestHere {
    debug_assert_eq!(test.is, Is::Intact, "all else is a matter of a number");
    let found = estimates.arm(test.of.arm).and_then(|arm| arm.integrity.as_ref());
    let (decision, note) = match found {
        Some(found) if found.records > 0 && found.is_intact() => {
            (Decision::Holds, format!("none of {} broken", counted(found.records, "record")))
        }
        Some(found) if !found.is_intact() => {
            let broken = counted(found.broken(), "broken record");
            (Decision::DoesNotHold, format!("{broken} of {}", found.records))
        }
        _ => (Decision::Unclear, "no record was checked".to_owned()),
    };
    TestHere {
        of: None,
        arms,
        unit: Unit::Count,
        value: found.map(|found| found.broken() as f64),
        low: None,
        high: None,
        at_least: None,
        at_most: None,
        decision,
        note: Some(note),
    }
}

#[cfg(test)]
mod tests;
