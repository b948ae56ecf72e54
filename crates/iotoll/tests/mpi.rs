//! Four ranks of MPI on one machine, as clients of one place: `cargo test -p iotoll --features
//! mpi --test mpi`.
#![cfg(feature = "mpi")]
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "suite/common/mod.rs"]
mod common;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::gluster::{Layout, Volume};
use common::{Places, data_folder, entries, is_root, place, run, skip, stderr, stdout};
use serde_json::Value;
use tempfile::TempDir;

/// Open MPI's launcher, on fewer processors than ranks, and as root where tests are.
fn mpirun() -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "--bind-to", "none"]);
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("IOTOLL_DIR", data_folder()).stdin(Stdio::null());
    command
}

fn ranks<S: AsRef<OsStr>>(ranks: usize, args: impl IntoIterator<Item = S>) -> Output {
    let mut command = mpirun();
    command.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_iotoll")]);
    command.args(args).output().unwrap()
}

/// Such a run ends after a few blocks, however long they take. By the budget slices are short.
const BRIEF: [&str; 4] = ["--budget", "20s", "--blocks", "4"];

/// A run of four ranks in these places, and its result.
fn measured(places: &[String], more: &[&str]) -> (Output, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let file = file.to_str().unwrap();
    let args = ["--study", "log", "--no-save", "--json", file];
    let places = places.iter().map(String::as_str);
    let all: Vec<&str> = ["compare"].into_iter().chain(places).chain(args).chain(BRIEF).collect();
    let output = ranks(4, [&all[..], more].concat());
    let result = fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok());
    (output, result.unwrap_or(Value::Null))
}

fn arms(result: &Value) -> &[Value] {
    result["arms"].as_array().map_or(&[], Vec::as_slice)
}

#[track_caller]
fn assert_whole(result: &Value) {
    for arm in arms(result) {
        assert_eq!(arm["failure"], Value::Null, "{arm}");
        assert!(arm["integrity"]["records"].as_u64().unwrap() > 0, "{arm}");
        for broken in ["lost", "torn", "overwritten", "interleaved"] {
            assert_eq!(arm["integrity"][broken], 0, "{arm}");
        }
    }
}

