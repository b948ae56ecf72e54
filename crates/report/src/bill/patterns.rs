//! What a program does that may pay to be done another way, each with the command that tells.

use model::printable::printable;
use trace::{Bill, Database, Kind, Pattern, PatternKind, Unseen};
use units::{count, counted, percent, rough_size, time, two_digits};

use super::names::{file, folder, shortened};
use crate::text::{Width, heading, paragraph};

/// What is said of names that are looked up, where the answer is known beforehand.
const FROM_MEMORY: &str =
    " The kernel has the names in memory, so no other storage helps: look up fewer.";
/// The longest that a name is within a sentence.
const NAME_CHARS: usize = 60;
/// What stands before a command.
const INDENT: &str = "    ";

/// As many as there is room for, the first in any case.
pub(super) fn all(bill: &Bill, lines_max: usize, width: Width) -> String {
    if bill.patterns.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}", heading("What it does that may pay to be done another way"));
    let mut told = 0;
    for pattern in &bill.patterns {
        let mut sentence = sentence(bill, pattern);
        if pattern.command.is_empty() {
            sentence += FROM_MEMORY;
        }
        let mut text = paragraph("• ", "  ", &sentence, width);
        if names_are_of_this_machine(bill) && !pattern.command.is_empty() {
            text += &command(&pattern.command, width);
        }
        // The last line is for what is left out.
        let lines = out.lines().count() + text.lines().count() + 1;
        if told > 0 && lines > lines_max {
            break;
        }
        out += &text;
        told += 1;
    }
    if told < bill.patterns.len() {
        let more = (bill.patterns.len() - told) as u64;
        out += &format!("And {}: --full.\n", counted(more, "more pattern"));
    }
    out
}

/// Whether a folder that the program named is the one of that name here. If not, a command would
/// measure another.
fn names_are_of_this_machine(bill: &Bill) -> bool {
    bill.container.is_some() || !bill.has_unseen(Unseen::Namespaces)
}

fn sentence(bill: &Bill, pattern: &Pattern) -> String {
    let share = percent(pattern.share);
    match &pattern.what {
        PatternKind::Reopened { path, times, record_bytes, per_second, synced } => format!(
            "{} is opened, written{} and closed for each record: {} of {}, {}. Opening and closing \
             take {share} of the time.",
            named(bill, path),
            if *synced { ", forced to the device" } else { "" },
            counted(*times, "record"),
            rough_size(*record_bytes),
            rate(*per_second)
        ),
        PatternKind::SyncedEach { path, syncs, record_bytes, per_second, .. } => format!(
            "{} is forced to the device after each write: {}, {}, of writes of {} on average. \
             {} takes {share} of the time.",
            named(bill, path),
            counted(*syncs, "sync"),
            rate(*per_second),
            rough_size(*record_bytes),
            if waits_for_syncs(bill) == Some(false) { "That" } else { "Waiting for that" }
        ),
        PatternKind::SmallWrites { path, writes, write_bytes, per_second } => format!(
            "{} is written {} at a time: {}, {}, which take {share} of the time.",
            named(bill, path),
            rough_size(*write_bytes),
            counted(*writes, "write"),
            rate(*per_second)
        ),
        PatternKind::Replaced { path, files, times, file_bytes, per_second } => format!(
            "A rename puts a new file of {} in the place of {}: {}, {}. The renames take {share} of \
             the time.",
            rough_size(*file_bytes),
            all_of(bill, path, *files),
            counted(*times, "time"),
            rate(*per_second)
        ),
        PatternKind::ReadAgain { path, files, times, total_bytes, per_second: _ } => {
            let [are, have] = if *files == 1 { ["is", "it has"] } else { ["are", "they have"] };
            format!(
                "{} {are} opened and read again although {have} not changed: {}, {} for all of \
                 it, which takes {share} of the time.",
                all_of(bill, path, *files),
                counted(*times, "time"),
                rough_size(*total_bytes)
            )
        }
        PatternKind::Looks { path, looks, again, missing, searched, per_second } => format!(
            "Names are looked up again and again, mostly in {}: {}, {}; at least {} for a name \
             looked up before, {}. That takes {share} of the time.",
            folder(bill, path),
            counted(*looks, "time"),
            rate(*per_second),
            count(*again),
            found_nothing(*missing, *searched)
        ),
        PatternKind::Locks { path, locks, threads, longest_ns, per_second, .. } => format!(
            "{} for the lock on {}: {}, {}, the longest wait {}. That takes {share} of the time.",
            waiting(*threads),
            named(bill, path),
            counted(*locks, "lock"),
            rate(*per_second),
            time(*longest_ns as f64)
        ),
        PatternKind::Sqlite(database) => of_database(bill, database, &share),
    }
}

