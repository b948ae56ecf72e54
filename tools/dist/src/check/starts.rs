//! The program starts at once, and does its main job where little else is.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use xtask::process;

use super::native;
use super::root::Root;
use crate::install_tools;
use crate::release::{Release, Target};
use crate::steps::{Outcome, skip};

/// How long it may take until it has told its version.
const START_MAX: Duration = Duration::from_millis(5);
/// Of so many starts the quickest counts: others share the processors.
const STARTS: usize = 20;

/// The main job, short.
pub(super) const COMPARE: &str = "iotoll compare --budget 5s disk=/srv shm=/dev/shm";

pub(super) fn starts(release: &Release) -> Result<Outcome> {
    let (_folder, program) = unpacked(release, native())?;
    let (version, took) = timed_version(&program)?;
    ensure!(took <= START_MAX, "--version took {took:?}, more than {START_MAX:?}");
    let names_build = version.contains(&release.commit) && version.contains("static");
    ensure!(names_build, "--version does not name commit and build: {version}");
    let headers = process::output(Command::new("readelf").arg("--program-headers").arg(&program));
    let is_static = headers.is_ok_and(|headers| !headers.contains("INTERP"));
    ensure!(is_static, "the program needs a dynamic linker");
    Ok(Outcome::Passed(format!("{} in {:.1} ms", version.trim(), took.as_secs_f64() * 1e3)))
}

fn timed_version(program: &PathBuf) -> Result<(String, Duration)> {
    let (mut version, mut quickest) = (String::new(), Duration::MAX);
    for _ in 0..STARTS {
        let began = Instant::now();
        version = process::output(Command::new(program).arg("--version"))?;
        quickest = quickest.min(began.elapsed());
    }
    Ok((version, quickest))
}

/// A root tree of busybox alone, which is static as well.
pub(super) fn on_busybox(release: &Release) -> Result<Outcome> {
    let root = busybox(release)?;
    let said = root.script(COMPARE)?;
    verdict(&said).map(Outcome::Passed)
}

/// Neither pressure stall information nor the kernel's description of its types.
pub(super) fn without_pressure_and_types(release: &Release) -> Result<Outcome> {
    let root = busybox(release)?;
    let hide = "\
if test -d \"$1/proc/pressure\"; then mount -t tmpfs tmpfs \"$1/proc/pressure\"; fi
if test -d \"$1/sys/kernel/btf\"; then mount -t tmpfs tmpfs \"$1/sys/kernel/btf\"; fi
";
    let said = root.script_after(hide, COMPARE)?;
    let seen = verdict(&said)?;
    let recorded = root.script_after(hide, "cd /tmp; iotoll record -- /bin/busybox ls /")?;
    let recorded = recorded.split_whitespace().collect::<Vec<_>>().join(" ");
    let names_it = recorded.contains("the kernel does not describe its types (BTF)");
    ensure!(names_it, "recording does not say why eBPF is not used: {recorded}");
    Ok(Outcome::Passed(format!("{seen}; record does without eBPF, and says why")))
}

/// A root tree of busybox and the released program, or why there is none.
pub(super) fn busybox(release: &Release) -> Result<Root> {
    ensure!(process::is_root(), skip("entering a root tree needs root"));
    install_tools::need("/bin/busybox", "busybox-static")?;
    let (_folder, program) = unpacked(release, native())?;
    let root = Root::empty(release)?;
    for folder in ["bin", "usr/bin", "srv", "root"] {
        fs::create_dir_all(root.folder().join(folder))?;
    }
    fs::copy("/bin/busybox", root.folder().join("bin/busybox"))?;
    std::os::unix::fs::symlink("busybox", root.folder().join("bin/sh"))?;
    fs::copy(program, root.folder().join("usr/bin/iotoll"))?;
    Ok(root)
}

/// The program of a tarball, as a user unpacks it.
pub(super) fn unpacked(release: &Release, target: &Target) -> Result<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir_in(&release.out)?;
    let mut tar = Command::new("tar");
    tar.arg("--extract").arg("--file").arg(release.tarball(target)).arg("-C").arg(folder.path());
    process::succeed(&mut tar)?;
    let program = folder.path().join(release.folder(target)).join("iotoll");
    ensure!(program.is_file(), "the tarball has no {}/iotoll", release.folder(target));
    Ok((folder, program))
}

/// The first line of the answer, which is there where comparisons were decided.
pub(super) fn verdict(said: &str) -> Result<String> {
    let headline = said.lines().find(|line| line.contains("iotoll  disk="));
    let headline = headline.with_context(|| format!("there is no answer:\n{said}"))?;
    let words: Vec<_> = headline.split_whitespace().collect();
    Ok(words.join(" "))
}
