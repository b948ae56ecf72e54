//! A SQLite database, by its header: <https://www.sqlite.org/fileformat2.html#the_database_header>.

use units::count;

use super::Recognised;

const MAGIC: &[u8] = b"SQLite format 3\0";
pub(crate) const HEADER_BYTES: usize = 100;
/// Where the header has the size of a page, and the two versions of the format.
const PAGE_SIZE: usize = 16;
const WRITE_VERSION: usize = 18;
pub(crate) const READ_VERSION: usize = 19;
/// The version of a database with a write-ahead log.
pub(crate) const WAL: u8 = 2;

pub(crate) fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// What the header says. `synchronous` is each connection's own, so that nobody can see it.
pub(super) fn recognise(head: &[u8]) -> Result<Recognised, String> {
    let page_size = head.get(PAGE_SIZE..PAGE_SIZE + 2).map(|two| {
        let size = u32::from(u16::from_be_bytes([two[0], two[1]]));
        // 65,536 does not fit.
        if size == 1 { 65_536 } else { size }
    });
    let is_valid = |size: &u32| size.is_power_of_two() && (512..=65_536).contains(size);
    let Some(page_size) = page_size.filter(is_valid).filter(|_| head.len() >= HEADER_BYTES) else {
        return Err(
            "begins as a SQLite database does, and its header is damaged; name another".to_owned()
        );
    };
    let is_wal = head[WRITE_VERSION] == WAL && head[READ_VERSION] == WAL;
    let pages = format!("pages of {} B", count(page_size.into()));
    let (journal, strategies): (_, &[&str]) = if is_wal {
        (
            "a write-ahead log. `synchronous` is not in the header: FULL, SQLite's default, is \
             taken for now (--now sqlite=wal-normal otherwise)",
            &["wal-full", "wal-full-tx", "wal-normal"],
        )
    } else {
        (
            "a rollback journal. Which, and `synchronous`, is not in the header: DELETE and FULL, \
             SQLite's defaults, are taken for now (--now sqlite=truncate-full otherwise)",
            &[],
        )
    };
    Ok(Recognised {
        study: "sqlite",
        param: "database",
        strategies,
        per_second: None,
        what: format!("a SQLite database, by its header: {pages}, {journal}"),
    })
}
