//! File systems that fail, and comparisons in which that happens.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::{skip, stdout};

/// How long a run is to go on, so that it has rounds before and after what happens to its place,
/// however busy the machine is.
pub(crate) const SOME_ROUNDS: [&str; 4] = ["--rounds", "40", "--budget", "2min"];

/// A file system of the test's own, in a file, through a loop device.
pub(crate) struct Image {
    folder: TempDir,
    device: String,
}

impl Image {
    /// Nothing where it cannot be had, loudly.
    pub(crate) fn new(test: &str, filesystem: &str) -> Option<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = folder.path().join("image");
        fs::File::create(&file).unwrap().set_len(256 << 20).unwrap();
        let mut mkfs = Command::new(format!("mkfs.{filesystem}"));
        let made = succeeds(mkfs.arg("-q").arg(&file));
        let Some(device) = made.then(|| attached(&file)).flatten() else {
            skip(test, &format!("an image needs root, loop devices and mkfs.{filesystem}"));
            return None;
        };
        let image = Self { folder, device };
        fs::create_dir(image.path()).unwrap();
        image.mount();
        Some(image)
    }

    /// Where it is mounted.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("mnt")
    }

    fn mount(&self) {
        assert!(succeeds(Command::new("mount").arg(&self.device).arg(self.path())));
    }

    /// Unmounts it, and mounts what stands in the file as of another device: the kernel keeps
    /// what it knows of the old one for as long as any process has a copy of the mount, in a
    /// namespace of its own.
    pub(crate) fn mount_anew(&mut self) {
        assert!(succeeds(Command::new("umount").arg(self.path())));
        let again = attached(&self.folder.path().join("image")).unwrap();
        let before = std::mem::replace(&mut self.device, again);
        assert!(succeeds(Command::new("losetup").arg("-d").arg(before)));
        self.mount();
    }

    /// Has the kernel turn it read-only, as it does after an error of the device.
    pub(crate) fn abort(&self) {
        let mut mount = Command::new("mount");
        assert!(succeeds(mount.args(["-o", "remount,abort"]).arg(self.path())));
    }

    /// Takes all of its device away but the first MiB: whatever is not in memory can be
    /// neither read nor written from now on.
    pub(crate) fn lose_device(&self) {
        let file = fs::File::options().write(true).open(self.folder.path().join("image"));
        file.unwrap().set_len(1 << 20).unwrap();
        assert!(succeeds(Command::new("losetup").arg("-c").arg(&self.device)));
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // Whatever else is mounted there, too.
        while succeeds(Command::new("umount").arg("-l").arg(self.path())) {}
        succeeds(Command::new("losetup").arg("-d").arg(&self.device));
    }
}

/// The device that a file becomes; nothing where that is not allowed.
fn attached(file: &Path) -> Option<String> {
    let output = Command::new("losetup").args(["-f", "--show"]).arg(file).output().ok()?;
    output.status.success().then(|| stdout(&output).trim().to_owned())
}

/// Whether a command says that all is well; what it prints is not shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// A comparison in which something is to happen.
pub(crate) struct Going {
    child: Child,
    files: TempDir,
}

/// How a comparison ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    /// What it said on standard error.
    pub(crate) said: String,
    pub(crate) report: String,
    pub(crate) result: Value,
}

impl Going {
    /// Starts it with all that a comparison is told of itself.
    pub(crate) fn start(mut command: Command) -> Self {
        let files = tempfile::tempdir().unwrap();
        let file = |name| fs::File::create(files.path().join(name)).unwrap();
        command.arg("--json").arg(files.path().join("json")).arg("--tell-blocks");
        let child = command.stdout(file("stdout")).stderr(file("stderr")).spawn().unwrap();
        Self { child, files }
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has told of that many blocks.
    pub(crate) fn await_blocks(&mut self, blocks: usize) {
        self.await_text(&format!(": block {blocks}\n"));
    }

    /// Waits until it has said that.
    pub(crate) fn await_text(&mut self, text: &str) {
        let began = Instant::now();
        while !self.text("stderr").contains(text) {
            let is_going = self.child.try_wait().unwrap().is_none();
            let waits = is_going && began.elapsed() < Duration::from_secs(60);
            assert!(waits, "{text:?} is not said in: {}", self.text("stderr"));
            sleep(Duration::from_millis(5));
        }
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.files.path().join(name)).unwrap_or_default()
    }

    /// Waits for its end, which is in order in any case.
    pub(crate) fn end(mut self) -> Ended {
        let code = self.child.wait().unwrap().code();
        let said = self
            .text("stderr")
            .lines()
            .filter(|line| !line.contains(": block "))
            .collect::<Vec<_>>()
            .join("\n");
        assert!(!said.contains("panicked") && !said.contains("internal error"), "{said}");
        let result = serde_json::from_str(&self.text("json")).unwrap_or_else(|_| panic!("{said}"));
        Ended { code, said, report: self.text("stdout"), result }
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        // Where the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// Slices that count, of arms at the place.
    pub(crate) fn slices_at(&self, place: &str) -> u64 {
        let arms = self.result["arms"].as_array().unwrap().iter();
        arms.filter(|arm| arm["place"] == place).map(|arm| arm["slices"].as_u64().unwrap()).sum()
    }

    /// Why each arm that could not go on did not.
    pub(crate) fn failures(&self) -> Vec<&str> {
        let failures = self.result["failures"].as_array().unwrap().iter();
        failures.map(|failure| failure["why"].as_str().unwrap()).collect()
    }
}
