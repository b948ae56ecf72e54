#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::path::Path;

use engine::power::Left;
use engine::study::PowerTrial as _;
use model::study::Unit;

use super::power::Committed;
use super::slice::unaccounted;
use super::*;
use crate::testing::{self, Slice, in_memory, on_disk, params, refusal};

/// What makes slices short.
const SMALL: (&str, &str) = ("items", "2000");

fn slice(strategy: &str, given: &[(&str, &str)], folder: &Path, operations: u64) -> Slice {
    let slice = testing::slice(&JOURNAL, strategy, given, folder, operations).unwrap();
    assert!(slice.integrity().is_intact(), "{strategy} {given:?}: {slice:?}");
    assert_eq!((slice.laps, slice.integrity().records), (operations, operations));
    slice
}

fn strategies() -> impl Iterator<Item = &'static str> {
    spec::SPEC.strategies.iter().map(|strategy| strategy.name.as_str())
}

#[test]
fn every_strategy_commits_the_same_and_recovers_it() {
    for strategy in strategies() {
        for start in ["loaded", "empty"] {
            for folder in [on_disk(), in_memory()] {
                let given = [SMALL, ("start", start)];
                let slice = slice(strategy, &given, folder.path(), 20);
                assert!((slice.figure("changed_bytes") - 20.0 * 100.0 * 108.0).abs() < 0.1);
                assert!(slice.figure("recovery_ns") > 0.0, "{strategy} {start}");
                assert_eq!(slice.spent.sync_calls, 20);
            }
        }
    }
}

#[test]
fn every_way_of_writing_and_kind_of_value_is_recovered() {
    for space in spec::Space::NAMES {
        for writing in spec::Writing::NAMES {
            let given = [SMALL, ("space", *space), ("writing", *writing), ("segment", "256 KiB")];
            slice("pages", &given, on_disk().path(), 12);
        }
    }
    for values in spec::Values::NAMES {
        for keys in spec::Keys::NAMES {
            for value in ["1 B", "900 B"] {
                let given =
                    [("items", "500"), ("values", *values), ("keys", *keys), ("value", value)];
                slice("differences-zstd", &given, in_memory().path(), 5);
            }
        }
    }
}

#[test]
fn checkpoints_come_within_slices_and_take_what_they_cover_out_of_recovery() {
    for start in ["loaded", "empty"] {
        let given = [SMALL, ("start", start), ("checkpoint", "1 MiB")];
        let slice = slice("pages", &given, in_memory().path(), 20);
        assert!(slice.figure("checkpoint_ns") > 0.0, "{start}");
        let whole = slice.figure("written_bytes");
        assert!(whole > f64::from(2 << 20), "{whole}: there was one");
    }
}

#[test]
fn parts_are_the_whole_in_wall_time_and_processor_time_is_in_them() {
    let slice = slice("differences-zstd", &[SMALL], on_disk().path(), 20);
    let sum = |parts: &[[&str; 3]]| parts.iter().map(|[name, ..]| slice.figure(name)).sum::<f64>();
    let elapsed_ns = slice.spent.elapsed_ns as f64;
    let wall = sum(&spec::WALL);
    assert!(wall <= elapsed_ns * 1.001, "{wall} of {elapsed_ns}");
    assert!(sum(&spec::CPU) > 0.0, "{slice:?}");
    for entered in
        ["tree_ns", "difference_ns", "compression_ns", "checksum_ns", "write_ns", "sync_ns"]
    {
        assert!(slice.figure(entered) > 0.0, "{entered}");
    }
    for other in ["copy_ns", "segment_ns", "checkpoint_ns"] {
        assert!(slice.figure(other).abs() < 0.1, "{other}");
    }
    assert_eq!(unaccounted(980, 1000), None);
    let told = unaccounted(960, 1000).unwrap();
    assert_eq!(told, "its parts add up to 96% of its time, and may differ from it by 3%");
    assert!(unaccounted(1040, 1000).is_some());
}

#[test]
fn parts_and_what_break_evens_rest_on_are_figures_of_their_unit() {
    let unit =
        |name: &str| spec::SPEC.figures.iter().find(|figure| figure.name == name).unwrap().unit;
    for [name, ..] in spec::WALL.iter().chain(&spec::CPU) {
        assert_eq!(unit(name), Unit::Nanoseconds, "{name}");
    }
    assert_eq!(spec::SPEC.parts.len(), parts::COUNT);
    for trade in &spec::SPEC.break_evens {
        assert_eq!(unit(&trade.bytes), Unit::Bytes);
        assert!(trade.device.iter().all(|name| spec::SPEC.parts.contains(name)));
    }
}

#[test]
fn differences_and_compression_write_less_and_random_keys_write_more() {
    let written = |strategy, keys| {
        let given = [("items", "20000"), ("keys", keys)];
        slice(strategy, &given, in_memory().path(), 10).figure("written_bytes")
    };
    let [pages, lz4, differences, zstd] =
        ["pages", "pages-lz4", "differences", "differences-zstd"].map(|s| written(s, "random"));
    assert!(lz4 < pages / 2.0 && differences < pages / 10.0, "{pages} {lz4} {differences}");
    assert!(zstd < pages / 20.0, "{pages} {zstd}");
    let sequential = written("pages", "sequential");
    assert!(pages > 7.0 * sequential, "{pages} {sequential}");
}

