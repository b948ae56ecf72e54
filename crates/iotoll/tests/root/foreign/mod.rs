//! No foreign code and no foreign file: what somebody plants where a run is started, or
//! exchanges while it is under way, is neither run nor written to.
#![allow(clippy::unwrap_used)]

use crate::common;
mod outputs;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{assert_fails, iotoll, place, stderr, stdout};
use rustix::fs::{CWD, RenameFlags, Uid, renameat_with};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{set_thread_groups, set_thread_res_uid};
use serde_json::Value;
use tempfile::TempDir;

/// Every language that logs, and whether its interpreter is installed.
const INTERPRETERS: &str = "php-reopen,python-file-handler,node-append-file-sync";
const QUICK: [&str; 2] = ["--threshold=100%", "--budget=6s"];
const NOBODY: u32 = 65_534;
/// How often names are exchanged under a run at the least, where this variable asks for no more.
const EXCHANGES: u64 = 10_000;
const EXCHANGES_VARIABLE: &str = "IOTOLL_TEST_EXCHANGES";
/// No run of these tests takes as long.
const HANG: Duration = Duration::from_secs(300);

fn shm() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

/// Arms by their strategy, each with why it failed.
fn failures(output: &Output) -> Vec<(String, Option<String>)> {
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}{}", stdout(output), stderr(output)));
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let arms = result["arms"].as_array().unwrap().iter();
    arms.map(|arm| (text(&arm["strategy"]).unwrap(), text(&arm["failure"]))).collect()
}

fn is_missing(failure: &str) -> bool {
    failure.contains("is not installed")
}

