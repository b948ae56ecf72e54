//! The database's file and its layout.
//!
//! A write-ahead log that is synced with each commit: it takes one write and one sync per
//! block, both over before the next slice begins, and lets others read meanwhile.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, TransactionBehavior};
use rustix::fs::{Access, Mode, OFlags, access};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::Error;

/// The database's file.
const NAME: &str = "runs.db";
/// What `SQLite` has every application say of its files: these letters.
const APPLICATION: i32 = i32::from_be_bytes(*b"ioto");
/// The layout's version.
const VERSION: i32 = STEPS.len() as i32;
/// How long other processes' commits are waited for. Each takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// What leads from each version of the layout to the next, from an empty database on. A new
/// one goes all the way, so that it is laid out as one that was migrated.
const STEPS: [&str; 4] = [RUNS, SUMMARIES, ANALYSES, CHECKSUMS];

/// A run's record is that of a comparison without its slices, which are in parts, one for
/// each block; or the whole document of anything else.
const RUNS: &str = "
CREATE TABLE run (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    started TEXT NOT NULL,
    subject TEXT NOT NULL,
    state TEXT NOT NULL,
    seconds REAL NOT NULL,
    blocks INTEGER NOT NULL
) STRICT;
CREATE TABLE record (
    run INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    json TEXT NOT NULL
) STRICT;
CREATE TABLE part (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    slices TEXT NOT NULL
) STRICT;
CREATE INDEX part_of_run ON part (run);
";

