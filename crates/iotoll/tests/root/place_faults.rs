//! What befalls a directory on storage of others in the middle of a run: a quota, a device that
//! fails, another mount in its place, a limit on memory. Each is told of in a sentence, the
//! other place is measured and saved, and nothing is left where anything can be removed.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use common::faults::{Ended, Going, Image, SOME_ROUNDS, succeeds};
use common::{Mounted, assert_fails, entries, iotoll, is_root, place, run, skip, stdout};
use tempfile::TempDir;

fn disk() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A log on a disk and at the place, that never finds enough.
fn comparing(disk: &TempDir, place: &str, limits: &[&str]) -> Command {
    let mut command = iotoll();
    command.args(["compare", &common::place("disk", disk.path()), place]);
    command.args(["--study", "log", "--strategy", "held"]);
    command.args(["--threshold", "0.0001%"]).args(limits);
    command
}

/// The place failed with such words, and the disk was measured to the end.
fn assert_failed_alone(ended: &Ended, label: &str, says: &[&str]) {
    let failures = ended.failures();
    assert_eq!(failures.len(), 1, "{}", ended.said);
    for what in says {
        assert!(failures[0].contains(what), "{what:?} is not said in: {}", failures[0]);
    }
    let (disk, other) = (ended.slices_at("disk"), ended.slices_at(label));
    assert!(disk > other && other > 0, "{disk} and {other} slices");
    let id = ended.result["run"]["id"].as_str().unwrap();
    let shown = common::unnamed(&stdout(&run(["show", id])), id);
    assert_eq!(shown, common::unnamed(&ended.report, id), "{}", ended.said);
}

#[test]
fn a_quota_that_is_used_up_is_called_so_before_and_during_a_run() {
    let test = "a_quota_that_is_used_up";
    let Some(image) = Image::new(test, "btrfs") else { return };
    let btrfs = |args: &[&str]| succeeds(Command::new("btrfs").args(args).arg(image.path()));
    if !btrfs(&["quota", "enable"]) {
        return skip(test, "btrfs has no quotas here");
    }
    let disk = disk();
    let at_quota = || comparing(&disk, &place("quota", &image.path()), &SOME_ROUNDS);
    let mut going = Going::start(at_quota());
    going.await_blocks(2);
    assert!(btrfs(&["qgroup", "limit", "1"]));
    let ended = going.end();
    assert_failed_alone(&ended, "quota", &["quota"]);
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    assert!(entries(disk.path()).is_empty() && entries(&image.path()).is_empty());
    assert_fails(&at_quota().output().unwrap(), 1, &["your quota on this file system is used up"]);
    assert!(entries(disk.path()).is_empty() && entries(&image.path()).is_empty());
}

#[test]
fn a_device_that_fails_ends_its_place_and_says_where_to_look() {
    let Some(image) = Image::new("a_device_that_fails", "ext4") else { return };
    let disk = disk();
    let mut going = Going::start(comparing(&disk, &place("image", &image.path()), &SOME_ROUNDS));
    going.await_blocks(2);
    image.lose_device();
    let ended = going.end();
    assert_failed_alone(&ended, "image", &["see the kernel log (dmesg)"]);
    // Until the journal is written again, ext4 removes what it has in memory.
    let stays = ended.said.contains("could not be removed");
    assert_eq!(ended.code, Some(i32::from(stays)), "{}", ended.said);
    assert_eq!(ended.said.contains("run `iotoll clean` on the place"), stays, "{}", ended.said);
    assert!(entries(disk.path()).is_empty());
}

#[test]
fn a_place_with_another_mounted_over_it_is_told_of_and_neither_keeps_anything() {
    let test = "a_place_with_another_mounted_over_it";
    let Some(mounted) = Mounted::tmpfs(test, "size=64m,mode=700") else { return };
    let (disk, point) = (disk(), mounted.path().to_owned());
    let mut going = Going::start(comparing(&disk, &place("moved", &point), &SOME_ROUNDS));
    going.await_blocks(2);
    // As another sees it that has it open, which is what the run has.
    let before = fs::File::open(&point).unwrap();
    assert!(succeeds(Command::new("umount").arg("-l").arg(&point)));
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=32m,mode=700", "other"]).arg(&point);
    assert!(succeeds(&mut mount));
    let ended = going.end();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    let comparison = &ended.result["comparisons"][0];
    assert_eq!(comparison["verdict"], "invalid", "{comparison}");
    let why = comparison["why"].as_str().unwrap();
    assert!(why.contains("a different file system is mounted at"), "{why}");
    assert!(ended.report.contains("moved changed during the run"), "{}", ended.report);
    assert!(ended.slices_at("disk") > 0 && ended.slices_at("moved") > 0);
    let before = PathBuf::from(format!("/proc/self/fd/{}", before.as_raw_fd()));
    for folder in [disk.path(), &point, &before] {
        assert_eq!(entries(folder), Vec::<PathBuf>::new());
    }
}

