//! What the documentation is made of: reference files, schemas, the README's example run,
//! screens, and a look at reports in a browser. The tests check that all of it is current.

// It speaks to the developer who runs it.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod browser;
mod cast;
mod example;
#[cfg(test)]
mod examples;
mod generate;
mod generated;
mod reference;
mod screens;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let done = match Chore::parse() {
        Chore::Browser => browser::run(),
        Chore::Generate => generate::run(),
        Chore::Screens => screens::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("docs: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Make what is shown in the documentation
#[derive(Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
enum Chore {
    /// Look at reports in a browser, as the tests do
    Browser,
    /// Write the files that are made from the program
    Generate,
    /// Measure the screens in the documentation again, on a quiet machine
    Screens,
}
