//! A simulation: a file system that loses what was not synced, and crash tests on it.
//!
//! At any operation the machine may stop. What was not synced until then is there or not:
//! all of it, nothing, whatever came first, some operations without those before them, or
//! single sectors of 512 bytes; files may have grown without their data, and names may be
//! older than what stands under them. Syncs fail, after which a part of the data is neither
//! on the disk nor written again, although it is read back: that is what Linux does. The
//! disk is full. Bits flip. And the machine may stop once more during recovery.
//!
//! Of each disk that is left, the store is recovered, and must be at a transaction that was
//! the last to be acknowledged or a later one that was attempted, with exactly what that led
//! to. Flipped bits must be told of, where they make a difference.
//!
//! Nothing here touches a real file, and nothing depends on time.

mod disk;
mod examine;
mod flaws;
mod history;
mod hostile;
mod machine;
mod model;
mod tally;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

use flaws::Flaws;
use thiserror::Error;

pub use hostile::{replays_segment, segments};
pub use tally::Tally;

/// A history after which the library was wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("history {history} of seed {seed}: {what}")]
pub struct Failure {
    /// What it follows from, with its number.
    pub seed: u64,
    /// Its number.
    pub history: u64,
    /// What was wrong.
    pub what: String,
}

/// Runs one history.
pub fn history(seed: u64, number: u64) -> Result<Tally, Failure> {
    flawed_history(seed, number, Flaws::default())
}

fn flawed_history(seed: u64, number: u64, flaws: Flaws) -> Result<Tally, Failure> {
    let done = catch_unwind(AssertUnwindSafe(|| history::run(seed, number, flaws)));
    let done = done.unwrap_or_else(|_| Err("a panic".to_owned()));
    done.map_err(|what| Failure { seed, history: number, what })
}

/// Runs histories on so many threads, until so many disks that a crash left were recovered.
/// The first failure ends it.
pub fn histories(seed: u64, images_min: u64, threads: usize) -> Result<Tally, Failure> {
    let next = AtomicU64::new(0);
    let images = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    let lane = || {
        let mut tally = Tally::default();
        while images.load(Relaxed) < images_min && !is_over.load(Relaxed) {
            match history(seed, next.fetch_add(1, Relaxed)) {
                Ok(one) => {
                    images.fetch_add(one.images, Relaxed);
                    tally.add(&one);
                }
                Err(failure) => {
                    is_over.store(true, Relaxed);
                    return Err(failure);
                }
            }
        }
        Ok(tally)
    };
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(lane)).collect();
        let mut tally = Tally::default();
        for lane in lanes {
            // A panic in a history is caught there.
            tally.add(&lane.join().unwrap_or_else(|_| unreachable!("histories do not panic"))?);
        }
        Ok(tally)
    })
}
