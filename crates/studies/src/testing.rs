//! What the studies' tests share: slices run end to end on real file systems.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use engine::slice_timer::SliceTimer;
use engine::study::{Ran, Ready, SliceFolders, Study, StudyError, Workload};
use host::clock::Clock;
use host::process::storage_read_bytes;
use model::integrity::Integrity;
use model::slice::Outcome;
use model::spent::Spent;
use model::study::Params;
use process::StopFlag;
use tempfile::TempDir;

/// A folder on the file system that the tests are built on.
pub(crate) fn on_disk() -> TempDir {
    let program = std::env::current_exe().unwrap();
    tempfile::tempdir_in(program.parent().unwrap()).unwrap()
}

/// A folder in memory.
pub(crate) fn in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

/// A folder as a user may have one, with a folder in a folder and a link.
pub(crate) fn own_folder() -> TempDir {
    let own = on_disk();
    fs::create_dir_all(own.path().join("deep/er")).unwrap();
    fs::write(own.path().join("a.css"), own_contents(1000)).unwrap();
    fs::write(own.path().join("deep/er/b.html"), own_contents(5000)).unwrap();
    fs::write(own.path().join("deep/c.html"), own_contents(5001)).unwrap();
    std::os::unix::fs::symlink("a.css", own.path().join("link")).unwrap();
    own
}

/// What is in its files together.
pub(crate) const OWN_BYTES: u64 = 1000 + 5000 + 5001;

/// What is in one of its files.
pub(crate) fn own_contents(bytes: usize) -> Vec<u8> {
    b"<b>{{ user.name }}</b>\n".iter().copied().cycle().take(bytes).collect()
}

/// A recorder of no run.
pub(crate) fn timer() -> SliceTimer {
    SliceTimer::new(Clock::new(), StopFlag::default())
}

/// The study's first defaults, with these in their place.
pub(crate) fn params(study: &dyn Study, given: &[(&str, &str)]) -> Params {
    study.spec().params_with(given.iter().copied()).unwrap()
}

/// An arm's workload, or why there is none.
pub(crate) fn try_workload(
    study: &dyn Study,
    strategy: &str,
    given: &[(&str, &str)],
) -> Result<Box<dyn Workload>, StudyError> {
    study.workload(strategy, &params(study, given))
}

/// An arm's workload.
pub(crate) fn workload(
    study: &dyn Study,
    strategy: &str,
    given: &[(&str, &str)],
) -> Box<dyn Workload> {
    try_workload(study, strategy, given).unwrap()
}

/// Why an arm has no workload.
pub(crate) fn refusal(study: &dyn Study, strategy: &str, given: &[(&str, &str)]) -> String {
    try_workload(study, strategy, given).err().unwrap().to_string()
}

/// One slice's outcome, with what it spent.
#[derive(Debug)]
pub(crate) struct Slice {
    pub(crate) laps: u64,
    pub(crate) spent: Spent,
    pub(crate) outcome: Outcome,
}

impl Slice {
    /// A figure; panics where the slice has none of that name.
    pub(crate) fn figure(&self, name: &str) -> f64 {
        self.outcome.figures[name]
    }

    pub(crate) fn requested_bytes(&self) -> u64 {
        self.spent.requested_bytes
    }

    /// What became of its records, which were checked.
    pub(crate) fn integrity(&self) -> &Integrity {
        self.outcome.integrity.as_ref().unwrap()
    }
}

/// Makes a slice ready in a folder, which is its own and its arm's in one.
pub(crate) fn ready<'a>(
    workload: &'a mut dyn Workload,
    folder: &Path,
    operations: u64,
) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
    ready_in(workload, [folder, folder], operations)
}

/// Makes a slice ready in a folder of its own and one of its arm's.
pub(crate) fn ready_in<'a>(
    workload: &'a mut dyn Workload,
    folders: [&Path; 2],
    operations: u64,
) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
    let [fresh, kept] = folders.map(|folder| File::open(folder).unwrap());
    let kept_is_new = fs::read_dir(folders[1]).unwrap().next().is_none();
    let folders = SliceFolders::alone(fresh.as_fd(), kept.as_fd(), kept_is_new);
    workload.ready(folders, operations, &timer())
}

/// Runs slices of one arm, each of so many operations, on disk. The inodes that the arm
/// kept after each, and how many the slice had in its own folder.
pub(crate) fn kept_and_fresh(
    workload: &mut dyn Workload,
    operations: &[u64],
) -> Vec<(BTreeSet<u64>, usize)> {
    let kept = on_disk();
    let after = |&operations: &u64| {
        let fresh = on_disk();
        let folders = [fresh.path(), kept.path()];
        let slice = finish(ready_in(&mut *workload, folders, operations).unwrap()).unwrap();
        assert_eq!(slice.laps, operations);
        assert!(slice.outcome.integrity.is_none_or(|found| found.is_intact()));
        (inodes(kept.path()), inodes(fresh.path()).len())
    };
    operations.iter().map(after).collect()
}

/// Those of all that is in a folder.
fn inodes(folder: &Path) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        found.insert(entry.metadata().unwrap().ino());
        if entry.file_type().unwrap().is_dir() {
            found.extend(inodes(&entry.path()));
        }
    }
    found
}

/// Runs a slice that is ready; its laps and what it spent.
pub(crate) fn run<'a>(
    ready: Box<dyn Ready<'a> + 'a>,
) -> Result<(Box<dyn Ran + 'a>, u64, Spent), StudyError> {
    let mut timer = timer();
    timer.start();
    let ran = ready.run(&mut timer)?;
    timer.finish();
    Ok((ran, timer.latencies().count(), timer.spent(Spent::default())))
}

/// Runs a slice that is ready to its end.
pub(crate) fn finish<'a>(ready: Box<dyn Ready<'a> + 'a>) -> Result<Slice, StudyError> {
    let (mut ran, laps, spent) = run(ready)?;
    ran.flush()?;
    Ok(Slice { laps, spent, outcome: ran.finish()? })
}

/// How many bytes storage had to deliver while a slice ran, at the least: other tests may
/// read as well. What it was asked for comes with it.
pub(crate) fn from_storage<'a>(ready: Box<dyn Ready<'a> + 'a>) -> (u64, u64) {
    let before = storage_read_bytes().unwrap();
    let slice = finish(ready).unwrap();
    (storage_read_bytes().unwrap() - before, slice.requested_bytes())
}

/// A whole slice, as the engine runs one.
pub(crate) fn slice(
    study: &dyn Study,
    strategy: &str,
    given: &[(&str, &str)],
    folder: &Path,
    operations: u64,
) -> Result<Slice, StudyError> {
    let mut workload = try_workload(study, strategy, given)?;
    finish(ready(workload.as_mut(), folder, operations)?)
}
