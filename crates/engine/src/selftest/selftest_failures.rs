//! Why verdicts from this machine should not be trusted, if so.

use model::selftest::{
    AgainstItself, ClockCheck, PlaceSelftest, Planted, PlantedFound, PlantedKind, Rate,
};
use units::percent;

/// More false verdicts than this are promised not to happen.
const FALSE_VERDICTS_MAX: f64 = 0.05;
/// More intervals than this are promised not to miss the truth.
const MISSED_MAX: f64 = 0.05;
/// A clock that is off by more, in millionths, gets times per operation wrong by more than
/// percentiles are rounded.
const CLOCK_OFF_MAX_PPM: f64 = 10_000.0;

/// The reasons, each in a sentence; none where all is well. The rate of false verdicts
/// objects only when it is surely too high: a few in a few comparisons are chance. Every
/// interval that missed a slow-down objects, for the truth is known there.
pub(super) fn objections(places: &[PlaceSelftest], clock: &ClockCheck) -> Vec<String> {
    let of_places = places.iter().flat_map(|tested| {
        let label = &tested.place.label;
        let failed =
            tested.failure.as_ref().map(|why| format!("{label} could not be tested: {why}."));
        let wrong = tested.against_itself.as_ref().and_then(|found| false_verdicts(label, found));
        [failed, wrong].into_iter().flatten().chain(planted(label, &tested.planted))
    });
    of_places.chain(of_clock(clock)).collect()
}

fn false_verdicts(label: &str, found: &AgainstItself) -> Option<String> {
    let rate = found.false_verdicts;
    (rate.at_least > FALSE_VERDICTS_MAX).then(|| {
        format!(
            "{label} compared with itself was reported as faster or slower {} times in {}: the \
             true rate is above {}, with 95% confidence.",
            rate.count,
            rate.of,
            percent(FALSE_VERDICTS_MAX)
        )
    })
}

fn planted(label: &str, planted: &[Planted]) -> Vec<String> {
    let found = planted.iter().filter_map(|p| Some((p.kind, p.found.as_ref()?)));
    let objections = found.flat_map(|(kind, found)| {
        let missed = (found.missed.count > 0).then(|| missed(label, added(kind), found.missed));
        [missed, hidden(label, found)]
    });
    objections.flatten().collect()
}

fn missed(label: &str, what: &str, Rate { count, of, .. }: Rate) -> String {
    format!(
        "{count} of {of} intervals missed {what} on {label}; in the long run, at most {} should.",
        percent(MISSED_MAX)
    )
}

fn hidden(label: &str, found: &PlantedFound) -> Option<String> {
    let Rate { count, of, .. } = found.hidden_in_totals.filter(|rate| rate.count > 0)?;
    Some(format!(
        "Stalls were added on {label}, and in {count} of {of} comparisons the total times do not \
         show them."
    ))
}

fn added(kind: PlantedKind) -> &'static str {
    match kind {
        PlantedKind::Writing => "the slow-down that was added to writing",
        PlantedKind::Syncing => "the slow-down that was added to syncing",
        PlantedKind::ColdReading => "the slow-down that was added to cold reading",
        PlantedKind::Stalls => "the unchanged typical slice when stalls were added",
    }
}

fn of_clock(clock: &ClockCheck) -> Option<String> {
    if clock.backward_steps > 0 {
        return Some(format!(
            "The clock went backwards {} times; select another clock with the kernel parameter \
             `clocksource`.",
            clock.backward_steps
        ));
    }
    (clock.ahead_of_monotonic_ppm.abs() > CLOCK_OFF_MAX_PPM).then(|| {
        format!(
            "The clock differs from the system clock by {}; select another clock with the kernel \
             parameter `clocksource`.",
            percent(clock.ahead_of_monotonic_ppm.abs() / 1e6)
        )
    })
}

#[cfg(test)]
mod tests {
    use model::analysis::Verdict;
    use model::place::{PlaceFacts, StorageKind};

    use super::*;
    use crate::selftest::against_itself::{self, summary};
    use crate::selftest::planted::{self, Judged};

