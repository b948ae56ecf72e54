//! Verdicts in words: what two arms differ by, and what that would be worth.

use model::analysis::{
    ArmResult, Comparison, ErrorComparison, RatioDrift, TailComparison, Verdict,
};
use model::arm::Axis;
use model::grouped::in_groups;
use units::{count, percent, three_digits, time};

use crate::difference::{self, Difference};
use crate::names;
use crate::subject::Subject;

/// The rate at which a time is turned into a share of a core.
const RATE_PER_S: f64 = 1000.0;
/// From this share on of what is saved, it is said to be processor time.
const PROCESSOR_SHARE: f64 = 0.8;

/// One comparison of places in a sentence, with what it would be worth.
pub(crate) fn place_sentence(subject: Subject, comparison: &Comparison) -> Option<String> {
    let [base, other] = subject.sides(comparison)?;
    let difference = Difference::of(comparison);
    let within = difference.in_brackets();
    let (name, to, from) = (way(other), &other.place, &base.place);
    let ratio = comparison.ratio.map(|ratio| (ratio, rates(subject, base, other)));
    let text = match (comparison.verdict, ratio) {
        (Verdict::Faster | Verdict::Slower, Some((_, Some(rates)))) => {
            format!("{name}: {to} holds {rates}{within}.")
        }
        (Verdict::Faster | Verdict::Slower, Some((ratio, None))) => format!(
            "{name}: {to} {} {from}{within}, {}.",
            difference::against(ratio),
            threshold(subject, comparison, base, other)
        ),
        (Verdict::Same, _) => format!(
            "{name}: {to} and {from} differ by less than {}{within}.",
            percent(comparison.threshold)
        ),
        (verdict, _) => format!(
            "{name}: {to} against {from} is {}{within}: {}.",
            verdict.as_str(),
            comparison.why.as_deref().unwrap_or("the reason is unknown")
        ),
    };
    let more = [
        totals(subject, comparison),
        drift(comparison),
        tail(comparison),
        errors(comparison, subject.operation(other)),
    ];
    Some(text + &more.concat())
}

/// The comparisons that surely save most, in one sentence; nothing where none was picked.
pub(crate) fn picks_sentence(subject: Subject) -> Option<String> {
    let picks = &subject.analysis.picks;
    let gains: Vec<String> = picks
        .iter()
        .filter_map(|pick| {
            let comparison = &subject.analysis.comparisons[pick.comparison];
            let [base, other] = subject.sides(comparison)?;
            let (name, from) = match comparison.axis {
                Axis::Place => (format!("{} on {}", way(other), other.place), base.place.clone()),
                Axis::Strategy | Axis::Both => {
                    let to = subject.difference(other, base);
                    let name = format!("{} with {to} on {}", other.study, other.place);
                    let from = subject.difference(base, other);
                    let is_both = comparison.axis == Axis::Both;
                    (name, if is_both { format!("{from} on {}", base.place) } else { from })
                }
            };
            let within = Difference::new(comparison.ratio, pick.ratio_low, Some(pick.ratio_high));
            let against = difference::against(comparison.ratio?);
            Some(format!("{name} {against} {from}{}", within.in_brackets()))
        })
        .collect();
    let out_of = picks.first()?.out_of;
    let gains = gains.join("; ");
    Some(format!(
        "Largest gains: {gains}. These intervals are wider to allow for their being the best of \
         {out_of}."
    ))
}

/// What rare stalls add, where all the time spent tells another story than a typical
/// slice: `disk stalled in 3 of 40 slices; counting those, ram takes 33% less time.`
fn totals(subject: Subject, comparison: &Comparison) -> String {
    let Some((totals, [base, other])) = comparison.totals.zip(subject.sides(comparison)) else {
        return String::new();
    };
    let names = match comparison.axis {
        Axis::Place => [base.place.clone(), other.place.clone()],
        Axis::Strategy | Axis::Both => {
            [subject.difference(base, other), subject.difference(other, base)]
        }
    };
    let stalls = [
        (&names[0], totals.base_stalls, totals.base_slices),
        (&names[1], totals.other_stalls, totals.other_slices),
    ];
    let stalled: Vec<String> = stalls
        .into_iter()
        .filter(|(_, stalls, _)| *stalls > 0)
        .map(|(name, stalls, of)| format!("{name} stalled in {stalls} of {of} slices"))
        .collect();
    let [from, to] = names;
    let against = difference::against(totals.ratio);
    let stalled = stalled.join(" and ");
    format!(" {stalled}; counting those, {to} {against} {from}.")
}

/// How the ratio changed during the run, where the verdict holds all the same.
fn drift(comparison: &Comparison) -> String {
    match comparison.drift {
        Some(RatioDrift { start, end }) if comparison.verdict != Verdict::Invalid => format!(
            " This ratio drifted during the run, from ×{} to ×{}.",
            three_digits(start),
            three_digits(end)
        ),
        _ => String::new(),
    }
}

