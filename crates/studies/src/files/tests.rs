#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use engine::study::Study as _;

use super::stock::{FILES_MAX, NAME_BYTES, SLICE_BYTES_MAX};
use super::*;
use crate::testing::{self, in_memory, on_disk, slice};

const OPERATIONS: [&str; 6] = ["write", "read", "create", "stat", "rename", "unlink"];

/// How many files there are below a folder, and their sizes together.
fn holds(folder: &Path) -> (u64, u64) {
    let (mut files, mut bytes) = (0, 0);
    for within in fs::read_dir(folder).unwrap() {
        for file in fs::read_dir(within.unwrap().path()).unwrap() {
            files += 1;
            bytes += file.unwrap().metadata().unwrap().len();
        }
    }
    (files, bytes)
}

#[test]
fn every_operation_by_every_strategy_on_disk_and_in_memory() {
    for strategy in &spec::SPEC.strategies {
        for operation in OPERATIONS {
            for folder in [on_disk(), in_memory()] {
                let given = [("operation", operation), ("size", "5000 B"), ("folders", "3")];
                let outcome = slice(&FILES, &strategy.name, &given, folder.path(), 4).unwrap();
                assert_eq!(outcome.laps, 4);
                let moves = matches!(operation, "write" | "read");
                assert_eq!(outcome.requested_bytes(), if moves { 4 * 5000 } else { 0 });
                let left = match operation {
                    "unlink" => (0, 0),
                    "create" => (4, 0),
                    _ => (4, 4 * 5000),
                };
                assert_eq!(holds(folder.path()), left, "{operation}");
                let checked = outcome.outcome.integrity;
                assert!(checked.is_none_or(|found| found.is_intact()));
            }
        }
    }
}

#[test]
fn more_operations_than_files_go_round() {
    for operation in ["read", "stat", "rename"] {
        let folder = in_memory();
        let given = [("operation", operation), ("size", "9 MiB")];
        let outcome = slice(&FILES, "direct", &given, folder.path(), 5).unwrap();
        assert_eq!((outcome.laps, holds(folder.path()).0), (5, 1));
        assert!(outcome.integrity().is_intact());
    }
}

#[test]
fn cold_documents_come_from_the_device_each_once_in_a_slice() {
    let given = [("operation", "read"), ("cache", "cold"), ("size", "100 KiB")];
    let mut files = testing::workload(&FILES, "direct", &given);
    assert_eq!(files.about().operations.max, SLICE_BYTES_MAX / (100 << 10));
    let folder = on_disk();
    // The second slice finds files that the first has read.
    for _ in 0..2 {
        let ready = testing::ready(files.as_mut(), folder.path(), 20).unwrap();
        let (delivered, asked) = testing::from_storage(ready);
        assert_eq!(asked, 20 * (100 << 10));
        assert!(delivered >= asked, "{delivered} of {asked}");
    }
    // Nothing else is evicted, and memory is never cold.
    for (operation, folder) in [("write", on_disk()), ("read", in_memory())] {
        let given = [("operation", operation), ("cache", "cold")];
        slice(&FILES, "direct", &given, folder.path(), 3).unwrap();
    }
}

#[test]
fn slices_that_leave_their_files_there_share_them() {
    for operation in ["read", "stat", "rename"] {
        let given = [("operation", operation), ("size", "5000 B"), ("folders", "2")];
        let mut files = testing::workload(&FILES, "direct", &given);
        let slices = testing::kept_and_fresh(files.as_mut(), &[3, 5, 2, 5]);
        let kept: Vec<usize> = slices.iter().map(|(kept, _)| kept.len()).collect();
        assert_eq!(kept, [5, 7, 7, 7], "{operation}: two folders and the files");
        assert!(slices[0].0.is_subset(&slices[1].0) && slices[1].0 == slices[3].0);
        assert!(slices.iter().all(|(_, fresh)| *fresh == 0));
    }
    for (operation, left) in [("write", 5), ("create", 5), ("unlink", 2)] {
        let given = [("operation", operation), ("size", "5000 B"), ("folders", "2")];
        let mut files = testing::workload(&FILES, "direct", &given);
        let slices = testing::kept_and_fresh(files.as_mut(), &[3, 3]);
        assert!(slices.iter().all(|(kept, fresh)| kept.is_empty() && *fresh == left));
    }
}

