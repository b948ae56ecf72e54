//! Waiting for the end of processes, which may not come.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// The first time between two looks, which doubles …
const LOOK_MIN: Duration = Duration::from_micros(50);
/// … up to this.
const LOOK_MAX: Duration = Duration::from_millis(10);

/// How a child ended, if the system says; nothing where it is still there by then.
pub(crate) fn wait_until(child: &mut Child, deadline: Instant) -> Option<io::Result<ExitStatus>> {
    let mut look = LOOK_MIN;
    loop {
        if let Some(ended) = child.try_wait().transpose() {
            return Some(ended);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(look);
        look = LOOK_MAX.min(look * 2);
    }
}
