//! A request that nobody wrote, where the user has a database and no statements: rows of its
//! largest tables read by their key, and some of them changed.
//!
//! What an application really asks is not known. This much is asked by most of them, touches
//! pages all over the file, and can be repeated.

use rusqlite::{Connection, OptionalExtension as _};

use super::rehearsal::limit_time;
use super::statements::Statement;

/// Rows that a request reads …
const READS: usize = 10;
/// … and changes.
const CHANGES: usize = 2;
/// So many of the largest tables take part.
const TABLES: usize = 4;
/// More tables than this are not looked at.
const TABLES_MAX: usize = 1000;

/// A table with the name of its key and the span of that.
struct Table {
    name: String,
    key: &'static str,
    first: i64,
    last: i64,
}

/// The statements; a copy of the database shows which of them work.
pub(super) fn request(copy: &mut Connection) -> Result<Vec<Statement>, String> {
    limit_time(copy).map_err(|e| e.to_string())?;
    let copy = &*copy;
    let tables = largest(copy).map_err(|e| format!("looking at its tables: {e}"))?;
    if tables.is_empty() {
        return Err(
            "it has no table with rows to make a request of; write the SQL of one, and name \
                    it by statements"
                .to_owned(),
        );
    }
    let mut sqls = Vec::new();
    for number in 0..READS {
        let table = &tables[number % tables.len()];
        let key = table.key_at(copy, number, READS).map_err(|e| e.to_string())?;
        let (name, column) = (quoted(&table.name), table.key);
        sqls.extend(key.map(|key| format!("SELECT * FROM {name} WHERE {column} = {key}")));
    }
    for number in 0..CHANGES {
        // A table that cannot be changed leaves it to the next.
        let others = (0..tables.len()).map(|step| &tables[(number + step) % tables.len()]);
        let changes = others.filter_map(|table| table.change(copy, number).transpose());
        let change = changes.into_iter().next().transpose();
        sqls.extend(change.map_err(|e| e.to_string())?);
    }
    Ok((1..).zip(sqls).map(|(line, sql)| Statement { line, sql }).collect())
}

