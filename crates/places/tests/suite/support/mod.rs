//! What the tests on the real machine share: mounts that are undone, children that hold
//! a working folder, and skips that are seen.

#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use iotoll_places::{PlaceFolders, WorkDir};
use tempfile::TempDir;

/// Says what is not tested and why.
#[allow(clippy::print_stderr)]
pub fn skip(test: &str, why: &str) {
    eprintln!("SKIPPED: {test}: {why}");
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A mount on a folder of its own, undone when dropped, whatever became of the test.
pub struct Mounted {
    dir: TempDir,
    name: String,
    count: usize,
}

impl Mounted {
    /// Runs `mount` with these arguments and the folder's path, or says why it did not.
    pub fn new(test: &str, arguments: &[&str]) -> Option<Self> {
        Self::named(test, "mnt", arguments)
    }

    /// An ext4 made with these options in a file, mounted through a loop device.
    pub fn ext4_in(test: &str, dir: &Path, bytes: u64, options: &[&str]) -> Option<Self> {
        let image = dir.join("image");
        fs::File::create(&image).unwrap().set_len(bytes).unwrap();
        let made = Command::new("mkfs.ext4").arg("-q").args(options).arg(&image).status();
        if !made.is_ok_and(|status| status.success()) {
            skip(test, "no mkfs.ext4 here");
            return None;
        }
        Self::new(test, &["-o", "loop", image.to_str().unwrap()])
    }

    pub fn named(test: &str, name: &str, arguments: &[&str]) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(name)).unwrap();
        let mut mounted = Self { dir, name: name.to_owned(), count: 0 };
        mounted.mount_over(test, arguments).then_some(mounted)
    }

    /// Mounts something over what is there.
    pub fn mount_over(&mut self, test: &str, arguments: &[&str]) -> bool {
        if !is_root() {
            skip(test, "only root can mount");
            return false;
        }
        let output = Command::new("mount").args(arguments).arg(self.path()).output();
        match output {
            Ok(output) if output.status.success() => {
                self.count += 1;
                true
            }
            Ok(output) => {
                skip(test, String::from_utf8_lossy(&output.stderr).trim());
                false
            }
            Err(error) => {
                skip(test, &error.to_string());
                false
            }
        }
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join(&self.name)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        for _ in 0..self.count {
            let _ = Command::new("umount").arg("-l").arg(self.path()).status();
        }
    }
}

/// The variable that makes a test binary a child: what it is to do, and where.
const TASK: &str = "IOTOLL_TEST_TASK";
const PLACE: &str = "IOTOLL_TEST_PLACE";

/// The user that has no rights, by its number on all Linux systems.
pub const NOBODY: u32 = 65_534;

/// A copy of a program that any user can reach.
struct Copied(TempDir);

impl Copied {
    /// Made by `cp`: a descriptor of ours that is open for writing would be inherited by
    /// what another test is starting just then, and the copy could not be run.
    fn of(program: &Path) -> Self {
        let copied = Self(tempfile::tempdir().unwrap());
        fs::set_permissions(copied.0.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Command::new("cp").arg(program).arg(copied.path()).status().unwrap().success());
        copied
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("helper")
    }
}

/// What a child of this binary does; nothing where it is run as a test.
#[test]
fn helper() {
    run_task();
}

/// A child of this test binary, killed when dropped.
pub struct Helper {
    pub child: Child,
    lines: BufReader<ChildStdout>,
    _copy: Option<Copied>,
}

impl Helper {
    /// Starts this test binary again, to run `task` in a place, as another user where
    /// one is given. Its test [`helper`] does that.
    pub fn start(task: &str, place: &Path, user: Option<u32>) -> Self {
        let own = std::env::current_exe().unwrap();
        let copy = user.map(|_| Copied::of(&own));
        let mut command = Command::new(copy.as_ref().map_or(own, Copied::path));
        command
            .args(["--exact", "support::helper", "--nocapture"])
            .env(TASK, task)
            .env(PLACE, place);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines, _copy: copy }
    }

    /// What it says of a key.
    pub fn told(&mut self, key: &str) -> String {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            // The harness writes its own words before, on the same line.
            if let Some((_, value)) = line.split_once(&format!("@{key} ")) {
                return value.trim_end().to_owned();
            }
            line.clear();
        }
        panic!("the helper ended without telling `{key}`");
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tell(key: &str, value: impl std::fmt::Display) {
    let mut out = std::io::stdout();
    writeln!(out, "@{key} {value}").unwrap();
    out.flush().unwrap();
}

