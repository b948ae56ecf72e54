//! Ctrl-C and its like end a run in order; a second one ends it at once.

use anyhow::Context as _;
use host::signals::is_ignored;
use process::StopFlag;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::exit::Exit;

/// A flag that the signals raise. Raised a second time, they end the process;
/// what that leaves behind, the next run or `iotoll clean` removes.
///
/// A signal that is ignored already stays so: whoever started us wants that, as `nohup`
/// does of SIGHUP, and a shell without job control of a background command's SIGINT.
pub(crate) fn stop_flag() -> anyhow::Result<StopFlag> {
    let stop = StopFlag::default();
    let ends_us = |signal: &i32| !is_ignored(*signal);
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(ends_us) {
        flag::register_conditional_shutdown(
            signal,
            Exit::Interrupted as i32,
            StopFlag::clone(&stop),
        )
        .and_then(|_| flag::register(signal, StopFlag::clone(&stop)))
        .context("preparing for signals")?;
    }
    Ok(stop)
}

/// A write beyond `ulimit -f` should be an error to report, not the end of the process.
pub(crate) fn ignore_file_size_signal() -> anyhow::Result<()> {
    flag::register(SIGXFSZ, StopFlag::default()).context("preparing for signals")?;
    Ok(())
}
