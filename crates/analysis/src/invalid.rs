//! When a comparison cannot be trusted, whatever its figures say: an arm failed,
//! its data broke, a place changed under way, the clock was unsteady, or the
//! operations were too short for what timing them takes.

use model::analysis::{ArmResult, Comparison, Verdict};
use model::arm::Pair;
use units::{counted, percent, time};

use crate::indexed::Indexed;
use crate::{drift, integrity};

/// Both clocks follow the same crystal, and the system's is slewed by at most
/// 0.05% (adjtimex(2)); further apart, one of them is not what it says.
const CLOCKS_APART_MAX: f64 = 0.001;

/// Up to this share of an operation, timing it distorts a ratio by less than a
/// quarter of what differs, and `same` by less than a quarter of the threshold.
const TOLL_SHARE_MAX: f64 = 0.2;

/// Blocks with a doubted slice are left out. With more of its slices doubted, what
/// is left of an arm is what happened to look well.
const UNTRUSTED_SHARE_MAX: f64 = 0.5;

/// Why a comparison of two arms is invalid, if it is.
pub(crate) fn why(
    comparison: &Comparison,
    pair: Pair,
    arms: &[ArmResult],
    run: &Indexed<'_>,
) -> Option<String> {
    let sides = [pair.base, pair.other];
    let of_sides = |find: &dyn Fn(usize) -> Option<String>| sides.into_iter().find_map(find);
    of_sides(&|arm| failure(&arms[arm]))
        .or_else(|| of_sides(&|arm| integrity::why_invalid(&arms[arm])))
        .or_else(|| of_sides(&|arm| untrusted(arm, arms, run)))
        .or_else(|| of_sides(&|arm| run.place_change(run.plan.arms[arm].place)))
        .or_else(|| of_sides(&|arm| backward_steps(arm, arms, run)))
        .or_else(|| clocks_apart(run.floor.clock_off_by))
        .or_else(|| drift::why_invalid(comparison))
        .or_else(|| {
            let [base_ns, other_ns] = sides.map(|arm| arms[arm].typical_ns);
            too_short(comparison, base_ns?, other_ns?, run.floor.record_ns)
        })
}

fn failure(arm: &ArmResult) -> Option<String> {
    let why = arm.failure.as_ref()?;
    Some(format!("{} failed: {why}", arm.id))
}

fn untrusted(arm: usize, arms: &[ArmResult], run: &Indexed<'_>) -> Option<String> {
    let doubts = run.slices_of(arm).filter_map(|slice| slice.outcome.untrusted.as_ref());
    let why: Vec<&String> = doubts.collect();
    let last = why.last()?;
    let share = why.len() as f64 / arms[arm].slices.max(1) as f64;
    (share > UNTRUSTED_SHARE_MAX).then(|| {
        let slices = counted(arms[arm].slices, "slice");
        let (untrusted, id) = (why.len(), &arms[arm].id);
        format!("{untrusted} of {slices} of {id} cannot be trusted, the last because {last}")
    })
}

fn backward_steps(arm: usize, arms: &[ArmResult], run: &Indexed<'_>) -> Option<String> {
    let steps: u64 = run.slices_of(arm).map(|slice| slice.spent.clock_backward_steps).sum();
    (steps > 0).then(|| {
        format!(
            "the clock ({}) ran backwards {steps} times while {} was timed; select another \
             clock with the kernel parameter `clocksource`",
            run.floor.clock, arms[arm].id
        )
    })
}

fn clocks_apart(off_by: Option<f64>) -> Option<String> {
    let apart = off_by.map(f64::abs).filter(|apart| *apart > CLOCKS_APART_MAX)?;
    Some(format!(
        "the cycle counter and the system clock drifted apart by {} during the run, so neither \
         can be trusted; select another clock with the kernel parameter `clocksource`",
        percent(apart)
    ))
}

