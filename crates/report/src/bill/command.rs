//! The command that answers a pattern of a bill.

use trace::{Database, Journal, PatternKind, inner};
use units::quoted;

/// The longest record and the most writers that the study `log` has.
const RECORD_BYTES_MAX: u64 = 1 << 20;
const WRITERS_MAX: u64 = 64;
/// The smallest and the largest file that the study `files` has.
const FILE_BYTES_MIN: u64 = 1 << 10;
const FILE_BYTES_MAX: u64 = 100 << 20;
/// What a cache of the study `cache` may have.
const TEMPLATES_MAX: u64 = 5000;
const TEMPLATE_BYTES_MIN: u64 = 64;
const TEMPLATE_BYTES_MAX: u64 = 1 << 20;
/// What a page of the study `page` may have.
const FILES_MAX: u64 = 256;
const TOTAL_BYTES_MAX: u64 = 64 << 20;
/// How many statements that write a request of the study `sqlite` has: without a transaction
/// around them, as many transactions.
const TRANSACTIONS_PER_REQUEST: f64 = 21.0;
/// A connection that is kept has more transactions than this; one of a request alone has fewer, for
/// programs gather what a request writes.
const TRANSACTIONS_PER_CONNECTION: u64 = 10;
/// From so many syncs per transaction on, the level is `full`: it syncs the journal twice or the
/// log once, where `normal` syncs the journal once and the log not at all.
const FULL_JOURNAL_SYNCS: f64 = 2.5;
const NORMAL_JOURNAL_SYNCS: f64 = 0.5;
const FULL_LOG_SYNCS: f64 = 0.5;

/// What compares a pattern with what could be done instead, as it is pasted into a shell.
pub fn command_of(pattern: &PatternKind, working_folder: Option<&str>) -> String {
    let command = match pattern {
        PatternKind::Reopened { path, record_bytes, per_second, synced, .. } => {
            let log = Command::new("log", "reopen,held", *per_second).above(path);
            let log = if *synced { log.set("sync", "each") } else { log };
            log.record(*record_bytes)
        }
        // Without the sync a file may be empty after a power failure, so that another place is all that
        // could help.
        PatternKind::SyncedEach { path, record_bytes, per_second, whole_files: true, .. } => {
            let files = Command::new("files", "rename-fsync", *per_second).above(path);
            let bytes = (*record_bytes).clamp(FILE_BYTES_MIN, FILE_BYTES_MAX);
            files.set("operation", "write").set("size", bytes)
        }
        // A rebuild replaces each of its files once.
        PatternKind::Replaced { path, files, file_bytes, per_second, .. } => {
            let templates = (*files).clamp(1, TEMPLATES_MAX);
            let rate = per_second / templates as f64;
            let cache = Command::new("cache", "rename,direct", rate).set("operation", "rebuild");
            let cache = cache.set("templates", templates);
            let bytes = (*file_bytes).clamp(TEMPLATE_BYTES_MIN, TEMPLATE_BYTES_MAX);
            let cache = cache.set("template", bytes).set("classes", 1);
            if *files == 1 { cache.above(path) } else { Command { folder: Some(path), ..cache } }
        }
        PatternKind::SyncedEach { path, record_bytes, per_second, reopened, .. } => {
            let strategy = if *reopened { "reopen" } else { "held" };
            let log = Command::new("log", strategy, *per_second).above(path);
            log.set("sync", "each,every 100,never").record(*record_bytes)
        }
        PatternKind::SmallWrites { path, write_bytes, per_second, .. } => {
            Command::new("log", "held,buffered", *per_second).above(path).record(*write_bytes)
        }
        PatternKind::ReadAgain { files, total_bytes, per_second, .. } => {
            let files = (*files).min(FILES_MAX);
            let total_bytes = (*total_bytes).clamp(files, TOTAL_BYTES_MAX);
            let page = Command::new("page", "read,cached", *per_second).set("files", files);
            page.set("total", total_bytes).set("cache", "warm")
        }
        PatternKind::Looks { path, per_second, .. } => {
            // Nearly all of them are in one folder, or they are all over the place.
            let folder = Some(path.as_str()).filter(|path| *path != "/");
            let files = Command::new("files", "", *per_second).set("operation", "stat");
            Command { folder, ..files }
        }
        PatternKind::Locks { path, threads, per_second, record_bytes, .. } => {
            let log = Command::new("log", "flock,held,per-writer", *per_second).above(path);
            let log = log.set("writers", (*threads).clamp(2, WRITERS_MAX));
            record_bytes.iter().fold(log, |log, bytes| log.record(*bytes))
        }
        PatternKind::Sqlite(database) => of_database(database),
    };
    command.text(working_folder)
}

