//! What befalls a place in the middle of a run, on images that are made for it: each is
//! told, the other arms are measured and saved, and nothing is left.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::faults::{Ended, Going, SOME_ROUNDS};
use common::{entries, iotoll, is_root, skip};
use serde_json::Value;
use tempfile::TempDir;

/// A run that ends as soon as its image is full, which takes some seconds on a busy machine.
const FILLED: &[&str] = &["--budget", "20s"];

/// A run of several studies with an image and a directory.
struct Run {
    going: Going,
    disk: TempDir,
    /// Only one at a time makes places, also in other processes that look at what is left.
    _turn: File,
}

impl Run {
    fn start(test: &str, limits: &[&str]) -> Option<Self> {
        let has_mkfs =
            ["/usr/sbin", "/sbin"].iter().any(|d| Path::new(d).join("mkfs.ext4").exists());
        if !is_root() || !has_mkfs {
            skip(test, "an image needs root and mkfs.ext4");
            return None;
        }
        let turn = File::create(std::env::temp_dir().join("iotoll-tests-made.lock")).unwrap();
        turn.lock().unwrap();
        let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut command = iotoll();
        command.arg("compare").arg(format!("disk={}", disk.path().display()));
        command.args(["image=image:ext4:128M", "--study", "log,files", "--strategy"]);
        command.args(["held,rename", "--threshold", "0.0001%"]).args(limits);
        Some(Self { going: Going::start(command), disk, _turn: turn })
    }

    /// The image as the run sees it, through its own root, in the midst of its blocks.
    fn image(&mut self) -> PathBuf {
        self.going.await_blocks(2);
        let run = PathBuf::from(format!("/proc/{}/root/run", self.going.id()));
        let folders = fs::read_dir(run).unwrap().flatten();
        let mut images = folders.map(|folder| folder.path().join("place-image"));
        let is_worked_in = |image: &PathBuf| {
            let inside = fs::read_dir(image).into_iter().flatten().flatten();
            let mut names = inside.map(|entry| entry.file_name());
            names.any(|name| name.to_string_lossy().starts_with(".iotoll-"))
        };
        images.find(is_worked_in).expect("a run works in its image")
    }

    fn end(self) -> Ended {
        let ended = self.going.end();
        assert_eq!(entries(self.disk.path()), Vec::<PathBuf>::new());
        ended
    }
}

/// Slices that count, of arms whose id ends so.
fn slices(result: &Value, end: &str) -> u64 {
    let arms = result["arms"].as_array().unwrap().iter();
    let own = arms.filter(|arm| arm["id"].as_str().unwrap().ends_with(end));
    own.map(|arm| arm["slices"].as_u64().unwrap()).sum()
}

#[test]
fn an_image_that_somebody_fills_ends_the_run_with_what_it_has() {
    let Some(mut run) = Run::start("an_image_that_somebody_fills", FILLED) else { return };
    let image = run.image();
    // To the last block, and so beyond the margin.
    let _ = fs::write(image.join("other"), vec![7; 150 << 20]);
    let Ended { code, said, result, .. } = run.end();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("ended early: image=image:ext4:128MiB@"), "{said}");
    assert!(said.contains("must stay free"), "{said}");
    assert!(slices(&result, "@disk") > 0 && slices(&result, "@image") > 0);
}

#[test]
fn an_image_that_runs_out_of_inodes_ends_the_run_with_what_it_has() {
    let Some(mut run) = Run::start("an_image_that_runs_out_of_inodes", FILLED) else { return };
    let image = run.image();
    fs::create_dir(image.join("other")).unwrap();
    let made = (0..1_000_000).map(|n| fs::File::create(image.join(format!("other/{n}"))));
    assert!(made.into_iter().any(|made| made.is_err()));
    let Ended { code, said, result, .. } = run.end();
    // Whoever looks at the margins notices it, or the arms there end one by one, before that.
    let told = match code {
        Some(1) => "inodes are free there now",
        _ => "no inodes left",
    };
    assert!(said.contains(told) && matches!(code, Some(0 | 1)), "{code:?} {said}");
    assert!(slices(&result, "@disk") > 0);
}

#[test]
fn an_image_that_becomes_read_only_is_told_of_and_the_other_place_is_measured() {
    let Some(mut run) = Run::start("an_image_that_becomes_read_only", &SOME_ROUNDS) else { return };
    let image = run.image();
    let run_root = format!("/proc/{}/root", run.going.id());
    let inside = Path::new("/").join(image.strip_prefix(run_root).unwrap());
    let mut mount = Command::new("nsenter");
    mount.args(["-m", "-t", &run.going.id().to_string(), "mount", "-o", "remount,abort"]);
    // As the kernel does it itself after an error of the device.
    assert!(mount.arg(&inside).status().unwrap().success());
    let Ended { code, said, result, .. } = run.end();
    assert_eq!(code, Some(0), "{said}");
    let failures = result["failures"].as_array().unwrap();
    assert!(!failures.is_empty(), "{said}");
    let why = failures[0]["why"].as_str().unwrap();
    // Which call meets it first is chance: one that waits for the journal is told of an error.
    let told = ["ead-only", "not write", "see the kernel log"];
    assert!(told.iter().any(|told| why.contains(told)), "{why}");
    assert!(slices(&result, "@disk") > slices(&result, "@image"));
    let after = &result["places_after"][1]["facts"];
    assert_eq!(after["read_only"], true, "{after}");
    let compared = result["comparisons"].as_array().unwrap().iter();
    let mut of_image = compared.filter(|c| c["other"].as_str().unwrap().ends_with("@image"));
    assert!(of_image.all(|comparison| comparison["verdict"] == "invalid"));
}

#[test]
fn a_working_folder_that_somebody_removes_is_told_of_and_the_other_place_is_measured() {
    let Some(mut run) = Run::start("a_working_folder_that_somebody_removes", &SOME_ROUNDS) else {
        return;
    };
    let image = run.image();
    for entry in entries(&image) {
        if entry.file_name().unwrap().to_string_lossy().starts_with(".iotoll-") {
            while fs::remove_dir_all(&entry).is_err() && entry.exists() {}
        }
    }
    let Ended { said, result, .. } = run.end();
    assert!(!result["failures"].as_array().unwrap().is_empty(), "{said}");
    assert!(slices(&result, "@disk") > 0);
}
