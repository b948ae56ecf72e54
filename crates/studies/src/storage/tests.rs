#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::FileExt as _;

use engine::study::RunsIn;
use model::spent::Spent;

use super::*;
use crate::testing::{self, finish, in_memory, on_disk, params, ready, run, slice, workload};

#[test]
fn each_strategy_does_what_it_says_and_what_it_wrote_is_there() {
    for (strategy, syncs) in [
        ("fsync", 1),
        ("fdatasync", 1),
        ("append", 0),
        ("replace", 2),
        ("replace-cached", 0),
        ("write-sequential-cached", 0),
    ] {
        let folder = in_memory();
        let slice = slice(&STORAGE, strategy, &[("bytes", "512 B")], folder.path(), 4).unwrap();
        assert_eq!((slice.laps, slice.spent.sync_calls), (4, 4 * syncs), "{strategy}");
        assert!(slice.integrity().is_intact(), "{strategy}: {slice:?}");
    }
}

#[test]
fn a_latency_of_a_synced_append_is_that_of_its_sync() {
    let folder = on_disk();
    let mut arm = workload(&STORAGE, "fdatasync", &[("bytes", "1 MiB")]);
    let ready = ready(arm.as_mut(), folder.path(), 8).unwrap();
    let mut timer = testing::timer();
    timer.start();
    let ran = ready.run(&mut timer).unwrap();
    timer.finish();
    drop(ran);
    let whole = timer.elapsed_ns();
    let syncs = timer.spent(Spent::default()).sync_ns;
    let latencies = (timer.latencies().sum() as f64 * timer.clock().tick_ns()) as u64;
    // A megabyte takes long to copy: it is no part of the latencies.
    assert!(latencies < whole, "{latencies} of {whole}");
    assert!((latencies as f64 / syncs as f64 - 1.0).abs() < 0.05, "{latencies}, {syncs}");
}

#[test]
fn every_program_that_is_kept_can_be_played() {
    for known in programs::all() {
        let name = known.program.name.as_str();
        let folder = in_memory();
        let commits = known.commits.len() as u64 + 3;
        let given = [("program", name)];
        let slice = slice(&STORAGE, "program", &given, folder.path(), commits).unwrap();
        assert_eq!(slice.laps, commits, "{name}");
        assert!(slice.spent.sync_calls >= commits, "{name} waits for no device");
        assert!(slice.integrity().is_intact(), "{name}: {slice:?}");
        for need in &known.program.needs {
            assert!(need.limit > 0.0 && need.source.starts_with("https://"), "{name}");
        }
    }
}

#[test]
fn the_next_slice_goes_on_with_the_next_commit() {
    let commits = ["w0+0:10 d0", "w0+0:20 d0", "w0+0:40 d0"].map(str::to_owned);
    let profile = Profile::read(&[FileAtStart::default()], &commits).unwrap();
    let mut arm = CommitsArm::new(profile, Timed::Syncs);
    let bytes = [2, 2].map(|operations| {
        let folder = in_memory();
        finish(ready(&mut arm, folder.path(), operations).unwrap()).unwrap().requested_bytes()
    });
    assert_eq!(bytes, [30, 50]);
}

#[test]
fn a_log_that_has_its_size_begins_again_at_its_front() {
    let file = FileAtStart { bytes: 100, written: true };
    let profile = Profile::read(&[file], &["w0+0:40 d0".to_owned()]).unwrap();
    let folder = in_memory();
    let mut arm = CommitsArm::new(profile, Timed::Syncs);
    finish(ready(&mut arm, folder.path(), 5).unwrap()).unwrap();
    assert_eq!(fs::metadata(folder.path().join("file-0")).unwrap().len(), 100);
}

#[test]
fn what_a_commit_wrote_and_is_not_there_is_found() {
    let folder = in_memory();
    let mut arm = workload(&STORAGE, "append", &[("bytes", "512 B")]);
    let (ran, ..) = run(ready(arm.as_mut(), folder.path(), 3).unwrap()).unwrap();
    let file = fs::File::options().write(true).open(folder.path().join("file-0")).unwrap();
    file.write_all_at(b"something else", 1030).unwrap();
    let broken = ran.finish().unwrap().integrity.unwrap();
    assert_eq!((broken.records, broken.overwritten), (1, 1), "{broken:?}");

    let (ran, ..) = run(ready(arm.as_mut(), in_memory().path(), 3).unwrap()).unwrap();
    assert!(ran.finish().unwrap().integrity.unwrap().is_intact());
}

#[test]
fn arms_that_read_have_one_file_and_one_of_them_accounts_for_it() {
    let folder = on_disk();
    let mut one = workload(&STORAGE, "read", &[("depth", "1")]);
    let mut other = workload(&STORAGE, "read", &[("depth", "4")]);
    assert_eq!([one.about().runs_in, other.about().runs_in], [RunsIn::OneFolder; 2]);
    assert!(one.about().kept.space_bytes > 0 && other.about().kept.space_bytes == 0);
    let first = finish(ready(one.as_mut(), folder.path(), 50).unwrap()).unwrap();
    // Its own folder has no file, and it needs none.
    let elsewhere = on_disk();
    let second = finish(ready(other.as_mut(), elsewhere.path(), 50).unwrap()).unwrap();
    for slice in [first, second] {
        assert!(slice.integrity().is_intact() && slice.integrity().records == 50);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_device_is_at_work_when_its_reads_are_timed_and_what_it_read_before_does_not_count() {
    let read_bytes = || {
        let io = fs::read_to_string("/proc/thread-self/io").unwrap();
        let (_, bytes) = io.split_once("\nread_bytes: ").unwrap();
        bytes.lines().next().unwrap().parse::<u64>().unwrap()
    };
    let folder = on_disk();
    let mut arm = workload(&STORAGE, "read", &[("depth", "1")]);
    finish(ready(arm.as_mut(), folder.path(), 50).unwrap()).unwrap();
    let at_rest = read_bytes();
    let ready = ready(arm.as_mut(), folder.path(), 50).unwrap();
    let at_work = read_bytes();
    assert!(at_work > at_rest + 10 * 4096, "{} bytes", at_work - at_rest);
    let slice = finish(ready).unwrap();
    assert_eq!((slice.laps, read_bytes() - at_work), (50, 50 * 4096));
}

#[test]
fn strategies_are_named_as_measures_are() {
    for strategy in Strategy::NAMES {
        let name = serde_json::Value::String((*strategy).to_owned());
        assert!(serde_json::from_value::<model::check::Measure>(name).is_ok(), "{strategy}");
    }
    assert_eq!(params(&STORAGE, &[]).choice("program"), programs()[0].name);
}
