//! The hidden command whose calls are timed to calibrate a recorder.

use anyhow::Context as _;
use clap::Args;

use crate::exit::Exit;
use crate::terminal::output;

/// Make calls for a recorder to be calibrated by
#[derive(Args)]
#[command(hide = true)]
pub(crate) struct TimeCallsArgs {
    /// How many in each round
    calls: u32,
}

pub(crate) fn run(args: &TimeCallsArgs) -> anyhow::Result<Exit> {
    output::result(&record::time_calls(args.calls).context("timing calls")?)?;
    Ok(Exit::Done)
}
