//! What is told of many runs at once, so that none of their records need be read for it.

use std::collections::HashMap;

use rusqlite::params;

use crate::error::Error;
use crate::recording::Failed;
use crate::saved::Summary;
use crate::{Store, database};

/// So many runs of a setting are looked at, the latest: what a machine was like a hundred
/// runs ago says little.
const REPEATS_MAX: usize = 20;
/// So many of the latest runs are looked at for them.
const RUNS_MAX: u32 = 2_000;

/// What an arm took in a run, or how two of them differed.
#[derive(Clone, Debug, PartialEq)]
pub struct TypicalTime {
    /// What was timed and where, in a text that is the same in runs that repeat each other; it
    /// also says so where it is a ratio of two.
    pub setting: String,
    /// The logarithm of the time per operation, or of the ratio.
    pub log_typical: f64,
}

impl Store {
    /// Keeps how a run ended, what it answered and what its arms took; nothing where the database
    /// can only be read.
    pub fn summarise(
        &mut self,
        id: &str,
        summary: &Summary,
        typical_times: &[TypicalTime],
    ) -> Result<(), Error> {
        if self.is_read_only() {
            return Ok(());
        }
        self.write("saving a run's summary", |database| {
            let Summary { ended, answer } = summary;
            database.execute(
                "UPDATE run SET ended = ?, answer = ? WHERE id = ?",
                params![ended, answer, id],
            )?;
            for TypicalTime { setting, log_typical } in typical_times {
                database.execute("INSERT OR IGNORE INTO setting (text) VALUES (?)", [setting])?;
                database.execute(
                    "INSERT OR REPLACE INTO toll (setting, run, log_toll)
                     SELECT setting.number, run.number, ?
                     FROM setting, run WHERE setting.text = ? AND run.id = ?",
                    params![log_typical, setting, id],
                )?;
            }
            Ok::<(), Failed>(())
        })
    }

    /// What is kept of one run, by setting.
    pub fn typical_times(&self, id: &str) -> Result<HashMap<String, f64>, Error> {
        let read = || -> rusqlite::Result<HashMap<String, f64>> {
            let sql = "SELECT setting.text, toll.log_toll FROM run
                       JOIN toll ON toll.run = run.number
                       JOIN setting ON setting.number = toll.setting WHERE run.id = ?";
            let mut statement = self.connection.prepare(sql)?;
            statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        read().map_err(Error::database(&database::path(&self.folder), "reading a run"))
    }

    /// The times of the latest runs, by setting.
    pub fn repeats(&self) -> Result<Repeats, Error> {
        let read = || -> rusqlite::Result<Repeats> {
            let sql = "SELECT setting.text, run.id, toll.log_toll FROM run
                       JOIN toll ON toll.run = run.number
                       JOIN setting ON setting.number = toll.setting
                       WHERE run.number > (SELECT max(number) FROM run) - ?
                       ORDER BY run.number DESC";
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([RUNS_MAX])?;
            let mut repeats = Repeats::default();
            while let Some(row) = rows.next()? {
                let of_setting = repeats.0.entry(row.get(0)?).or_default();
                if of_setting.len() < REPEATS_MAX + EXCEPT {
                    of_setting.push((row.get(1)?, row.get(2)?));
                }
            }
            Ok(repeats)
        };
        read().map_err(Error::database(&database::path(&self.folder), "reading the runs"))
    }
}

/// So many runs may be left out of the repeats.
const EXCEPT: usize = 2;

/// The log times of each setting in the latest runs that have it, the latest first, each with its
/// run's name.
#[derive(Debug, Default)]
pub struct Repeats(HashMap<String, Vec<(String, f64)>>);

impl Repeats {
    /// Those of a setting, but for the runs of these names, in the order of time.
    pub fn of(&self, setting: &str, but: [&str; EXCEPT]) -> Vec<f64> {
        let others = self.latest(setting).filter(|(run, _)| !but.contains(run));
        in_order(others.map(|(_, log_typical)| log_typical))
    }

    /// By how much the second setting's lie above the first's, in the runs that have both, in
    /// the order of time.
    pub fn of_pair(&self, first: &str, second: &str) -> Vec<f64> {
        let firsts: HashMap<&str, f64> = self.latest(first).collect();
        let both = self.latest(second).filter_map(|(run, log)| Some(log - firsts.get(run)?));
        in_order(both)
    }

    fn latest(&self, setting: &str) -> impl Iterator<Item = (&str, f64)> {
        let of_setting = self.0.get(setting).into_iter().flatten();
        of_setting.map(|(run, log_typical)| (run.as_str(), *log_typical))
    }
}

/// The latest of them, the latest last.
fn in_order(latest_first: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut latest: Vec<f64> = latest_first.take(REPEATS_MAX).collect();
    latest.reverse();
    latest
}
