//! Programs that make or check a release: used where they are installed, installed where that is
//! allowed, and otherwise a reason to skip a step.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use xtask::packages::is_installed;
use xtask::process;

use crate::steps::{Skip, skip};

/// Where cargo's tools are installed, for this checkout alone.
fn folder() -> PathBuf {
    process::root().join("target/tools")
}

/// Has one of cargo's tools, from crates.io.
pub(crate) fn cargo_tool(name: &str) -> Result<()> {
    if folder().join("bin").join(name).is_file() || process::find_program(name).is_some() {
        return Ok(());
    }
    eprintln!("dist: installing {name} into target/tools");
    let mut cargo = process::cargo(&["install", "--locked", name, "--root"]);
    cargo.arg(folder()).arg("--target-dir").arg(folder().join("build"));
    process::succeed(&mut cargo).with_context(|| format!("installing {name}"))
}

/// Has cargo find its tools.
pub(crate) fn add_to_path(command: &mut Command) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder().join("bin")).chain(std::env::split_paths(&path));
    if let Ok(path) = std::env::join_paths(folders) {
        command.env("PATH", path);
    }
}

/// Has a program of a Debian package, or says how to get it.
pub(crate) fn program(name: &str, package: &str) -> Result<PathBuf, Skip> {
    if let Some(found) = process::find_program(name) {
        return Ok(found);
    }
    apt_get(package);
    process::find_program(name)
        .ok_or_else(|| skip(format!("no {name}; to have it: apt-get install {package}")))
}

/// The same for what the tests need as well, which may be a part of a program.
pub(crate) fn part(name: &str, package: &str) -> Result<(), Skip> {
    if !is_installed(name) {
        apt_get(package);
    }
    is_installed(name)
        .then_some(())
        .ok_or_else(|| skip(format!("no {name}; to have it: apt-get install {package}")))
}

/// The same for a file.
pub(crate) fn file(path: &str, package: &str) -> Result<(), Skip> {
    if !Path::new(path).exists() {
        apt_get(package);
    }
    let exists = Path::new(path).exists();
    exists
        .then_some(())
        .ok_or_else(|| skip(format!("no {path}; to have it: apt-get install {package}")))
}

/// Whether it worked, the file itself says.
fn apt_get(package: &str) {
    if !is_root() || process::find_program("apt-get").is_none() {
        return;
    }
    eprintln!("dist: installing {package}");
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--no-install-recommends", package]);
    let _ = process::output(command.env("DEBIAN_FRONTEND", "noninteractive"));
}

pub(crate) fn is_root() -> bool {
    let user = process::output(Command::new("id").arg("-u"));
    user.is_ok_and(|user| user.trim() == "0")
}