/// What is told of a run without reading its record: studies and places, as lists in JSON;
/// how it ended and what it answered, once that is known; and its arms' times, each with
/// what was timed and where, by which runs that repeat each other are found.
const SUMMARIES: &str = "
ALTER TABLE run ADD COLUMN studies TEXT NOT NULL DEFAULT '[]';
ALTER TABLE run ADD COLUMN places TEXT NOT NULL DEFAULT '[]';
ALTER TABLE run ADD COLUMN ended TEXT;
ALTER TABLE run ADD COLUMN answer TEXT;
CREATE TABLE setting (
    number INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE toll (
    setting INTEGER NOT NULL REFERENCES setting (number),
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    log_toll REAL NOT NULL,
    PRIMARY KEY (setting, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX toll_of_run ON toll (run);
UPDATE run SET studies = json_array(kind) WHERE kind <> 'comparison';
UPDATE run SET
    studies = (
        SELECT json_group_array(json_extract(item.value, '$.name'))
        FROM record, json_each(iif(json_valid(record.json), record.json, '{}'), '$.studies') AS item
        WHERE record.run = run.number
    ),
    places = (
        SELECT json_group_array(json_extract(item.value, '$.label'))
        FROM record, json_each(iif(json_valid(record.json), record.json, '{}'), '$.places') AS item
        WHERE record.run = run.number
    )
    WHERE kind = 'comparison';
";

/// What followed from a comparison, and which program found that.
const ANALYSES: &str = "
CREATE TABLE analysis (
    run INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    program TEXT NOT NULL,
    json TEXT NOT NULL
) STRICT;
";

/// What shows that a run is as it was saved (`checksum.rs`); nothing of runs of older versions.
const CHECKSUMS: &str = "
ALTER TABLE record ADD COLUMN checksum INTEGER;
ALTER TABLE part ADD COLUMN checksum INTEGER;
ALTER TABLE analysis ADD COLUMN checksum INTEGER;
";

/// Where the database is in its folder.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// All files of the database, there or not.
pub(crate) fn files(folder: &Path) -> [PathBuf; 4] {
    ["", "-wal", "-shm", "-journal"].map(|end| folder.join(format!("{NAME}{end}")))
}

/// Whether there is one.
pub(crate) fn is_in(folder: &Path) -> bool {
    fs::symlink_metadata(path(folder)).is_ok()
}

/// Opens the one in a folder that is the user's own, or makes one.
pub(crate) fn open(folder: &Path) -> Result<Connection, Error> {
    let path = path(folder);
    make_file(&path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let failed = |action| Error::database(&path, action);
    let mut connection = Connection::open_with_flags(&path, flags).map_err(failed("opening it"))?;
    // `SQLite` opens it for reading where it cannot be written.
    if connection.is_readonly(MAIN_DB).map_err(failed("opening it"))? {
        return Err(Error::io(&path, "opening it")(Errno::ROFS.into()));
    }
    connection.busy_timeout(PATIENCE).map_err(failed("opening it"))?;
    // As it is at one moment: another process may just lay it out.
    let found = version(&*connection.transaction().map_err(failed("opening it"))?, &path)?;
    if found < VERSION {
        lay_out(&mut connection, &path)?;
    }
    let settings = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;";
    connection.execute_batch(settings).map_err(failed("opening it"))?;
    Ok(connection)
}

/// Whether the one in a folder, and what `SQLite` keeps beside it, may be written.
pub(crate) fn is_writable(folder: &Path) -> bool {
    [folder, &path(folder)].into_iter().all(|path| access(path, Access::WRITE_OK).is_ok())
}

/// Opens the one in a folder where nothing may be written.
pub(crate) fn open_to_read(folder: &Path) -> Result<Connection, Error> {
    let path = path(folder);
    check_file(&referred_to(&path).map_err(Error::io(&path, "opening it"))?, &path)?;
    let failed = |action| Error::database(&path, action);
    // A log holds a part of the data. Without one, the file has all of it.
    let [_, log, ..] = files(folder);
    let how =
        if fs::metadata(log).is_ok_and(|log| log.len() > 0) { "mode=ro" } else { "immutable=1" };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_URI;
    let name: String = path.as_os_str().as_bytes().iter().map(|b| format!("%{b:02x}")).collect();
    let connection = Connection::open_with_flags(format!("file:{name}?{how}"), flags);
    let connection = connection.map_err(failed("opening it"))?;
    connection.busy_timeout(PATIENCE).map_err(failed("opening it"))?;
    if version(&connection, &path)? < VERSION {
        return Err(Error::io(&path, "upgrading it")(Errno::ROFS.into()));
    }
    Ok(connection)
}

/// Makes the file where it lacks, the user's alone; `SQLite` gives its other files the
/// same rights.
fn make_file(path: &Path) -> Result<(), Error> {
    let found = match referred_to(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut file = File::options();
            let made = file.write(true).create_new(true).mode(0o600).open(path);
            match made {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => referred_to(path),
                made => made,
            }
        }
        found => found,
    };
    check_file(&found.map_err(Error::io(path, "opening it"))?, path)
}

/// An error where it is no file of the user's own.
fn check_file(found: &File, path: &Path) -> Result<(), Error> {
    let metadata = found.metadata().map_err(Error::io(path, "looking at it"))?;
    if !metadata.is_file() {
        return Err(Error::not_ours(path));
    }
    if metadata.uid() != geteuid().as_raw() {
        return Err(Error::foreign(path, path, metadata.uid()));
    }
    Ok(())
}

/// A file or folder, only to be referred to. A descriptor with which it could be read would, when
/// it is closed, drop the locks that `SQLite` holds on it in this process (fcntl(2)).
pub(crate) fn referred_to(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// The version of its layout; 0 where it is new. An error where it is not ours, or newer.
fn version(connection: &Connection, path: &Path) -> Result<i32, Error> {
    let figure = |what: &str| {
        let read = connection.query_row(what, (), |row| row.get::<_, i32>(0));
        read.map_err(Error::database(path, "reading it"))
    };
    let found = figure("PRAGMA user_version")?;
    match (figure("PRAGMA application_id")?, found) {
        (APPLICATION, 1..=VERSION) => Ok(found),
        (APPLICATION, found) if found > VERSION => Err(Error::Refused(format!(
            "{} was written by a newer version of iotoll (format {found}; this version knows \
                 {VERSION}) and was left unchanged; upgrade iotoll, or set IOTOLL_DIR to another \
                 directory",
            path.display()
        ))),
        (0, 0) if figure("SELECT count(*) FROM sqlite_schema")? == 0 => Ok(0),
        _ => Err(Error::not_ours(path)),
    }
}

/// Lays out a new one, or takes an older one to the present version, all of it or nothing,
/// unless another process was quicker.
fn lay_out(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    keep_log(connection).map_err(Error::database(path, "beginning it"))?;
    let behavior = TransactionBehavior::Immediate;
    let transaction = connection
        .transaction_with_behavior(behavior)
        .map_err(Error::database(path, "beginning it"))?;
    let found = version(&transaction, path)?;
    let action = if found == 0 { "beginning it" } else { "upgrading it to this version's format" };
    let failed = || Error::database(path, action);
    for step in &STEPS[found as usize..] {
        transaction.execute_batch(step).map_err(failed())?;
    }
    let marks = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};");
    transaction.execute_batch(&marks).map_err(failed())?;
    transaction.commit().map_err(failed())
}

/// Has it keep a write-ahead log, from now on. `SQLite` does not wait by itself for
/// others that are about to do the same.
fn keep_log(connection: &Connection) -> rusqlite::Result<()> {
    let began = Instant::now();
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(())) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && began.elapsed() < PATIENCE =>
            {
                sleep(Duration::from_millis(10));
            }
            kept => return kept,
        }
    }
}
