//! The verdicts: what can be said of each pair of arms.

use model::analysis::{ArmResult, Comparison, ErrorComparison, TailComparison, Verdict};
use model::arm::{Axis, Pair};
use model::cause::Cause;
use model::run::Run;
use stats::{Decision, Interval, Sequence};

use crate::causes::{self, Side};
use crate::indexed::Indexed;
use crate::pair_state::{PairState, PairStates};
use crate::totals::ArmTotals;
use crate::{drift, invalid, next, remaining, stalls};

/// What can be said of the pairs, in the order of the plan.
pub(crate) fn results(
    run: &Indexed<'_>,
    states: &PairStates,
    arms: &[ArmResult],
    totals: &[ArmTotals],
) -> Vec<Comparison> {
    let conclude = |state: &PairState| {
        let comparison = comparison(state, run, arms);
        let causes = pair_causes(run, state.pair, comparison.verdict, arms, totals);
        let comparison = Comparison { causes, ..comparison };
        Comparison { next: next::suggest(run, state.pair, &comparison), ..comparison }
    };
    states.0.iter().map(conclude).collect()
}

fn pair_causes(
    run: &Indexed<'_>,
    pair: Pair,
    verdict: Verdict,
    arms: &[ArmResult],
    totals: &[ArmTotals],
) -> Vec<Cause> {
    let Pair { base, other, axis } = pair;
    let study = run.study(&arms[other].study);
    let label = |arm: usize, than: usize| match axis {
        Axis::Place => format!("on {}", arms[arm].place),
        Axis::Strategy => format!("with {}", arms[arm].difference_from(&arms[than], study)),
        Axis::Both => {
            let way = arms[arm].difference_from(&arms[than], study);
            format!("with {way} on {}", arms[arm].place)
        }
    };
    let [base_label, other_label] = [label(base, other), label(other, base)];
    let base = Side { label: &base_label, totals: &totals[base] };
    let other = Side { label: &other_label, totals: &totals[other] };
    let mut found = causes::of_pair(base, other, axis, verdict);
    // Places take the same work and the same bytes.
    if axis == Axis::Strategy && verdict != Verdict::Invalid {
        found.extend(study.into_iter().flat_map(|study| causes::break_even(run, pair, study)));
    }
    found
}

fn comparison(state: &PairState, run: &Indexed<'_>, arms: &[ArmResult]) -> Comparison {
    let Pair { base, other, axis } = state.pair;
    let Ratios { ratio, ratio_low, ratio_high } = Ratios::of(state.interval(), state.mean.blocks());
    let typical_times =
        arms[base].typical_ns.zip(arms[other].typical_ns).filter(|_| ratio.is_some());
    let ratio = typical_times.map(|(base_ns, other_ns)| other_ns / base_ns);
    let (verdict, why) = verdict(state, end_of(run));
    let measured = Comparison {
        base: arms[base].id.clone(),
        other: arms[other].id.clone(),
        axis,
        ratio,
        // What settles several comparisons at once may lie at the edge of one.
        ratio_low: ratio_low.map(|low| ratio.map_or(low, |ratio| low.min(ratio))),
        ratio_high: ratio_high.map(|high| ratio.map_or(high, |ratio| high.max(ratio))),
        confidence: 1.0 - run.plan.error_rate,
        saves_ns_per_op: typical_times.map(|(base_ns, other_ns)| base_ns - other_ns),
        threshold: run.plan.threshold,
        verdict,
        blocks: state.mean.blocks() as u64,
        decided_after: state.mean.decided_at().map(|blocks| blocks as u64),
        totals: typical_times.and_then(|(base, other)| {
            stalls::totals(run, state, [base, other], run.plan.threshold)
        }),
        drift: drift::of_pair(state, run.plan.pairs.len()),
        p99: tail(&state.p99.sequence),
        errors: errors(state, run),
        why,
        more_seconds: None,
        causes: Vec::new(),
        next: None,
    };
    let judged = match invalid::why(&measured, state.pair, arms, run) {
        Some(why) => invalidated(measured, why),
        None => stalls::judge(unless_contradicted(measured, state)),
    };
    Comparison { more_seconds: remaining::seconds(&judged, run.run.seconds), ..judged }
}

