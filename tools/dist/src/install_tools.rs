//! Programs that make or check a release: used where they are installed, installed where that is
//! allowed, and otherwise a reason to skip a step.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};
use xtask::packages::{self, is_installed};
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

/// Has a program of a Debian package, a part of one or a file by its path, or says how to get it.
pub(crate) fn need(name: &str, package: &str) -> Result<(), Skip> {
    if !is_installed(name) {
        // Whether it worked, the program itself says.
        let _ = packages::install(&[package]);
    }
    let how = || skip(format!("no {name}; to have it: apt-get install {package}"));
    is_installed(name).then_some(()).ok_or_else(how)
}