/// The tables with the widest span of keys, of those that have a key and rows.
fn largest(copy: &Connection) -> rusqlite::Result<Vec<Table>> {
    let mut listed = copy.prepare(
        "SELECT name FROM pragma_table_list
         WHERE schema = 'main' AND type = 'table' AND wr = 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         ORDER BY name LIMIT ?1",
    )?;
    let names = listed.query_map([TABLES_MAX as i64], |row| row.get::<_, String>(0))?;
    let names = names.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut tables = Vec::new();
    for name in names {
        let columns = columns(copy, &name)?;
        let is_column = |key: &str| columns.iter().any(|column| column.eq_ignore_ascii_case(key));
        let Some(key) = ["rowid", "_rowid_", "oid"].into_iter().find(|key| !is_column(key)) else {
            continue;
        };
        let span = format!(
            "SELECT (SELECT min({key}) FROM {0}), (SELECT max({key}) FROM {0})",
            quoted(&name)
        );
        let span = copy.query_row(&span, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if let (Some(first), Some(last)) = span {
            tables.push(Table { name, key, first, last });
        }
    }
    tables.sort_by_key(|table| std::cmp::Reverse(table.last.abs_diff(table.first)));
    tables.truncate(TABLES);
    Ok(tables)
}

fn columns(copy: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut listed = copy.prepare("SELECT name FROM pragma_table_info(?1)")?;
    listed.query_map([table], |row| row.get(0))?.collect()
}

impl Table {
    /// The key of a row, one of `of` that lie evenly from the first to the last.
    fn key_at(&self, copy: &Connection, number: usize, of: usize) -> rusqlite::Result<Option<i64>> {
        let span = i128::from(self.last) - i128::from(self.first);
        let at = i128::from(self.first) + span * (2 * number as i128 + 1) / (2 * of as i128);
        let (name, key) = (quoted(&self.name), self.key);
        let next = format!("SELECT {key} FROM {name} WHERE {key} >= ?1 ORDER BY {key} LIMIT 1");
        copy.query_row(&next, [at as i64], |row| row.get(0)).optional()
    }

    /// A change of one row that works when it is made again and again; nothing where none does.
    fn change(&self, copy: &Connection, number: usize) -> rusqlite::Result<Option<String>> {
        let Some(row) = self.key_at(copy, number, CHANGES)? else { return Ok(None) };
        let mut listed = copy.prepare("SELECT name FROM pragma_table_info(?1) WHERE pk = 0")?;
        let names = listed.query_map([&self.name], |row| row.get::<_, String>(0))?;
        let (table, key) = (quoted(&self.name), self.key);
        let mut changes = Vec::new();
        for name in names {
            let column = quoted(&name?);
            let form = format!("SELECT typeof({column}) FROM {table} WHERE {key} = {row}");
            let form: String = copy.query_row(&form, [], |row| row.get(0))?;
            let value = match form.as_str() {
                "integer" => (0, format!("{column} + 1")),
                "real" => (1, format!("{column} + 1.0")),
                // As long at every second time, so that nothing grows.
                "text" => (
                    2,
                    format!(
                        "CASE WHEN {column} LIKE '% ' THEN rtrim({column}) ELSE {column} || ' ' END"
                    ),
                ),
                _ => continue,
            };
            changes.push((
                value.0,
                format!("UPDATE {table} SET {column} = {} WHERE {key} = {row}", value.1),
            ));
        }
        changes.sort_by_key(|(rank, _)| *rank);
        // A constraint or a trigger may refuse it.
        let works = |sql: &String| (0..2).all(|_| copy.execute(sql, []) == Ok(1));
        Ok(changes.into_iter().map(|(_, sql)| sql).find(works))
    }
}

/// A name as SQL has it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn made(schema: &str) -> Result<Vec<String>, String> {
        let mut copy = Connection::open_in_memory().unwrap();
        copy.execute_batch(schema).unwrap();
        Ok(request(&mut copy)?.into_iter().map(|statement| statement.sql).collect())
    }

    const ROWS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000)";

    #[test]
    fn rows_of_the_largest_tables_are_read_by_their_key_and_two_are_changed() {
        let sqls = made(&format!(
            "CREATE TABLE \"odd \"\" name\" (id INTEGER PRIMARY KEY, name TEXT, sold INTEGER);
             {ROWS} INSERT INTO \"odd \"\" name\" SELECT i * 3, 'x' || i, 1 FROM n;
             CREATE TABLE small (word TEXT); INSERT INTO small VALUES ('a'), ('b'), ('c');
             CREATE TABLE empty (a); CREATE VIEW seen AS SELECT * FROM small;
             CREATE TABLE other (id TEXT PRIMARY KEY, n) WITHOUT ROWID;
             INSERT INTO other VALUES ('k', 1);"
        ))
        .unwrap();
        assert_eq!(sqls.len(), READS + CHANGES, "{sqls:#?}");
        assert_eq!(sqls[0], "SELECT * FROM \"odd \"\" name\" WHERE rowid = 153");
        assert!(
            sqls.iter().any(|sql| sql == "SELECT * FROM \"small\" WHERE rowid = 2"),
            "{sqls:#?}"
        );
        let changes = &sqls[READS..];
        assert!(
            changes[0].starts_with("UPDATE \"odd \"\" name\" SET \"sold\" = \"sold\" + 1 WHERE")
        );
        assert!(changes[1].starts_with("UPDATE \"small\" SET \"word\" = CASE"), "{sqls:#?}");
        assert!(sqls.iter().all(|sql| !sql.contains("other") && !sql.contains("empty")));
    }

    #[test]
    fn what_a_constraint_refuses_is_not_asked_for() {
        let sqls = made(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, level INTEGER CHECK (level < 3), name TEXT);
             INSERT INTO t (level, name) VALUES (1, 'a'), (1, 'b');
             CREATE TABLE fixed (n INTEGER); INSERT INTO fixed VALUES (1);
             CREATE TRIGGER no BEFORE UPDATE ON fixed BEGIN SELECT RAISE(ABORT, 'fixed'); END;",
        )
        .unwrap();
        let changes: Vec<&String> = sqls.iter().filter(|sql| sql.starts_with("UPDATE")).collect();
        assert_eq!(changes.len(), 2, "{sqls:#?}");
        assert!(changes.iter().all(|sql| sql.contains("UPDATE \"t\" SET \"name\"")), "{sqls:#?}");
        let reads = made("CREATE TABLE b (a BLOB); INSERT INTO b VALUES (x'00')").unwrap();
        assert_eq!(reads.len(), READS, "{reads:#?}");
    }

    #[test]
    fn a_database_without_rows_is_refused() {
        for schema in ["", "CREATE TABLE a (b)"] {
            assert!(made(schema).unwrap_err().contains("no table with rows"));
        }
    }

    #[test]
    fn keys_at_the_ends_of_their_range_are_found() {
        let sqls = made(&format!(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER);
             INSERT INTO t VALUES ({}, 1), (0, 1), ({}, 1);",
            i64::MIN,
            i64::MAX
        ))
        .unwrap();
        assert!(sqls.iter().any(|sql| sql.ends_with(&format!("= {}", i64::MAX))), "{sqls:#?}");
    }
}
