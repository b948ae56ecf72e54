//! What is told of many runs at once, so that none of their records need be read for it.

use rusqlite::params;

use crate::error::Error;
use crate::recording::Failed;
use crate::saved::Summary;
use crate::{Store, database};

/// So many runs of a setting are looked at, the latest: what a machine was like a hundred
/// runs ago says little.
const REPEATS_MAX: u32 = 20;

/// An arm's toll in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Toll {
    /// What was timed and where, in a text that is the same in runs that repeat each other.
    pub setting: String,
    /// The toll's logarithm.
    pub log_toll: f64,
}

impl Store {
    /// Keeps how a run ended, what it answered and what its arms took.
    pub fn summarise(&mut self, id: &str, summary: &Summary, tolls: &[Toll]) -> Result<(), Error> {
        self.write("saving a run's summary", |database| {
            let Summary { ended, answer } = summary;
            database.execute(
                "UPDATE run SET ended = ?, answer = ? WHERE id = ?",
                params![ended, answer, id],
            )?;
            for Toll { setting, log_toll } in tolls {
                database.execute("INSERT OR IGNORE INTO setting (text) VALUES (?)", [setting])?;
                database.execute(
                    "INSERT OR REPLACE INTO toll (setting, run, log_toll)
                     SELECT setting.number, run.number, ?
                     FROM setting, run WHERE setting.text = ? AND run.id = ?",
                    params![log_toll, setting, id],
                )?;
            }
            Ok::<(), Failed>(())
        })
    }

    /// The log tolls of a setting in the latest runs that have it, but for the runs of these
    /// names.
    pub fn repeats(&self, setting: &str, but: [&str; 2]) -> Result<Vec<f64>, Error> {
        let read = || -> rusqlite::Result<Vec<f64>> {
            let sql = "SELECT log_toll FROM toll
                       JOIN setting ON setting.number = toll.setting
                       JOIN run ON run.number = toll.run
                       WHERE setting.text = ? AND run.id NOT IN (?, ?)
                       ORDER BY run.number DESC LIMIT ?";
            let mut statement = self.connection.prepare_cached(sql)?;
            let given = params![setting, but[0], but[1], REPEATS_MAX];
            statement.query_map(given, |row| row.get(0))?.collect()
        };
        read().map_err(Error::database(&database::path(&self.folder), "reading the runs"))
    }
}
