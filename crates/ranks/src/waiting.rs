//! Waiting for what another rank says.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use process::StopFlag;

use crate::comm::Comm;
use crate::error::Error;
use crate::idle::Idle;
use crate::message::{FromRank, read};

/// A rank that says nothing for this long will never say anything.
const SILENCE_MAX: Duration = Duration::from_secs(120);

/// A rank's next message that is wanted; others are of rounds that were given up.
pub(crate) fn answer<T>(
    comm: &dyn Comm,
    rank: usize,
    stop: &StopFlag,
    mut wanted: impl FnMut(FromRank) -> Option<T>,
) -> Result<T, Error> {
    let (since, mut idle) = (Instant::now(), Idle::new());
    loop {
        let Some(bytes) = comm.receive(rank)? else {
            check(rank, since, stop)?;
            idle.wait();
            continue;
        };
        let message = read(&bytes).map_err(|why| Error::of(rank, why.to_string()))?;
        if let Some(found) = wanted(message) {
            return Ok(found);
        }
        idle = Idle::new();
    }
}

/// An error where the run should end, or a rank has been silent for too long.
pub(crate) fn check(rank: usize, since: Instant, stop: &StopFlag) -> Result<(), Error> {
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Stopped);
    }
    if since.elapsed() > SILENCE_MAX {
        let seconds = SILENCE_MAX.as_secs();
        return Err(Error::of(rank, format!("it sent nothing for {seconds} s")));
    }
    Ok(())
}
