//! Ctrl-C and its like end a run in order; a second one ends it at once.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use host::signals::is_ignored;
use process::StopFlag;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level;

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
    let signals = Signals::new(ours).context("preparing for signals")?;
    let raised = StopFlag::clone(&stop);
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || watch(signals, &raised))
        .context("starting a thread for signals")?;
    Ok(stop)
}

fn watch(mut signals: Signals, stop: &StopFlag) {
    let mut first: Option<Instant> = None;
    for _ in signals.forever() {
        let begun = *first.get_or_insert_with(Instant::now);
        if begun.elapsed() > ALIKE {
            low_level::exit(Exit::Interrupted as i32);
        }
        stop.store(true, Ordering::SeqCst);
    }
}

/// A write beyond `ulimit -f` should be an error to report, not the end of the process.
pub(crate) fn ignore_file_size_signal() -> anyhow::Result<()> {
    flag::register(SIGXFSZ, StopFlag::default()).context("preparing for signals")?;
    Ok(())
}