fn of_database(database: &Database) -> Command<'_> {
    let strategies = strategies(database.journal, database.syncs_per_transaction);
    let rate = database.per_second / TRANSACTIONS_PER_REQUEST;
    let sqlite = Command::new("sqlite", strategies, rate).above(&database.path);
    let few = database.opens.saturating_mul(TRANSACTIONS_PER_CONNECTION);
    if database.transactions > few { sqlite } else { sqlite.set("connect", "request") }
}

/// The strategy that is nearest to what the program does, and those to hold against it.
fn strategies(journal: Journal, syncs: f64) -> &'static str {
    match journal {
        Journal::Wal if syncs >= FULL_LOG_SYNCS => "wal-full,wal-full-tx,wal-normal",
        Journal::Wal => "wal-normal,wal-normal-tx",
        Journal::Truncate | Journal::Persist => "truncate-full,truncate-full-tx,wal-normal",
        Journal::Delete if syncs >= FULL_JOURNAL_SYNCS => "delete-full,delete-full-tx,wal-normal",
        Journal::Delete if syncs >= NORMAL_JOURNAL_SYNCS => {
            "delete-normal,delete-full-tx,wal-normal"
        }
        Journal::Delete => "delete-off,wal-normal,wal-normal-tx",
        Journal::None => "off,off-tx,wal-normal-tx",
    }
}

/// A comparison that `iotoll compare` can run.
struct Command<'a> {
    study: &'static str,
    strategies: &'static str,
    settings: Vec<String>,
    /// Where it shall be measured, against RAM: the folder of the files that it is about.
    folder: Option<&'a str>,
    per_second: f64,
}

impl<'a> Command<'a> {
    fn new(study: &'static str, strategies: &'static str, per_second: f64) -> Self {
        Self { study, strategies, settings: Vec::new(), folder: None, per_second }
    }

    fn set(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.settings.push(format!("{}.{name}={value}", self.study));
        self
    }

    /// The size of a record, as far as the study has it.
    fn record(self, bytes: u64) -> Self {
        self.set("record", bytes.clamp(1, RECORD_BYTES_MAX))
    }

    /// In the folder that a file is in.
    fn above(self, path: &'a str) -> Self {
        let folder = match path.rsplit_once('/') {
            None | Some(("", _)) => "/",
            Some((folder, _)) => folder,
        };
        Self { folder: Some(folder), ..self }
    }

    /// As it is pasted into a shell. Without places, it compares the working folder with RAM.
    fn text(&self, working_folder: Option<&str>) -> String {
        let mut words = vec!["iotoll".to_owned(), "compare".to_owned()];
        if let Some(folder) = self.folder
            && let Some(folder) = relative(folder, working_folder)
        {
            words.extend([format!("disk={folder}"), "ram=/dev/shm".to_owned()]);
        }
        words.extend(["--study", self.study].map(str::to_owned));
        if !self.strategies.is_empty() {
            words.extend(["--strategy", self.strategies].map(str::to_owned));
        }
        for setting in &self.settings {
            words.extend(["--set".to_owned(), setting.clone()]);
        }
        if let Some(rate) = rate(self.per_second) {
            words.extend(["--per-second".to_owned(), rate]);
        }
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// A folder as it is named from the working folder; none where it is that one. What is not
/// absolute, or no text, names nothing for sure.
fn relative<'a>(folder: &'a str, working_folder: Option<&str>) -> Option<&'a str> {
    if !folder.starts_with('/') || folder.contains(['\u{fffd}', '\n']) {
        return None;
    }
    match working_folder.and_then(|working| inner(working, folder)) {
        Some("") => None,
        named => named.or(Some(folder)),
    }
}

