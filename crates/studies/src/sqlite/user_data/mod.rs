//! A SQLite database of the user's, and the statements of a request to it.

mod generated;
mod rehearsal;
mod snapshot;
mod statements;

use std::path::Path;
use std::sync::Arc;

use engine::study::StudyError;
use model::material::Material;
use model::study::Params;
use rusqlite::{Connection, MAIN_DB};
use units::{counted, rough_size};

use self::rehearsal::{Rehearsal, rehearse};
pub(crate) use self::statements::Statement;
use crate::shared::Shared;
use crate::user_data::inherited::{self, Kept};
use crate::user_data::source::shown;

/// A database as it was when it was copied, with what its requests do.
pub(crate) struct OwnDatabase {
    /// The file's contents.
    pub(crate) contents: Vec<u8>,
    pub(crate) statements: Vec<Statement>,
    /// Whether the statements were made of its tables, as the user named none.
    is_generated: bool,
    /// What a request does to it.
    pub(crate) seen: Rehearsal,
    _kept: Option<Kept>,
}

impl OwnDatabase {
    /// That of the parameters `database` and `statements`; nothing where neither is given.
    pub(crate) fn of(params: &Params) -> Result<Option<Arc<Self>>, StudyError> {
        match (params.text("database"), params.text("statements")) {
            ("", "") => Ok(None),
            ("", _) => Err(StudyError::Unsuited(
                "statements of your own need your own database: name it by database".to_owned(),
            )),
            (database, statements) => Self::read(database, statements).map(Some),
        }
    }

    /// Copies a database, or shares the copy of another arm, and tries the statements on it;
    /// statements to its tables where no file of them is named.
    fn read(database: &str, statements: &str) -> Result<Arc<Self>, StudyError> {
        static READ: Shared<[String; 2], OwnDatabase> = Shared::new();
        READ.get([database, statements].map(str::to_owned), || {
            let name = format!("database {database} with {statements}");
            let is_generated = statements.is_empty();
            if let Some(given) = inherited::given(&name) {
                let ((statements, seen), contents) = given?;
                return Ok(Self { contents, statements, is_generated, seen, _kept: None });
            }
            let written = (!is_generated).then(|| statements::read(statements)).transpose()?;
            let mut copy = snapshot::copy(database)?;
            let of = |path: &str, why: String| format!("{}: {why}", shown(Path::new(path)));
            let contents = checked(&mut copy).map_err(|why| of(database, why))?;
            let request = written.map_or_else(|| generated::request(&mut copy), Ok);
            let request = request.map_err(|why| of(database, why))?;
            let told = if is_generated { database } else { statements };
            let seen = rehearse(&mut copy, &request).map_err(|why| of(told, why))?;
            let kept = inherited::keep(&name, &(&request, seen), [contents.as_slice()])?;
            Ok(Self { contents, statements: request, is_generated, seen, _kept: Some(kept) })
        })
        .map_err(StudyError::Unsuited)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.contents.len() as u64
    }

    /// Whether a request writes at all.
    pub(crate) fn is_written_to(&self) -> bool {
        self.seen.writing > 0
    }

    /// What reports say of it.
    pub(crate) fn material(&self) -> Material {
        let writing = self.seen.writing;
        let statements = self.statements.len() as u64;
        let about = format!(
            "a database of {}, {} a request{}: {} and {}",
            rough_size(self.bytes()),
            counted(statements, "statement"),
            if self.is_generated { ", generated from its tables" } else { "" },
            counted(statements - writing, "read"),
            counted(writing, "write")
        );
        Material::own(about, self.bytes())
    }
}

/// The contents of a copy, unless it is damaged.
fn checked(copy: &mut Connection) -> Result<Vec<u8>, String> {
    let said: String = copy
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|e| format!("{e}; name another database"))?;
    if said != "ok" {
        return Err(format!("SQLite finds it damaged: {said}; name another database"));
    }
    let contents = copy.serialize(MAIN_DB).map_err(|e| format!("copying it: {e}"))?.to_vec();
    // A write-ahead log may have had more than the file.
    snapshot::check_size(contents.len() as u64)?;
    Ok(contents)
}

#[cfg(test)]
mod tests;