/// The child's side: does what the variables ask for, or nothing without them.
pub fn run_task() {
    let (Ok(task), Ok(place)) = (std::env::var(TASK), std::env::var(PLACE)) else { return };
    let create = || WorkDir::create("disk", Path::new(&place));
    match task.as_str() {
        // Holds a folder with a file in it until it is killed or its input ends.
        "hold" => {
            let work = create().unwrap();
            fs::write(work.subdir("slice").unwrap().path().join("file"), [7; 10_000]).unwrap();
            tell("path", work.path().display());
            std::io::stdin().read_line(&mut String::new()).unwrap();
        }
        // Holds one, and starts a program that outlives it.
        "hold-and-start" => {
            let _work = create().unwrap();
            let mut sleep = Command::new("sh");
            sleep.args(["-c", "echo up; exec sleep 600"]).stdout(Stdio::piped());
            let mut sleeper = sleep.spawn().unwrap();
            // Only when it runs has it closed what it had inherited: the kernel lets its
            // parent go on a little earlier.
            let mut up = String::new();
            BufReader::new(sleeper.stdout.take().unwrap()).read_line(&mut up).unwrap();
            tell("sleeper", sleeper.id());
            sleeper.wait().unwrap();
        }
        // Holds one with what a slice left, what another is at, and what an arm keeps.
        "put-aside" => {
            let place = iotoll_places::inspect("disk", Path::new(&place)).unwrap();
            let mut folders = PlaceFolders::new(create().unwrap(), &place);
            for is_last in [false, true] {
                let slice = folders.slice().unwrap().path().to_owned();
                fs::write(slice.join("file"), [7; 10_000]).unwrap();
                if !is_last {
                    folders.leave();
                    folders.put_aside().unwrap();
                }
            }
            fs::write(folders.arm(0).unwrap().path().join("file"), [7; 10_000]).unwrap();
            tell("path", folders.work().path().display());
            std::io::stdin().read_line(&mut String::new()).unwrap();
        }
        "panic" => {
            let work = create().unwrap();
            tell("path", work.path().display());
            panic!("on purpose");
        }
        // Under a umask that takes every right away.
        "umask" => {
            rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o777));
            let work = create().unwrap();
            let sub = work.subdir("slice").unwrap();
            let mode = |path: &Path| {
                let mode = fs::symlink_metadata(path).unwrap().permissions().mode();
                format!("{:o}", mode & 0o7777)
            };
            tell("modes", format!("{} {}", mode(work.path()), mode(sub.path())));
        }
        "create" => match create() {
            Ok(_) => tell("result", "made"),
            Err(error) => tell("result", error),
        },
        other => deep_task(other, create().unwrap()),
    }
}

/// The tasks that are about trees deeper than any limit.
fn deep_task(task: &str, work: WorkDir) {
    match task {
        // Removes one with hardly a descriptor to spare.
        "deep" => {
            let path = work.path().to_owned();
            nest(work.subdir("slice").unwrap().fd(), 5_000);
            let limit = rustix::process::Rlimit { current: Some(64), maximum: Some(64) };
            rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
            tell("removed", work.remove().is_ok() && !path.exists());
        }
        // The same is left behind for a cleaner.
        "leave-deep" => {
            nest(work.subdir("slice").unwrap().fd(), 5_000);
            tell("path", work.path().display());
            std::io::stdin().read_line(&mut String::new()).unwrap();
        }
        _ => panic!("no such task: {task}"),
    }
}

/// Folders within each other, with a file in every tenth.
fn nest(top: std::os::fd::BorrowedFd<'_>, levels: u32) {
    use rustix::fs::{Mode, OFlags, mkdirat, openat};

    let mut dir = top.try_clone_to_owned().unwrap();
    for level in 0..levels {
        mkdirat(&dir, "folder", Mode::RWXU).unwrap();
        if level % 10 == 0 {
            openat(&dir, "file", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
        }
        dir = openat(&dir, "folder", OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty()).unwrap();
    }
}
