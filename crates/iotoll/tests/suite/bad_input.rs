//! Every mistake is answered with a sentence and the documented exit code.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use common::{Places, assert_fails, entries, iotoll, place, run, stderr};

#[test]
fn a_path_that_is_missing() {
    let output = run(["compare", "disk=/no/such/dir"]);
    assert_fails(&output, 2, &["disk=/no/such/dir", "no such directory", "pass one that exists"]);
}

#[test]
fn a_path_that_is_a_file() {
    let output = run(["compare", "disk=/etc/passwd"]);
    assert_fails(&output, 2, &["disk=/etc/passwd", "not a directory"]);
}

#[test]
fn a_place_that_is_neither_path_nor_label_and_path() {
    assert_fails(&run(["compare", ""]), 2, &["a place is empty", "disk=/var/log"]);
    assert_fails(&run(["compare", "ramfs:1G"]), 2, &["has no size limit", "use tmpfs:SIZE"]);
    assert_fails(&run(["compare", "/no/such/dir"]), 2, &["dir=/no/such/dir", "no such directory"]);
    assert_fails(&run(["compare", "=/tmp"]), 2, &["both the label and the path"]);
    assert_fails(&run(["compare", "a b=/tmp"]), 2, &["is not a label"]);
}

#[test]
fn a_study_where_a_place_is_wanted() {
    let places = Places::new();
    for command in ["compare", "places", "clean", "selftest"] {
        let output = iotoll().args([command, "log"]).current_dir(places.ram.path()).output();
        assert_fails(&output.unwrap(), 2, &["`log` is a study", "--study log"]);
    }
    // A directory of that name is a place.
    fs::create_dir(places.ram.path().join("log")).unwrap();
    let output = iotoll().args(["places", "log"]).current_dir(places.ram.path()).output();
    assert!(output.unwrap().status.success());
}

#[test]
fn a_label_used_twice() {
    let output = run(["compare", "a=/tmp", "a=/dev/shm"]);
    assert_fails(&output, 2, &["label `a` is used twice"]);
}

#[test]
fn an_unknown_study_strategy_key_or_unit() {
    let with = |more: &[&str]| run([&["compare", "ram=/dev/shm"], more].concat());
    assert_fails(&with(&["--study", "lgo"]), 2, &["no study `lgo`", "did you mean `log`?"]);
    assert_fails(&with(&["--strategy", "hold"]), 2, &["no strategy `hold`", "mean `held`?"]);
    assert_fails(&with(&["--set", "log.recrod=1"]), 2, &["no key `recrod`", "mean `record`?"]);
    assert_fails(&with(&["--set", "log.record=7 X"]), 2, &["log.record", "`7 X` is not a size"]);
    assert_fails(&with(&["--set", "log.record=2 GiB"]), 2, &["out of range", "1 MiB"]);
    assert_fails(&with(&["--set", "log.sync=often"]), 2, &["not a sync policy", "every N"]);
    assert_fails(&with(&["--set", "record=70"]), 2, &["STUDY.KEY=VALUE"]);
    let twice = ["--set", "log.sync=never,each", "--set", "log.sync=never"];
    assert_fails(&with(&twice), 2, &["log.sync is given the value `never` twice"]);
    assert_fails(&with(&["--set", "serve.variant=a,", "--study", "serve"]), 2, &["is empty"]);
    let stream_only = ["--study", "stream", "--set", "log.record=70"];
    assert_fails(&with(&stream_only), 2, &["log is not part of this run"]);
    let uneven = ["--set", "stream.total=100 B", "--set", "stream.block=64 B"];
    assert_fails(&with(&uneven), 2, &["not a whole number of blocks"]);
}

