//! Makes what users install, in `target/dist`, and checks it in clean root trees.
//!
//! Each step that lacks a program on this machine is skipped, and the summary says so: a file that
//! was not made is not released.

// It speaks to the developer who runs it.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod binary;
mod check;
mod image;
mod install_tools;
mod licences;
mod packages;
mod release;
mod sbom;
mod stage;
mod steps;
mod sums;
mod tarball;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use self::release::{Release, TARGETS, Target};
use self::steps::{Outcome, Steps};

/// Make the files of a release, or check them
#[derive(Parser)]
#[command(name = "cargo xtask dist", disable_help_subcommand = true)]
struct Args {
    /// Check what was made: all of it, or these steps
    #[arg(long, num_args = 0.., value_name = "STEP")]
    check: Option<Vec<String>>,
    /// Make the files of this architecture alone: `x86_64` or aarch64
    #[arg(long, value_name = "ARCH", conflicts_with = "check")]
    only: Option<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match &args.check {
        Some(names) => check::run(names),
        None => make(args.only.as_deref()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dist: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn make(only: Option<&str>) -> Result<()> {
    let release = Release::of_checkout()?;
    println!(
        "iotoll {} of commit {}, in {}",
        release.version,
        release.commit,
        release.out.display()
    );
    let mut steps = Steps::default();
    for target in TARGETS.iter().filter(|target| only.is_none_or(|only| only == target.machine)) {
        make_for(&release, target, &mut steps)?;
    }
    steps.run("software bill of materials", || sbom::make(&release))?;
    steps.run("sums and signature", || sums::make(&release))?;
    steps.summary();
    Ok(())
}

/// Makes a program, and everything that it is packed into.
fn make_for(release: &Release, target: &Target, steps: &mut Steps) -> Result<()> {
    let named = |what: &str| format!("{} {what}", target.machine);
    let mut program = None;
    steps.run(&named("program"), || {
        let made = binary::build(release, target)?;
        program = Some(made.clone());
        Ok(Outcome::Made(made))
    })?;
    let Some(program) = program else { return Ok(()) };
    let stage = stage::fill(release, target, &program)?;
    steps.run(&named("tarball"), || tarball::make(release, target, &stage))?;
    steps.run(&named("deb"), || packages::deb(release, target))?;
    steps.run(&named("rpm"), || packages::rpm(release, target))?;
    steps.run(&named("image"), || image::make(release, target, &stage))?;
    if target.is_native() {
        steps.run(&named("deb with MPI"), || packages::deb_with_mpi(release, target))?;
    }
    Ok(())
}
