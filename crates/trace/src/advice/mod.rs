//! Advice that knows the program: settings of well-known programs, priced from the recording.
//!
//! [`programs`] is the knowledge, a table without code. A topic of it applies where its program ran
//! and did such calls on such files; how many there were and how long they took is its price, the
//! most that a change can save.

mod glob;
mod programs;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use self::glob::matches;
use self::programs::{Calls, TOPICS, Topic};
use crate::advised::Advice;
use crate::bill::{Bill, FileUse, Tally, Uses, above, is_in, text};
use crate::patterns::WORTH_TELLING;

/// The pattern of a topic about calls on any file.
const ANY_FILE: &str = "*";
/// Programs that start others and do little with files.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "env", "timeout"];

/// All topics that apply, the one with the most time first.
pub(crate) fn find(bill: &Bill, uses: &Uses) -> Vec<Advice> {
    let known = TOPICS.iter().filter(|topic| is_known(topic, bill, uses));
    let mut all: Vec<Advice> = known.filter_map(|topic| priced(topic, bill, uses)).collect();
    all.sort_by_key(|advice| Reverse(advice.summed_ns));
    all
}

/// Whether a topic's program ran. Calls on any file are its own only where no other program ran.
fn is_known(topic: &Topic, bill: &Bill, uses: &Uses) -> bool {
    let mut ran = std::iter::once(bill.header.program.as_str()).chain(uses.programs());
    let is_known = |name: &str| topic.programs.iter().any(|known| is_program(name, known));
    if topic.files.contains(&ANY_FILE) {
        return ran.clone().any(is_known)
            && ran.all(|name| is_known(name) || SHELLS.contains(&name));
    }
    let marks = || topic.programs.iter().filter(|known| known.contains('/'));
    topic.programs.is_empty()
        || ran.any(is_known)
        || uses.files().any(|(path, _)| marks().any(|mark| matches(mark, path)))
}

/// What a topic's calls cost; none where that is not worth telling.
fn priced(topic: &Topic, bill: &Bill, uses: &Uses) -> Option<Advice> {
    let is_about = |path: &[u8]| topic.files.iter().any(|pattern| matches(pattern, path));
    let (mut calls, mut summed_ns) = (0_u64, 0_u64);
    let mut paths = BTreeSet::new();
    for (path, file) in uses.files().filter(|(path, _)| is_about(path)) {
        let (of_file, ns) = cost(topic.calls, file, bill.processes);
        if of_file > 0 {
            calls = calls.saturating_add(of_file);
            summed_ns = summed_ns.saturating_add(ns);
            paths.insert(path);
        }
    }
    let share = bill.part_of(summed_ns);
    let worth_it = calls > 0 && share >= WORTH_TELLING;
    worth_it.then(|| Advice {
        program: topic.program,
        subject: topic.subject,
        path: text(folder_of(&paths)),
        files: paths.len() as u64,
        calls,
        summed_ns,
        share,
        changes: topic.changes,
    })
}

/// How many calls on a file a topic is about, and how long they took.
fn cost(calls: Calls, file: &FileUse, processes: u64) -> (u64, u64) {
    match calls {
        Calls::Asked => (file.asked.calls, file.asked.ns),
        Calls::ResolvedAgain => {
            let Tally { calls, ns } = file.resolved;
            let again = calls.saturating_sub(processes);
            (again, ns / calls.max(1) * again)
        }
        Calls::Missing => (file.missing.calls, file.missing.ns),
        Calls::All => (file.calls, file.all_ns()),
        Calls::OfMany(_, processes_min) if processes < processes_min => (0, 0),
        Calls::Of(kinds) | Calls::OfMany(kinds, _) => {
            kinds.iter().fold((0, 0), |(calls, ns), kind| {
                (calls + file.kind_calls(*kind), ns.saturating_add(file.kind_ns(*kind)))
            })
        }
    }
}

/// The deepest folder that has all of these paths, which are sorted.
fn folder_of<'a>(paths: &BTreeSet<&'a [u8]>) -> &'a [u8] {
    let (Some(first), Some(last)) = (paths.first(), paths.last()) else { return b"/" };
    let mut folder = above(first);
    while !is_in(last, folder) {
        folder = above(folder);
    }
    folder
}

/// Whether a program's name is this one, or this one with a version or another target before or
/// behind it: `php8.2`, `aarch64-linux-gnu-gcc-13`.
fn is_program(name: &str, known: &str) -> bool {
    let end = name.rfind(known).map(|at| (at, at + known.len()));
    end.is_some_and(|(begin, end)| {
        let is_version = |rest: &str| {
            rest.chars().all(|char| char.is_ascii_digit() || matches!(char, '.' | '-'))
        };
        let is_target = name[..begin].is_empty() || name[..begin].ends_with('-');
        is_target && is_version(&name[end..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advised::Change;

    #[test]
    fn programs_are_known_with_their_versions() {
        for (name, known) in [
            ("php", "php"),
            ("php8.2", "php"),
            ("php-fpm8.2", "php-fpm"),
            ("gcc-13", "gcc"),
            ("aarch64-linux-gnu-gcc-13", "gcc"),
        ] {
            assert!(is_program(name, known), "{name}");
        }
        for (name, known) in [("phpunit", "php"), ("egcc", "gcc"), ("legit", "git"), ("", "git")] {
            assert!(!is_program(name, known), "{name}");
        }
    }

    #[test]
    fn a_folder_has_all_of_its_paths() {
        let of = |paths: &[&'static str]| {
            text(folder_of(&paths.iter().map(|path| path.as_bytes()).collect()))
        };
        assert_eq!(of(&["/pg/pg_wal/1", "/pg/pg_wal/2"]), "/pg/pg_wal");
        assert_eq!(of(&["/pg/a/1", "/pg/ab/2"]), "/pg");
        assert_eq!(of(&["/a/1", "/b/2"]), "/");
        assert_eq!(of(&["/a/1"]), "/a");
    }

    /// Fails where a change does not say what it loses, or how to take it back.
    #[test]
    fn every_topic_is_whole() {
        for Topic { program, subject, files, changes, .. } in TOPICS {
            assert!(!files.is_empty() && !changes.is_empty(), "{program}: {subject}");
            for Change { set, promises, loses, undo } in *changes {
                for text in [promises, loses, undo] {
                    assert!(!text.is_empty() && !text.ends_with('.'), "{program}, {set}: {text}");
                }
            }
        }
    }
}
