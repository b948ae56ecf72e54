//! Checks what was made, in clean root trees, as those who install it would.

mod crates_io;
mod devices;
mod emulated;
mod files;
mod installed;
mod kernels;
mod linters;
mod musl;
mod reproducible;
mod root;
mod starts;

use anyhow::{Result, bail, ensure};

use crate::release::{Release, TARGETS, Target};
use crate::steps::{Outcome, Steps};

type Check = fn(&Release) -> Result<Outcome>;

/// The checks by their names on the command line.
const CHECKS: &[(&str, Check)] = &[
    ("sums", files::sums),
    ("size", files::size),
    ("starts", starts::starts),
    ("linters", linters::check),
    ("debian-12", |release| installed::on_debian(release, "bookworm")),
    ("debian-11", |release| installed::on_debian(release, "bullseye")),
    ("mpi", installed::with_mpi),
    ("busybox", starts::on_busybox),
    ("musl", musl::check),
    ("hidden", starts::without_pressure_and_types),
    ("image", files::image),
    ("aarch64", emulated::starts),
    ("aarch64-tests", emulated::tests),
    ("kernel", |release| kernels::boots(release, &TARGETS[0])),
    ("aarch64-kernel", |release| kernels::boots(release, &TARGETS[1])),
    ("reproducible", reproducible::check),
    ("crates.io", crates_io::check),
];

/// Runs the checks of these names, or all.
pub(crate) fn run(names: &[String]) -> Result<()> {
    let known = |name: &&String| CHECKS.iter().any(|(known, _)| known == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let all: Vec<_> = CHECKS.iter().map(|(name, _)| *name).collect();
        bail!("there is no check `{unknown}`; there are {}", all.join(", "));
    }
    let release = Release::of_checkout()?;
    let native = native();
    let is_made = release.tarball(native).is_file();
    ensure!(is_made, "there is nothing to check yet; make it first: cargo xtask dist");
    let mut steps = Steps::default();
    for (name, check) in CHECKS {
        if names.is_empty() || names.iter().any(|asked| asked == name) {
            steps.check(name, || check(&release));
        }
    }
    steps.summary();
    let failed = steps.failed();
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

/// This machine's target.
fn native() -> &'static Target {
    TARGETS.iter().find(|target| target.is_native()).unwrap_or(&TARGETS[0])
}
