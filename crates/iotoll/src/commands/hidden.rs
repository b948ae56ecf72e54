//! The hidden commands: what iotoll starts of itself.

use anyhow::{Context as _, bail};
use clap::Subcommand;

use crate::exit::{Exit, UsageError};
use crate::recording::TIME_CALLS;
use crate::terminal::output;

/// Which of them.
#[derive(Subcommand)]
pub(crate) enum Hidden {
    /// Run as a worker of a run, on standard input and output
    #[command(name = "__worker", hide = true)]
    Worker,
    /// Run the slices of the run that started this process
    #[command(name = "__slices", hide = true)]
    Slices,
    /// Hold a private view of the files for the process that started this one
    #[command(name = "__view", hide = true)]
    View,
    /// Make calls for a recorder to be calibrated by
    #[command(name = TIME_CALLS, hide = true)]
    TimeCalls {
        /// How many in each round
        calls: u32,
    },
    /// Run as the server that the study `serve` loads, as standard input describes it
    #[command(name = ::studies::SERVE_COMMAND, hide = true)]
    Serve,
}

pub(crate) fn run(command: &Hidden) -> anyhow::Result<Exit> {
    let by_itself = |text: &str| UsageError(text.to_owned());
    match command {
        Hidden::Worker => studies::serve_as_worker()?,
        Hidden::Slices => match studies::run_slices() {
            Ok(served) => served.context("running the slices of a run")?,
            Err(_) => bail!(by_itself(
                "`iotoll __slices` runs the slices of `iotoll compare`, which starts it; run `iotoll \
                 compare` instead"
            )),
        },
        Hidden::View => match trial::serve() {
            Ok(served) => served.context("holding a private view of the files")?,
            Err(_) => bail!(by_itself(
                "`iotoll __view` arranges files for `iotoll try`, which starts it; run `iotoll try` \
                 instead"
            )),
        },
        Hidden::TimeCalls { calls } => {
            output::result(&record::time_calls(*calls).context("timing calls")?)?;
        }
        Hidden::Serve => studies::serve_requests()?,
    }
    Ok(Exit::Done)
}
