//! What slices leave is put aside, so that no slice depends on how many were before it.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use host::space::FileSystemSpace;
use iotoll_places::{Foreign, Need, PlaceFolders, WorkDir, aside_max, clean, inspect};
use model::place::PlaceFacts;
use support::{Helper, Mounted};

fn folders(facts: &PlaceFacts) -> PlaceFolders {
    PlaceFolders::new(WorkDir::create(&facts.label, &facts.path).unwrap(), facts)
}

fn facts(path: &Path) -> PlaceFacts {
    inspect("place", path).unwrap()
}

/// Makes this many files in a slice's folder, and returns the processor time of each, which other
/// tests do not change.
fn slice(folders: &mut PlaceFolders, files: u64) -> Vec<Duration> {
    let folder = folders.slice().unwrap().path().to_owned();
    let make = |n| {
        let began = processor_time();
        let file = File::create(folder.join(format!("file-{n}"))).unwrap();
        let took = processor_time().saturating_sub(began);
        file.set_len(3).unwrap();
        took
    };
    (0..files).map(make).collect()
}

fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

fn names_in(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = names.map(|n| n.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The names in a working folder, with the first number as 0, and so on.
fn numbered_in(work: &Path) -> Vec<String> {
    let names = names_in(work);
    let number = |name: &String| name.rsplit_once('-').map(|(_, n)| n.parse::<u64>().unwrap());
    let first = names.iter().filter_map(number).min().unwrap();
    let renamed = |name: &String| match (name.rsplit_once('-'), number(name)) {
        (Some((whose, _)), Some(number)) => format!("{whose}-{}", number - first),
        _ => name.clone(),
    };
    names.iter().map(renamed).collect()
}

#[test]
fn what_a_slice_leaves_is_cut_and_put_aside_until_the_working_folder_goes() {
    let place = tempfile::tempdir().unwrap();
    let mut folders = folders(&facts(place.path()));
    let arm = folders.arm(3).unwrap();
    fs::write(arm.path().join("kept"), "kept").unwrap();
    for _ in 0..2 {
        slice(&mut folders, 2);
        folders.leave();
        folders.put_aside().unwrap();
    }
    let work = folders.work().path().to_owned();
    assert_eq!(numbered_in(&work), ["arm-0", "aside-slice-1", "aside-slice-2", "lock"]);
    let names = names_in(&work);
    let left = work.join(&names[2]);
    assert_eq!(names_in(&left), ["file-0", "file-1"]);
    assert_eq!(fs::metadata(left.join("file-0")).unwrap().len(), 0);
    assert_eq!(fs::read(work.join(&names[0]).join("kept")).unwrap(), b"kept");
    assert_eq!(names_in(folders.arm(3).unwrap().path()), [""; 0], "an arm's folder is made anew");
    assert_eq!(
        fs::read(work.join(format!("aside-{}/kept", names[0]))).unwrap(),
        b"",
        "what was in it is cut"
    );
    folders.remove().unwrap();
    assert_eq!(names_in(place.path()), [""; 0]);
}

#[test]
fn a_folder_that_stayed_empty_serves_the_next_slice() {
    let place = tempfile::tempdir().unwrap();
    let mut folders = folders(&facts(place.path()));
    let first = folders.slice().unwrap().path().to_owned();
    folders.leave();
    folders.put_aside().unwrap();
    assert_eq!(folders.slice().unwrap().path(), first);
    slice(&mut folders, 1);
    folders.leave();
    folders.put_aside().unwrap();
    assert_ne!(folders.slice().unwrap().path(), first);
}

#[test]
fn a_slice_has_its_folder_before_what_the_last_one_left_is_put_aside() {
    let place = tempfile::tempdir().unwrap();
    let mut folders = folders(&facts(place.path()));
    slice(&mut folders, 1);
    folders.leave();
    slice(&mut folders, 2);
    folders.put_aside().unwrap();
    let work = folders.work().path().to_owned();
    assert_eq!(numbered_in(&work), ["aside-slice-0", "lock", "slice-1"]);
    let names = names_in(&work);
    assert_eq!(fs::metadata(work.join(&names[0]).join("file-0")).unwrap().len(), 0);
    assert!(fs::metadata(work.join(&names[2]).join("file-1")).unwrap().len() > 0);
}

#[test]
fn beyond_its_bound_the_oldest_goes() {
    let place = tempfile::tempdir().unwrap();
    let facts = PlaceFacts { free_inodes: Some(100), ..facts(place.path()) };
    assert_eq!(aside_max(&facts), Need { bytes: 12 * 4096, files: 12 });
    let mut folders = folders(&facts);
    for _ in 0..4 {
        slice(&mut folders, 4);
        folders.leave();
        folders.put_aside().unwrap();
    }
    // Each is a folder and four files.
    assert_eq!(numbered_in(folders.work().path()), ["aside-slice-0", "aside-slice-1", "lock"]);
}

#[test]
fn little_is_put_aside_where_there_is_little_space() {
    let facts = facts(Path::new("/dev/shm"));
    let small = PlaceFacts { total_bytes: 64 << 20, free_bytes: 64 << 20, ..facts.clone() };
    assert_eq!(aside_max(&small).bytes, 2 << 20);
    let unsized_one = PlaceFacts { total_bytes: 0, free_bytes: 0, free_inodes: None, ..facts };
    assert_eq!(aside_max(&unsized_one).bytes, 256 << 20);
}

#[test]
fn what_a_killed_run_put_aside_is_cleaned_away() {
    let place = tempfile::tempdir().unwrap();
    let mut child = Helper::start("put-aside", place.path(), None);
    let work = PathBuf::from(child.told("path"));
    child.kill();
    assert_eq!(numbered_in(&work), ["arm-2", "aside-slice-0", "lock", "slice-1"]);
    let report = clean(place.path(), Foreign::Keep).unwrap();
    assert_eq!((report.removed.len(), report.removed[0].files), (1, 3));
    assert_eq!(names_in(place.path()), [""; 0]);
}

/// ext4 without a journal steps over the inodes of files that were removed in an earlier
/// second, of which the last slice would meet 3,000: some 250 µs for each file.
#[test]
fn a_later_slice_makes_files_as_the_first_did() {
    const SLICES: u64 = 4;
    const FILES: u64 = 1000;
    let test = "a_later_slice_makes_files_as_the_first_did";
    let images = tempfile::tempdir().unwrap();
    let options = ["-O", "^has_journal"];
    let mounted = Mounted::ext4_in(test, images.path(), 1 << 30, &options);
    let Some(mounted) = mounted else { return };
    let free_inodes = || {
        let root = File::open(mounted.path()).unwrap();
        FileSystemSpace::of(root).unwrap().free_inodes.unwrap()
    };
    let before = free_inodes();
    let mut folders = folders(&facts(&mounted.path()));
    let within = free_inodes();
    let mut medians = Vec::new();
    for slices in 1..=SLICES {
        let mut times = slice(&mut folders, FILES);
        times.sort();
        medians.push(times[times.len() / 2]);
        folders.leave();
        folders.put_aside().unwrap();
        assert_eq!(within - free_inodes(), slices * (FILES + 1), "none was given back");
        sleep(Duration::from_millis(1100));
    }
    assert!(medians[3] < medians[0] * 4, "a file took {medians:?}");
    drop(folders);
    assert_eq!(free_inodes(), before);
}

/// What operations themselves remove is spread over the groups of inodes as well.
#[test]
fn without_a_journal_slices_are_spread_over_groups_and_with_one_they_are_not() {
    // One gibibyte is eight groups of 128 MiB.
    let test = "without_a_journal_slices_are_spread_over_groups_and_with_one_they_are_not";
    for (options, is_spread) in [("^has_journal,^flex_bg", true), ("has_journal,^flex_bg", false)] {
        let images = tempfile::tempdir().unwrap();
        let mounted = Mounted::ext4_in(test, images.path(), 1 << 30, &["-O", options]);
        let Some(mounted) = mounted else { return };
        let inodes = rustix::fs::statvfs(mounted.path()).unwrap().f_files;
        let mut folders = folders(&facts(&mounted.path()));
        let mut groups = BTreeSet::new();
        for _ in 0..16 {
            let slice = folders.slice().unwrap().path().join("file");
            File::create(&slice).unwrap();
            groups.insert((fs::metadata(&slice).unwrap().ino() - 1) / (inodes / 8));
            folders.leave();
            folders.put_aside().unwrap();
        }
        assert_eq!(groups.len() >= 4, is_spread, "{options}: {groups:?}");
    }
}
