//! The hidden command that is a server under load.

use clap::Args;

use crate::exit::Exit;

/// Run as the server that the study `serve` loads, as standard input describes it
#[derive(Args)]
#[command(hide = true)]
pub(crate) struct ServeArgs {}

pub(crate) fn run(_: &ServeArgs) -> anyhow::Result<Exit> {
    studies::serve_requests()?;
    Ok(Exit::Done)
}
