//! The hidden command that is the process which holds a private view of the files.

use anyhow::{Context as _, bail};
use clap::Args;

use crate::exit::{Exit, UsageError};

/// Hold a private view of the files for the process that started this one
#[derive(Args)]
#[command(hide = true)]
pub(crate) struct ViewArgs {}

pub(crate) fn run(_: &ViewArgs) -> anyhow::Result<Exit> {
    let Ok(served) = trial::serve() else {
        bail!(UsageError(
            "`iotoll __view` arranges files for `iotoll try`, which starts it; run `iotoll try` instead"
                .to_owned()
        ));
    };
    served.context("holding a private view of the files")?;
    Ok(Exit::Done)
}
