#![allow(clippy::unwrap_used)]

use std::fs;

use engine::study::Study as _;

use super::*;
use crate::testing::{self, in_memory, on_disk, slice};

fn strategies() -> impl Iterator<Item = &'static str> {
    spec::SPEC.strategies.iter().map(|strategy| strategy.name.as_str())
}

#[test]
fn sizes_are_uneven_and_add_up() {
    assert_eq!(sets::sizes(5, 211_800), [92_762, 46_379, 30_919, 23_189, 18_551]);
    for (files, total) in [(1, 1), (256, 64 << 20), (3, 10)] {
        assert_eq!(sets::sizes(files, total).iter().sum::<u64>(), total);
    }
}

#[test]
fn every_way_reads_the_whole_page_warm_and_cold_on_disk_and_in_memory() {
    for strategy in strategies() {
        for cache in ["warm", "cold"] {
            for folder in [on_disk(), in_memory()] {
                let outcome = slice(&PAGE, strategy, &[("cache", cache)], folder.path(), 3);
                let outcome = outcome.unwrap();
                let asked = if strategy == "cached" { 0 } else { 3 * 211_800 };
                assert_eq!((outcome.laps, outcome.requested_bytes()), (3, asked));
            }
        }
    }
}

#[test]
fn cold_files_are_out_of_memory_and_come_from_the_device() {
    for strategy in ["read", "mmap", "sendfile", "held"] {
        let folder = on_disk();
        let cold = slice(&PAGE, strategy, &[("cache", "cold")], folder.path(), 4).unwrap();
        assert!(cold.figure(spec::RESIDENT) < 1.0, "{strategy}: {cold:?}");
        assert!(cold.figure(spec::FROM_STORAGE) > 90.0, "{strategy}: {cold:?}");
    }
    let folder = on_disk();
    let warm = slice(&PAGE, "read", &[("cache", "warm")], folder.path(), 4).unwrap();
    assert!(warm.figure(spec::RESIDENT) > 99.0, "{warm:?}");
}

#[test]
fn an_arms_slices_share_their_sets() {
    for (cache, sets) in [("warm", [1, 1, 1]), ("cold", [2, 4, 4])] {
        let mut page = testing::workload(&PAGE, "read", &[("cache", cache), ("files", "3")]);
        let slices = testing::kept_and_fresh(page.as_mut(), &[2, 4, 3]);
        let kept: Vec<usize> = slices.iter().map(|(kept, _)| kept.len()).collect();
        assert_eq!(kept, sets.map(|sets| 3 * sets), "{cache}");
        assert!(slices[0].0.is_subset(&slices[1].0) && slices[1].0 == slices[2].0);
        assert!(slices.iter().all(|(_, fresh)| *fresh == 0));
    }
}

#[test]
fn a_set_that_an_earlier_slice_read_is_cold_again() {
    let kept = on_disk();
    let mut page = testing::workload(&PAGE, "read", &[("cache", "cold")]);
    for operations in [4, 2, 3] {
        let ready = testing::ready(page.as_mut(), kept.path(), operations).unwrap();
        let slice = testing::finish(ready).unwrap();
        assert!(slice.figure(spec::RESIDENT) < 1.0, "{slice:?}");
        assert!(slice.figure(spec::FROM_STORAGE) > 90.0, "{slice:?}");
    }
}

#[test]
fn memory_is_never_cold_and_says_so() {
    let folder = in_memory();
    let cold = slice(&PAGE, "read", &[("cache", "cold")], folder.path(), 4).unwrap();
    assert!(cold.figure(spec::RESIDENT) > 99.0, "{cold:?}");
}

#[test]
fn files_that_stayed_in_memory_are_not_passed_off_as_cold() {
    let folder = on_disk();
    let mut sets =
        Sets::new(fs::File::open(folder.path()).unwrap().into(), Parts::Made(vec![100_000]));
    sets.make(2).unwrap();
    // Nothing was evicted yet.
    let error = check_residency(Cache::Cold, &sets).unwrap_err().to_string();
    assert!(error.starts_with("100% of the files' data was still in memory"), "{error}");
    bring_to(Cache::Cold, &sets).unwrap();
    check_residency(Cache::Cold, &sets).unwrap();
}

#[test]
fn a_page_that_is_missing_or_cut_is_an_error_that_says_so() {
    for strategy in strategies().filter(|s| *s != "held") {
        let folder = in_memory();
        let mut page = testing::workload(&PAGE, strategy, &[("cache", "warm")]);
        let ready = testing::ready(page.as_mut(), folder.path(), 2).unwrap();
        fs::remove_file(folder.path().join("page0-part3")).unwrap();
        let error = testing::finish(ready).unwrap_err().to_string();
        assert!(error.contains("a page's file: No such file"), "{strategy}: {error}");
    }
    for strategy in ["read", "mmap", "sendfile", "held"] {
        let folder = in_memory();
        let mut page = testing::workload(&PAGE, strategy, &[("cache", "warm")]);
        let ready = testing::ready(page.as_mut(), folder.path(), 2).unwrap();
        fs::write(folder.path().join("page0-part0"), "cut").unwrap();
        let error = testing::finish(ready).unwrap_err().to_string();
        assert!(error.contains("the file ended after 3 of"), "{strategy}: {error}");
    }
}

#[test]
fn a_page_that_cannot_be_made_is_refused() {
    let error = testing::refusal(&PAGE, "read", &[("files", "9"), ("total", "9 B")]);
    assert!(error.contains("9 B cannot be split into 9 files"), "{error}");
}

#[test]
fn a_cold_slice_stays_within_its_bounds() {
    for (files, total) in [("5", "211800 B"), ("256", "64 MiB"), ("256", "1 MiB")] {
        let given = [("cache", "cold"), ("files", files), ("total", total)];
        let params = testing::params(&PAGE, &given);
        let page = PAGE.workload("read", &params).unwrap();
        let max = page.about().operations.max;
        assert!(max >= 1 && max * params.count("files") <= COLD_FILES_MAX, "{max}");
        assert!(page.about().kept.space_bytes <= COLD_BYTES_MAX.max(params.size("total")));
    }
}

#[test]
fn a_page_of_the_users_own_is_copied_with_all_below_it_and_read_whole() {
    let own = testing::own_folder();
    let set = own.path().to_str().unwrap();
    for strategy in strategies() {
        for cache in ["warm", "cold"] {
            let folder = on_disk();
            let given = [("set", set), ("cache", cache)];
            let outcome = slice(&PAGE, strategy, &given, folder.path(), 3).unwrap();
            let asked = if strategy == "cached" { 0 } else { 3 * testing::OWN_BYTES };
            assert_eq!((outcome.laps, outcome.requested_bytes()), (3, asked), "{strategy}");
            assert!(outcome.integrity().is_intact());
            let copied = fs::read(folder.path().join("page0/deep/er/b.html")).unwrap();
            assert_eq!(copied, testing::own_contents(5000));
        }
    }
    let says = testing::workload(&PAGE, "read", &[("set", set)]).about().material.unwrap();
    assert_eq!(says.to_string(), "your files: 3 files, 11.0 kB; left out: 1 link");
    let refused = testing::refusal(&PAGE, "read", &[("set", "/no/such")]);
    assert!(refused.contains("/no/such cannot be read"), "{refused}");
}

#[test]
fn what_is_generated_is_said_to_be() {
    let says = testing::workload(&PAGE, "read", &[]).about().material.unwrap();
    assert_eq!(says.to_string(), "generated: 5 files of 212 kB together");
    assert_eq!(says.own_by.as_deref(), Some("set"));
}
