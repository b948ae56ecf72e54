//! Why verdicts from this machine should not be trusted, if so.

use model::analysis::Verdict;
use model::selftest::{AgainstItself, ClockCheck, PlaceSelftest, Planted};
use model::units::percent;

/// More false verdicts than this are promised not to happen.
const FALSE_VERDICTS_MAX: f64 = 0.05;
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
        let missed = tested.planted.as_ref().and_then(|planted| missed(label, planted));
        [failed, wrong, missed].into_iter().flatten()
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

fn missed(label: &str, planted: &Planted) -> Option<String> {
    (!planted.found).then(|| {
        let added = percent(planted.added);
        match planted.comparison.verdict {
            Verdict::Unclear => format!(
                "A slowdown of {added} was added on {label} and not found: the comparison stayed \
                 unclear, because the machine is too noisy at present."
            ),
            _ => format!("A slowdown of {added} was added on {label} and not found."),
        }
    })
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

    use model::place::{PlaceFacts, StorageKind};

    use super::*;
    use crate::selftest::against_itself::{Judged, summary};

    const CLOCK: ClockCheck = ClockCheck {
        source: String::new(),
        record_ns: 20.0,
        read_ns: 10.0,
        resolution_ns: 1.0,
        backward_steps: 0,
        ahead_of_monotonic_ppm: -40.0,
    };

    fn tested(wrong: usize, of: usize) -> PlaceSelftest {
        let judged = |verdict| Judged { verdict, missed: false, blocks: 10 };
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
            planted: None,
            failure: None,
        }
    }

    #[test]
    fn only_what_is_surely_too_often_is_objected_to() {
        assert_eq!(objections(&[tested(0, 100), tested(7, 100), tested(1, 8)], &CLOCK), [""; 0]);
        assert_eq!(objections(&[tested(10, 100)], &CLOCK).len(), 1);
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
