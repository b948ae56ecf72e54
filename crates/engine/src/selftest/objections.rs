//! Why verdicts from this machine should not be trusted, if so.

use model::selftest::{
    AgainstItself, ClockCheck, PlaceSelftest, Planted, PlantedFound, PlantedKind, Rate,
};
use model::units::percent;

/// More false verdicts than this are promised not to happen.
const FALSE_VERDICTS_MAX: f64 = 0.05;
/// More intervals than this are promised not to miss the truth.
const MISSED_MAX: f64 = 0.05;
/// One that misses is no objection: of twenty, one may. Of fewer, one is chance, too.
const MISSED_MIN: u64 = 2;
/// A kind of slow-down that has few comparisons is objected to where so many misses
/// would have at most this probability, if they were as frequent as they may be.
const CHANCE: f64 = 0.01;
/// A clock that is off by more, in millionths, gets tolls wrong by more than
/// percentiles are rounded.
const CLOCK_OFF_MAX_PPM: f64 = 10_000.0;

/// The reasons, each in a sentence; none where all is well. A rate objects only
/// when it is surely too high: a few false verdicts in a few comparisons are chance.
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

/// All kinds of slow-downs together, and each by itself.
fn planted(label: &str, planted: &[Planted]) -> Vec<String> {
    let found = || planted.iter().filter_map(|p| Some((p.kind, p.found.as_ref()?)));
    let sum = |of: &dyn Fn(&PlantedFound) -> u64| found().map(|(_, found)| of(found)).sum();
    let all = Rate::new(sum(&|f| f.missed.count), sum(&|f| f.missed.of));
    let too_many = all.count >= MISSED_MIN && all.rate > MISSED_MAX;
    let of_all = too_many.then(|| missed(label, "slow-downs that were added", all));
    let of_kinds = found().flat_map(|(kind, found)| {
        let Rate { count, of, .. } = found.missed;
        let surely = stats::rate_at_least(count, of, CHANCE) > MISSED_MAX;
        // What the sum says already need not be said again.
        let by_itself = surely && !too_many;
        [by_itself.then(|| missed(label, added(kind), found.missed)), hidden(label, found)]
    });
    of_all.into_iter().chain(of_kinds.flatten()).collect()
}

fn missed(label: &str, what: &str, Rate { count, of, .. }: Rate) -> String {
    format!(
        "{count} of {of} intervals missed {what} on {label}: at most {} may.",
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
        PlantedKind::Stalls => "the typical slice beside stalls that were added",
    }
}

fn of_clock(clock: &ClockCheck) -> Option<String> {
    if clock.backward_steps > 0 {
        return Some(format!("The clock went backwards {} times.", clock.backward_steps));
    }
    (clock.ahead_of_monotonic_ppm.abs() > CLOCK_OFF_MAX_PPM).then(|| {
        format!(
            "The clock differs from the system clock by {}.",
            percent(clock.ahead_of_monotonic_ppm.abs() / 1e6)
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

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
            place: PlaceFacts {
                label: "disk".to_owned(),
                path: PathBuf::from("/"),
                kind: StorageKind::Disk,
                filesystem: String::new(),
                device: None,
                devices: Vec::new(),
                mount_point: PathBuf::from("/"),
                mount_options: Vec::new(),
                journal: None,
                read_only: false,
                total_bytes: 0,
                free_bytes: 0,
                free_inodes: None,
                filesystem_id: 0,
                unread: Vec::new(),
            },
            workload: String::new(),
            toll_ns: None,
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
    fn one_missed_interval_in_twenty_is_promised_and_two_are_too_many() {
        use PlantedKind::{ColdReading, Stalls, Syncing, Writing};
        let objected = |kinds: &[_]| objections(&[with_planted(kinds)], &CLOCK);
        assert_eq!(objected(&[(Writing, 1, 25), (Syncing, 1, 25), (Stalls, 0, 3)]), [""; 0]);
        assert_eq!(objected(&[(Writing, 0, 0), (Syncing, 1, 4)]), [""; 0]);
        assert_eq!(
            objected(&[(Writing, 2, 25), (Syncing, 1, 8)]),
            ["3 of 33 intervals missed slow-downs that were added on disk: at most 5% may."]
        );
        // Few among all, and yet hardly chance.
        assert_eq!(
            objected(&[(Writing, 0, 97), (ColdReading, 2, 3)]),
            ["2 of 3 intervals missed the slow-down that was added to cold reading on disk: at \
              most 5% may."]
        );
        assert_eq!(objected(&[(Writing, 0, 97), (ColdReading, 2, 6)]), [""; 0]);
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
        assert_eq!(objections(&[], &back), ["The clock went backwards 2 times."]);
        let slow = ClockCheck { ahead_of_monotonic_ppm: -20_000.0, ..CLOCK };
        assert_eq!(objections(&[], &slow), ["The clock differs from the system clock by 2%."]);
    }
}