/// The operations that failed; nothing where none may.
fn errors(state: &PairState, run: &Indexed<'_>) -> Option<ErrorComparison> {
    let failed = |arm| -> Option<(u64, u64)> {
        let failed = run.slices_of(arm).filter_map(|slice| slice.outcome.failed);
        let of = run.slices_of(arm).map(|slice| slice.operations).sum();
        Some((failed.reduce(|a, b| a + b)?, of))
    };
    let [base, other] = [failed(state.pair.base)?, failed(state.pair.other)?];
    let share = |(failed, of): (u64, u64)| failed as f64 / of.max(1) as f64;
    let none = base.0 == 0 && other.0 == 0;
    let verdict = match state.errors.decision() {
        ..0 => Verdict::Faster,
        1.. => Verdict::Slower,
        0 if none => Verdict::Same,
        0 => Verdict::Unclear,
    };
    let fewer = base.1.min(other.1);
    let share_at_most = none.then(|| stats::rate_at_most(0, fewer, run.plan.error_rate));
    let (low, high) = state.errors.interval();
    Some(ErrorComparison {
        base_share: share(base),
        other_share: share(other),
        difference_low: Some(low),
        difference_high: Some(high),
        share_at_most,
        verdict,
    })
}

/// The verdict, unless what was measured after it says otherwise: then the storage, or
/// the machine, was not the same all the time.
fn unless_contradicted(comparison: Comparison, state: &PairState) -> Comparison {
    let agrees = |ratio| comparison.verdict.is_true_of(ratio, comparison.threshold);
    if comparison.ratio.is_none_or(agrees) && !state.mean.is_contradicted() {
        return comparison;
    }
    let why = format!(
        "the verdict {} was reached after {} blocks, but later blocks contradict it",
        comparison.verdict.as_str(),
        comparison.decided_after.unwrap_or_default()
    );
    Comparison { verdict: Verdict::Unclear, why: Some(why), ..comparison }
}

fn invalidated(comparison: Comparison, why: String) -> Comparison {
    let p99 = TailComparison { verdict: Verdict::Invalid, ..comparison.p99 };
    let errors = comparison.errors.map(|e| ErrorComparison { verdict: Verdict::Invalid, ..e });
    Comparison { verdict: Verdict::Invalid, why: Some(why), p99, errors, ..comparison }
}

/// Where a sequence is after its last block; unknown before the first.
pub(crate) struct Ratios {
    pub(crate) ratio: Option<f64>,
    pub(crate) ratio_low: Option<f64>,
    pub(crate) ratio_high: Option<f64>,
}

impl Ratios {
    pub(crate) fn of(interval: Interval, blocks: usize) -> Self {
        let bounded = |log: f64| log.is_finite().then(|| log.exp());
        Self {
            ratio: bounded(interval.estimate).filter(|_| blocks > 0),
            ratio_low: bounded(interval.low),
            ratio_high: bounded(interval.high),
        }
    }
}

fn tail(sequence: &Sequence) -> TailComparison {
    let Ratios { ratio, ratio_low, ratio_high } =
        Ratios::of(sequence.interval(), sequence.blocks());
    let verdict = decided(sequence.decision());
    TailComparison { ratio, ratio_low, ratio_high, verdict }
}

pub(crate) fn decided(decision: Decision) -> Verdict {
    match decision {
        Decision::Less => Verdict::Faster,
        Decision::Greater => Verdict::Slower,
        Decision::Within => Verdict::Same,
        Decision::Open => Verdict::Unclear,
    }
}

