//! What followed from runs, kept beside their records: a run is looked at more often than
//! measured, and most of a record are slices, of which no report in text needs any.
//!
//! It is the program's who found it: another one, even another build of the same, may find
//! something else, and has to look at the slices.

use model::analysis::Analysis;
use model::run::Run;
use rusqlite::{OptionalExtension as _, Row, params};

use crate::checksum::{self, Kept, Text};
use crate::error::Error;
use crate::recording::{Failed, json};
use crate::saved::{Entry, State};
use crate::{Store, database};

/// A run's record without its slices, and what followed from them.
pub struct Analysed {
    /// The record.
    pub run: Run,
    /// What followed.
    pub analysis: Analysis,
}

impl Store {
    /// Keeps what that program found to follow from a run that is over.
    pub fn keep_analysis(
        &mut self,
        id: &str,
        program: &str,
        analysis: &Analysis,
    ) -> Result<(), Error> {
        let analysis = json(analysis)?;
        let checksum = checksum::of(id, Text::Analysis, analysis.as_bytes());
        self.write("saving what follows from a run", |database| {
            database.execute(
                "INSERT OR REPLACE INTO analysis (run, program, json, checksum)
                 SELECT number, ?, ?, ? FROM run WHERE id = ?",
                params![program, analysis, checksum, id],
            )?;
            Ok::<(), Failed>(())
        })
    }

    /// What that program found to follow from a run; nothing where it has not looked at it,
    /// or where the run did not come to its end.
    pub fn load_analysed(&self, entry: &Entry, program: &str) -> Result<Option<Analysed>, Error> {
        if entry.state != State::Finished {
            return Ok(None);
        }
        let sql =
            "SELECT run.number, record.json, record.checksum, analysis.json, analysis.checksum
                   FROM run
                   JOIN record ON record.run = run.number
                   JOIN analysis ON analysis.run = run.number
                   WHERE run.id = ? AND analysis.program = ?";
        let texts = |row: &Row<'_>| Ok((row.get(0)?, Kept::at(row, 1)?, Kept::at(row, 3)?));
        let found = self.connection.query_row(sql, [&entry.id, program], texts).optional();
        let failed = || Error::database(&database::path(&self.folder), "reading a run");
        let Some((number, record, analysis)) = found.map_err(failed())? else { return Ok(None) };
        // Its slices are not needed, but what is damaged is not shown.
        for (position, part) in (0..).zip(self.parts(number).map_err(failed())?) {
            self.sound(entry, Text::Part(position), &part)?;
        }
        let run: Run = self.parse(entry, Text::Record, &record)?;
        let analysis: Analysis = self.parse(entry, Text::Analysis, &analysis)?;
        run.check().map_err(|why| self.damaged(why))?;
        if !analysis.fits(&run) {
            return Err(self.damaged("what follows from a run is another run's".to_owned()));
        }
        Ok(Some(Analysed { run, analysis }))
    }
}
