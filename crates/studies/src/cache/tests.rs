#![allow(clippy::unwrap_used)]

use std::fs;

use super::*;
use crate::testing::{self, in_memory, on_disk, slice};

const SMALL: [(&str, &str); 3] = [("templates", "8"), ("classes", "3"), ("used", "4")];

fn given(operation: &'static str) -> Vec<(&'static str, &'static str)> {
    [SMALL.as_slice(), &[("operation", operation)]].concat()
}

#[test]
fn every_way_to_write_is_rebuilt_and_loaded_whole_on_disk_and_in_memory() {
    for strategy in &spec::SPEC.strategies {
        for operation in ["rebuild", "load"] {
            for folder in [on_disk(), in_memory()] {
                let params = given(operation);
                let outcome = slice(&CACHE, &strategy.name, &params, folder.path(), 3).unwrap();
                let integrity = outcome.integrity();
                assert_eq!((outcome.laps, integrity.records), (3, 9));
                assert!(integrity.is_intact(), "{}: {integrity:?}", strategy.name);
                assert!(!folder.path().join("aside.tmp").exists());
            }
        }
    }
}

#[test]
fn slices_share_the_sources_and_loads_their_cache() {
    // Eight templates in one folder, three classes in another, and the root.
    let sources = 8 + 3 + 3;
    let (cache, mut loads) = (8 + 1 + 1, testing::workload(&CACHE, "rename", &given("load")));
    let slices = testing::kept_and_fresh(loads.as_mut(), &[2, 3]);
    assert_eq!((slices[0].0.len(), slices[0].1), (sources + cache, 0));
    assert_eq!(slices[0], slices[1]);
    let mut rebuilds = testing::workload(&CACHE, "rename", &given("rebuild"));
    let slices = testing::kept_and_fresh(rebuilds.as_mut(), &[2, 3]);
    assert_eq!((slices[0].0.len(), slices[0].1), (sources, cache));
    assert_eq!(slices[0], slices[1]);
}

#[test]
fn a_rebuild_reads_all_sources_and_a_load_only_what_a_page_uses() {
    let folder = in_memory();
    let rebuilt = slice(&CACHE, "direct", &given("rebuild"), folder.path(), 1).unwrap();
    assert!(rebuilt.requested_bytes() > 2 * 8 * 4096 + 3 * 6144, "{rebuilt:?}");
    let folder = in_memory();
    let loaded = slice(&CACHE, "direct", &given("load"), folder.path(), 1).unwrap();
    let (least, most) = (4 * 4096, 4 * 4096 * 3 / 2 + 11 * ENTRY_BYTES);
    assert!((least..most).contains(&loaded.requested_bytes()), "{loaded:?}");
}

#[test]
fn a_cold_load_reads_the_manifest_and_a_pages_templates_from_the_device() {
    let given = [given("load"), vec![("cache", "cold")]].concat();
    let mut loads = testing::workload(&CACHE, "rename", &given);
    assert_eq!(loads.about().operations.max, 1);
    let folder = on_disk();
    for _ in 0..2 {
        let ready = testing::ready(loads.as_mut(), folder.path(), 1).unwrap();
        let (delivered, asked) = testing::from_storage(ready);
        assert!(delivered >= asked && asked > 4 * 4096, "{delivered} of {asked}");
    }
    slice(&CACHE, "rename", &given, in_memory().path(), 1).unwrap();
}

#[test]
fn a_cut_or_missing_template_and_a_wrong_manifest_are_found() {
    let folder = in_memory();
    let mut loads = testing::workload(&CACHE, "rename", &given("load"));
    let ready = testing::ready(loads.as_mut(), folder.path(), 1).unwrap();
    let (ran, ..) = testing::run(ready).unwrap();
    let cache = folder.path().join("cache");
    fs::write(cache.join("templates0-5.tpl"), "cut").unwrap();
    fs::remove_file(cache.join("templates0-6.tpl")).unwrap();
    let manifest = fs::read_to_string(cache.join("manifest.json")).unwrap();
    let wrong = manifest.replacen("4096", "4095", 1);
    fs::write(cache.join("manifest.json"), wrong).unwrap();
    let integrity = ran.finish().unwrap().integrity.unwrap();
    assert_eq!((integrity.torn, integrity.lost), (2, 1), "{integrity:?}");
}

#[test]
fn a_manifest_that_cannot_be_read_is_an_error_that_says_so() {
    let folder = in_memory();
    let mut loads = testing::workload(&CACHE, "rename", &given("load"));
    let ready = testing::ready(loads.as_mut(), folder.path(), 1).unwrap();
    fs::write(folder.path().join("cache/manifest.json"), "[{").unwrap();
    let error = testing::finish(ready).unwrap_err().to_string();
    assert!(error.starts_with("reading the cache: the manifest is broken: EOF"), "{error}");
}

#[test]
fn trees_that_cannot_be_are_refused() {
    let wrong = [
        (vec![("templates", "5"), ("used", "6")], "cannot use 6 of 5"),
        (vec![("templates", "5000"), ("template", "1 MiB")], "more than 64 MiB"),
    ];
    for (given, says) in wrong {
        let error = testing::refusal(&CACHE, "rename", &given);
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn templates_of_the_users_own_are_compiled_and_loaded_whole_wherever_they_are() {
    let own = testing::own_folder();
    let set = own.path().to_str().unwrap();
    for strategy in &spec::SPEC.strategies {
        for operation in ["rebuild", "load"] {
            let folder = on_disk();
            let given = [("set", set), ("operation", operation)];
            let outcome = slice(&CACHE, &strategy.name, &given, folder.path(), 2).unwrap();
            // All three, although a page loads ten otherwise, and the manifest.
            assert_eq!((outcome.laps, outcome.integrity().records), (2, 4));
            assert!(outcome.integrity().is_intact());
            assert!(outcome.requested_bytes() > 2 * testing::OWN_BYTES, "{outcome:?}");
            let copied = fs::read(folder.path().join("src/deep/er/b.html")).unwrap();
            assert_eq!(copied, testing::own_contents(5000));
            let manifest = fs::read_to_string(folder.path().join("cache/manifest.json")).unwrap();
            assert!(manifest.contains("\"deep/er/b.html\""), "{manifest}");
        }
    }
    let says = |given: &[(&str, &str)]| {
        testing::workload(&CACHE, "rename", given).about().material.unwrap().to_string()
    };
    assert_eq!(says(&[("set", set)]), "your files: 3 files, 11.0 kB; left out: 1 link");
    assert_eq!(says(&[]), "generated: 60 templates of 4 KiB and 30 classes of 6 KiB");
}
