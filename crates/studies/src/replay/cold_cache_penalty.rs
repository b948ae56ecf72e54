//! What a wait leaves behind. While a thread waits, its processor does other things or none, and
//! its caches forget what the program needs: computing takes longer for a while. Where a replay
//! need not wait for what the program waited for, thinking is shorter by that. Several waits with
//! little computing in between leave behind what each does: what was forgotten is not yet found again.
//!
//! How much it is differs from program to program, and no trace says it. It is measured here, by
//! the work of a database in memory, whose code and data are of an ordinary program's size, as the
//! time that it takes longer after a sleep than without one. That is rather little: a device's wait
//! has the kernel do more in between.

use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// A shorter wait is not one of a device.
const WAITED_MIN_US: u16 = 20;
/// Of computing that comes next, no larger part than this: what is computed first has to find
/// most of it again.
const PART_MAX: f64 = 0.5;
/// As long as a fast device's wait.
const SLEEP: Duration = Duration::from_micros(150);
const ROUNDS: usize = 80;
const ROWS: i64 = 400;
/// Of each kind: they take some ten microseconds together.
const STATEMENTS: i64 = 2;

/// How much thinking is to be left out still, in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ColdCachePenalty {
    /// What one wait leaves behind.
    of_one: f64,
    left: f64,
}

impl ColdCachePenalty {
    /// Of waits that leave so much behind.
    pub(super) fn new(of_one: f64) -> Self {
        Self { of_one, left: 0.0 }
    }

    /// A call has returned that waited for so many microseconds when it was recorded, and took so
    /// many in all when it was replayed.
    pub(super) fn call(&mut self, waited_us: u16, took_us: f64) {
        if waited_us >= WAITED_MIN_US {
            let waits = took_us >= f64::from(waited_us) / 2.0;
            self.left = if waits { 0.0 } else { self.left + self.of_one };
        }
    }

    /// What is left out of so much thinking.
    pub(super) fn of(&mut self, thinking: f64) -> f64 {
        let of_this = self.left.min(thinking * PART_MAX);
        self.left -= of_this;
        of_this
    }
}

/// Whether a call waited for long enough to leave something behind.
pub(super) fn leaves_any(waited_us: u16) -> bool {
    waited_us >= WAITED_MIN_US
}

/// How much longer computing takes after a wait on this machine. It is measured once.
pub(super) fn measured() -> Duration {
    static MEASURED: OnceLock<Duration> = OnceLock::new();
    // A database in memory does not fail; if it did, nothing would be known.
    *MEASURED.get_or_init(|| measure().unwrap_or_default())
}

fn measure() -> rusqlite::Result<Duration> {
    let database = Connection::open_in_memory()?;
    database.execute_batch("CREATE TABLE items (id INTEGER PRIMARY KEY, text)")?;
    for id in 0..ROWS {
        database.execute("INSERT INTO items VALUES (?1, printf('%0200d', ?1))", [id])?;
    }
    let work = |first: i64| {
        let began = Instant::now();
        for id in first..first + STATEMENTS {
            let count = "SELECT count(*) FROM items WHERE id > ?1 - 20";
            let _: i64 = database.query_row(count, [id], |row| row.get(0))?;
            database.execute("UPDATE items SET text = printf('%0200d', ?1) WHERE id = ?1", [id])?;
        }
        Ok::<_, rusqlite::Error>(began.elapsed())
    };
    let mut longer = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        work(ROWS / 2)?;
        let warm = work(ROWS / 2)?;
        sleep(SLEEP);
        longer.push(work(ROWS / 2)?.saturating_sub(warm));
    }
    longer.sort_unstable();
    Ok(longer[ROUNDS / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails where computing is taken for faster than it can be, or where waits that happen, or
    /// that were none, leave something out of it.
    #[test]
    fn a_wait_that_does_not_happen_shortens_what_is_computed_next() {
        let mut cold_cache_penalty = ColdCachePenalty::new(5_000.0);
        let out = |cold_cache_penalty: &mut ColdCachePenalty, thinking: f64| {
            cold_cache_penalty.of(thinking) as u64
        };
        assert_eq!(out(&mut cold_cache_penalty, 1e6), 0);
        cold_cache_penalty.call(200, 10.0);
        let thinking = [4_000.0, 0.0, 2_000.0, 90_000.0, 90_000.0];
        assert_eq!(
            thinking.map(|ns| out(&mut cold_cache_penalty, ns)),
            [2_000, 0, 1_000, 2_000, 0]
        );
        for (waited_us, took_us) in [(200, 180.0), (WAITED_MIN_US - 1, 1.0), (0, 0.0)] {
            cold_cache_penalty.call(waited_us, took_us);
            assert_eq!(out(&mut cold_cache_penalty, 1e6), 0, "{waited_us}");
        }
        // What two waits leave is left out together.
        cold_cache_penalty.call(200, 10.0);
        cold_cache_penalty.call(200, 10.0);
        assert_eq!(out(&mut cold_cache_penalty, 1e6), 10_000);
        // A wait that happens leaves its own behind, whatever was spared before.
        cold_cache_penalty.call(200, 10.0);
        cold_cache_penalty.call(200, 190.0);
        assert_eq!(out(&mut cold_cache_penalty, 1e6), 0);
    }

    #[test]
    fn it_is_measured_once_and_is_microseconds() {
        let measured_now = measured();
        assert_eq!(measured(), measured_now);
        assert!(measured_now < Duration::from_millis(1), "{measured_now:?}");
    }
}
