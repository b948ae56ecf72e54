//! Ctrl-C and its like end a run in order; a second one ends it at once.

use std::time::Duration;

use anyhow::Context as _;
use process::StopFlag;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use sys::signals::{is_ignored, raise_then_exit};

use crate::exit::Exit;

/// Signals that come so soon after the first are the same one: `timeout` sends its signal
/// to the process and then to the process's group, and a terminal that is closed makes
/// both the kernel and the shell send one.
const ALIKE: Duration = Duration::from_millis(500);

/// A flag that the signals raise. Another one later ends the process at once; what that
/// leaves behind, the next run or `iotoll clean` removes.
///
/// A signal that is ignored already stays so: whoever started us wants that, as `nohup`
/// does of SIGHUP, and a shell without job control of a background command's SIGINT.
pub(crate) fn stop_flag() -> anyhow::Result<StopFlag> {
    let stop = StopFlag::default();
    let ends_us = |signal: &i32| !is_ignored(*signal);
    let ours = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(ends_us);
    raise_then_exit(ours, &stop, ALIKE, Exit::Interrupted.code().into())
        .context("preparing for signals")?;
    Ok(stop)
}

/// A write beyond `ulimit -f` should be an error to report, not the end of the process.
pub(crate) fn ignore_file_size_signal() -> anyhow::Result<()> {
    flag::register(SIGXFSZ, StopFlag::default()).context("preparing for signals")?;
    Ok(())
}