#[test]
fn a_nonsense_budget_worth_error_rate_or_seed() {
    for (flag, value, says) in [
        ("--budget", "0s", "makes no sense"),
        ("--budget", "-5s", "is not a duration"),
        ("--budget", "soon", "is not a duration"),
        ("--budget", "5 days", "write a number with ms, s, min or h"),
        ("--budget", "0.5", "from 1s to 24h"),
        ("--budget", "40h", "from 1s to 24h"),
        ("--threshold", "x", "percentage"),
        ("--threshold", "0.05", "5% or as 0.05%: write it with a % sign"),
        ("--threshold", "500%", "at most 100%"),
        ("--threshold", "500", "at most 100%"),
        ("--error-rate", "0.05", "5% or as 0.05%"),
        ("--error-rate", "25", "from 0.01% to 20%"),
        ("--error-rate", "0.001%", "from 0.01% to 20%"),
        ("--error-rate", "25%", "from 0.01% to 20%"),
        ("--seed", "x", "invalid"),
    ] {
        let argument = format!("{flag}={value}");
        assert_fails(&run(["compare", "ram=/dev/shm", &argument]), 2, &[says]);
    }
}

#[test]
fn a_result_that_cannot_be_written_is_reported_before_measuring() {
    let output = run(["compare", "ram=/dev/shm", "--json", "/no/such/dir/r.json"]);
    assert_fails(&output, 2, &["/no/such/dir/r.json"]);
}

#[test]
fn a_plan_file_that_is_missing_or_no_text() {
    let output = run(["compare", "--plan", "/no/such/plan.toml"]);
    assert_fails(&output, 2, &["/no/such/plan.toml"]);
    let output = run(["compare", "--plan", env!("CARGO_BIN_EXE_iotoll")]);
    assert_fails(&output, 2, &["plan"]);
}

#[test]
fn too_many_arms() {
    let records = (1..=200).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let set = format!("log.record={records}");
    assert_fails(&run(["compare", "ram=/dev/shm", "--set", &set]), 2, &["combinations", "256"]);
}

#[test]
fn more_than_the_place_can_hold() {
    let set = ["--study", "stream", "--set", "stream.total=64 GiB", "--set", "stream.block=1 MiB"];
    let output = run([&["compare", "ram=/dev/shm"], set.as_slice()].concat());
    assert_fails(&output, 1, &["ram=/dev/shm"]);
}

#[test]
fn an_unknown_command_or_page() {
    assert_fails(&run(["compore"]), 2, &["compare"]);
    assert_fails(&run(["man", "nothing"]), 2, &["no command `nothing`"]);
}

/// Root may write anywhere: the binary is run as `nobody` where the tests are
/// root's, and skipped where that cannot be done.
#[test]
fn a_directory_that_may_not_be_written() {
    let places = Places::new();
    let dir = places.ram.path().join("closed");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(places.ram.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let argument = place("ram", &dir);
    let output = if rustix::process::geteuid().is_root() {
        let binary = places.ram.path().join("iotoll");
        common::copy_program(&binary);
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        let Ok(output) = setpriv.arg(binary).args(["compare", &argument]).output() else {
            eprintln!("SKIPPED: setpriv is not installed, and root may write anywhere");
            return;
        };
        output
    } else {
        run(["compare", &argument])
    };
    assert_fails(&output, 1, &["closed", "may not write"]);
}

/// Needs root, to mount.
#[test]
fn a_read_only_or_full_file_system() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: mounting a file system needs root");
        return;
    }
    let places = Places::new();
    let dir = places.ram.path().join("mounted");
    fs::create_dir(&dir).unwrap();
    let mount = |options: &str| {
        let path = dir.display().to_string();
        Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs", &path]).status()
    };
    let unmount = || Command::new("umount").arg(&dir).status().unwrap();
    if !mount("ro").is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: mounting a tmpfs is not allowed here");
        return;
    }
    let read_only = run(["compare", &place("ram", &dir)]);
    unmount();
    assert!(mount("size=1M").unwrap().success());
    let too_small = run(["compare", &place("ram", &dir), "--study", "log"]);
    unmount();
    assert_fails(&read_only, 1, &["mounted read-only"]);
    assert_fails(&too_small, 1, &["mounted"]);
    assert_eq!(entries(&dir).len(), 0);
}

#[test]
fn the_default_places_on_one_file_system() {
    let places = Places::new();
    let output = iotoll().arg("compare").current_dir(places.ram.path()).output().unwrap();
    assert_fails(&output, 2, &["same file system", "iotoll compare /var/tmp /dev/shm"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let binary = env!("CARGO_BIN_EXE_iotoll");
    let script = format!("{binary} studies | true; {binary} completions bash | head -1 >/dev/null");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(stderr(&output), "");
}