#[test]
fn a_modelled_device_takes_its_time_and_none_before_the_clock_starts() {
    let folder = in_memory();
    let given = [SMALL, ("modelled_sync", "5ms")];
    let slice = slice("pages", &given, folder.path(), 4);
    let waited = slice.figure("modelled_wait_ns");
    assert!(waited >= 20e6, "{waited}");
    assert!(slice.figure("sync_ns") >= waited, "{slice:?}");
    for writing in ["dsync", "fdatasync"] {
        let given = [SMALL, ("modelled_mb", "100"), ("writing", writing)];
        let slice = testing::slice(&JOURNAL, "pages", &given, in_memory().path(), 4).unwrap();
        let expected = slice.figure("written_bytes") * 1e9 / 100e6;
        let waited = slice.figure("modelled_wait_ns");
        assert!(waited >= expected * 0.999, "{writing}: {waited} of {expected}");
    }
}

#[test]
fn slices_have_the_same_transactions_and_arms_share_what_is_loaded() {
    let mut arm = testing::workload(&JOURNAL, "pages", &[SMALL]);
    let bytes: Vec<u64> = (0..3)
        .map(|_| {
            let folder = in_memory();
            let ready = testing::ready(arm.as_mut(), folder.path(), 8).unwrap();
            testing::finish(ready).unwrap().requested_bytes()
        })
        .collect();
    assert!(bytes.windows(2).all(|pair| pair[0] == pair[1]), "{bytes:?}");
    let config = Config::new("pages", &params(&JOURNAL, &[SMALL])).unwrap();
    let [one, other] = [0, 1].map(|_| base::Base::of(config.kind, 20).unwrap());
    assert!(std::sync::Arc::ptr_eq(&one, &other));
}

/// What is found after someone changed the journal under a slice.
fn found(change: impl FnOnce(&mut Vec<u8>)) -> model::integrity::Integrity {
    let folder = in_memory();
    let mut arm = testing::workload(&JOURNAL, "pages", &[SMALL, ("space", "growing")]);
    let ready = testing::ready(arm.as_mut(), folder.path(), 6).unwrap();
    let (mut ran, ..) = testing::run(ready).unwrap();
    ran.flush().unwrap();
    let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let journal = entries.max().filter(|path| path.ends_with("journal-0000000000000003"));
    let journal = journal.unwrap_or_else(|| panic!("another name"));
    let mut bytes = fs::read(&journal).unwrap();
    change(&mut bytes);
    fs::write(&journal, bytes).unwrap();
    ran.finish().unwrap().integrity.unwrap()
}

#[test]
fn a_journal_that_was_cut_or_changed_is_broken_data() {
    assert!(found(|_| ()).is_intact());
    let cut = found(|bytes| bytes.truncate(bytes.len() - 4096));
    assert_eq!((cut.lost, cut.broken()), (1, 1), "{cut:?}");
    let flipped = found(|bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    });
    assert_eq!(flipped.torn, 6, "{flipped:?}");
    assert!(flipped.example.unwrap().contains("is damaged, and is not the last"));
    let none = found(|bytes| bytes.truncate(4096));
    assert_eq!(none.lost, 6, "{none:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let told = refusal(&JOURNAL, "pages", &[("block", "1000 B")]);
    assert!(told.contains("1000 B is not a power of two"), "{told}");
    let told = Committed::new("pages", &params(&JOURNAL, &[])).err().unwrap().to_string();
    assert!(told.contains("set start=empty"), "{told}");
}

/// What is left of 12 transactions of which so many were acknowledged.
fn left(done: u64, change: impl FnOnce(&Path)) -> Left {
    let folder = in_memory();
    let given = [("start", "empty"), ("space", "growing")];
    let mut trial = Committed::new("differences", &params(&JOURNAL, &given)).unwrap();
    let open = File::open(folder.path()).unwrap();
    let folders = SliceFolders::alone(open.as_fd(), open.as_fd(), true);
    let ready = trial.ready(folders, 12, &testing::timer()).unwrap();
    drop(testing::run(ready).unwrap());
    let journal = folder.path().join("journal-0000000000000001");
    change(&journal);
    trial.look(folders, done).unwrap()
}

#[test]
fn a_power_failure_may_take_no_transaction_that_was_acknowledged() {
    assert_eq!(left(12, |_| ()), Left::default());
    let cut = |blocks: u64| {
        move |journal: &Path| {
            let file = File::options().write(true).open(journal).unwrap();
            file.set_len(file.metadata().unwrap().len() - blocks * 4096).unwrap();
        }
    };
    let begun = left(11, cut(1));
    assert_eq!(begun, Left::default(), "the last one was not acknowledged");
    let lost = left(12, cut(1));
    assert!(lost.lost == 1 && lost.against.is_some() && lost.damage.is_none(), "{lost:?}");
    let none = left(12, |journal| fs::remove_file(journal).unwrap());
    assert!(none.lost == 12 && none.against.is_some(), "{none:?}");
}
