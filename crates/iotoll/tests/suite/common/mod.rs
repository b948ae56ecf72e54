//! Runs the built binary in places of its own.

#![allow(dead_code)]

pub(crate) mod faults;
pub(crate) mod gluster;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{LazyLock, Mutex};
use std::thread::scope;

use tempfile::TempDir;

/// Two places on different file systems: a disk's and memory's.
pub(crate) struct Places {
    pub(crate) disk: TempDir,
    pub(crate) ram: TempDir,
}

impl Places {
    pub(crate) fn new() -> Self {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let disk = tempfile::tempdir_in(target).unwrap();
        let ram = tempfile::tempdir_in("/dev/shm").unwrap();
        Self { disk, ram }
    }

    /// The two as arguments.
    pub(crate) fn args(&self) -> [String; 2] {
        [place("disk", self.disk.path()), place("ram", self.ram.path())]
    }

    /// Nothing may be left in either.
    pub(crate) fn assert_empty(&self) {
        for dir in [self.disk.path(), self.ram.path()] {
            assert_eq!(entries(dir), Vec::<PathBuf>::new(), "left in {}", dir.display());
        }
    }
}

pub(crate) fn place(label: &str, path: &Path) -> String {
    format!("{label}={}", path.display())
}

pub(crate) fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// The folders of slices that run just now, in whatever works in a place.
pub(crate) fn slice_folders(place: &Path) -> Vec<PathBuf> {
    let within = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten();
    let inner = within(place.to_owned()).flat_map(|work| within(work.path()));
    let is_slice = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("slice-");
    inner.filter(|entry| is_slice(&entry.file_name())).map(|entry| entry.path()).collect()
}

/// The binary, with nothing of the caller's terminal or shell about it.
pub(crate) fn iotoll() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotoll"));
    command.env_remove("CLICOLOR_FORCE").env("IOTOLL_DIR", data_folder());
    sys::start::default_signals(&mut command);
    command
}

/// Where the runs of these tests are kept, rather than with the user's own: a folder of
/// this process, which removes those of earlier ones.
pub(crate) fn data_folder() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let user = rustix::process::geteuid().as_raw();
        let all = std::env::temp_dir().join(format!("iotoll-tests-{user}"));
        for folder in fs::read_dir(&all).into_iter().flatten().flatten() {
            if !Path::new("/proc").join(folder.file_name()).exists() {
                let _ = fs::remove_dir_all(folder.path());
            }
        }
        all.join(std::process::id().to_string())
    });
    &FOLDER
}

pub(crate) fn run<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    iotoll().args(args).output().unwrap()
}

/// The words of a report of a run that was named so, as they are of the latest: a report says how
/// to show the rest of the same run.
pub(crate) fn unnamed(report: &str, run: &str) -> String {
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    let named = ["show", "report"].map(|command| format!("iotoll {command} {run}"));
    words.replace(&named[0], "iotoll show").replace(&named[1], "iotoll report")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Says what is not tested and why.
#[allow(clippy::print_stderr)]
pub(crate) fn skip(test: &str, why: &str) {
    eprintln!("SKIPPED: {test}: {why}");
}

/// A mount on a folder of its own, undone when dropped, whatever became of the test.
pub(crate) struct Mounted(TempDir);

impl Mounted {
    /// A tmpfs with these options; nothing where it cannot be had.
    pub(crate) fn tmpfs(test: &str, options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder.path());
        if !is_root() || !mount.output().is_ok_and(|output| output.status.success()) {
            skip(test, "a tmpfs cannot be mounted here");
            return None;
        }
        Some(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let status = Command::new("mount").args(["-o", &options]).arg(self.path()).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

/// A failure: this code, and one message that says each of those things,
/// without a trace of a panic.
pub(crate) fn assert_fails(output: &Output, code: i32, says: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for part in says {
        assert!(text.contains(part), "{part:?} is not said in: {text}");
    }
    assert!(!text.contains("panicked") && !text.contains("backtrace"), "{text}");
}

/// Checks each, several at once because a run waits most of its time.
pub(crate) fn at_once<T: Send>(
    many: usize,
    all: impl IntoIterator<Item = T, IntoIter: Send>,
    check: impl Fn(T) + Sync,
) {
    let rest = Mutex::new(all.into_iter());
    let next = || rest.lock().unwrap().next();
    scope(|scope| {
        for _ in 0..many {
            scope.spawn(|| {
                while let Some(one) = next() {
                    check(one);
                }
            });
        }
    });
}

/// Copies the binary.
pub(crate) fn copy_program(to: &Path) {
    copy_executable(Path::new(env!("CARGO_BIN_EXE_iotoll")), to);
}

/// Copies a program. Another process does it: a copy that this one had open for writing
/// while it starts another could not be run (`ETXTBSY`).
pub(crate) fn copy_executable(program: &Path, to: &Path) {
    let copied = Command::new("cp").arg(program).arg(to).status();
    assert!(copied.unwrap().success());
}