fn waiting(threads: u64) -> String {
    if threads == 1 { "1 thread waits".to_owned() } else { format!("{threads} threads wait") }
}

/// The file, or how many there are in the folder.
fn all_of(bill: &Bill, path: &str, files: u64) -> String {
    match files {
        1 => named(bill, path),
        _ => format!("{} files in {}", count(files), folder(bill, path)),
    }
}

/// Looks without success, and those of them that are the price of a search path.
fn found_nothing(missing: u64, searched: u64) -> String {
    let missing = format!("{} without success", count(missing));
    if searched == 0 {
        return missing;
    }
    format!("{missing}; {} in a folder of a search path before the right one", count(searched))
}

/// Whether syncs mostly wait; none where nobody saw it.
fn waits_for_syncs(bill: &Bill) -> Option<bool> {
    let syncs = bill.kinds.iter().find(|cost| cost.kind == Kind::Sync);
    syncs.and_then(|syncs| syncs.cost.mostly_waits())
}

fn of_database(bill: &Bill, database: &Database, share: &str) -> String {
    format!(
        "{} is a database of SQLite, journal mode {}: {} by {}, {}, each with {} writes and {} syncs \
         of its files on average. All calls on it take {share} of the time.",
        named(bill, &database.path),
        database.journal.name(),
        counted(database.transactions, "transaction"),
        // One that was there before the recording was not opened in it.
        counted(database.opens.max(1), "connection"),
        rate(database.per_second),
        two_digits(database.writes_per_transaction),
        two_digits(database.syncs_per_transaction)
    )
}

/// A file, with as much of its path as a sentence bears.
fn named(bill: &Bill, path: &str) -> String {
    shortened(&file(bill, path), NAME_CHARS)
}

fn rate(per_second: f64) -> String {
    format!("{} a second", two_digits(per_second))
}

/// A command that can be pasted, over several lines if it must.
fn command(command: &str, width: Width) -> String {
    let mut lines: Vec<String> = Vec::new();
    let room = width.saturating_sub(INDENT.len() + " \\".len());
    for word in words(&printable(command)) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                *line += &format!(" {word}");
            }
            _ => lines.push(word),
        }
    }
    lines.iter().map(|line| format!("{INDENT}{line}")).collect::<Vec<_>>().join(" \\\n") + "\n"
}

/// The words of a command, quoted as they are, and each flag with its value.
fn words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut in_quotes = false;
    let mut goes_on = false;
    for part in command.split(' ') {
        let quotes = part.matches('\'').count() - part.matches(r"\'").count();
        match words.last_mut() {
            Some(word) if goes_on => *word += &format!(" {part}"),
            _ => words.push(part.to_owned()),
        }
        in_quotes ^= quotes % 2 == 1;
        goes_on = in_quotes || part.starts_with("--");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_can_still_be_pasted() {
        let long =
            "iotoll compare --study log --set 'log.sync=each,every 100,never' --set log.record=137";
        let expected = "    iotoll compare --study log \\\n    --set 'log.sync=each,every 100,never' \\\n    \
                        --set log.record=137\n";
        assert_eq!(command(long, 45), expected);
        let joined =
            |text: &str| text.replace(" \\\n", "").split_whitespace().collect::<Vec<_>>().join(" ");
        for width in 44..120 {
            let text = command(long, width);
            assert_eq!(joined(&text), long);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        }
        assert_eq!(words(r"a 'it'\''s so' b"), ["a", r"'it'\''s so'", "b"]);
    }
}
