//! Packages for Debian and for Fedora and its kin, of the tree that is staged. What goes where is in
//! `crates/iotoll/Cargo.toml`.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use xtask::process::{self, cargo};

use crate::release::{Release, Target};
use crate::steps::Outcome;
use crate::{binary, install_tools, stage};

pub(crate) fn deb(release: &Release, target: &Target) -> Result<Outcome> {
    let package = release.deb(target);
    deb_of(release, target, &[], &package)?;
    Ok(Outcome::Made(package))
}

fn deb_of(release: &Release, target: &Target, variant: &[&str], package: &Path) -> Result<()> {
    install_tools::cargo_tool("cargo-deb")?;
    let mut command =
        cargo(&["deb", "--package", "iotoll", "--no-build", "--no-strip", "--locked"]);
    command.args(["--target", target.triple, "--output"]).arg(package).args(variant);
    command.env("SOURCE_DATE_EPOCH", &release.epoch);
    install_tools::add_to_path(&mut command);
    process::output(&mut command)?;
    Ok(())
}

/// Debian's package of the program with Debian's MPI.
pub(crate) fn deb_with_mpi(release: &Release, target: &Target) -> Result<Outcome> {
    let program = binary::build_with_mpi(release, target)?;
    stage::fill(release, target, &program)?;
    let package = release.deb_with_mpi(target);
    deb_of(release, target, &["--variant", "mpi"], &package)?;
    Ok(Outcome::Made(package))
}

pub(crate) fn rpm(release: &Release, target: &Target) -> Result<Outcome> {
    install_tools::cargo_tool("cargo-generate-rpm")?;
    // cargo-deb compresses manual pages itself, and the tarball has them as they are.
    let mut compress = Command::new("gzip");
    compress.args(["--recursive", "--best", "--no-name"]);
    process::succeed(compress.arg(release.out.join("stage/usr/share/man")))?;
    let mut command = cargo(&["generate-rpm", "--package", "crates/iotoll"]);
    command.args(["--arch", target.machine, "--auto-req", "disabled"]);
    command.args(["--payload-compress", "xz", "--source-date", &release.epoch, "--output"]);
    command.arg(release.rpm(target));
    install_tools::add_to_path(&mut command);
    process::output(&mut command)?;
    Ok(Outcome::Made(release.rpm(target)))
}
