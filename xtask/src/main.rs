//! The project's own chores, for those who work on it.
//!
//! `cargo xtask test` passes all the tests, `cargo xtask generate` writes the
//! reference files, `cargo xtask bench` measures what is too heavy or too noisy
//! for a test. They are written in Rust, so that a compiler is all they need.

// Chores speak to whoever runs them.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod bench_clients;
mod bench_fio;
mod bench_harness;
mod bench_journal;
mod bench_journal_crashes;
mod bench_kill;
mod bench_load;
mod bench_neighbour;
mod bench_promises;
mod bench_ranks;
mod bench_record;
mod bench_repeat;
mod bench_replay;
mod bench_store;
mod bench_verdicts;
mod bench_verify;
mod bounded;
mod browser;
mod built;
mod example;
mod examples;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod fuzz;
mod generate;
mod house;
mod packages;
mod pool;
mod process;
mod said;
mod screens;
mod sentences;
mod site;
mod spread;
mod supply;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

fn main() -> ExitCode {
    let done = match Xtask::parse().chore {
        Chore::Test => test::run(),
        Chore::Browser => browser::run(),
        Chore::Bench { what } => bench::run(&what),
        Chore::Fuzz(args) => fuzz::run(&args),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Chore::Faults(args) => faults::run(&args),
        Chore::Generate(args) => generate::run(&args),
        Chore::Screens => screens::run(),
        Chore::Site => site::run(),
    };
    match done {
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
    /// Look at reports in a browser, as `test` does too
    Browser,
    /// Measure what is too heavy or too noisy for a test
    Bench {
        #[command(subcommand)]
        what: bench::Bench,
    },
    /// Give everything that reads what others wrote inputs that nobody would write
    Fuzz(fuzz::Args),
    /// Fail every system call that a run makes, in turn
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Faults(faults::Args),
    /// Write the files that are made from the program: the reference, the schemas, the
    /// README's example
    Generate(generate::Args),
    /// Measure the screens in the documentation again, on a machine that does nothing else
    Screens,
    /// Write the documentation as a site, in target/site
    Site,
}
