//! The verdicts: what can be said of each pair of arms.

use model::analysis::{ArmResult, Comparison, ErrorComparison, OtherRuns, TailComparison, Verdict};
use model::arm::{Axis, Pair};
use model::between_runs::Learned;
use model::cause::Cause;
use model::run::Run;
use stats::{Decision, Interval, STRETCHES_MIN, Stretches};
use units::percent;

use crate::causes::{self, Side};
use crate::indexed::Indexed;
use crate::noise::Neighbours;
use crate::pair_state::{PairState, PairStates};
use crate::totals::ArmTotals;
use crate::{drift, invalid, next, remaining, stalls};

/// What can be said of the pairs, in the order of the plan.
pub(crate) fn results(
    run: &Indexed<'_>,
    states: &PairStates,
    arms: &[ArmResult],
    totals: &[ArmTotals],
    neighbours: &Neighbours,
) -> Vec<Comparison> {
    let conclude = |state: &PairState| {
        let comparison = comparison(state, run, arms, neighbours);
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

/// What the blocks' ratios alone show.
pub(crate) fn by_ratios(state: &PairState, run: &Run, arms: &[ArmResult]) -> Comparison {
    let Ratios { ratio, ratio_low, ratio_high } = Ratios::of(state.interval(), state.taken.len());
    Comparison {
        ratio,
        ratio_low,
        ratio_high,
        verdict: decided(state.mean.decision()),
        base: arms[state.pair.base].id.clone(),
        other: arms[state.pair.other].id.clone(),
        axis: state.pair.axis,
        other_runs: other_runs(&state.mean, state.learned.time),
        confidence: 1.0 - run.plan.error_rate,
        threshold: run.plan.threshold,
        blocks: state.taken.len() as u64,
        ..Comparison::default()
    }
}

fn comparison(
    state: &PairState,
    run: &Indexed<'_>,
    arms: &[ArmResult],
    neighbours: &Neighbours,
) -> Comparison {
    let Pair { base, other, .. } = state.pair;
    let shown = by_ratios(state, run, arms);
    let typical_times =
        arms[base].typical_ns.zip(arms[other].typical_ns).filter(|_| shown.ratio.is_some());
    let ratio = typical_times.map(|(base_ns, other_ns)| other_ns / base_ns);
    let measured = Comparison {
        ratio,
        // What settles several comparisons at once may lie at the edge of one.
        ratio_low: shown.ratio_low.map(|low| ratio.map_or(low, |ratio| low.min(ratio))),
        ratio_high: shown.ratio_high.map(|high| ratio.map_or(high, |ratio| high.max(ratio))),
        saves_ns_per_op: typical_times.map(|(base_ns, other_ns)| base_ns - other_ns),
        decided_after: state.decided_after().map(|blocks| blocks as u64),
        totals: typical_times.and_then(|(base, other)| {
            stalls::totals(run, state, [base, other], run.plan.threshold)
        }),
        drift: drift::of_pair(state, run.plan.pairs.len()),
        p99: tail(&state.p99.stretches, state.learned.p99),
        errors: errors(state, run),
        why: (shown.verdict == Verdict::Unclear).then(|| why_unclear(state, end_of(run))),
        ..shown
    };
    let judged = match invalid::why(&measured, state.pair, arms, run) {
        Some(why) => invalidated(measured, why),
        None => stalls::judge(unless_at_the_edge(measured)),
    };
    // However long it is measured, a neighbour stays in it.
    let judged = Comparison {
        more_seconds: remaining::seconds(&judged, state.doubt(), run.run.seconds),
        ..judged
    };
    neighbours.judge(judged, state.pair)
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
    let (low, high) = state.failed_difference();
    let verdict = match (low, high) {
        (low, _) if low > 0.0 => Verdict::Slower,
        (_, high) if high < 0.0 => Verdict::Faster,
        _ if none => Verdict::Same,
        _ => Verdict::Unclear,
    };
    let fewer = base.1.min(other.1);
    let share_at_most = none.then(|| stats::rate_at_most(0, fewer, run.plan.error_rate));
    Some(ErrorComparison {
        base_share: share(base),
        other_share: share(other),
        difference_low: Some(low),
        difference_high: Some(high),
        share_at_most,
        verdict,
    })
}

/// The verdict, unless the ratio that settles all comparisons lies on the other side of the
/// threshold.
fn unless_at_the_edge(comparison: Comparison) -> Comparison {
    let agrees = |ratio| comparison.verdict.is_true_of(ratio, comparison.threshold);
    if comparison.ratio.is_none_or(agrees) {
        return comparison;
    }
    let why = "the ratio lies at the edge of the threshold, where it agrees with those of other \
               comparisons only beyond its interval";
    Comparison { verdict: Verdict::Unclear, why: Some(why.to_owned()), ..comparison }
}

fn invalidated(comparison: Comparison, why: String) -> Comparison {
    let p99 = TailComparison { verdict: Verdict::Invalid, ..comparison.p99 };
    let errors = comparison.errors.map(|e| ErrorComparison { verdict: Verdict::Invalid, ..e });
    Comparison { verdict: Verdict::Invalid, why: Some(why), p99, errors, ..comparison }
}

/// Where a ratio lies; unknown before the first block.
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

/// What other runs add to an interval, where saved ones told.
pub(crate) fn other_runs(stretches: &Stretches, learned: Option<Learned>) -> Option<OtherRuns> {
    let Learned { deviation, runs, .. } = learned?;
    let Ratios { ratio_low, ratio_high, .. } =
        Ratios::of(stretches.interval_of_this_run(), stretches.count());
    Some(OtherRuns {
        this_run_low: ratio_low,
        this_run_high: ratio_high,
        runs_vary_by: deviation,
        learned_from: runs,
        unlike_saved: stretches.unlike().map(f64::sqrt),
    })
}

fn tail(stretches: &Stretches, learned: Option<Learned>) -> TailComparison {
    let Ratios { ratio, ratio_low, ratio_high } =
        Ratios::of(stretches.interval(), stretches.count());
    let verdict = decided(stretches.decision());
    let other_runs = other_runs(stretches, learned);
    TailComparison { ratio, ratio_low, ratio_high, other_runs, verdict }
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

fn why_unclear(state: &PairState, end: &str) -> String {
    let stretches = state.mean.count();
    match state.taken.len() {
        0 if state.seen > 0 => format!(
            "half of the operations failed in each of {} rounds, so there is no median to \
             compare",
            state.seen
        ),
        0 => format!("{end} before the first round was complete"),
        _ if stretches < STRETCHES_MIN => {
            format!("{end} after {stretches} of the {STRETCHES_MIN} stretches that a verdict takes")
        }
        _ if state.mean.is_open_for_doubt() => format!(
            "this estimate may be off by {}: a program computes faster where it need not wait, and \
             nobody knows how much",
            percent(state.doubt().exp_m1())
        ),
        blocks => match (state.mean.decision_of_this_run(), state.mean.variation()) {
            (Decision::Open, _) | (_, None) => {
                format!("{end} after {blocks} rounds, before the interval was narrow enough")
            }
            (this, Some(variation)) => format!(
                "{} in this run, but saved runs differ from each other, by {}",
                decided(this).as_str(),
                percent(variation.deviation)
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::figure::ESTIMATED_AWAY;
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

    /// Ten stretches of three rounds of two arms, the second of which takes so much longer,
    /// give or take a little.
    fn analysed(
        more: impl Fn(usize) -> f64,
        change: impl FnOnce(&mut Run),
    ) -> model::analysis::Comparison {
        let slice = |block: usize, arm: usize| {
            let mut slice = testing::slice(arm, block);
            let noise = 0.01 * ((block * block * 7) % 11) as f64 - 0.05;
            let times = if arm == 1 { more(block / 3) * noise.exp() } else { 1.0 };
            slice.spent.elapsed_ns = (1e6 * times) as u64;
            Slice { stretch: Some(block / 3), ..slice }
        };
        let slices = (0..30).flat_map(|block| [slice(block, 0), slice(block, 1)]);
        let mut run = testing::run(2, slices.collect());
        change(&mut run);
        crate::analyse(&run).comparisons.remove(0)
    }

    /// Fails where an estimate in the time is believed as if it had been measured.
    #[test]
    fn what_an_estimate_left_out_is_doubted_however_long_it_is_measured() {
        let estimated = |ns: f64| {
            analysed(
                |_| 0.8,
                |run| {
                    for slice in run.slices.iter_mut().filter(|slice| slice.arm == 1) {
                        let all = ns * slice.operations as f64;
                        slice.outcome.figures.insert(ESTIMATED_AWAY.to_owned(), all);
                    }
                },
            )
        };
        let (none, some) = (estimated(0.0), estimated(2_000.0));
        assert_eq!((none.verdict, some.verdict), (Verdict::Faster, Verdict::Unclear));
        // Of some 8 µs that an operation takes.
        let wider = some.ratio_high.unwrap() / none.ratio_high.unwrap();
        assert!((wider - 1.25).abs() < 0.01, "{wider}");
        assert!(some.why.unwrap().contains("may be off by 25%"));
        assert_eq!(some.more_seconds, None);
    }

    #[test]
    fn a_smaller_error_rate_gives_a_wider_interval_and_is_said() {
        let of = |error_rate: f64| analysed(|_| 1.2, |run| run.plan.error_rate = error_rate);
        let width = |c: &Comparison| c.ratio_high.unwrap() - c.ratio_low.unwrap();
        let (usual, small) = (of(0.05), of(0.0005));
        assert!(width(&usual) < width(&small), "{usual:?} {small:?}");
        assert_eq!(small.confidence.to_bits(), 0.9995_f64.to_bits());
        assert_eq!((usual.verdict, usual.decided_after), (Verdict::Slower, Some(15)));
    }

    #[test]
    fn a_verdict_that_later_stretches_take_back_is_taken_back() {
        let states = |stretch: usize| if stretch < 5 { 1.2 } else { 0.8 };
        let early = |run: &mut Run| run.slices.retain(|slice| slice.stretch < Some(5));
        assert_eq!(analysed(states, early).verdict, Verdict::Slower);
        let whole = analysed(states, |_| ());
        assert_eq!((whole.verdict, whole.decided_after), (Verdict::Unclear, None));
        assert!(whole.why.is_some_and(|why| why.contains("narrow enough")));
    }

    #[test]
    fn fewer_stretches_than_a_verdict_takes_are_counted() {
        let four = |run: &mut Run| run.slices.retain(|slice| slice.stretch < Some(4));
        let found = analysed(|_| 3.0, four);
        assert_eq!(found.verdict, Verdict::Unclear);
        let why = found.why.unwrap();
        assert!(why.contains("after 4 of the 5 stretches that a verdict takes"), "{why}");
    }

    #[test]
    fn failures_are_fewer_more_the_same_or_unclear() {
        let verdict = |blocks: &[(u64, u64)]| compared(blocks).map(|errors| errors.verdict);
        assert_eq!(verdict(&[(5, 1); 120]), Some(Verdict::Faster));
        assert_eq!(verdict(&[(0, 30); 20]), Some(Verdict::Slower));
        assert_eq!(verdict(&[(0, 0); 9]), Some(Verdict::Same));
        assert_eq!(verdict(&[(5, 1); 4]), Some(Verdict::Unclear));
        assert_eq!(verdict(&[(2, 2); 40]), Some(Verdict::Unclear));
        // In more rounds the other one might fail all at once.
        assert_eq!(verdict(&[(0, 2); 20]), Some(Verdict::Unclear));
        // The one fails for some stretches, and then the other.
        let turns: Vec<(u64, u64)> =
            (0..120).map(|block| [(40, 2), (1, 30)][block / 30 % 2]).collect();
        assert_eq!(verdict(&turns), Some(Verdict::Unclear));
        let fewer = compared(&[(5, 1), (6, 3), (4, 1), (5, 2), (7, 1)].repeat(24)).unwrap();
        let (low, high) = (fewer.difference_low.unwrap(), fewer.difference_high.unwrap());
        assert!((-0.1..-0.038).contains(&low) && (-0.038..=0.0).contains(&high), "{low} {high}");
        let none = compared(&[(0, 0); 10]).and_then(|errors| errors.share_at_most);
        // 1 - 0.05^(1/1000), the rule of three.
        assert!(none.is_some_and(|most| (most - 0.002_991).abs() < 1e-5), "{none:?}");
        let some = compared(&[(5, 1); 4]);
        assert!(
            some.is_some_and(|e| (e.base_share - 0.05).abs() < 1e-9 && e.share_at_most.is_none())
        );
    }
}