/// What ended before a comparison was decided.
fn end_of(run: &Run) -> &'static str {
    match (run.run.interrupted, &run.run.ended_early) {
        (true, _) => "the run was interrupted",
        (false, Some(_)) => "the run ended early",
        (false, None) => "the budget ended",
    }
}

fn verdict(state: &PairState, end: &str) -> (Verdict, Option<String>) {
    let verdict = decided(state.mean.decision());
    let why = (verdict == Verdict::Unclear).then(|| match state.mean.blocks() {
        0 if state.seen > 0 => format!(
            "half of the operations failed in each of {} blocks, so there is no median to \
             compare",
            state.seen
        ),
        0 => format!("{end} before the first block was complete"),
        blocks => format!("{end} after {blocks} blocks, before the interval was narrow enough"),
    });
    (verdict, why)
}

#[cfg(test)]
mod tests {
    use model::slice::{Outcome, Slice};

    use super::*;
    use crate::testing;

    /// Blocks of two arms of a hundred operations each, of which so many failed.
    fn compared(blocks: &[(u64, u64)]) -> Option<ErrorComparison> {
        let slice = |block, arm, failed| Slice {
            outcome: Outcome { failed: Some(failed), ..Outcome::default() },
            ..testing::slice(arm, block)
        };
        let slices: Vec<Slice> = blocks
            .iter()
            .enumerate()
            .flat_map(|(block, failed)| [slice(block, 0, failed.0), slice(block, 1, failed.1)])
            .collect();
        let run = testing::run(2, slices);
        errors(&PairStates::of(&run).0[0], &Indexed::of(&run))
    }

    #[test]
    fn a_smaller_error_rate_takes_more_blocks() {
        let slice = |block, arm: usize| {
            let mut slice = testing::slice(arm, block);
            slice.spent.elapsed_ns += 200 * arm as u64;
            slice
        };
        let compared = |blocks: usize, error_rate: f64| {
            let slices = (0..blocks).flat_map(|block| [slice(block, 0), slice(block, 1)]).collect();
            let mut run = testing::run(2, slices);
            run.plan.error_rate = error_rate;
            let comparison = crate::analyse(&run).comparisons.remove(0);
            (comparison.verdict, comparison.confidence)
        };
        let needed = |error_rate: f64| {
            (1..200).find(|blocks| compared(*blocks, error_rate).0 == Verdict::Slower).unwrap()
        };
        assert!(needed(0.05) < needed(0.0005), "{} {}", needed(0.05), needed(0.0005));
        assert_eq!(compared(3, 0.0005).1.to_bits(), 0.9995_f64.to_bits());
    }

    #[test]
    fn failures_are_fewer_more_the_same_or_unclear() {
        let verdict = |blocks: &[(u64, u64)]| compared(blocks).map(|errors| errors.verdict);
        assert_eq!(verdict(&[(5, 1); 120]), Some(Verdict::Faster));
        assert_eq!(verdict(&[(0, 30); 20]), Some(Verdict::Slower));
        assert_eq!(verdict(&[(0, 0); 9]), Some(Verdict::Same));
        assert_eq!(verdict(&[(5, 1); 9]), Some(Verdict::Unclear));
        assert_eq!(verdict(&[(2, 2); 40]), Some(Verdict::Unclear));
        let fewer = compared(&[(5, 1); 120]).unwrap();
        let (low, high) = (fewer.difference_low.unwrap(), fewer.difference_high.unwrap());
        assert!((-0.1..-0.04).contains(&low) && (-0.04..=0.0).contains(&high), "{low} {high}");
        let none = compared(&[(0, 0); 10]).and_then(|errors| errors.share_at_most);
        // 1 - 0.05^(1/1000), the rule of three.
        assert!(none.is_some_and(|most| (most - 0.002_991).abs() < 1e-5), "{none:?}");
        let some = compared(&[(5, 1); 9]);
        assert!(
            some.is_some_and(|e| (e.base_share - 0.05).abs() < 1e-9 && e.share_at_most.is_none())
        );
    }
}
