//! The package in a fresh root tree of Debian: installed, used and removed.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::native;
use super::root::Root;
use super::starts::{COMPARE, verdict};
use crate::release::Release;
use crate::steps::{Outcome, skip};

/// From the package to the first verdict.
const FIRST_VERDICT_MAX: Duration = Duration::from_secs(15);

/// All that a package may put somewhere, but for what apt and dpkg keep for themselves.
const LIST: &str = "find / -xdev \\( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /root \
     -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache -o -path /var/log \\) -prune -o -print \
     | sort";

pub(super) fn on_debian(release: &Release, suite: &str) -> Result<Outcome> {
    let package = release.deb(native());
    ensure!(package.exists(), skip("there is no package"));
    let root = Root::debian(release, suite)?;
    fs::create_dir_all(root.folder().join("tmp"))?;
    fs::copy(&package, root.folder().join("tmp/iotoll.deb")).context("copying the package")?;
    let before = root.script(LIST)?;
    let began = Instant::now();
    root.script("apt-get install --yes /tmp/iotoll.deb")?;
    let said = root.script(COMPARE)?;
    let took = began.elapsed();
    let seen = verdict(&said)?;
    ensure!(
        took < FIRST_VERDICT_MAX,
        "the first verdict took {took:?}, more than {FIRST_VERDICT_MAX:?}"
    );
    recorded(&root)?;
    pages(&root)?;
    root.script("apt-get purge --yes iotoll")?;
    let after = root.script(LIST)?;
    let left: Vec<_> =
        after.lines().filter(|line| !before.lines().any(|old| old == *line)).collect();
    ensure!(left.is_empty(), "its removal leaves {}", left.join(", "));
    Ok(Outcome::Passed(format!("{seen}, {:.1} s after apt-get began", took.as_secs_f64())))
}

/// Two ranks of the program with MPI, in the MPI that its package asks for.
pub(super) fn with_mpi(release: &Release) -> Result<Outcome> {
    let package = release.deb_with_mpi(native());
    ensure!(package.exists(), skip("there is no package"));
    let root = Root::debian(release, "bookworm")?;
    fs::create_dir_all(root.folder().join("tmp"))?;
    fs::copy(&package, root.folder().join("tmp/iotoll-mpi.deb")).context("copying the package")?;
    root.script("apt-get update && apt-get install --yes /tmp/iotoll-mpi.deb openmpi-bin")?;
    let said = root.script(&format!(
        "mpirun --allow-run-as-root --oversubscribe -n 2 {COMPARE} --study log"
    ))?;
    Ok(Outcome::Passed(verdict(&said)?))
}

/// A static program records by a library all the same.
fn recorded(root: &Root) -> Result<()> {
    let said = root.script("cd /tmp; iotoll record --mechanism preload -- ls /")?;
    let by_library =
        said.contains("Recorded by a preloaded library") && said.contains("a small program");
    ensure!(by_library, "the library recorded nothing:\n{said}");
    Ok(())
}

/// Each command has its page.
fn pages(root: &Root) -> Result<()> {
    // Fresh trees of Debian may be set up to leave out manual pages; the package lists them.
    let listed = root.script("dpkg --listfiles iotoll")?;
    for file in [
        "/usr/share/man/man1/iotoll.1.gz",
        "/usr/share/man/man1/iotoll-compare.1.gz",
        "/usr/share/man/man1/iotoll-record.1.gz",
        "/usr/share/bash-completion/completions/iotoll",
        "/usr/share/zsh/vendor-completions/_iotoll",
        "/usr/share/doc/iotoll/copyright",
        "/usr/share/doc/iotoll/third-party-licences.txt",
    ] {
        let is_listed = listed.lines().any(|line| line == file || line == format!("{file}.gz"));
        ensure!(is_listed, "the package lacks {file}:\n{listed}");
    }
    Ok(())
}
