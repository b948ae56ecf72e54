//! `iotoll` measures what file I/O costs an application, and whether it would pay
//! to move it to other storage or to do it another way.
//!
//! `commands` has one file per command; the other modules are what commands share. This crate
//! alone prints, reads the command line and decides exit codes.

mod articles;
mod cli;
mod commands;
mod exit;
mod measuring;
mod recording;
mod results;
mod signals;
mod terminal;
mod trying;

use std::process::ExitCode;

use crate::measuring::launched;
use crate::terminal::{output, usage};

fn main() -> ExitCode {
    let cli = match commands::parse() {
        Ok(cli) => cli,
        Err(told) if launched::is_rank_zero() => {
            return usage::explained(told, &commands::command_line());
        }
        Err(_) => return launched::UNSPOKEN.into(),
    };
    cli.color.apply();
    let exit = exit::guarded(|| {
        signals::ignore_file_size_signal()?;
        cli.command.run()
    });
    for process in process::take_left_behind() {
        output::note(&process);
    }
    exit
}
