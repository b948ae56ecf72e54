//! A request of the user's statements, tried before anything is timed: on a copy of the
//! database in memory, twice, as a slice makes it again and again.

use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ErrorCode};
use serde::{Deserialize, Serialize};

use super::statements::Statement;

/// A request that takes longer by itself is not one, or never ends.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many of SQLite's instructions are done between two looks at the clock.
const INSTRUCTIONS: i32 = 100_000;

/// Pragmas that change nothing of how the database is kept, which is the strategies'
/// affair. SQLite's own extensions read some of them.
const PRAGMAS: [&str; 11] = [
    "foreign_keys",
    "defer_foreign_keys",
    "recursive_triggers",
    "cache_size",
    "page_size",
    "page_count",
    "data_version",
    "table_info",
    "table_xinfo",
    "index_list",
    "index_info",
];

/// What a request was seen to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rehearsal {
    /// How many of its statements write.
    pub(crate) writing: u64,
    /// Rows that it changes.
    pub(crate) changed_rows: u64,
    /// By how much it makes the database grow.
    pub(crate) grown_bytes: u64,
}

/// Makes a request twice.
pub(super) fn rehearse(
    copy: &mut Connection,
    statements: &[Statement],
) -> Result<Rehearsal, String> {
    let failed = |e: &rusqlite::Error| format!("the copy of the database: {e}");
    copy.authorizer(Some(authorize)).map_err(|e| failed(&e))?;
    limit_time(copy).map_err(|e| failed(&e))?;
    let before = bytes(copy).map_err(|e| failed(&e))?;
    let mut seen = Rehearsal::default();
    for round in 0..2 {
        seen = Rehearsal::default();
        let changes_before = copy.total_changes();
        for statement in statements {
            let writes = run(copy, statement).map_err(|why| {
                let again = if round == 0 { "" } else { "when the request is made again, " };
                format!("line {}: {again}{why}", statement.line)
            })?;
            seen.writing += u64::from(writes);
        }
        seen.changed_rows = copy.total_changes() - changes_before;
    }
    // Of two requests together, for a page may have had room for the first.
    seen.grown_bytes = bytes(copy).map_err(|e| failed(&e))?.saturating_sub(before);
    Ok(seen)
}

/// From now on, has statements that take longer fail: a trigger may never end.
pub(super) fn limit_time(copy: &mut Connection) -> rusqlite::Result<()> {
    let until = Instant::now() + PATIENCE;
    copy.progress_handler(INSTRUCTIONS, Some(move || Instant::now() > until))
}

/// Whether the statement writes.
fn run(copy: &Connection, statement: &Statement) -> Result<bool, String> {
    let mut prepared = copy.prepare(&statement.sql).map_err(|e| explained(&e))?;
    if prepared.parameter_count() > 0 {
        return Err(
            "it has parameters, as in ?1 or :name; write their values in their places".to_owned()
        );
    }
    let writes = !prepared.readonly();
    let mut rows = prepared.query([]).map_err(|e| explained(&e))?;
    while rows.next().map_err(|e| explained(&e))?.is_some() {}
    Ok(writes)
}

fn explained(error: &rusqlite::Error) -> String {
    let code = match error {
        rusqlite::Error::SqliteFailure(error, _) | rusqlite::Error::SqlInputError { error, .. } => {
            Some(error.code)
        }
        _ => None,
    };
    match code {
        Some(ErrorCode::AuthorizationForStatementDenied) => {
            "BEGIN, COMMIT, SAVEPOINT, ATTACH, VACUUM and most of PRAGMA are not for a request here: \
             strategies say what is one transaction and how the database is kept; leave it out"
                .to_owned()
        }
        Some(ErrorCode::OperationInterrupted) => format!(
            "the request takes longer than {} s; name a shorter one",
            PATIENCE.as_secs()
        ),
        Some(ErrorCode::ConstraintViolation) => format!(
            "{error}; a slice makes the request many times, so let it remove what it inserts, or \
             have SQLite choose the keys"
        ),
        _ => match error {
            // All of the statement would be quoted.
            rusqlite::Error::SqlInputError { msg, .. } => format!("{msg}; it must fit the database"),
            _ => format!("{error}; it must fit the database"),
        },
    }
}

fn authorize(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Attach { .. }
        | AuthAction::Detach { .. }
        | AuthAction::Transaction { .. }
        | AuthAction::Savepoint { .. } => Authorization::Deny,
        AuthAction::Pragma { pragma_name, .. }
            if !PRAGMAS.iter().any(|known| pragma_name.eq_ignore_ascii_case(known)) =>
        {
            Authorization::Deny
        }
        _ => Authorization::Allow,
    }
}

fn bytes(copy: &Connection) -> rusqlite::Result<u64> {
    let number = |name| copy.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok((number("page_count")? * number("page_size")?) as u64)
}
