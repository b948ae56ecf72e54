//! Working folders on the real machine: private, removed, and clear about what is wrong.
#![expect(unsafe_code, reason = "the test drops a value in a forked process")]
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use iotoll_places::{WorkDir, WorkDirError};
use rustix::fs::{Mode, OFlags};
use support::{Helper, Mounted, NOBODY, is_root, skip};
use tempfile::TempDir;

fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn names_in(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_working_folder_is_private_named_by_the_pattern_and_removed_when_dropped() {
    let place = place();
    let work = WorkDir::create("disk", place.path()).unwrap();
    assert_eq!(work.path().parent(), Some(place.path().canonicalize().unwrap().as_path()));
    assert_eq!(fs::symlink_metadata(work.path()).unwrap().mode() & 0o7777, 0o700);
    assert_eq!(names_in(work.path()), ["lock"]);
    let lock = fs::read_to_string(work.path().join("lock")).unwrap();
    assert!(lock.starts_with(&format!("pid {}\nstarted 2", std::process::id())), "{lock}");
    fs::write(work.path().join("file"), "text").unwrap();
    drop(work);
    assert_eq!(names_in(place.path()), [""; 0]);
}

/// Why root makes no working folder in a place; `None` where it makes one.
fn refusal(place: &Path) -> Option<String> {
    WorkDir::create("disk", place).err().map(|error| error.to_string())
}

#[test]
fn root_does_not_work_where_others_could_lead_it_elsewhere() {
    let test = "root_does_not_work_where_others_could_lead_it_elsewhere";
    if !is_root() {
        return skip(test, "only root is refused");
    }
    let outer = place();
    let inner = outer.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let (outer_path, owner) = (outer.path().canonicalize().unwrap(), NOBODY);
    chown(outer.path(), Some(owner), None).unwrap();
    for place in [outer.path(), &inner] {
        let said = refusal(place).unwrap();
        let owners = format!("{} belongs to the user with UID {owner}", outer_path.display());
        assert!(said.contains(&owners) && said.contains("sudo -u '#65534' iotoll"), "{said}");
    }
    chown(outer.path(), Some(0), None).unwrap();
    for (mode, refused) in [(0o755, false), (0o770, true), (0o777, true), (0o1777, false)] {
        fs::set_permissions(outer.path(), fs::Permissions::from_mode(mode)).unwrap();
        for place in [outer.path(), &inner] {
            let said = refusal(place);
            assert_eq!(said.is_some(), refused, "{mode:o}: {said:?}");
            let remedy = format!("chmod go-w {}", outer_path.display());
            assert!(said.is_none_or(|said| said.contains(&remedy)));
        }
    }
    assert_eq!(names_in(outer.path()), ["inner"]);
}

#[test]
fn the_descriptor_and_the_path_are_the_same_directory() {
    let place = place();
    let work = WorkDir::create("disk", place.path()).unwrap();
    let flags = OFlags::WRONLY | OFlags::CREATE;
    rustix::fs::openat(work.fd(), "a", flags, Mode::RUSR).unwrap();
    let slice = work.subdir("slice").unwrap();
    rustix::fs::openat(slice.fd(), "b", flags, Mode::RUSR).unwrap();
    assert!(work.path().join("a").exists() && work.path().join("slice/b").exists());
}

#[test]
fn a_sub_folder_is_fresh_each_time_and_can_be_removed() {
    let place = place();
    let work = WorkDir::create("disk", place.path()).unwrap();
    let first = work.subdir("slice").unwrap();
    fs::create_dir_all(first.path().join("deep/er")).unwrap();
    fs::write(first.path().join("deep/er/file"), "text").unwrap();
    let second = work.subdir("slice").unwrap();
    assert_eq!(names_in(second.path()), [""; 0]);
    work.remove_subdir("slice").unwrap();
    work.remove_subdir("slice").unwrap();
    assert_eq!(names_in(work.path()), ["lock"]);
    let error = work.subdir("../escape").unwrap_err().to_string();
    assert!(error.starts_with("`../escape` is not a name for a sub-folder"), "{error}");
}

#[test]
fn removal_removes_links_and_not_what_they_lead_to() {
    let (place, other) = (place(), place());
    fs::write(other.path().join("precious"), "text").unwrap();
    let work = WorkDir::create("disk", place.path()).unwrap();
    symlink(other.path(), work.path().join("link")).unwrap();
    symlink(other.path(), work.path().join("slice")).unwrap();
    let slice = work.subdir("slice").unwrap();
    assert!(fs::symlink_metadata(slice.path()).unwrap().is_dir());
    work.remove().unwrap();
    assert_eq!(names_in(other.path()), ["precious"]);
    assert_eq!(names_in(place.path()), [""; 0]);
}

#[test]
fn a_tree_of_any_depth_is_removed_with_few_descriptors() {
    let place = place();
    assert_eq!(Helper::start("deep", place.path(), None).told("removed"), "true");
    assert_eq!(names_in(place.path()), [""; 0]);
}

#[test]
fn removal_does_not_enter_a_bind_mount_and_says_so() {
    let test = "removal_does_not_enter_a_bind_mount_and_says_so";
    let other = place();
    fs::write(other.path().join("precious"), "text").unwrap();
    // The folder that is bound is below the mount point's own.
    let Some(outer) = Mounted::new(test, &["-t", "tmpfs", "tmpfs"]) else { return };
    let work = WorkDir::create("disk", &outer.path()).unwrap();
    let path = work.path().to_owned();
    let bound = work.subdir("bound").unwrap();
    let bind = Command::new("mount").arg("--bind").arg(other.path()).arg(bound.path()).status();
    assert!(bind.unwrap().success());
    fs::write(work.path().join("file"), "text").unwrap();
    let error = work.remove().unwrap_err().to_string();
    let intact = names_in(other.path());
    let unmounted = Command::new("umount").arg(bound.path()).status().unwrap();
    assert!(unmounted.success());
    assert_eq!(intact, ["precious"]);
    assert!(error.contains("bound: could not be removed"), "{error}");
    // What could be removed is. The lock stays for a cleaning once this process has ended.
    drop(bound);
    assert_eq!(names_in(&path).len(), 2, "the lock and the folder that was bound");
    let report = iotoll_places::clean(&outer.path(), iotoll_places::Foreign::Remove).unwrap();
    assert_eq!((report.in_use.len(), report.removed.len()), (1, 0));
}

#[test]
fn a_umask_that_takes_every_right_leaves_its_owner_all() {
    let place = place();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
    // Root would not notice.
    let user = is_root().then_some(NOBODY);
    assert_eq!(Helper::start("umask", place.path(), user).told("modes"), "700 700");
}

#[test]
fn a_folder_in_a_setgid_directory_is_private_all_the_same() {
    let place = place();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o3777)).unwrap();
    let work = WorkDir::create("disk", place.path()).unwrap();
    assert_eq!(fs::symlink_metadata(work.path()).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn a_panic_removes_the_folder() {
    let place = place();
    let mut helper = Helper::start("panic", place.path(), None);
    let path = helper.told("path");
    assert!(!helper.child.wait().unwrap().success());
    assert!(path.contains("/.iotoll-"), "{path}");
    assert_eq!(names_in(place.path()), [""; 0]);
}

#[test]
fn a_forked_child_that_drops_its_copy_removes_nothing() {
    let place = place();
    let work = WorkDir::create("disk", place.path()).unwrap();
    let copy = std::ptr::from_ref(&work) as usize;
    let mut command = Command::new("true");
    // SAFETY: the closure runs in the forked child, whose memory is a copy of ours: the
    // value that it moves out of the reference is dropped there once, and the child ends
    // right after. No other thread holds a lock that dropping takes, for it only closes
    // descriptors and frees memory.
    unsafe {
        command.pre_exec(move || {
            drop(std::ptr::read(copy as *const WorkDir));
            Err(io::Error::other("dropped"))
        });
    }
    assert!(command.spawn().is_err());
    assert!(work.path().join("lock").exists());
    work.remove().unwrap();
}

fn failure(path: &Path) -> WorkDirError {
    WorkDir::create("disk", path).unwrap_err()
}

#[test]
fn a_path_that_is_missing_a_file_or_too_long_is_named_with_what_to_do() {
    let place = place();
    let missing = place.path().join("none");
    let expected = format!(
        "disk={}: there is no such directory; create it, or pass one that exists",
        missing.display()
    );
    assert_eq!(failure(&missing).to_string(), expected);
    let file = place.path().join("file");
    fs::write(&file, "text").unwrap();
    let expected = format!(
        "disk={}: this is not a directory; pass the directory that holds it",
        file.display()
    );
    assert_eq!(failure(&file).to_string(), expected);
    let long = place.path().join("x".repeat(300));
    assert!(failure(&long).to_string().contains("the path is too long"));
    // One that can be opened, but leaves no room for what is made in it.
    let mut deep = place.path().to_owned();
    while deep.as_os_str().len() < 3700 {
        deep.push("x".repeat(100));
    }
    fs::create_dir_all(&deep).unwrap();
    assert!(failure(&deep).to_string().contains("the path is too long"));
}

#[test]
fn a_read_only_file_system_is_told() {
    let test = "a_read_only_file_system_is_told";
    let Some(mounted) = Mounted::new(test, &["-t", "tmpfs", "-o", "ro", "tmpfs"]) else { return };
    let error = failure(&mounted.path());
    let expected =
        format!("disk={}: the file system is mounted read-only", mounted.path().display());
    assert!(error.to_string().starts_with(&expected), "{error}");
}

#[test]
fn a_file_system_without_inodes_is_told_from_one_without_space() {
    let test = "a_file_system_without_inodes_is_told_from_one_without_space";
    let options = ["-t", "tmpfs", "-o", "size=64k,nr_inodes=4", "tmpfs"];
    let Some(mounted) = Mounted::new(test, &options) else { return };
    let dir = mounted.path();
    for file in 0.. {
        if fs::write(dir.join(file.to_string()), "").is_err() {
            break;
        }
    }
    assert!(failure(&dir).to_string().contains("has no inodes left"), "{}", failure(&dir));
    // Room for the folder, none for its lock file: nothing may be left behind.
    fs::remove_file(dir.join("0")).unwrap();
    let before = names_in(&dir).len();
    assert!(failure(&dir).to_string().contains("has no inodes left"), "{}", failure(&dir));
    assert_eq!(names_in(&dir).len(), before);
}

#[test]
fn a_full_file_system_is_told_and_nothing_is_left_behind() {
    let test = "a_full_file_system_is_told_and_nothing_is_left_behind";
    let options = ["-t", "tmpfs", "-o", "size=16k", "tmpfs"];
    let Some(mounted) = Mounted::new(test, &options) else { return };
    assert!(fs::write(mounted.path().join("filler"), vec![1; 64 * 1024]).is_err());
    let error = failure(&mounted.path());
    assert!(error.to_string().contains("no space is left"), "{error}");
    assert_eq!(names_in(&mounted.path()), ["filler"]);
}

#[test]
fn a_directory_without_the_right_to_write_or_to_enter_is_told() {
    if !is_root() {
        let error = failure(Path::new("/"));
        assert!(error.to_string().contains("you may not write"), "{error}");
        return skip("…_or_to_enter_is_told", "only root can become another user");
    }
    let place = place();
    let told = |mode| {
        fs::set_permissions(place.path(), fs::Permissions::from_mode(mode)).unwrap();
        Helper::start("create", place.path(), Some(NOBODY)).told("result")
    };
    assert!(told(0o755).contains("you may not write to this directory"));
    // The directory itself can be named, what is in it cannot.
    assert!(told(0o700).contains("you may not write to this directory"));
    // One that may be written to and not listed will do.
    assert_eq!(told(0o733), "made");
    let inner = place.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let told = Helper::start("create", &inner, Some(NOBODY)).told("result");
    assert!(told.contains("permission to reach this directory is denied"), "{told}");
}

#[test]
fn a_place_may_be_reached_through_a_link() {
    let place = place();
    fs::create_dir(place.path().join("real")).unwrap();
    symlink("real", place.path().join("link")).unwrap();
    let work = WorkDir::create("disk", &place.path().join("link")).unwrap();
    assert!(work.path().starts_with(place.path().canonicalize().unwrap().join("real")));
    assert!(rustix::fs::fstat(work.fd().as_fd()).is_ok());
}