/// To two digits: it is what one recording had. None where it is nothing.
fn rate(per_second: f64) -> Option<String> {
    if !per_second.is_finite() || per_second < 1e-3 {
        return None;
    }
    let unit = 10_f64.powf(per_second.log10().floor() - 1.0);
    let rounded = (per_second / unit).round() * unit;
    Some(if rounded >= 10.0 { format!("{rounded:.0}") } else { trimmed(&format!("{rounded:.5}")) })
}

fn trimmed(number: &str) -> String {
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(pattern: &PatternKind) -> String {
        command_of(pattern, Some("/srv"))
    }

    #[test]
    fn each_pattern_has_the_command_that_answers_it() {
        let (path, per_second) = ("/srv/logs/app.log".to_owned(), 9612.0);
        let reopened = |synced| {
            let path = path.clone();
            named(&PatternKind::Reopened {
                path,
                times: 300,
                record_bytes: 137,
                per_second,
                synced,
            })
        };
        let log = "iotoll compare disk=logs ram=/dev/shm --study log";
        let record = "--set log.record=137 --per-second 9600";
        assert_eq!(reopened(false), format!("{log} --strategy reopen,held {record}"));
        assert_eq!(
            reopened(true),
            format!("{log} --strategy reopen,held --set log.sync=each {record}")
        );
        for (reopened, strategy) in [(true, "reopen"), (false, "held")] {
            let (path, syncs, record_bytes) = (path.clone(), 100, 137);
            let synced = |path: String, whole_files| {
                named(&PatternKind::SyncedEach {
                    path,
                    syncs,
                    record_bytes,
                    per_second,
                    reopened,
                    whole_files,
                })
            };
            let sync = "--set 'log.sync=each,every 100,never'";
            assert_eq!(
                synced(path.clone(), false),
                format!("{log} --strategy {strategy} {sync} {record}")
            );
            let replaced = synced(path, true);
            assert!(replaced.contains("--strategy rename-fsync") && !replaced.contains("sync="));
        }
        for (files, path, rate) in [(1, path.as_str(), "9600"), (8, "/srv/logs", "1200")] {
            let (path, times, file_bytes) = (path.to_owned(), 300, 2000);
            let what = PatternKind::Replaced { path, files, times, file_bytes, per_second };
            let cache = "iotoll compare disk=logs ram=/dev/shm --study cache";
            let set = "--set cache.template=2000 --set cache.classes=1";
            let expected = format!(
                "{cache} --strategy rename,direct --set cache.operation=rebuild \
                 --set cache.templates={files} {set} --per-second {rate}"
            );
            assert_eq!(named(&what), expected);
        }
        for (record_bytes, record) in [
            (None, "--per-second 9600"),
            (Some(137), record),
            (Some(u64::MAX), "--set log.record=1048576 --per-second 9600"),
        ] {
            let (path, locks, threads, longest_ns) = (path.clone(), 100, 2, 200_000);
            let what =
                PatternKind::Locks { path, locks, threads, longest_ns, per_second, record_bytes };
            let writers = "--strategy flock,held,per-writer --set log.writers=2";
            assert_eq!(named(&what), format!("{log} {writers} {record}"));
        }
        let (writes, write_bytes) = (2000, 137);
        let what = PatternKind::SmallWrites { path, writes, write_bytes, per_second };
        assert_eq!(named(&what), format!("{log} --strategy held,buffered {record}"));
    }

    #[test]
    fn readings_and_looks_have_the_command_that_answers_them() {
        let (path, per_second) = ("/srv/conf".to_owned(), 9612.0);
        let (files, times, total_bytes) = (2, 58, 5000);
        let what = PatternKind::ReadAgain { path, files, times, total_bytes, per_second };
        assert_eq!(
            named(&what),
            "iotoll compare --study page --strategy read,cached --set page.files=2 \
             --set page.total=5000 --set page.cache=warm --per-second 9600"
        );
        // Names that are looked up all over the place have no folder to move.
        for (path, places) in [("/srv/themes", "disk=themes ram=/dev/shm "), ("/", "")] {
            let (path, looks, again, missing) = (path.to_owned(), 2000, 1998, 500);
            let what = PatternKind::Looks { path, looks, again, missing, searched: 0, per_second };
            let stat = "--study files --set files.operation=stat --per-second 9600";
            assert_eq!(named(&what), format!("iotoll compare {places}{stat}"));
        }
    }

    #[test]
    fn a_database_is_compared_with_other_journal_modes() {
        for (journal, syncs_per_transaction, strategies) in [
            (Journal::Delete, 3.0, "delete-full,delete-full-tx,wal-normal"),
            (Journal::Delete, 1.0, "delete-normal,delete-full-tx,wal-normal"),
            (Journal::Delete, 0.0, "delete-off,wal-normal,wal-normal-tx"),
            (Journal::Truncate, 3.0, "truncate-full,truncate-full-tx,wal-normal"),
            (Journal::Persist, 3.0, "truncate-full,truncate-full-tx,wal-normal"),
            (Journal::Wal, 1.0, "wal-full,wal-full-tx,wal-normal"),
            (Journal::Wal, 0.0, "wal-normal,wal-normal-tx"),
            (Journal::None, 0.0, "off,off-tx,wal-normal-tx"),
        ] {
            let database = Database {
                path: "/srv/orders.db".to_owned(),
                journal,
                transactions: 50,
                opens: 1,
                writes_per_transaction: 8.0,
                syncs_per_transaction,
                per_second: 210.0,
            };
            assert_eq!(
                named(&PatternKind::Sqlite(database)),
                format!("iotoll compare --study sqlite --strategy {strategies} --per-second 10")
            );
        }
    }

    #[test]
    fn a_database_that_each_request_opens_is_measured_so() {
        for (opens, set) in [(0, ""), (4, ""), (5, " --set sqlite.connect=request")] {
            let database = Database {
                path: "/srv/orders.db".to_owned(),
                journal: Journal::None,
                transactions: 50,
                opens,
                writes_per_transaction: 8.0,
                syncs_per_transaction: 0.0,
                per_second: 210.0,
            };
            let named = named(&PatternKind::Sqlite(database));
            assert!(named.contains(&format!("wal-normal-tx{set} --per-second")), "{named}");
        }
    }

    #[test]
    fn a_command_can_be_pasted() {
        let command = Command::new("log", "held", 231.7).above("/srv/it's/logs/app.log");
        assert_eq!(
            command.set("sync", "each,every 100").record(137).text(Some("/srv")),
            r"iotoll compare 'disk=it'\''s/logs' ram=/dev/shm --study log --strategy held --set 'log.sync=each,every 100' --set log.record=137 --per-second 230"
        );
        let here = Command::new("files", "", 0.0).above("/srv/app.log");
        assert_eq!(here.text(Some("/srv")), "iotoll compare --study files");
    }

    #[test]
    fn folders_are_named_from_where_one_stands() {
        let from = |folder| relative(folder, Some("/srv/app"));
        assert_eq!(from("/srv/app"), None);
        assert_eq!(from("/srv/app/data"), Some("data"));
        assert_eq!(from("/srv/application"), Some("/srv/application"));
        assert_eq!(from("data"), None);
        assert_eq!(relative("/srv", None), Some("/srv"));
    }

    #[test]
    fn rates_have_two_digits() {
        let written = [12_345.0, 231.7, 9.96, 0.512, 0.033_33].map(rate);
        let expected = ["12000", "230", "10", "0.51", "0.033"].map(|text| Some(text.to_owned()));
        assert_eq!(written, expected);
        assert_eq!([0.0, f64::NAN, f64::INFINITY].map(rate), [None, None, None]);
    }
}