    const CLOCK: ClockCheck = ClockCheck {
        source: String::new(),
        record_ns: 20.0,
        read_ns: 10.0,
        resolution_ns: 1.0,
        backward_steps: 0,
        ahead_of_monotonic_ppm: -40.0,
    };

    fn tested(wrong: usize, of: usize) -> PlaceSelftest {
        let judged = |verdict| against_itself::Judged { verdict, missed: false, blocks: 10 };
        let mut all = vec![judged(Verdict::Faster); wrong];
        all.resize(of, judged(Verdict::Same));
        PlaceSelftest {
            place: PlaceFacts { kind: StorageKind::Disk, ..PlaceFacts::unknown("disk") },
            workload: String::new(),
            typical_ns: None,
            against_itself: Some(summary(0.05, &all)),
            resolution: None,
            planted: Vec::new(),
            failure: None,
        }
    }

    #[test]
    fn only_what_is_surely_too_often_is_objected_to() {
        assert_eq!(objections(&[tested(0, 100), tested(7, 100), tested(1, 8)], &CLOCK), [""; 0]);
        assert_eq!(objections(&[tested(10, 100)], &CLOCK).len(), 1);
    }

    /// A place with so many misses of so many for each of some kinds.
    fn with_planted(kinds: &[(PlantedKind, usize, usize)]) -> PlaceSelftest {
        let planted = |&(kind, misses, of): &(PlantedKind, usize, usize)| {
            let missed = Judged::new(Verdict::Same, Some([2.0, 1.9, 2.1]));
            let mut all = vec![missed; misses];
            all.resize(of, Judged::new(Verdict::Slower, Some([1.05, 0.95, 1.15])));
            let (found, workload) = (Some(planted::summary(kind, &all)), String::new());
            Planted { kind, workload, added: 0.1, truth: 1.1, found, untested: None }
        };
        PlaceSelftest { planted: kinds.iter().map(planted).collect(), ..tested(0, 100) }
    }

    #[test]
    fn every_kind_of_slow_down_that_an_interval_missed_is_objected_to() {
        use PlantedKind::{ColdReading, Stalls, Syncing, Writing};
        let objected = |kinds: &[_]| objections(&[with_planted(kinds)], &CLOCK);
        assert_eq!(objected(&[(Writing, 0, 25), (Syncing, 0, 0), (Stalls, 0, 3)]), [""; 0]);
        assert_eq!(
            objected(&[(Writing, 0, 97), (Syncing, 1, 25), (ColdReading, 2, 3)]),
            [
                "1 of 25 intervals missed the slow-down that was added to syncing on disk; in \
                 the long run, at most 5% should.",
                "2 of 3 intervals missed the slow-down that was added to cold reading on disk; \
                 in the long run, at most 5% should.",
            ]
        );
    }

    #[test]
    fn stalls_that_the_totals_hide_are_objected_to() {
        let mut place = with_planted(&[(PlantedKind::Stalls, 0, 25)]);
        let found = place.planted[0].found.as_mut();
        found.expect("it was made so").hidden_in_totals = Some(Rate::new(1, 25));
        assert_eq!(
            objections(&[place], &CLOCK),
            ["Stalls were added on disk, and in 1 of 25 comparisons the total times do not show \
              them."]
        );
    }

    #[test]
    fn a_place_that_failed_and_a_bad_clock_are_objected_to() {
        let failed = PlaceSelftest { failure: Some("full".to_owned()), ..tested(0, 100) };
        assert_eq!(objections(&[failed], &CLOCK), ["disk could not be tested: full."]);
        let back = ClockCheck { backward_steps: 2, ..CLOCK };
        let remedy = "; select another clock with the kernel parameter `clocksource`.";
        assert_eq!(objections(&[], &back), [format!("The clock went backwards 2 times{remedy}")]);
        let slow = ClockCheck { ahead_of_monotonic_ppm: -20_000.0, ..CLOCK };
        let off = format!("The clock differs from the system clock by 2%{remedy}");
        assert_eq!(objections(&[], &slow), [off]);
    }
}
