//! `cargo xtask fuzz`: builds `tools/fuzz` and runs it.
//!
//! Our crates are built by `tools/fuzz/instrument`, with what libFuzzer needs to see where an input
//! went. The machine is named, so that build scripts are told apart from what runs there.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result};

use xtask::process;

#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Targets and options, of which --help tells
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Replaces this process.
pub(crate) fn run(args: &Args) -> Result<()> {
    let machine = machine()?;
    let mut build = process::cargo(&["build", "--message-format=json", "--profile", "fuzz"]);
    build.args(["--package", "iotoll-fuzz", "--features", "engine", "--target", &machine]);
    build.env("RUSTC_WORKSPACE_WRAPPER", process::root().join("tools/fuzz/instrument"));
    eprintln!("xtask: building with all checks, and with what libFuzzer needs");
    let program = process::executable(&process::output_alone(&mut build)?)?;
    let error = Command::new(&program).args(&args.arguments).exec();
    Err(error).with_context(|| format!("running {}", program.display()))
}

/// What the compiler calls the machine that it runs on.
fn machine() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let about = process::output(Command::new(rustc).arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say which machine it is for")
}
