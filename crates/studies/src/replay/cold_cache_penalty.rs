//! What a wait leaves behind. While a thread waits for a device, its processor does other things or
//! none, and its caches forget what the program needs: computing takes longer for a while. Where a
//! replay need not wait for what the program waited for, thinking is shorter by that.
//!
//! How much it is depends on how much is computed after the wait, and no trace says it. It is measured
//! here as a [`Curve`], by the work of a database in memory, whose code and data are of an ordinary
//! program's size. A sleep alone leaves less behind than a device's wait, in which drivers and the
//! journal run, so that the level 2 cache is filled with other data after it, twice over. Then twelve
//! statements take about as much longer as after an fsync(2) of ext4: from 61 to 109 µs, beside 62 to
//! 100, where a sleep has them take 70.

use std::fs;
use std::hint::black_box;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::Connection;

/// A shorter wait is not one of a device.
const WAITED_MIN_US: u16 = 20;
/// As long as a fast device's wait.
const SLEEP: Duration = Duration::from_micros(100);
const ROUNDS: usize = 40;
const ROWS: i64 = 2000;
const LINE_BYTES: usize = 64;
/// Where the system does not tell the size of its cache.
const CACHE_BYTES: usize = 1 << 20;
/// Each uses another part of the database's code.
const STATEMENTS: [&str; 12] = [
    "SELECT count(*) FROM items WHERE id BETWEEN ?1 - 20 AND ?1",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT sum(n) + ?1 FROM c",
    "SELECT a.id FROM items a JOIN items b ON a.id = b.id + 1 WHERE a.id = ?1 ORDER BY b.text DESC LIMIT 1",
    "SELECT group_concat(substr(text, 1, 3)) FROM items WHERE id BETWEEN ?1 AND ?1 + 3 GROUP BY id % 2",
    "SELECT upper(hex(text)) FROM items WHERE text LIKE '%' || ?1 AND id = ?1",
    "SELECT row_number() OVER (ORDER BY id) FROM items WHERE id < 3 AND ?1 > 0",
    "SELECT strftime('%Y-%m-%d', ?1, 'unixepoch', '+1 day')",
    "SELECT CASE WHEN EXISTS(SELECT 1 FROM items WHERE id = ?1) THEN round(?1 * 1.5, 2) ELSE ?1 END",
    "UPDATE items SET text = replace(printf('%0200d', ?1), '0', '1') WHERE id = ?1",
    "INSERT OR REPLACE INTO items SELECT id, trim(text) FROM items WHERE id = ?1",
    "DELETE FROM items WHERE id = -?1",
    "SELECT DISTINCT length(text) FROM items WHERE id IN (?1, ?1 + 1) UNION SELECT ?1 ORDER BY 1",
];
/// So many of them are a point of the curve: some microseconds to a millisecond.
const AT: [usize; 6] = [1, 3, 6, 12, 30, 120];

/// How much longer computing takes after a wait, by how long it takes then; both in nanoseconds. From
/// nothing it rises straight from point to point, and stays what it is at the last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Curve(pub(super) [(f64, f64); AT.len()]);

impl Curve {
    fn at(&self, computed_ns: f64) -> f64 {
        let mut last = (0.0, 0.0);
        for point in self.0 {
            if computed_ns < point.0 {
                let part = (computed_ns - last.0) / (point.0 - last.0);
                return last.1 + part * (point.1 - last.1);
            }
            last = point;
        }
        last.1
    }

    /// One on which more computing never is less left out, nor more than it is more.
    fn rising(mut points: [(f64, f64); AT.len()]) -> Self {
        let mut last = (0.0, 0.0);
        for point in &mut points {
            point.0 = point.0.max(last.0);
            point.1 = point.1.clamp(last.1, last.1 + point.0 - last.0);
            last = *point;
        }
        Self(points)
    }
}

/// How much thinking is to be left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColdCachePenalty {
    curve: Curve,
    /// What was computed since a wait that a replay did without, in nanoseconds.
    computed: Option<f64>,
}

impl ColdCachePenalty {
    /// Of waits that leave so much behind.
    pub(super) fn new(curve: Curve) -> Self {
        Self { curve, computed: None }
    }

    /// A call has returned that waited for so many microseconds when it was recorded, and took so
    /// many in all when it was replayed.
    pub(super) fn call(&mut self, waited_us: u16, took_us: f64) {
        if waited_us >= WAITED_MIN_US {
            let waits = took_us >= f64::from(waited_us) / 2.0;
            self.computed = (!waits).then_some(0.0);
        }
    }

    /// What is left out of so many nanoseconds of computing.
    pub(super) fn of(&mut self, computing_ns: f64) -> f64 {
        let Some(before) = self.computed else { return 0.0 };
        let after = before + computing_ns;
        self.computed = Some(after);
        self.curve.at(after) - self.curve.at(before)
    }
}

/// Whether a call waited for long enough to leave something behind.
pub(super) fn leaves_any(waited_us: u16) -> bool {
    waited_us >= WAITED_MIN_US
}

