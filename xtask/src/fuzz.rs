//! `cargo xtask fuzz`: builds `tools/fuzz` and runs it.
//!
//! `tools/fuzz/instrument` compiles our crates so that libFuzzer can see which code an input reaches.
//! Cargo is given a target, so that build scripts are compiled separately.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result};

use xtask::process;

#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Targets and options; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Replaces this process.
pub(crate) fn run(args: &Args) -> Result<()> {
    let host = host()?;
    let mut build = process::cargo(&["build", "--message-format=json", "--profile", "fuzz"]);
    build.args(["--package", "iotoll-fuzz", "--features", "linked", "--target", &host]);
    build.env("RUSTC_WORKSPACE_WRAPPER", process::root().join("tools/fuzz/instrument"));
    eprintln!("xtask: building the targets with all checks, and libFuzzer");
    let program = process::executable(&process::output_alone(&mut build)?)?;
    let error = Command::new(&program).args(&args.arguments).exec();
    Err(error).with_context(|| format!("running {}", program.display()))
}

/// This machine, as the compiler names it.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let about = process::output(Command::new(rustc).arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}
