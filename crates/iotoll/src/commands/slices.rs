//! The hidden command that is the process in which a run's slices run.

use anyhow::{Context as _, bail};
use clap::Args;

use crate::exit::{Exit, UsageError};

/// Run the slices of the run that started this process
#[derive(Args)]
#[command(hide = true)]
pub(crate) struct SlicesArgs {}

pub(crate) fn run(_: &SlicesArgs) -> anyhow::Result<Exit> {
    let Ok(served) = studies::run_slices() else {
        bail!(UsageError(
            "`iotoll __slices` runs the slices of `iotoll compare`, which starts it; run `iotoll \
             compare` instead"
                .to_owned()
        ));
    };
    served.context("running the slices of a run")?;
    Ok(Exit::Done)
}
