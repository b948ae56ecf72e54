//! The binary.

mod load;

use clap::Parser;
use std::process::ExitCode;

/// What file I/O costs your application, and whether moving it would pay
#[derive(Debug, Parser)]
#[command(name = "iotoll", version)]
enum Command {
    /// Load an HTTP server and say what its users would see
    Load(Box<load::LoadArgs>),
}

fn main() -> ExitCode {
    let Command::Load(args) = Command::parse();
    load::run(&args).unwrap_or_else(|error| {
        anstream::eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