/// What can be said of the operations that failed, where they may.
fn errors(comparison: &Comparison, operation: &str) -> String {
    let Some(errors) = comparison.errors else { return String::new() };
    if let Some((which, shares)) = more_or_fewer(&errors) {
        return format!(" Significantly {which} {operation}s fail: {shares}.");
    }
    match (errors.verdict, errors.share_at_most) {
        (Verdict::Invalid, _) => String::new(),
        (Verdict::Same, Some(most)) => {
            let confidence = percent(comparison.confidence);
            format!(
                " None failed on either side (the true rate is under {} with {confidence} \
                 confidence).",
                percent(most)
            )
        }
        _ => {
            let [base, other] = [errors.base_share, errors.other_share].map(percent);
            format!(
                " {other} of its {operation}s failed, against {base}: too few to tell whether that \
                 is a difference."
            )
        }
    }
}

/// The same within a sentence, where a verdict was reached.
fn failures(comparison: &Comparison) -> String {
    let sure = comparison.errors.and_then(|errors| more_or_fewer(&errors));
    sure.map_or_else(String::new, |(which, shares)| {
        format!(" (significantly {which} fail: {shares})")
    })
}

/// Whether `fewer` or `more` surely fail, which shares do, and what the difference is
/// between.
fn more_or_fewer(errors: &ErrorComparison) -> Option<(&'static str, String)> {
    let (which, bounds) = match (errors.verdict, errors.difference_low, errors.difference_high) {
        (Verdict::Faster, low, high) => ("fewer", high.zip(low).map(|(h, l)| [-h, -l])),
        (Verdict::Slower, low, high) => ("more", low.zip(high).map(|(l, h)| [l, h])),
        _ => return None,
    };
    let by = bounds.map_or_else(String::new, |bounds| {
        let [least, most] = bounds.map(|bound| percent(bound.abs()).replace('%', ""));
        format!(", by {least} to {most} percentage points")
    });
    let [base, other] = [errors.base_share, errors.other_share].map(percent);
    Some((which, format!("{other} instead of {base}{by}")))
}

/// `620 per second instead of 540`, where both were judged by what they hold.
fn rates(subject: Subject, base: &ArmResult, other: &ArmResult) -> Option<String> {
    let (from, to) = (subject.highest_rate(base)?, subject.highest_rate(other)?);
    Some(format!("{} per second instead of {}", rate(to), rate(from)))
}

/// Says so where the slowest operations tell another story than the mean.
fn tail(comparison: &Comparison) -> String {
    let TailComparison { ratio, ratio_low, ratio_high, verdict, .. } = comparison.p99;
    let decided = matches!(verdict, Verdict::Faster | Verdict::Slower);
    match ratio {
        Some(ratio) if decided && verdict != comparison.verdict => format!(
            " Its 99th percentile is {}{}.",
            difference::told(ratio),
            Difference::new(Some(ratio), ratio_low, ratio_high).in_brackets()
        ),
        _ => String::new(),
    }
}

/// The comparisons of one place's strategies with one of them, in a sentence.
pub(crate) fn strategies_sentence(subject: Subject, comparisons: &[&Comparison]) -> Option<String> {
    let base = subject.arm(&comparisons.first()?.base)?;
    let parts: Vec<String> = comparisons
        .iter()
        .filter_map(|comparison| {
            let other = subject.arm(&comparison.other)?;
            let name = subject.difference(other, base);
            let base_name = subject.difference(base, other);
            let ratio = comparison.ratio.map(|ratio| (ratio, rates(subject, base, other)));
            let said = match (comparison.verdict, ratio) {
                (Verdict::Faster | Verdict::Slower, Some((_, Some(rates)))) => {
                    format!("{name} holds {rates}")
                }
                (Verdict::Faster | Verdict::Slower, Some((ratio, None))) => {
                    let against = difference::against(ratio);
                    let threshold = threshold(subject, comparison, base, other);
                    format!("{name} {against} {base_name}, {threshold}")
                }
                (Verdict::Same, _) => format!(
                    "{name} and {base_name} differ by less than {}",
                    percent(comparison.threshold)
                ),
                (Verdict::Invalid, _) => format!(
                    "{name} is invalid: {}",
                    comparison.why.as_deref().unwrap_or("the reason is unknown")
                ),
                (verdict, _) => format!(
                    "{name} against {base_name} is {}: {}",
                    verdict.as_str(),
                    comparison.why.as_deref().unwrap_or("the reason is unknown")
                ),
            };
            Some(said + &failures(comparison))
        })
        .collect();
    let group = group(comparisons, subject, base);
    let more = comparisons.iter().map(|c| totals(subject, c) + &drift(c) + &tail(c));
    let more: String = more.collect();
    Some(format!("{group} on {}: {}.{more}", base.place, parts.join("; ")))
}

