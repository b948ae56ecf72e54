//! Places that are made for a run: measured as any other, and gone after it, however it
//! ended. As root, with what the kernel and the system have; what is missing is said.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{assert_fails, entries, iotoll, is_root, run, skip, stderr, stdout};
use model::created::EXAMPLES;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// A directory on a disk, and what the machine has made so far. Tests that hold one run
/// one after the other, also in other processes: they look at devices that all share.
pub(super) struct Machine {
    disk: TempDir,
    before: Made,
    _turn: File,
}

/// What may be left behind.
#[derive(Debug, PartialEq, Eq)]
struct Made {
    folders: BTreeSet<PathBuf>,
    zram: BTreeSet<String>,
    loops: BTreeSet<String>,
    mounts: usize,
}

impl Made {
    /// On the whole machine, but for what others may have in other directories.
    fn now(directory: &Path) -> Self {
        let names = |dir: &str| {
            let entries = fs::read_dir(dir).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().into_string().unwrap())
        };
        let ours = |name: &String| name.starts_with(".iotoll-");
        let is_used = |name: &String| {
            let held = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file"));
            let directory = directory.to_str().unwrap();
            held.is_ok_and(|file| file.starts_with(directory))
        };
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        Self {
            folders: names("/run").filter(ours).map(PathBuf::from).collect(),
            zram: names("/sys/block").filter(|name| name.starts_with("zram")).collect(),
            loops: names("/sys/block").filter(is_used).collect(),
            mounts: mounts.lines().filter(|line| line.contains(".iotoll-")).count(),
        }
    }
}

impl Machine {
    pub(super) fn new(test: &str) -> Option<Self> {
        if !is_root() {
            skip(test, "only root can make all kinds of places");
            return None;
        }
        let turn = File::create(std::env::temp_dir().join("iotoll-tests-made.lock")).unwrap();
        turn.lock().unwrap();
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let disk = tempfile::tempdir_in(target).unwrap();
        Some(Self { before: Made::now(disk.path()), disk, _turn: turn })
    }

    fn disk(&self) -> String {
        format!("disk={}", self.disk.path().display())
    }

    /// As soon as the kernel has let go of it all, nothing is there that was not before.
    pub(super) fn assert_unmade(&self) {
        let waited = Instant::now();
        while Made::now(self.disk.path()) != self.before
            && waited.elapsed() < Duration::from_secs(10)
        {
            sleep(Duration::from_millis(20));
        }
        assert_eq!(Made::now(self.disk.path()), self.before);
        assert_eq!(entries(self.disk.path()), Vec::<PathBuf>::new());
    }
}

fn has(program: &str) -> bool {
    ["/usr/sbin", "/sbin", "/usr/bin"].iter().any(|dir| Path::new(dir).join(program).is_file())
}

fn has_zram() -> bool {
    Path::new("/sys/class/zram-control/hot_add").exists()
}

/// One of each kind that this machine can make.
fn kinds(test: &str, machine: &Machine) -> Vec<(&'static str, String)> {
    let kind = |example: &&'static str| {
        let (word, rest) = example.split_once(':').unwrap();
        let label = if word == "image" { rest.split(':').next().unwrap() } else { word };
        let is_there = match word {
            "image" => has(&format!("mkfs.{label}")),
            "zram" => has_zram() && has("mkfs.ext4"),
            _ => true,
        };
        if !is_there {
            skip(test, &format!("this machine has no {label}"));
        }
        // In the tests' own directory.
        let target = example.replace(":.", &format!(":{}", machine.disk.path().display()));
        is_there.then_some((label, target))
    };
    EXAMPLES.iter().filter_map(kind).collect()
}

/// Where two blocks are enough to see that all is measured.
pub(super) const BRIEF: [&str; 8] =
    ["--study", "log", "--strategy", "held", "--budget", "20s", "--blocks", "2"];
/// Over with a verdict, as soon as there can be one.
const DECIDED: [&str; 9] = [
    "--study",
    "log",
    "--strategy",
    "held",
    "--budget",
    "20s",
    "--threshold",
    "100%",
    "--require-verdict",
];

fn compared(places: impl IntoIterator<Item = String>, more: &[&str]) -> Output {
    let places: Vec<String> = places.into_iter().collect();
    iotoll().arg("compare").args(places).args(more).output().unwrap()
}