#[test]
fn four_ranks_append_to_one_log_and_every_record_is_accounted_for() {
    let places = Places::new();
    let (output, result) = measured(&places.args(), &["--strategy", "held,flock"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(arms(&result).len(), 4, "{}", stderr(&output));
    assert_whole(&result);
    for arm in arms(&result) {
        assert_eq!(arm["params"]["clients"], "4", "{arm}");
        let figure = |name: &str| arm["metrics"][name].as_f64().unwrap();
        assert!(figure("start_skew_ns") > 0.0, "{arm}");
        assert!((0.2..=1.0).contains(&figure("fairness_jain")), "{arm}");
        assert!(figure("slowest_client_ns") > 0.0, "{arm}");
    }
    // Rank 0 alone speaks, and without styles, for its terminal is the launcher's.
    let said = stdout(&output);
    assert_eq!(said.matches("4 clients on ").count(), 1, "{said}");
    assert!(!said.contains('\x1b'), "{said}");
    places.assert_empty();
}

#[test]
fn clients_do_whole_slices_of_other_studies_alone_and_beside_each_other() {
    let places = Places::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.json");
    let file = file.to_str().unwrap();
    let [disk, ram] = places.args();
    let args = ["compare", &disk, &ram, "--study", "files,page,blocks"];
    let set = [
        "page.cache=warm",
        "files.operation=write,unlink",
        "files.clients_folder=own,same",
        "blocks.file=256KiB",
        "blocks.access=write",
        "blocks.clients_file=stretch,same",
    ];
    let set = set.iter().flat_map(|setting| ["--set", setting]);
    let more = ["--strategy", "direct,buffered,read", "--no-save", "--json", file];
    let output = ranks(4, args.into_iter().chain(set).chain(more).chain(BRIEF));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let result: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert_eq!(arms(&result).len(), 2 * (4 + 1 + 4), "{}", stderr(&output));
    assert_whole(&result);
    for arm in arms(&result) {
        assert_eq!(arm["params"]["clients"], "4", "{arm}");
        assert!(arm["metrics"]["clients_per_s"].as_f64().unwrap() > 0.0, "{arm}");
        assert!(arm["metrics"]["start_skew_ns"].as_f64().unwrap() > 0.0, "{arm}");
    }
    places.assert_empty();
}

#[test]
fn ranks_that_overwrite_each_other_are_caught() {
    let places = Places::new();
    let args = ["--strategy", "seek-end", "--set", "log.record=uniform 50..9000"];
    let (output, result) = measured(&places.args(), &args);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let broken = |arm: &Value| {
        ["lost", "torn", "overwritten", "interleaved"]
            .iter()
            .any(|name| arm["integrity"][name].as_u64().unwrap() > 0)
    };
    assert!(arms(&result).iter().any(broken), "{result}");
    places.assert_empty();
}

#[test]
fn clients_are_a_factor() {
    let places = Places::new();
    let args = ["--strategy", "held", "--set", "log.clients=1,2,4"];
    let (output, result) = measured(&places.args()[1..], &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let ids: Vec<&str> = arms(&result).iter().map(|arm| arm["id"].as_str().unwrap()).collect();
    let wanted = [1, 2, 4].map(|clients| format!("log/held(clients={clients})@ram"));
    assert_eq!(ids, wanted);
    assert_whole(&result);
}

#[test]
fn what_clients_cannot_do_is_said_once() {
    let shm = ["compare", "/dev/shm", "--no-save"];
    for (args, says) in [
        (&["--study", "sqlite"][..], "the study sqlite measures with one client"),
        (&["--study", "log", "--set", "log.clients=5"], "log.clients=5 needs 5 processes"),
        (&["--study", "log", "--strategy", "php-held"], "clients are writers of iotoll's own"),
        (&["--study", "log", "--set", "log.writers=2"], "set either writers or clients"),
        (&["--study", "log", "ram=tmpfs:64M"], "ram=tmpfs:64MiB would be created for one"),
    ] {
        let output = ranks(3, [&shm[..], args].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert_eq!(stderr(&output).matches(says).count(), 1, "{}", stderr(&output));
    }
}

/// Runs two ranks, of which the second sees a file system of its own over a directory.
fn second_elsewhere(covered: &Path, shared: &Path, more: &str) -> Output {
    let iotoll = env!("CARGO_BIN_EXE_iotoll");
    let args = format!(
        "compare shared={} --study log --strategy held {} --no-save{more}",
        shared.display(),
        BRIEF.join(" ")
    );
    let script = format!("mount -t tmpfs tmpfs {} && exec {iotoll} {args}", covered.display());
    let mut command = mpirun();
    command.args(["-n", "1", iotoll]).args(args.split(' '));
    command.args([":", "-n", "1", "unshare", "-m", "sh", "-c", &script]);
    command.output().unwrap()
}

#[test]
fn a_place_that_ranks_do_not_share_is_refused_with_the_rank() {
    if !is_root() {
        return skip("a_place_that_ranks_do_not_share", "only root has mounts of its own");
    }
    let folder = tempfile::tempdir().unwrap();
    let shared = folder.path().join("shared");
    fs::create_dir(&shared).unwrap();
    for (covered, says) in [
        (shared.as_path(), "has another directory there"),
        (folder.path(), "cannot use it (No such"),
    ] {
        let output = second_elsewhere(covered, &shared, "");
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert_eq!(text.matches(says).count(), 1, "{text}");
        assert!(text.contains("rank 1 on "), "{text}");
        assert_eq!(entries(&shared).len(), 0, "the working folder is removed");
    }
    // Each has a file system of its own there, which is what this is for.
    let output = second_elsewhere(&shared, &shared, " --local shared");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let missing = second_elsewhere(folder.path(), &shared, " --local shared");
    assert_eq!(missing.status.code(), Some(1), "{}", stderr(&missing));
    assert!(stderr(&missing).contains("rank 1 on "), "{}", stderr(&missing));
    assert_eq!(entries(&shared).len(), 0);
}

/// The process ids of programs that were started with these words.
fn processes(words: &[&str]) -> Vec<String> {
    let ids = entries(Path::new("/proc")).into_iter().filter_map(|path| {
        let line = fs::read(path.join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let name = path.file_name()?.to_string_lossy().into_owned();
        words.iter().all(|word| line.contains(word)).then_some(name)
    });
    ids.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

fn environment_of(process: &str) -> String {
    let text = fs::read(Path::new("/proc").join(process).join("environ")).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}

/// What a run says whose second rank is killed once two blocks are kept.
fn with_rank_1_killed(place_: &str, runs: &TempDir) -> Output {
    let mut command = mpirun();
    command.env("IOTOLL_DIR", runs.path()).args(["-n", "3", env!("CARGO_BIN_EXE_iotoll")]);
    command.args(["compare", place_, "--study", "log", "--budget", "60s", "--tell-blocks"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    lines.find(|line| line.contains("block 2")).unwrap();
    let of_rank_1 = |process: &String| environment_of(process).contains("OMPI_COMM_WORLD_RANK=1\0");
    let ranks = processes(&["iotoll compare", place_]).into_iter().filter(of_rank_1);
    for rank in ranks {
        assert!(Command::new("kill").args(["-9", &rank]).status().unwrap().success());
    }
    let said: Vec<String> = lines.collect();
    let mut output = child.wait_with_output().unwrap();
    output.stderr = said.join("\n").into_bytes();
    output
}

#[test]
fn what_was_measured_before_a_rank_died_is_kept() {
    let (folder, runs) = (tempfile::tempdir_in("/dev/shm").unwrap(), tempfile::tempdir().unwrap());
    let output = with_rank_1_killed(&place("ram", folder.path()), &runs);
    assert!(!output.status.success());
    let shown = common::iotoll().env("IOTOLL_DIR", runs.path()).args(["show"]).output();
    let shown = shown.unwrap();
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    assert!(stdout(&shown).contains("log"), "{}", stdout(&shown));
    // What mpirun ended too soon for that is removed by whoever comes next.
    assert!(run([OsStr::new("clean"), folder.path().as_os_str()]).status.success());
    assert_eq!(entries(folder.path()).len(), 0);
}

#[test]
fn four_ranks_on_a_glusterfs_volume_lose_no_record() {
    for layout in [Layout::Distribute, Layout::Replicate] {
        let volume = match Volume::mounted(layout) {
            Ok(volume) => volume,
            Err(why) => return skip("four_ranks_on_a_glusterfs_volume", why),
        };
        let gv = place("gv", &volume.mount());
        let strategies = if matches!(layout, Layout::Distribute) { "held,flock" } else { "held" };
        let (output, result) = measured(&[gv], &["--strategy", strategies]);
        assert_eq!(output.status.code(), Some(0), "{layout:?}: {}", stderr(&output));
        assert_eq!(arms(&result).len(), strategies.split(',').count(), "{layout:?}");
        assert_whole(&result);
        assert_eq!(entries(&volume.mount()).len(), 0);
    }
}

#[test]
fn each_rank_works_in_its_own_directory_of_a_place_that_is_local() {
    let places = Places::new();
    let args = ["--strategy", "held", "--local", "disk"];
    let (output, result) = measured(&places.args(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_whole(&result);
    let details = |place: usize| result["places"][place]["details"].as_array().cloned();
    let is_own = |details: Vec<Value>| details.iter().any(|detail| detail["name"] == "clients");
    assert!(details(0).is_some_and(is_own), "{result}");
    assert!(!details(1).is_some_and(is_own), "{result}");
    places.assert_empty();
    let unknown = ranks(2, ["compare", "/dev/shm", "--local", "disk", "--study", "log"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", stderr(&unknown));
    assert!(stderr(&unknown).contains("--local disk: there is no place"), "{}", stderr(&unknown));
}
