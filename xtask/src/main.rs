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
mod prose;
mod purity;
mod rust_files;
mod test;
mod tidy;

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};
use xtask::{libtest_output, process, site};

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
    /// Check lengths of files and functions, the picture of the crates, and the documentation with its links
    Tidy {
        /// Pages of the documentation to check alone
        pages: Vec<String>,
    },
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
    /// Make the files of a release, in target/dist; --check checks them
    #[command(disable_help_flag = true)]
    Dist(Tool),
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
        Chore::Tidy { pages } if pages.is_empty() => {
            tidy::check()?;
            site::check()?;
            let skipped = prose::spelling::check()?;
            for line in skipped {
                println!("{}{line}", libtest_output::MARK);
            }
            Ok(())
        }
        Chore::Tidy { pages } => prose::check_pages(&pages),
        Chore::Site => site::run(),
        Chore::Browser(tool) => start_built("iotoll-docs", Some("browser"), tool),
        Chore::Generate(tool) => start_built("iotoll-docs", Some("generate"), tool),
        Chore::Screens(tool) => start_built("iotoll-docs", Some("screens"), tool),
        Chore::Bench(tool) => bench(tool),
        Chore::Dist(tool) => dist(tool),
        Chore::Fuzz(args) => fuzz::run(&args),
        Chore::Faults(tool) => start_built("iotoll-faults", None, tool),
    }
}

/// Builds the benches with optimisation and becomes them.
fn bench(tool: Tool) -> Result<()> {
    let mut cargo = process::cargo(&["run", "--quiet", "--release", "--package", "iotoll-bench"]);
    become_it(cargo.arg("--"), None, tool)
}

/// Becomes a tool of the build that the tests have, which is brought up to date.
fn start_built(name: &str, command: Option<&str>, tool: Tool) -> Result<()> {
    // Whatever is asked for with tests has the features that the tests have.
    let wanted = ["--bin", name, "--bin", "iotoll", "--test", "short"];
    process::succeed(cargo_build::command("build").args(wanted))?;
    become_it(&mut Command::new(process::built_iotoll().with_file_name(name)), command, tool)
}

/// Builds what makes releases, and becomes it. It needs no crate of ours, and does without a build of
/// all of them.
fn dist(tool: Tool) -> Result<()> {
    let mut cargo = process::cargo(&["run", "--quiet", "--package", "iotoll-dist"]);
    become_it(cargo.arg("--"), None, tool)
}

fn become_it(program: &mut Command, command: Option<&str>, tool: Tool) -> Result<()> {
    let here = std::env::current_dir().context("finding the current directory")?;
    let error = program.args(command).args(tool.arguments).current_dir(here).exec();
    Err(error).with_context(|| format!("running {}", program.get_program().display()))
}