pub(super) fn result(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_aged_image_gives_out_its_space_in_pieces_and_the_report_says_how_old_each_is() {
    let test = "an_aged_image";
    let Some(machine) = Machine::new(test) else { return };
    for (filesystem, mkfs) in [("ext4", "mkfs.ext4"), ("xfs", "mkfs.xfs")] {
        if !has(mkfs) {
            skip(test, &format!("this machine has no {mkfs}"));
            continue;
        }
        let over = machine.disk.path().display();
        let places = [
            format!("fresh=image:{filesystem}:512M@{over}"),
            format!("aged=image:{filesystem}:512M:aged:noatime@{over}"),
        ];
        let output = compared(places, &["--json", "-"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let result = result(&output);
        let place = |index: usize| &result["places"][index];
        let pieces = [0, 1].map(|index| place(index)["free_pieces"]["pieces"].as_u64().unwrap());
        // XFS takes the largest piece first.
        assert!(pieces[0] == 1 && pieces[1] >= 3, "{filesystem}: {pieces:?}");
        let free = [0, 1].map(|index| place(index)["free_bytes"].as_u64().unwrap());
        assert!(free[1] * 10 < free[0] * 6, "half is in use: {free:?}");
        assert!(
            place(1)["made"]
                .as_str()
                .unwrap()
                .starts_with(&format!("image:{filesystem}:512MiB:aged:noatime"))
        );
        for (index, age) in [(0, "fresh image"), (1, "aged image")] {
            let details = place(index)["details"].as_array().unwrap();
            assert!(details.iter().any(|d| d["name"] == "age" && d["value"] == age), "{details:?}");
        }
    }
    machine.assert_unmade();
}

#[test]
fn every_kind_is_measured_as_what_it_is_and_is_gone_after_the_run() {
    let test = "every_kind_is_measured";
    let Some(machine) = Machine::new(test) else { return };
    let kinds = kinds(test, &machine);
    let places = kinds.iter().map(|(label, target)| format!("{label}={target}"));
    let places = std::iter::once(machine.disk()).chain(places);
    let output = compared(places, &[&BRIEF[..], &["--json", "-"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    machine.assert_unmade();
    let result = result(&output);
    assert_eq!(result["run"]["left_out"], Value::Null);
    let facts = |label: &str| {
        let places = result["places"].as_array().unwrap();
        places.iter().find(|place| place["label"] == label).unwrap().clone()
    };
    let disk = facts("disk");
    for (label, _) in &kinds {
        let place = facts(label);
        let (filesystem, kind, parts) = match *label {
            "tmpfs" => ("tmpfs", Value::from("memory"), 0),
            "zram" => ("ext4", Value::from("memory"), 1),
            "overlay" => {
                ("overlay", disk["kind"].clone(), disk["devices"].as_array().unwrap().len())
            }
            image => (image, disk["kind"].clone(), 1 + disk["devices"].as_array().unwrap().len()),
        };
        assert_eq!(place["filesystem"], filesystem, "{place:#}");
        assert_eq!(place["kind"], kind, "{place:#}");
        assert_eq!(place["devices"].as_array().unwrap().len(), parts, "{place:#}");
        assert!(place["made"].as_str().is_some_and(|made| made.contains(':')), "{place:#}");
        assert_eq!(place["unread"], disk["unread"], "{place:#}");
    }
    assert_eq!(facts("tmpfs")["total_bytes"], 128 << 20);
    let options = facts("tmpfs")["mount_options"].to_string();
    assert!(options.contains("huge=within_size"), "{options}");
    let arms = result["arms"].as_array().unwrap();
    assert_eq!(arms.len(), 1 + kinds.len());
    assert!(arms.iter().all(|arm| arm["slices"].as_u64() > Some(0)), "{arms:#?}");
}

#[test]
fn a_dry_run_makes_nothing_and_says_what_would_be_made() {
    let Some(machine) = Machine::new("a_dry_run_makes_nothing") else { return };
    let places = [machine.disk(), "tmpfs:128M".to_owned(), "image:ext4:128M".to_owned()];
    let output = compared(places, &[&BRIEF[..], &["--dry-run"]].concat());
    machine.assert_unmade();
    // A line is broken where it is full.
    let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    let canonical = machine.disk.path().canonicalize().unwrap();
    assert!(text.contains(&format!("image:ext4:128MiB@{}", canonical.display())), "{text}");
    assert!(text.contains("tmpfs:128MiB, created for the run"), "{text}");
    assert!(text.contains("goes to memory, which does not wear"), "{text}");
}

#[test]
fn an_image_that_its_directory_cannot_hold_is_refused_before_it_is_made() {
    let Some(machine) = Machine::new("an_image_that_its_directory…") else { return };
    let places = [machine.disk(), "big=image:ext4:900TiB".to_owned()];
    let output = compared(places, &BRIEF);
    assert_fails(&output, 1, &["big=", "up to 900.0 TiB is needed there", "must stay free"]);
    machine.assert_unmade();
    let output = compared([machine.disk(), "x=image:ext4:1G@/no/such".to_owned()], &BRIEF);
    assert_fails(&output, 2, &["x=/no/such: there is no such directory"]);
}

#[test]
fn what_cannot_be_made_is_left_out_and_the_rest_is_measured() {
    let Some(machine) = Machine::new("what_cannot_be_made_is_left_out") else { return };
    // The kernel takes powers of two alone.
    let places = || {
        [
            machine.disk(),
            "odd=image:ext4:128M:inode_readahead_blks=3".to_owned(),
            "ram=tmpfs:128M".to_owned(),
        ]
    };
    let output = compared(places(), &[&BRIEF[..], &["--json", "-"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("is left out: mounting ext4"), "{}", stderr(&output));
    let result = result(&output);
    assert_eq!(result["run"]["left_out"][0]["label"], "odd");
    assert_eq!(result["arms"].as_array().unwrap().len(), 2);
    let wanted = compared(places(), &DECIDED);
    assert_eq!(wanted.status.code(), Some(4), "{}", stderr(&wanted));
    let text = stdout(&wanted);
    assert!(text.contains("Left out:") && text.contains("odd=image:ext4:128MiB"), "{text}");
    let none = compared(["odd=image:ext4:128M:inode_readahead_blks=3".to_owned()], &BRIEF);
    assert_fails(&none, 1, &["none of the places can be created"]);
    machine.assert_unmade();
}

/// A run that is killed where a test fails.
struct Endless(Option<Child>);

impl Endless {
    fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    fn signal(&mut self, signal: Signal) {
        kill_process(Pid::from_child(self.child()), signal).unwrap();
    }

    /// How it ended, and what it said.
    fn end(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A run with all that has to be undone, for as long as it is let.
fn endless(machine: &Machine) -> Endless {
    let mut places = vec![machine.disk(), "ram=tmpfs:128M".to_owned()];
    places.push(format!("over=overlay:{}", machine.disk.path().display()));
    if has("mkfs.ext4") {
        places.push("image:ext4:128M".to_owned());
        places.extend(has_zram().then(|| "zram:128M".to_owned()));
    }
    let mut command = iotoll();
    command.arg("compare").args(places).args(["--study", "log", "--strategy", "held"]);
    command.args(["--threshold", "0.0001%", "--budget", "10min", "--no-save"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Endless(Some(command.spawn().unwrap()))
}

#[test]
fn a_signal_ends_it_in_order_whenever_it_comes() {
    let Some(machine) = Machine::new("a_signal_ends_it_in_order") else { return };
    for (which, after) in [(Signal::INT, 60), (Signal::TERM, 250), (Signal::TERM, 2500)] {
        let mut run = endless(&machine);
        sleep(Duration::from_millis(after));
        run.signal(which);
        let output = run.end();
        // Before it is prepared for signals it has made nothing, and is ended by them.
        let code = output.status.code();
        assert!(code.is_none() || code == Some(130), "{code:?} after {after} ms");
        machine.assert_unmade();
    }
}

#[test]
fn after_a_kill_at_any_moment_the_kernel_and_clean_leave_nothing() {
    let Some(machine) = Machine::new("after_a_kill_at_any_moment") else { return };
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..12 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let killed = endless(&machine);
        sleep(Duration::from_millis(state % 1200));
        drop(killed);
        let cleaned = run(["clean", machine.disk.path().to_str().unwrap()]);
        assert!(cleaned.status.success(), "{}", stderr(&cleaned));
        machine.assert_unmade();
    }
}

#[test]
fn two_runs_at_once_leave_each_others_places_alone_and_so_does_clean() {
    let Some(machine) = Machine::new("two_runs_at_once") else { return };
    let mut first = endless(&machine);
    let waited = Instant::now();
    while entries(machine.disk.path()).len() < 2 {
        assert!(waited.elapsed() < Duration::from_secs(60), "it made no folder");
        sleep(Duration::from_millis(20));
    }
    let during = Made::now(machine.disk.path());
    let other = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let places = [format!("disk={}", other.path().display()), "zram:128M".to_owned()];
    let second = compared(places, &BRIEF);
    assert!(second.status.success(), "{}", stderr(&second));
    let cleaned = run(["clean", machine.disk.path().to_str().unwrap()]);
    assert!(stdout(&cleaned).contains("in use by process"), "{}", stdout(&cleaned));
    assert_eq!(Made::now(machine.disk.path()), during);
    assert!(first.child().try_wait().unwrap().is_none());
    first.signal(Signal::INT);
    let ended = first.end();
    assert_eq!(ended.status.code(), Some(130), "{}", stderr(&ended));
    machine.assert_unmade();
}

/// The record of a run with a zram device, once that has a line there.
fn record_with_zram(run: &mut Endless) -> PathBuf {
    let pid = format!("pid {}\n", run.child().id());
    let waited = Instant::now();
    loop {
        assert!(waited.elapsed() < Duration::from_secs(60), "no zram device was recorded");
        for folder in entries(Path::new("/run")) {
            let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
            if text("lock").starts_with(&pid) && text("made").contains("\nzram ") {
                return folder.join("made");
            }
        }
        sleep(Duration::from_millis(5));
    }
}

/// How often another run's sweep may come between, which takes what was left as `clean` would.
const SWEPT_MAX: usize = 3;

/// The run was killed, and so was the process that added the device for it: nothing says
/// which one that was, and an administrator's may be among them.
#[test]
fn a_zram_device_that_nothing_proves_to_be_the_runs_is_left_and_named() {
    let test = "a_zram_device_that_nothing_proves";
    let Some(machine) = Machine::new(test) else { return };
    if !has_zram() || !has("mkfs.ext4") {
        return skip(test, "this machine has no zram or no mkfs.ext4");
    }
    let mut tries = (0..SWEPT_MAX).map(|_| cleaned_without_a_proof(&machine));
    let (device, cleaned) = tries.find_map(|found| found).unwrap();
    let how = format!("echo {device} >/sys/class/zram-control/hot_remove");
    assert!(cleaned.contains(&how), "{cleaned}");
    machine.assert_unmade();
}

/// Has what a killed run left removed, whose record names no device though one was added: the number
/// of that one, which is still there, and what `clean` said. Nothing where another run's sweep came
/// before `clean`.
fn cleaned_without_a_proof(machine: &Machine) -> Option<(String, String)> {
    let mut killed = endless(machine);
    let record = record_with_zram(&mut killed);
    // Every run of root's removes leftovers, and so do those of other tests: none takes this one
    // while its lock is held.
    let lock = fs::File::open(record.with_file_name("lock")).unwrap();
    drop(killed);
    lock.lock().unwrap();
    let recorded = fs::read_to_string(&record).unwrap();
    let lines = recorded.lines().filter(|line| !line.starts_with("zram "));
    let cut: String = lines.map(|line| format!("{line}\n")).collect();
    let own = recorded.lines().find_map(|line| line.strip_prefix("zram ")).unwrap();
    let own = own.split_once(' ').unwrap().0;
    let remove = |number: &str| {
        let began = Instant::now();
        while fs::write("/sys/class/zram-control/hot_remove", number).is_err() {
            assert!(began.elapsed() < Duration::from_secs(10), "zram{number} stays in use");
            sleep(Duration::from_millis(20));
        }
    };
    remove(own);
    fs::write(&record, cut).unwrap();
    let added = fs::read_to_string("/sys/class/zram-control/hot_add").unwrap();
    let added = added.trim();
    drop(lock);
    let cleaned = run(["clean", machine.disk.path().to_str().unwrap()]);
    let is_there = Path::new("/sys/block").join(format!("zram{added}")).exists();
    if is_there {
        remove(added);
    }
    assert!(is_there, "the administrator's zram{added} was removed");
    assert!(cleaned.status.success(), "{}", stderr(&cleaned));
    let (cleaned, folder) = (stdout(&cleaned), record.parent().unwrap().display().to_string());
    cleaned.contains(&format!("removed {folder}")).then(|| (added.to_owned(), cleaned))
}