/// Timing takes the same from both arms, and so draws their ratio towards 1. A
/// difference that shows all the same is there, and larger; `same` may be the
/// timing's own, unless its interval holds with the timing taken off.
fn too_short(
    comparison: &Comparison,
    base_ns: f64,
    other_ns: f64,
    record_ns: f64,
) -> Option<String> {
    let shortest_ns = base_ns.min(other_ns);
    if comparison.verdict != Verdict::Same || record_ns <= shortest_ns * TOLL_SHARE_MAX {
        return None;
    }
    let without_timing = |ratio: f64| (ratio * base_ns - record_ns) / (base_ns - record_ns);
    let most = 1.0 + comparison.threshold;
    let holds = base_ns > record_ns
        && comparison.ratio_low.is_some_and(|low| without_timing(low) >= 1.0 / most)
        && comparison.ratio_high.is_some_and(|high| without_timing(high) <= most);
    (!holds).then(|| {
        format!(
            "an operation takes {}, of which {} is the cost of timing it, and that may hide a \
             difference; use larger operations",
            time(shortest_ns),
            time(record_ns)
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::analysis::{Cpu, Io};
    use model::integrity::Integrity;
    use model::place::PlaceFacts;
    use model::run::PlaceAfter;

    use model::run::Run;

    use super::*;
    use crate::testing;

    fn compared(verdict: Verdict, low: f64, high: f64) -> Comparison {
        Comparison {
            ratio: Some(f64::midpoint(low, high)),
            ratio_low: Some(low),
            ratio_high: Some(high),
            ..testing::comparison(verdict)
        }
    }

    fn arm(id: &str) -> ArmResult {
        ArmResult {
            id: id.to_owned(),
            study: "log".to_owned(),
            label: None,
            strategy: "held".to_owned(),
            place: id.to_owned(),
            params: BTreeMap::new(),
            slices: 10,
            operations: 100,
            time_per_op_ns: None,
            typical_ns: None,
            drift: None,
            modes: None,
            cpu_ns_per_op: Cpu::default(),
            io: Io::default(),
            integrity: None,
            metrics: BTreeMap::new(),
            evidence: BTreeMap::new(),
            time: Vec::new(),
            causes: Vec::new(),
            not_kept: Vec::new(),
            failure: None,
        }
    }

    fn sound() -> Run {
        testing::run(3, (0..3).map(|arm| testing::slice(arm, 0)).collect())
    }

    /// Of the first two arms; a third one is somebody else's.
    fn why_of(arms: &[ArmResult], run: &Run) -> Option<String> {
        why(&compared(Verdict::Same, 0.99, 1.01), run.plan.pairs[0], arms, &Indexed::of(run))
    }

    #[test]
    fn an_arm_is_doubted_with_more_than_half_of_its_slices() {
        let arms = ["a", "b", "c"].map(arm);
        let doubted = |arm, slices: usize| {
            let mut run = sound();
            let mut late = testing::slice(arm, 1);
            late.outcome.untrusted = Some("late".to_owned());
            run.slices.extend(std::iter::repeat_n(late, slices));
            why_of(&arms, &run)
        };
        // Of ten slices.
        assert_eq!(doubted(1, 5), None);
        let why = doubted(1, 6).unwrap_or_default();
        assert!(why.contains("6 of 10 slices of b") && why.contains("late"), "{why}");
        assert_eq!(doubted(2, 9), None);
    }

    #[test]
    fn each_planted_defect_is_told_and_a_third_arms_is_not() {
        let arms = ["a", "b", "c"].map(arm);
        assert_eq!(why_of(&arms, &sound()), None);
        for index in 0..3 {
            let mut failed = arms.clone();
            failed[index].failure = Some("no space".to_owned());
            let mut moved = sound();
            let same = |facts: &PlaceFacts| PlaceAfter::Facts(Box::new(facts.clone()));
            moved.places_after = moved.places.iter().map(same).collect();
            let elsewhere = PlaceFacts { filesystem_id: 99, ..moved.places[index].clone() };
            moved.places_after[index] = PlaceAfter::Facts(Box::new(elsewhere));
            let mut unsteady = sound();
            unsteady.slices[index].spent.clock_backward_steps = 1;
            let mut broken = arms.clone();
            broken[index].integrity =
                Some(Integrity { records: 9, torn: 1, ..Integrity::default() });
            let concerned = index < 2;
            for run in [moved, unsteady] {
                assert_eq!(why_of(&arms, &run).is_some(), concerned);
            }
            for arms in [failed, broken] {
                assert_eq!(why_of(&arms, &sound()).is_some(), concerned);
            }
        }
        let mut apart = sound();
        apart.floor.clock_off_by = Some(0.01);
        assert!(why_of(&arms, &apart).is_some_and(|why| why.contains("1%")));
    }

    #[test]
    fn clocks_may_drift_apart_by_a_crystals_error_and_no_more() {
        assert_eq!(clocks_apart(None), None);
        assert_eq!(clocks_apart(Some(0.0005)), None);
        assert!(clocks_apart(Some(0.002)).is_some());
        assert!(clocks_apart(Some(-0.002)).is_some());
    }

    #[test]
    fn same_stands_where_timing_is_a_small_part_or_cannot_hide_a_difference() {
        let wide = compared(Verdict::Same, 0.97, 1.04);
        assert_eq!(too_short(&wide, 1000.0, 1000.0, 20.0), None);
        // With 40 of 100 ns taken off, 4% become 6.7%.
        assert!(too_short(&wide, 100.0, 100.0, 40.0).is_some());
        let narrow = compared(Verdict::Same, 0.99, 1.01);
        assert_eq!(too_short(&narrow, 100.0, 100.0, 40.0), None);
        assert!(too_short(&narrow, 30.0, 30.0, 40.0).is_some());
    }

    #[test]
    fn a_difference_that_shows_through_the_timing_is_there() {
        for verdict in [Verdict::Faster, Verdict::Slower, Verdict::Unclear] {
            assert_eq!(too_short(&compared(verdict, 1.2, 1.4), 50.0, 60.0, 40.0), None);
        }
    }
}
