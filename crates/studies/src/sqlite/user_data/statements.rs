//! A file of SQL statements, taken apart.
#![expect(unsafe_code, reason = "rusqlite has no safe form of sqlite3_complete")]

use std::ffi::CString;
use std::path::Path;

use rusqlite::ffi::sqlite3_complete;
use serde::{Deserialize, Serialize};
use units::exact_size;

use crate::user_data::source::{open_file, read_most, shown, unreadable};

/// A larger file is no request's.
const FILE_BYTES_MAX: u64 = 256 << 10;
/// A longer statement has data in it that belongs into the database.
const STATEMENT_BYTES_MAX: usize = 64 << 10;
/// A request of more statements is several.
const STATEMENTS_MAX: usize = 1000;

/// One of a request's statements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Statement {
    /// Where it begins in its file, from 1.
    pub(crate) line: u64,
    pub(crate) sql: String,
}

/// The statements of a file.
pub(super) fn read(path: &str) -> Result<Vec<Statement>, String> {
    let (file, _) = open_file(path)?;
    let bytes = read_most(file, FILE_BYTES_MAX + 1).map_err(|e| unreadable(Path::new(path), e))?;
    let wrong = |why: &str| format!("{}: {why}", shown(Path::new(path)));
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(wrong(&format!(
            "it is larger than {}; name a file with the statements of one request",
            exact_size(FILE_BYTES_MAX)
        )));
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not text in UTF-8"))?;
    parted(&text).map_err(|why| wrong(&why))
}

/// Where a statement ends is for SQLite to say, which knows quotes, comments and triggers.
fn parted(text: &str) -> Result<Vec<Statement>, String> {
    if let Some(at) = text.find('\0') {
        return Err(format!("line {}: it has a zero byte", line_of(text, at)));
    }
    let mut statements = Vec::new();
    let mut start = beginning(text, 0);
    while start < text.len() {
        let line = line_of(text, start);
        let end = ending(text, start).ok_or_else(|| {
            format!(
                "line {line}: the statement has no end within {}; close its quotes and comments, \
                 and put a semicolon behind it",
                exact_size(STATEMENT_BYTES_MAX as u64)
            )
        })?;
        if statements.len() == STATEMENTS_MAX {
            return Err(format!(
                "line {line}: there are more than {STATEMENTS_MAX} statements; name a file with \
                 those of one request"
            ));
        }
        statements.push(Statement { line, sql: text[start..end].trim_end().to_owned() });
        start = beginning(text, end);
    }
    if statements.is_empty() {
        return Err("it has no statements; write the SQL of one request".to_owned());
    }
    Ok(statements)
}

/// Where the next statement begins: behind blanks, comments and semicolons of nothing.
fn beginning(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let end = |end: Option<usize>, length: usize| end.map_or(rest.len(), |end| end + length);
        at += if rest.starts_with(|c: char| c.is_whitespace() || c == ';' || c == '\u{feff}') {
            rest.chars().next().map_or(0, char::len_utf8)
        } else if rest.starts_with("--") {
            end(rest.find('\n'), 1)
        } else if let Some(within) = rest.strip_prefix("/*") {
            end(within.find("*/"), 4)
        } else {
            return at;
        };
    }
}

/// Where a statement ends, behind its semicolon. The last one may have none.
fn ending(text: &str, start: usize) -> Option<usize> {
    let rest = &text[start..];
    let semicolons = rest.match_indices(';').map(|(at, _)| at + 1);
    let mut ends = semicolons.take_while(|&end| end <= STATEMENT_BYTES_MAX);
    let end = ends.find(|&end| is_complete(&rest[..end]));
    let is_last = || rest.len() <= STATEMENT_BYTES_MAX && is_complete(&format!("{rest}\n;"));
    end.or_else(|| is_last().then_some(rest.len())).map(|end| start + end)
}

fn is_complete(sql: &str) -> bool {
    let Ok(sql) = CString::new(sql) else { return false };
    // SAFETY: the text ends with a zero, and is only read.
    unsafe { sqlite3_complete(sql.as_ptr()) == 1 }
}

fn line_of(text: &str, at: usize) -> u64 {
    1 + text[..at].matches('\n').count() as u64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_parted_into_what_it_says_or_refused(
            text in "[-;/*'\"\\[\\]a é\u{feff}\n\u{0}]{0,40}",
        ) {
            if let Ok(found) = parted(&text) {
                let mut rest = &*text;
                for Statement { line, sql } in &found {
                    let at = rest.find(sql.as_str());
                    prop_assert!(at.is_some() && *line <= line_of(&text, text.len()));
                    rest = &rest[at.unwrap() + sql.len()..];
                }
            }
        }
    }

    #[test]
    fn statements_are_told_apart_as_sqlite_does() {
        let text = "\u{feff}-- a comment; with a semicolon\n\
            SELECT 'a;b', \"c;d\", [e;f] -- and ; here\n FROM t;;\n\
            /* another;\n one */ CREATE TRIGGER x AFTER INSERT ON t BEGIN\n\
            UPDATE t SET a = 1; DELETE FROM u;\nEND;\n\
            DELETE FROM t -- the last";
        let found = parted(text).unwrap();
        let lines: Vec<u64> = found.iter().map(|statement| statement.line).collect();
        assert_eq!(lines, [2, 5, 8]);
        assert!(found[0].sql.ends_with("FROM t;") && found[1].sql.ends_with("END;"));
        assert!(found[2].sql.starts_with("DELETE"));
    }

    #[test]
    fn what_has_no_end_or_nothing_in_it_is_an_error_that_names_the_line() {
        for (text, says) in [
            ("SELECT 1;\n\nSELECT 'open", "line 3: the statement has no end"),
            ("SELECT 1 /* open", "line 1: the statement has no end"),
            ("SELECT 1;\n\0", "line 2: it has a zero byte"),
            ("", "no statements"),
            ("-- nothing\n/* but */ ;", "no statements"),
        ] {
            let error = parted(text).unwrap_err();
            assert!(error.contains(says), "{text:?}: {error}");
        }
        assert!(parted(&"SELECT 1;\n".repeat(1001)).unwrap_err().starts_with("line 1001:"));
        assert!(parted(&format!("SELECT '{}'", ";".repeat(70_000))).is_err());
    }
}