#[test]
fn documents_that_are_missing_cut_or_another_are_found() {
    let folder = in_memory();
    let given = [("operation", "write"), ("size", "5000 B"), ("folders", "1")];
    let mut files = testing::workload(&FILES, "direct", &given);
    let ready = testing::ready(files.as_mut(), folder.path(), 5).unwrap();
    let (ran, ..) = testing::run(ready).unwrap();
    let path = |n: u8| folder.path().join(format!("d0/invoice-{n}.pdf"));
    fs::remove_file(path(0)).unwrap();
    fs::write(path(1), "cut").unwrap();
    fs::copy(path(3), path(2)).unwrap();
    let found = ran.finish().unwrap().integrity.unwrap();
    assert_eq!((found.records, found.lost, found.torn, found.overwritten), (5, 1, 1, 1));
}

#[test]
fn a_slice_stays_within_its_bounds() {
    for operation in OPERATIONS {
        for size in ["1 KiB", "200 kB", "100 MiB"] {
            let params = testing::params(&FILES, &[("operation", operation), ("size", size)]);
            let files = FILES.workload("direct", &params).unwrap();
            let max = files.about().operations.max;
            let most = SLICE_BYTES_MAX.max(params.size("size")) + params.size("size");
            let names = (FILES_MAX + params.count("folders")) * NAME_BYTES;
            assert!(
                files.footprint(max).and(files.about().kept).space_bytes <= most + names,
                "{operation} {size}"
            );
        }
    }
}

#[test]
fn files_of_the_users_own_are_written_read_and_removed_in_whole_sets() {
    let own = testing::own_folder();
    let set = own.path().to_str().unwrap();
    for strategy in &spec::SPEC.strategies {
        for operation in OPERATIONS {
            let folder = on_disk();
            let given = [("operation", operation), ("set", set)];
            let outcome = slice(&FILES, &strategy.name, &given, folder.path(), 6).unwrap();
            let moved =
                if matches!(operation, "write" | "read") { 2 * testing::OWN_BYTES } else { 0 };
            assert_eq!((outcome.laps, outcome.requested_bytes()), (6, moved), "{operation}");
            assert!(outcome.integrity().is_intact(), "{operation}: {outcome:?}");
            let last = fs::read(folder.path().join("set1/deep/er/b.html"));
            match operation {
                "unlink" | "rename" => assert!(last.is_err(), "{operation}"),
                "create" => assert!(last.unwrap().is_empty()),
                _ => assert_eq!(last.unwrap(), testing::own_contents(5000)),
            }
        }
    }
}

#[test]
fn a_file_of_the_users_own_that_is_cut_or_another_is_found() {
    let own = testing::own_folder();
    let folder = in_memory();
    let given = [("operation", "write"), ("set", own.path().to_str().unwrap())];
    let mut files = testing::workload(&FILES, "direct", &given);
    assert_eq!(files.about().operations.granule, 3);
    let ready = testing::ready(files.as_mut(), folder.path(), 6).unwrap();
    let (ran, ..) = testing::run(ready).unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::remove_file(path("set0/a.css")).unwrap();
    fs::write(path("set0/deep/er/b.html"), "cut").unwrap();
    fs::write(path("set1/deep/c.html"), vec![7; 5001]).unwrap();
    fs::write(path("set1/deep/er/nobody's"), "").unwrap();
    let found = ran.finish().unwrap().integrity.unwrap();
    assert_eq!((found.records, found.lost, found.torn, found.overwritten), (6, 1, 1, 1));
    assert_eq!(found.foreign, 1);
}