/// Files that Python, PHP, Node and the shell would run or read where they start.
fn plant(folder: &Path, ran: &Path) {
    let ran = ran.display();
    let python = format!("open('{ran}', 'a').write(__file__)\n");
    for module in ["logging", "json", "gc", "sitecustomize", "usercustomize", "collections"] {
        fs::write(folder.join(format!("{module}.py")), &python).unwrap();
    }
    fs::write(folder.join("planted.php"), format!("<?php touch('{ran}');")).unwrap();
    let prepend = format!("auto_prepend_file = {}/planted.php\n", folder.display());
    let preload = format!("auto_append_file = {}/planted.php\n", folder.display());
    fs::write(folder.join("php.ini"), prepend + &preload + "disable_functions = chdir\n").unwrap();
    let node = format!("require('fs').writeFileSync('{ran}', 'node')\n");
    for modules in ["node_modules", ".node_modules", ".node_libraries"] {
        fs::create_dir_all(folder.join(modules).join("fs")).unwrap();
        fs::write(folder.join(modules).join("fs/index.js"), &node).unwrap();
    }
    fs::write(folder.join("planted.js"), &node).unwrap();
    fs::write(folder.join("package.json"), r#"{"type": "module", "main": "planted.js"}"#).unwrap();
    fs::write(folder.join(".noderc"), &node).unwrap();
    for program in ["python3", "php", "node", "cat", "sh"] {
        let path = folder.join(program);
        fs::write(&path, format!("#!/bin/sh\ntouch '{ran}'\nexec /usr/bin/{program} \"$@\"\n"))
            .unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn nothing_that_is_planted_where_a_run_is_started_or_in_its_environment_is_run() {
    let (planted, proof, at) = (shm(), shm(), shm());
    let ran = proof.path().join("ran");
    plant(planted.path(), &ran);
    let here = planted.path().display().to_string();
    let path = std::env::var("PATH").unwrap();
    let output = iotoll()
        .current_dir(planted.path())
        .env("PATH", format!(".::{path}:"))
        .env("HOME", &here)
        .env("PYTHONPATH", &here)
        .env("PYTHONHOME", "/no/such/folder")
        .env("PHPRC", &here)
        .env("PHP_INI_SCAN_DIR", &here)
        .env("NODE_PATH", &here)
        .env("NODE_OPTIONS", format!("--require={here}/planted.js"))
        .env("TMPDIR", &here)
        .env("SQLITE_TMPDIR", &here)
        .args(["compare", "--study=log", "--strategy", INTERPRETERS, "--json=-"])
        .args(QUICK)
        .arg(place("ram", at.path()))
        .output()
        .unwrap();
    assert!(!ran.exists(), "{} was run", fs::read_to_string(&ran).unwrap());
    for (strategy, failure) in failures(&output) {
        match failure {
            Some(why) if is_missing(&why) => eprintln!("SKIPPED: planted files: {why}"),
            failure => assert_eq!(failure, None, "{strategy}: {}", stderr(&output)),
        }
    }
}

#[test]
fn root_is_refused_a_users_directory_with_the_way_out() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: root_is_refused_a_users_directory: only root is");
    }
    let home = shm();
    chown(home.path(), Some(NOBODY), None).unwrap();
    let output = iotoll()
        .args(["compare", "--study=log", "--budget=2s", &place("home", home.path())])
        .output()
        .unwrap();
    assert_fails(&output, 1, &["belongs to the user with UID 65534", "sudo -u '#65534'"]);
}

#[test]
fn a_server_whose_folder_does_not_stand_where_it_was_fails_its_slice() {
    let ram = shm();
    let server = "mv {place} {place}.away; mkdir {place}; cd {place}; \
                  exec python3 -m http.server --bind 127.0.0.1 {port}";
    let output = iotoll()
        .args(["compare", "--study=serve", "--strategy=command", "--json=-"])
        .args(["--set=serve.connections=20", "--set", &format!("serve.command={server}")])
        .args(QUICK)
        .arg(place("ram", ram.path()))
        .output()
        .unwrap();
    let arms = failures(&output);
    let said = arms[0].1.clone().unwrap_or_default();
    if said.contains("python3: not found") {
        return eprintln!("SKIPPED: a_server_whose_folder_does_not_stand_where_it_was: no python3");
    }
    assert!(said.contains("something moved or replaced it"), "{said}: {}", stderr(&output));
}

/// What is in a folder, each with its size, times and contents.
fn state(folder: &Path) -> Vec<(PathBuf, u64, i64, Vec<u8>)> {
    let mut found = Vec::new();
    for path in common::entries(folder) {
        let facts = fs::symlink_metadata(&path).unwrap();
        let contents = if facts.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        let changed_ns = facts.ctime() * 1_000_000_000 + facts.ctime_nsec();
        found.push((path, facts.len(), changed_ns, contents));
    }
    found.sort();
    found
}

/// Runs that between them open files in every way there is.
const RUNS: [&[&str]; 5] = [
    &[
        "--study=log",
        "--strategy=held,reopen,per-writer,python-file-handler,python-watched-file-handler,\
         node-append-file-sync,node-write-stream",
        "--set=log.writers=2",
    ],
    &["--study=sqlite", "--strategy=delete-full,wal-normal", "--set=sqlite.connect=request"],
    &["--study=page,cache,files,stream"],
    &["--study=blocks", "--set=blocks.file=1 MiB"],
    &["--study=serve", "--strategy=page,sqlite", "--set=serve.log_lines=1"],
];
/// They go on until they are interrupted, which is long before; in short slices, each of which
/// opens files.
const ENDLESS: [&str; 2] = ["--budget=60s", "--threshold=0.0001%"];
const ATTACKED_FOR: Duration = Duration::from_millis(1500);
/// More folders than a run makes.
const FOLDERS: u32 = 4000;

/// A folder that has every name under which a run makes files, and which no run may
/// reach: it writes there as root, for nobody else may.
fn canary() -> TempDir {
    let canary = shm();
    for file in ["app.log", "app.0.log", "app.db", "app.db-wal", "app.db-journal", "lock"] {
        fs::write(canary.path().join(file), "canary").unwrap();
    }
    folders_within(canary.path(), canary.path());
    canary
}

/// Links by the names of slices' and arms' folders.
fn folders_within(folder: &Path, target: &Path) {
    for n in 0..FOLDERS {
        for whose in ["slice", "arm"] {
            symlink(target, folder.join(format!("{whose}-{n}"))).unwrap();
        }
    }
}

/// Exchanges the working folder in a place for a link and for a folder of links, and back
/// again, as the user who owns the place; says how often.
fn attack(place: &Path, canary: &Path) -> u64 {
    // Of this thread alone, as the system calls have it.
    let nobody = Uid::from_raw(NOBODY);
    set_thread_groups(&[]).unwrap();
    set_thread_res_uid(nobody, nobody, nobody).unwrap();
    assert!(fs::write(canary.join("app.log"), "").is_err(), "only the run may write there");
    let [link, folder] = ["link", "folder"].map(|name| place.join(name));
    symlink(canary, &link).unwrap();
    fs::create_dir(&folder).unwrap();
    folders_within(&folder, canary);
    let work = working_folder(place).unwrap();
    let (began, mut exchanges, least) = (Instant::now(), 0_u64, exchanges_least(EXCHANGES));
    while began.elapsed() < ATTACKED_FOR || exchanges < least {
        for decoy in [&link, &folder] {
            for _ in ["away", "back"] {
                renameat_with(CWD, &work, CWD, decoy, RenameFlags::EXCHANGE).unwrap();
                exchanges += 1;
                if exchanges.is_multiple_of(61) {
                    // For whoever is at work to come by while it is away, or is not.
                    thread::sleep(Duration::from_micros(50));
                }
            }
        }
    }
    exchanges
}

/// What is asked for, or else so many.
fn exchanges_least(usual: u64) -> u64 {
    let asked = std::env::var(EXCHANGES_VARIABLE).ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(usual)
}

fn working_folder(place: &Path) -> Option<PathBuf> {
    let is_ours = |path: &PathBuf| path.to_string_lossy().contains("/.iotoll-");
    common::entries(place).into_iter().find(is_ours)
}

#[test]
fn a_run_of_roots_writes_nothing_elsewhere_while_its_folders_are_exchanged_for_links() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: a_run_of_roots_writes_nothing_elsewhere: this is not root");
    }
    let canary = canary();
    let before = state(canary.path());
    for given in RUNS {
        let ram = shm();
        let mut command = iotoll();
        command.args(["compare", "--json=-"]).args(ENDLESS).args(given);
        command.arg(place("ram", ram.path())).stdout(Stdio::piped()).stderr(Stdio::piped());
        let run = command.spawn().unwrap();
        let since = Instant::now();
        while working_folder(ram.path()).is_none() {
            assert!(since.elapsed() < HANG, "no working folder was made");
            thread::sleep(Duration::from_millis(1));
        }
        // It would not have begun in a place that is not root's.
        chown(ram.path(), Some(NOBODY), None).unwrap();
        let exchanges = thread::scope(|scope| {
            scope.spawn(|| attack(ram.path(), canary.path())).join().unwrap()
        });
        assert!(exchanges >= exchanges_least(EXCHANGES));
        kill_process(Pid::from_child(&run), Signal::INT).unwrap();
        let output = run.wait_with_output().unwrap();
        assert!(state(canary.path()) == before, "{given:?} wrote elsewhere");
        let arms = failures(&output);
        assert!(!arms.is_empty(), "{}", stderr(&output));
        for (strategy, failure) in arms {
            let is_missing = failure.as_deref().is_some_and(is_missing);
            assert!(failure.is_none() || is_missing, "{strategy}: {failure:?}");
        }
        assert_eq!(working_folder(ram.path()), None);
    }
}