/// How much longer computing takes after a wait on this machine. It is measured once.
pub(super) fn measured() -> Curve {
    static MEASURED: OnceLock<Curve> = OnceLock::new();
    // A database in memory does not fail; if it did, nothing would be known.
    *MEASURED.get_or_init(|| measure().unwrap_or_default())
}

fn measure() -> rusqlite::Result<Curve> {
    let database = Connection::open_in_memory()?;
    database.execute_batch("CREATE TABLE items (id INTEGER PRIMARY KEY, text)")?;
    for id in 0..ROWS {
        database.execute("INSERT INTO items VALUES (?1, printf('%0200d', ?1))", [id])?;
    }
    let mut others = vec![1_u8; 2 * cache_bytes()];
    let mut points = [(0.0, 0.0); AT.len()];
    for (point, statements) in points.iter_mut().zip(AT) {
        let (mut warm, mut cold) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            work(&database, statements, round)?;
            warm.push(work(&database, statements, round)?);
            sleep(SLEEP);
            others.iter_mut().step_by(LINE_BYTES).for_each(|byte| *byte = byte.wrapping_add(1));
            black_box(&mut others);
            cold.push(work(&database, statements, round)?);
        }
        let [warm, cold] = [warm, cold].map(|mut times| stats::median(&mut times));
        *point = (cold, cold - warm);
    }
    Ok(Curve::rising(points))
}

/// Runs so many statements; how many nanoseconds they took.
fn work(database: &Connection, statements: usize, round: usize) -> rusqlite::Result<f64> {
    let began = Instant::now();
    for (number, statement) in STATEMENTS.iter().cycle().take(statements).enumerate() {
        let id = (round * 7919 + number * 131) as i64 % ROWS;
        let mut statement = database.prepare(statement)?;
        let mut rows = statement.query([id])?;
        while rows.next()?.is_some() {}
    }
    Ok(began.elapsed().as_nanos() as f64)
}

/// How much the cache holds that a processor shares with no other.
fn cache_bytes() -> usize {
    let told = fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index2/size").ok();
    let kib = told.and_then(|size| size.trim().strip_suffix('K')?.parse::<usize>().ok());
    kib.map_or(CACHE_BYTES, |kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: Curve = Curve([
        (4_000.0, 2_000.0),
        (8_000.0, 3_000.0),
        (8_000.0, 3_000.0),
        (16_000.0, 4_000.0),
        (32_000.0, 5_000.0),
        (64_000.0, 6_000.0),
    ]);

    /// Fails where computing is taken for faster than it can be, or where waits that happen, or
    /// that were none, leave something out of it.
    #[test]
    fn a_wait_that_does_not_happen_shortens_what_is_computed_next() {
        let mut penalty = ColdCachePenalty::new(CURVE);
        let out = |penalty: &mut ColdCachePenalty, computing: f64| penalty.of(computing) as u64;
        assert_eq!(out(&mut penalty, 1e6), 0);
        penalty.call(200, 10.0);
        let pieces = [2_000.0, 0.0, 4_000.0, 10_000.0, 1e6, 1e6];
        assert_eq!(pieces.map(|ns| out(&mut penalty, ns)), [1_000, 0, 1_500, 1_500, 2_000, 0]);
        for (waited_us, took_us) in [(200, 180.0), (WAITED_MIN_US - 1, 1.0), (0, 0.0)] {
            penalty.call(waited_us, took_us);
            assert_eq!(out(&mut penalty, 1e6), 0, "{waited_us}");
        }
        // What a second wait leaves behind begins anew, and one that happens ends it.
        penalty.call(200, 10.0);
        assert_eq!(out(&mut penalty, 4_000.0), 2_000);
        penalty.call(200, 10.0);
        assert_eq!(out(&mut penalty, 4_000.0), 2_000);
        penalty.call(200, 190.0);
        assert_eq!(out(&mut penalty, 1e6), 0);
    }

    /// Fails where noise in what is measured has thinking become negative, or longer.
    #[test]
    fn a_curve_rises_and_no_steeper_than_computing() {
        let noisy = [(9.0, 12.0), (8.0, 5.0), (20.0, 30.0), (30.0, 7.0), (40.0, 8.0), (40.0, 50.0)];
        let Curve(points) = Curve::rising(noisy);
        let risen =
            [(9.0, 9.0), (9.0, 9.0), (20.0, 20.0), (30.0, 20.0), (40.0, 20.0), (40.0, 20.0)];
        assert_eq!(points, risen);
    }

    /// Fails if nothing is measured, if it is measured twice, or if more is left out than computed.
    #[test]
    fn it_is_measured_once_and_is_less_than_what_is_computed() {
        let now = measured();
        assert_eq!(measured(), now);
        let Curve(points) = now;
        assert!(points.iter().all(|&(computed, out)| 0.0 < computed && out <= computed), "{now:?}");
        assert!(points.is_sorted_by_key(|point| point.0), "{now:?}");
    }
}
