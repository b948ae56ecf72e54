//! The binary names causes in what it reports and in what it saves.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::Path;
use std::process::Command;

use model::place::StorageKind;

/// A run in a folder on a disk, as JSON; nothing where the build folder is on none.
fn run_on_disk(arguments: &[&str]) -> Option<serde_json::Value> {
    let binary = Path::new(env!("CARGO_BIN_EXE_iotoll"));
    let folder = binary.parent().unwrap();
    let facts = places::inspect("disk", folder).unwrap();
    if facts.kind != StorageKind::Disk {
        eprintln!("SKIPPED: because {} is not on a disk", folder.display());
        return None;
    }
    let output = Command::new(binary)
        .args(["compare", &format!("disk={}", folder.display())])
        .args(["--json", "-", "--study", "log", "--strategy", "held"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn codes(causes: &serde_json::Value) -> Vec<&str> {
    causes.as_array().unwrap().iter().map(|cause| cause["code"].as_str().unwrap()).collect()
}

#[test]
fn a_sync_after_each_record_is_what_bounds_it() {
    let Some(result) = run_on_disk(&["--set", "log.sync=each", "--budget", "4s"]) else { return };
    let causes = &result["arms"][0]["causes"];
    assert!(codes(causes).contains(&"bound-by-sync"), "{causes}");
    assert!(!codes(causes).contains(&"absorbed-by-page-cache"), "{causes}");
}

#[test]
fn where_ram_is_compared_the_sync_explains_why_it_is_faster() {
    let ram = ["ram=/dev/shm", "--set", "log.sync=each", "--budget", "6s"];
    let Some(result) = run_on_disk(&ram) else { return };
    let comparison = &result["comparisons"][0];
    if comparison["verdict"] != "faster" {
        eprintln!("SKIPPED: because nothing was decided here: {}", comparison["verdict"]);
        return;
    }
    let cause = &comparison["causes"][0];
    assert_eq!(cause["code"], "bound-by-sync", "{comparison}");
    let figure = |name: &str| cause["evidence"][name].as_f64().unwrap();
    assert!(figure("base_sync_ns_per_op") > figure("other_sync_ns_per_op"), "{cause}");
}
