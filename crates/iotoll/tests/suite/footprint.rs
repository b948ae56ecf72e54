//! What a run leaves while it runs and afterwards, on a file system of the test's own.

#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

use crate::common;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::{iotoll, place};
use rustix::fs::statvfs;
use tempfile::TempDir;

/// An ext4 without a journal in a file, mounted through a loop device.
struct WithoutJournal(TempDir);

impl WithoutJournal {
    /// Nothing where this machine does not allow it, loudly.
    fn new() -> Option<Self> {
        let made = Self(tempfile::tempdir().unwrap());
        let (image, point) = (made.0.path().join("image"), made.point());
        File::create(&image).unwrap().set_len(4 << 30).unwrap();
        fs::create_dir(&point).unwrap();
        let image = image.to_str().unwrap();
        let mkfs = done("mkfs.ext4", &["-q", "-F", "-O", "^has_journal", image]);
        match mkfs.and_then(|()| done("mount", &["-o", "loop", image, point.to_str().unwrap()])) {
            Ok(()) => Some(made),
            Err(why) => {
                eprintln!("SKIPPED: no ext4 without a journal can be mounted here: {why}");
                None
            }
        }
    }

    fn point(&self) -> PathBuf {
        self.0.path().join("mnt")
    }

    fn free_inodes(&self) -> u64 {
        statvfs(self.point()).unwrap().f_ffree
    }
}

impl Drop for WithoutJournal {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.point()).stderr(Stdio::null()).status();
    }
}

fn done(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|e| format!("{program}: {e}"))?;
    let why = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(why()) }
}

/// How many blocks a result has.
fn blocks(json: &Path) -> usize {
    let result: serde_json::Value = serde_json::from_reader(File::open(json).unwrap()).unwrap();
    let slices = result["slices"].as_array().unwrap();
    slices.iter().filter(|slice| slice["arm"] == 0 && slice["phase"]["block"].is_u64()).count()
}

#[test]
fn no_inode_is_given_back_before_the_run_ends() {
    let Some(made) = WithoutJournal::new() else { return };
    let results = tempfile::tempdir().unwrap();
    let json = results.path().join("result.json");
    let before = made.free_inodes();
    let twins = ["a", "b"].map(|label| place(label, &made.point()));
    let mut child = iotoll()
        .arg("compare")
        .args(twins)
        .args(["--study", "files", "--set", "files.operation=write", "--seed", "1"])
        // A place held against itself is never found to differ.
        .args(["--threshold", "0.0001%", "--budget", "20s", "--blocks", "45", "--json"])
        .arg(&json)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut last, mut gave_back, mut took_again) = (before, false, false);
    while child.try_wait().unwrap().is_none() {
        let free = made.free_inodes();
        took_again |= gave_back && free < last;
        // The file that free space was asked with is one.
        gave_back |= free > last + 1;
        last = free;
        sleep(Duration::from_micros(500));
    }
    assert!(child.wait().unwrap().success());
    assert!(!took_again, "files were removed, and then more were made");
    assert_eq!(made.free_inodes(), before);
    let blocks = blocks(&json);
    if blocks < 40 {
        eprintln!("SKIPPED: only {blocks} blocks fitted into the budget");
    }
}
