//! The hidden command that takes part in a run as its worker.

use clap::Args;

use crate::exit::Exit;

/// Run as a worker of a run, on standard input and output
#[derive(Args)]
#[command(hide = true)]
pub(crate) struct WorkerArgs {}

pub(crate) fn run(_: &WorkerArgs) -> anyhow::Result<Exit> {
    studies::serve_as_worker()?;
    Ok(Exit::Done)
}
