//! `cargo xtask`: passes the tests, and starts the tools in `tools/`, each built when it is
//! asked for. All are written in Rust, so that a compiler is all they need.

// Chores speak to the developer who runs them.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod cargo_build;
mod cargo_deny;
mod crate_graph;
mod fuzz;
mod limits;
mod module_graph;
mod rust_files;
mod test;
mod tidy;

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};
use xtask::{process, site};

fn main() -> ExitCode {
    match run(Xtask::parse().chore) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The project's own chores
#[derive(Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
struct Xtask {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Pass the tests: packages, formatting, lints, tests, generated files, examples
    Test,
    /// Check lengths of files and functions, and the picture of the crates
    Tidy,
    /// Write the documentation as a site, in target/site
    Site,
    /// Look at every report in a browser
    #[command(disable_help_flag = true)]
    Browser(Tool),
    /// Write the files that are made from the program: reference, schemas, README's example
    #[command(disable_help_flag = true)]
    Generate(Tool),
    /// Measure the screens in the documentation again, on a quiet machine
    #[command(disable_help_flag = true)]
    Screens(Tool),
    /// Measure what is too heavy or too noisy for a test
    #[command(disable_help_flag = true)]
    Bench(Tool),
    /// Give everything that reads what others wrote inputs that nobody would write
    Fuzz(fuzz::Args),
    /// Fail every system call that a run makes, in turn
    #[command(disable_help_flag = true)]
    Faults(Tool),
}

/// What is passed on to a tool.
#[derive(clap::Args)]
struct Tool {
    /// Its own arguments; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn run(chore: Chore) -> Result<()> {
    match chore {
        Chore::Test => test::run(),
        Chore::Tidy => tidy::check(),
        Chore::Site => site::run(),
        Chore::Browser(tool) => start("iotoll-docs", Some("browser"), &[], tool),
        Chore::Generate(tool) => start("iotoll-docs", Some("generate"), &[], tool),
        Chore::Screens(tool) => start("iotoll-docs", Some("screens"), &[], tool),
        Chore::Bench(tool) => start("iotoll-bench", None, &["--release"], tool),
        Chore::Fuzz(args) => fuzz::run(&args),
        Chore::Faults(tool) => start("iotoll-faults", None, &[], tool),
    }
}

/// Builds a tool and becomes it.
fn start(package: &str, command: Option<&str>, build: &[&str], tool: Tool) -> Result<()> {
    let mut cargo = process::cargo(&["run", "--quiet", "--package", package]);
    let here = std::env::current_dir().context("finding the current directory")?;
    cargo.args(build).arg("--").args(command).args(tool.arguments).current_dir(here);
    Err(cargo.exec()).context("running cargo")
}