/// A group of processes with a limit on memory, removed when it is dropped.
struct Group(PathBuf);

impl Group {
    const LIMIT_BYTES: u64 = 640 << 20;

    /// Of the first version where it has the controller, or else of the second.
    fn new(test: &str) -> Option<Self> {
        let (first, second) = (Path::new("/sys/fs/cgroup/memory"), Path::new("/sys/fs/cgroup"));
        let limit_of_first = "memory.limit_in_bytes";
        let (parent, limit) = if first.join(limit_of_first).exists() {
            (first, limit_of_first)
        } else {
            (second, "memory.max")
        };
        let group = parent.join(format!("iotoll-test-{}", std::process::id()));
        let limited = is_root()
            && fs::create_dir(&group).is_ok()
            && fs::write(group.join(limit), Self::LIMIT_BYTES.to_string()).is_ok();
        let made = Self(group);
        if !limited {
            skip(test, "no control group with a limit on memory can be made here");
            return None;
        }
        Some(made)
    }

    /// The command as one of the group.
    fn hold(&self, command: &Command) -> Command {
        let mut held = iotoll_in_shell();
        held.args(["echo $$ > \"$0\"/cgroup.procs && exec \"$@\""]).arg(&self.0);
        held.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => held.env(name, value),
                None => held.env_remove(name),
            };
        }
        held
    }

    /// What it uses, files that can be dropped aside.
    fn used_bytes(&self) -> u64 {
        let read = |name| fs::read_to_string(self.0.join(name)).ok();
        let used = read("memory.usage_in_bytes").or_else(|| read("memory.current")).unwrap();
        let stat = read("memory.stat").unwrap();
        let of_stat = |name: &str| {
            let found = stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
            found.unwrap_or(0_u64)
        };
        let droppable = of_stat("inactive_file ") + of_stat("active_file ");
        used.trim().parse::<u64>().unwrap().saturating_sub(droppable)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its last process is no longer in it a moment after its end.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            sleep(Duration::from_millis(20));
        }
    }
}

fn iotoll_in_shell() -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c");
    sys::start::default_signals(&mut shell);
    shell
}

#[test]
fn a_limit_on_memory_is_kept_before_and_during_a_run_in_memory() {
    let Some(group) = Group::new("a_limit_on_memory") else { return };
    let (disk, ram) = (disk(), tempfile::tempdir_in("/dev/shm").unwrap());
    let other = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut large = iotoll();
    large.args(["compare", &place("ram", ram.path()), "--study", "stream"]);
    large.args(["--set", "stream.total=512MiB"]);
    let refused = group.hold(&large).output().unwrap();
    assert_fails(&refused, 1, &["that this container or session may still use", "write less"]);

    // It ends long before its budget does.
    let going = comparing(&disk, &place("ram", ram.path()), &["--budget", "60s"]);
    let mut going = Going::start(group.hold(&going));
    going.await_blocks(2);
    // Others in the group take what must stay free of it, and half of that again.
    let most = Group::LIMIT_BYTES - Group::LIMIT_BYTES / 10 * 2 / 3;
    for number in 0.. {
        let left_bytes = most.saturating_sub(group.used_bytes());
        if left_bytes < 2 << 20 {
            break;
        }
        let mut fill = Command::new("dd");
        let output = format!("of={}/{number}", other.path().display());
        let count = format!("count={}", (left_bytes >> 21).max(1));
        fill.args(["if=/dev/zero", &output, "bs=1M", &count]);
        assert!(succeeds(&mut group.hold(&fill)));
    }
    let ended = going.end();
    assert_eq!(ended.code, Some(1), "{}", ended.said);
    assert!(ended.said.contains("of memory is available to this container"), "{}", ended.said);
    assert!(ended.report.contains("Ended early: "), "{}", ended.report);
    assert!(ended.slices_at("disk") > 0 && ended.slices_at("ram") > 0);
    assert!(entries(disk.path()).is_empty() && entries(ram.path()).is_empty());
}
