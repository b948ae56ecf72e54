//! The studies of what a request does with files, through the built binary.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::{Places, assert_fails, place, run, slice_folders, stderr};
use rustix::fs::{FlockOperation, fcntl_lock};
use serde_json::Value;

/// A short run of one study, of which every arm must have been measured.
fn measured(more: &[&str]) -> Value {
    let places = Places::new();
    let [disk, ram] = places.args();
    // A machine that is busy needs longer to get as far as the first block.
    for budget in ["3s", "30s"] {
        let usual = ["compare", &disk, &ram, "--json", "-", "--blocks", "2", "--budget", budget];
        let args = [&usual, more].concat();
        let output = run(args);
        places.assert_empty();
        // A replay ends so where no round was complete.
        if output.status.code() == Some(4) {
            continue;
        }
        assert!(output.status.success(), "{}", stderr(&output));
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        if arms(&result).all(|arm| arm["slices"].as_u64() > Some(0)) {
            return result;
        }
    }
    panic!("30 s did not suffice for a single block");
}

fn arms(result: &Value) -> impl Iterator<Item = &Value> {
    result["arms"].as_array().unwrap().iter()
}

fn metric(arm: &Value, name: &str) -> f64 {
    arm["metrics"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {arm:#}"))
}

#[test]
fn cold_pages_are_proved_cold_on_a_disk_and_told_to_be_warm_in_memory() {
    let result = measured(&["--study", "page", "--strategy", "read"]);
    assert_eq!(arms(&result).count(), 4);
    for arm in arms(&result) {
        let resident = metric(arm, "resident_before_percent");
        let from_storage = metric(arm, "read_from_storage_percent");
        let cold = arm["params"]["cache"] == "cold" && arm["place"] == "disk";
        assert_eq!(resident < 2.0, cold, "{arm:#}");
        assert_eq!(from_storage > 90.0, cold, "{arm:#}");
    }
}

#[test]
fn caches_and_documents_are_written_and_found_whole() {
    let result = measured(&["--study", "cache,files", "--strategy", "rename"]);
    assert_eq!(arms(&result).count(), 2 * (2 + 3));
    let checked = arms(&result).filter(|arm| arm["params"]["operation"] != "unlink");
    for integrity in checked.map(|arm| &arm["integrity"]) {
        assert!(integrity["records"].as_u64() > Some(0), "{integrity:#}");
        for broken in ["lost", "torn", "overwritten", "foreign", "duplicated"] {
            assert_eq!(integrity[broken], 0, "{integrity:#}");
        }
    }
}

#[test]
fn sqlite_counts_its_syncs_and_loses_nothing() {
    let result = measured(&["--study", "sqlite"]);
    for arm in arms(&result) {
        let syncs = arm["io"]["sync_calls"].as_f64().unwrap();
        let per_request = metric(arm, "syncs_per_request");
        let operations = arm["operations"].as_f64().unwrap();
        assert!((syncs - per_request * operations).abs() < 0.5, "{arm:#}");
        assert_eq!(per_request > 40.0, arm["strategy"] == "delete-full", "{arm:#}");
        assert_eq!(arm["integrity"]["lost"], 0, "{arm:#}");
    }
}

#[test]
fn a_journals_transactions_are_recovered_and_have_parts() {
    let result = measured(&["--study", "journal"]);
    let parts = result["studies"][0]["parts"].as_array().unwrap();
    for arm in arms(&result) {
        let sum: f64 = parts.iter().map(|part| metric(arm, part.as_str().unwrap())).sum();
        // Of each slice a test of the study says that they are the whole.
        assert!(sum > 0.0, "{arm:#}");
        assert_eq!(arm["integrity"]["lost"], 0, "{arm:#}");
        assert!(metric(arm, "recovery_mb_per_s") > 0.0, "{arm:#}");
    }
}

#[test]
fn what_cannot_be_is_wrong_usage() {
    let places = Places::new();
    let [disk, ram] = places.args();
    for (set, says) in [
        ("page.total=4 B", "page/read(cache=warm)@disk: 4 B cannot be split into 5 files"),
        ("cache.used=61", "a page cannot use 61 of 60 templates"),
        ("files.size=101 MiB", "out of range: from 1 KiB to 100 MiB"),
        ("sqlite.connections=0", "is not a whole number from 1 to 64"),
    ] {
        assert_fails(&run(["compare", &disk, &ram, "--set", set]), 2, &[says]);
    }
    places.assert_empty();
}

/// Locks whatever database turns up below a folder until asked to stop.
fn lock_databases_below(folder: &Path, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        for file in slice_folders(folder).iter().map(|slice| slice.join("app.db")) {
            let opened = File::options().write(true).open(&file);
            let Ok(database) = opened else { continue };
            if fcntl_lock(&database, FlockOperation::NonBlockingLockExclusive).is_ok() {
                while !stop.load(Ordering::Relaxed) && file.exists() {
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
        thread::sleep(Duration::from_micros(100));
    }
}

#[test]
fn a_database_that_another_process_locks_is_told_and_nothing_is_left() {
    let places = Places::new();
    let ram = place("ram", places.ram.path());
    let stop = AtomicBool::new(false);
    let output = thread::scope(|scope| {
        scope.spawn(|| lock_databases_below(places.ram.path(), &stop));
        let study = ["--study", "sqlite", "--strategy", "delete-full"];
        let output = run([&["compare", ram.as_str()], study.as_slice()].concat());
        stop.store(true, Ordering::Relaxed);
        output
    });
    assert_fails(&output, 1, &["nothing could be measured", "database is locked"]);
    places.assert_empty();
}

#[test]
fn a_command_of_the_users_is_timed_with_all_that_its_processes_use() {
    let result = measured(&[
        "--study",
        "exec",
        "--set=exec.prepare=seq 2000 > {place}/lines",
        "--set=exec.command=sort -r {place}/lines | gzip -{variant} > {place}/sorted; wc -l {place}/lines",
        "--set=exec.check=test -s {place}/sorted",
        "--set=exec.variant=1,9",
    ]);
    assert_eq!(arms(&result).count(), 4);
    for arm in arms(&result) {
        let cpu_ns = &arm["cpu_ns_per_op"];
        assert!(cpu_ns["user"].as_f64() > Some(1e5), "{arm:#}");
        let integrity = &arm["integrity"];
        assert!(integrity["overwritten"] == 0 && integrity["records"].as_u64() > Some(0));
    }
    for slice in result["slices"].as_array().unwrap() {
        let written = slice["spent"]["calls"]["written_bytes"].as_u64();
        assert!(written.is_none_or(|bytes| bytes > 3000), "{slice:#}");
    }
}

#[test]
fn a_recorded_program_is_replayed_as_it_was_recorded() {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/replay.trace");
    let trace = format!("replay.trace={}", trace.display());
    let result = measured(&["--study", "replay", "--set", &trace]);
    assert_eq!(arms(&result).count(), 2);
    for arm in arms(&result) {
        assert!(metric(arm, "calls") > 100.0 && metric(arm, "deviations") == 0.0, "{arm:#}");
        let bound = metric(arm, "bound_share");
        assert!(bound > 0.0 && bound < 1.0, "{arm:#}");
        let parts = ["think", "open", "read", "write", "sync", "metadata", "lock"];
        let parts: f64 = parts.map(|part| metric(arm, &format!("{part}_ns"))).iter().sum();
        let whole = arm["time_per_op_ns"]["mean"].as_f64().unwrap();
        assert!((parts / whole - 1.0).abs() < 0.05, "{parts} of {whole}");
    }
}

#[test]
fn without_a_trace_there_is_nothing_to_replay() {
    let places = Places::new();
    let [disk, ram] = places.args();
    let output = run(["compare", &disk, &ram, "--study", "replay"]);
    assert_fails(&output, 2, &["there is no trace to replay", "iotoll record -o app.trace"]);
}
