//! `iotoll` measures what file I/O costs an application, and whether it would pay
//! to move it to other storage or to do it another way.
//!
//! `commands` has one file per command; the other modules are what commands share. This crate
//! alone prints, reads the command line and decides exit codes.
//!
//! - `measuring` is what happens before a run and around it: consent to what a foreign plan does
//!   (`consent.rs`), places that are created, and the whole way from a plan to a report
//!   (`comparison.rs`).
//! - `results` is where results come from and go. A foreign file is opened by this process, and read,
//!   analysed and rendered by a confined child, which has no paths (`confined.rs`). Where a command
//!   goes on with what was read, a confined thread reads it. What a diff needs of the store is read
//!   before the fork, because SQLite must not be used across one.
//! - `recording`, `articles` and `terminal` serve the commands of those subjects, and `cli` has the flags
//!   that several commands share. Commands import nothing from each other.

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

use crate::exit::Exit;
use crate::measuring::launched;
use crate::terminal::{output, usage};

/// No command has enough with less than half of it.
const STACK_MIN_BYTES: u64 = 256 << 10;

fn main() -> ExitCode {
    let stack = sys::limits::stack().map(|[bytes, _]| bytes);
    match stack.filter(|bytes| *bytes < STACK_MIN_BYTES) {
        None => run(),
        Some(bytes) => {
            output::note(&format!(
                "the stack may have {} KiB, and iotoll needs {} KiB: allow more with `ulimit -s 8192`, which \
                 root may do where others may not",
                bytes >> 10,
                STACK_MIN_BYTES >> 10
            ));
            Exit::CouldNot.into()
        }
    }
}

/// Reading the command line takes more of the stack than a small one has.
#[inline(never)]
fn run() -> ExitCode {
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
