//! Causes that lie in memory: found again by a host, and cleared for nothing.

use model::analysis::Modes;
use model::counters::Level;

use super::*;
use crate::totals::Taken;

/// Writes of 1 MiB that take the kernel twice as long as a page cost before the run.
fn writer() -> ArmTotals {
    let mut totals = with_times(arm("ram"), ALL_NS, 0);
    let pages = ALL_NS / 2 / 500;
    let written_bytes = pages * 4096;
    totals.spent.calls =
        Some(Calls { writes: written_bytes >> 20, written_bytes, ..Calls::default() });
    totals.place_floor = Some(floor(250.0));
    totals.memory = Some(MemoryFloor {
        fault_ns: 300.0,
        first_touch_ns: 1500.0,
        again_ns: 1500.0,
        huge_clear_ns: Some(250.0),
    });
    totals
}

fn with_price(totals: &ArmTotals, first_touch_ns: u64) -> ArmTotals {
    let memory = MemoryTraffic {
        first_touch_ns: Some(Level(first_touch_ns)),
        ..totals.surroundings.memory.unwrap_or_default()
    };
    let surroundings = Surroundings { memory: Some(memory), ..totals.surroundings };
    ArmTotals { surroundings, ..totals.clone() }
}

#[test]
fn memory_that_the_host_took_back_is_named_instead_of_copying() {
    let mut totals = writer();
    let before = Parts::of(&totals);
    assert!(before.first_touch_ns <= 0.0 && before.copying_ns > 0.9 * ALL_NS as f64);
    totals.taken = Taken { bytes: 4096 * 100_000, first_more_ns: 1e15 };
    let again = with_price(&totals, 12_000);
    let parts = Parts::of(&again);
    // No more than what the pages take beyond what they cost before the run.
    let half_ns = ALL_NS as f64 / 2.0;
    assert!((parts.first_touch_ns / half_ns - 1.0).abs() < 0.01, "{parts:?}");
    assert!((parts.copying_ns / half_ns - 1.0).abs() < 0.01, "{parts:?}");
    assert!(codes(&again).contains(&"first-touch".to_owned()));
    // Where its first touch costs no more, memory is no cause.
    assert!(!codes(&with_price(&totals, 1600)).contains(&"first-touch".to_owned()));
    // What the slices took themselves bounds it.
    totals.taken.first_more_ns = ALL_NS as f64 / 100.0;
    assert!(!codes(&with_price(&totals, 12_000)).contains(&"first-touch".to_owned()));
}

/// Files of 4 KiB, each of which is given so many huge pages.
fn small_files(huge_pages: u64, filesystem: &str) -> ArmTotals {
    let mut totals = writer();
    totals.place.as_mut().unwrap().filesystem = filesystem.to_owned();
    totals.spent.name_changes = 2 * OPERATIONS;
    totals.spent.calls =
        Some(Calls { writes: OPERATIONS, written_bytes: OPERATIONS * 4096, ..Calls::default() });
    let memory = MemoryTraffic {
        huge_file_pages: Some(huge_pages * OPERATIONS),
        ..MemoryTraffic::default()
    };
    totals.surroundings.memory = Some(memory);
    totals
}

#[test]
fn small_files_in_huge_pages_pay_for_clearing_and_not_for_their_names() {
    let huge = codes(&small_files(1, "tmpfs"));
    assert!(huge.contains(&"clearing-huge-pages".to_owned()), "{huge:?}");
    assert!(!huge.contains(&"metadata".to_owned()), "{huge:?}");
    // Where a host finds the pages first, all beyond what names may take is theirs.
    let found = Parts::of(&with_price(&small_files(1, "tmpfs"), 12_000));
    let names_ns = (2 * OPERATIONS) as f64 * 10_000.0;
    assert!(found.clearing_ns >= 0.9 * (ALL_NS as f64 - names_ns), "{found:?}");
    for totals in [small_files(0, "tmpfs"), small_files(1, "ext4")] {
        let names = codes(&totals);
        assert!(names.contains(&"metadata".to_owned()), "{names:?}");
        assert!(!names.contains(&"clearing-huge-pages".to_owned()), "{names:?}");
    }
}

#[test]
fn two_modes_are_reported_with_their_times_and_shares() {
    let mut totals = writer();
    totals.modes = Some(Modes {
        fast_ns: 35e6,
        fast_share: 0.6,
        slow_ns: 150e6,
        why: Some("the kernel's work outside of syncs".to_owned()),
    });
    let found = of_arm(&totals);
    let found = found.iter().find(|cause| cause.code == CauseCode::TwoModes).unwrap();
    assert!(
        found.text.starts_with("Slices come in two modes: 35.0 ms (60%) and 150 ms (40%) per "),
        "{}",
        found.text
    );
    assert!(found.text.ends_with("the kernel's work outside of syncs differs."), "{}", found.text);
}