/// What strategies are of: a study with what varies in it. What is compared by a
/// parameter is a strategy's, and named with it.
fn group(comparisons: &[&Comparison], subject: Subject, base: &ArmResult) -> String {
    let of_one_strategy = |c: &&Comparison| {
        subject.arm(&c.other).is_some_and(|other| other.strategy == base.strategy)
    };
    if comparisons.iter().all(of_one_strategy) {
        let others = comparisons.iter().filter_map(|c| subject.arm(&c.other));
        return others
            .fold(way(base).to_owned(), |name, other| without_what_differs(name, base, other));
    }
    way(base).replacen(&format!("/{}", base.strategy), "", 1)
}

/// An arm's name without the parameters in which another differs from it.
fn without_what_differs(name: String, arm: &ArmResult, other: &ArmResult) -> String {
    let shown = arm.params_apart_from(other).map(|(name, value)| format!("{name}={value}"));
    shown.fold(name, |name, shown| names::without_param(&name, &shown))
}

/// An arm's name without its place: `log/held`.
fn way(arm: &ArmResult) -> &str {
    arm.id.rsplit_once('@').map_or(arm.id.as_str(), |(way, _)| way)
}

/// `saving 0.31 µs per record: 0.03% of a core at 1,000 per second` where that is
/// processor time, and elsewhere what one worker can do instead.
fn threshold(
    subject: Subject,
    comparison: &Comparison,
    base: &ArmResult,
    other: &ArmResult,
) -> String {
    let operation = subject.operation(other);
    let saves_ns = comparison.saves_ns_per_op.unwrap_or_default();
    let does = if saves_ns >= 0.0 { "saving" } else { "costing" };
    let amount = format!("{does} {} per {operation}", time(saves_ns.abs()));
    if let (Some(from), Some(to)) = (subject.bytes_per_s(base), subject.bytes_per_s(other)) {
        let [from, to] = [from, to].map(|bytes_per_s| count((bytes_per_s / 1e6).round() as u64));
        return format!("{amount}: {to} MB/s instead of {from}");
    }
    if comparison.errors.is_some() {
        // A connection waits; it takes no core.
        return amount;
    }
    let cores = saves_ns.abs() * RATE_PER_S / 1e9;
    if cores <= 1.0 && is_processor_time(saves_ns, base, other) {
        let rate = count(RATE_PER_S as u64);
        return format!("{amount}: {} of a core at {rate} per second", percent(cores));
    }
    match (base.typical_ns, other.typical_ns) {
        (Some(from), Some(to)) => {
            let [from, to] = [from, to].map(|typical_ns| rate(1e9 / typical_ns));
            format!("{amount}; one worker: {to} per second instead of {from}")
        }
        _ => amount,
    }
}

/// Whether what an operation saves is time on a processor rather than waiting.
pub(crate) fn is_processor_time(saves_ns: f64, base: &ArmResult, other: &ArmResult) -> bool {
    let cpu_ns = |arm: &ArmResult| arm.cpu_ns_per_op.user + arm.cpu_ns_per_op.system;
    (cpu_ns(base) - cpu_ns(other)) / saves_ns >= PROCESSOR_SHARE
}

/// An arm's time, or the highest rate that it held where that is what it is judged by.
pub(crate) fn typical(subject: Subject, arm: &ArmResult) -> String {
    match (subject.highest_rate(arm), arm.typical_ns) {
        (Some(per_s), _) => format!("{}/s", rate(per_s)),
        (None, typical_ns) => typical_ns.map_or_else(|| "–".to_owned(), time),
    }
}

/// A rate to three digits, as times are: `62.5`, `1,920`, `30,200`.
pub(crate) fn rate(per_s: f64) -> String {
    if per_s < 1000.0 {
        return three_digits(per_s);
    }
    let unit = 10_f64.powf(per_s.log10().floor() - 2.0);
    count(((per_s / unit).round() * unit) as u64)
}

/// The comparisons along one axis, those of the same base together, in order.
pub(crate) fn along(subject: Subject<'_>, axis: Axis) -> Vec<Vec<&Comparison>> {
    let along = subject.analysis.comparisons.iter().filter(|c| c.axis == axis);
    let by_base = in_groups(along.map(|comparison| (&comparison.base, comparison)));
    by_base.into_iter().map(|(_, of_base)| of_base).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_failures_is_told_in_percentage_points() {
        let fewer = ErrorComparison {
            base_share: 0.05,
            other_share: 0.01,
            difference_low: Some(-0.079),
            difference_high: Some(-0.002),
            share_at_most: None,
            verdict: Verdict::Faster,
        };
        let said =
            |errors| more_or_fewer(&errors).map(|(which, shares)| format!("{which}: {shares}"));
        assert_eq!(
            said(fewer).as_deref(),
            Some("fewer: 1% instead of 5%, by 0.2 to 7.9 percentage points")
        );
        let more = ErrorComparison {
            base_share: 0.0,
            other_share: 0.3,
            difference_low: Some(0.0),
            difference_high: Some(0.4),
            verdict: Verdict::Slower,
            ..fewer
        };
        assert_eq!(
            said(more).as_deref(),
            Some("more: 30% instead of 0%, by 0 to 40 percentage points")
        );
        assert_eq!(said(ErrorComparison { verdict: Verdict::Unclear, ..more }), None);
    }
}
