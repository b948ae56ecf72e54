//! Names are looked up again and again, or in one folder after the other.

use std::collections::BTreeSet;

use super::Evidence;
use crate::bill::{FileUse, Kind, Looks, text};
use crate::pattern::{Pattern, PatternKind};

/// A program that starts looks for its libraries and settings some hundred times.
const MANY: u64 = 1000;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Pattern> {
    let Some(kind) = evidence.bill.kinds.iter().find(|kind| kind.kind == Kind::Look) else {
        return Vec::new();
    };
    let Looks { times: looks, missing, ns } = evidence.uses.looks();
    if looks < MANY {
        return Vec::new();
    }
    let again = evidence.uses.files().map(|(_, file)| file.looks.saturating_sub(1)).sum();
    let per_second = evidence.per_second(looks);
    let path = kind.folder.clone().unwrap_or_else(|| text(b"/"));
    let searched = searched(evidence);
    let what = PatternKind::Looks { path, looks, again, missing, searched, per_second };
    let pattern = evidence.pattern(what, ns);
    // What the kernel has in memory it has there on any storage.
    let is_in_memory = kind.cost.mostly_waits() == Some(false);
    let command = if is_in_memory { String::new() } else { pattern.command };
    vec![Pattern { command, ..pattern }]
}

/// How many times a name was not there that was found in another folder.
fn searched(evidence: &Evidence<'_>) -> u64 {
    let files = || evidence.uses.files().map(|(path, file)| (name(path), file));
    let was_found = |file: &FileUse| file.calls > file.missing.calls;
    let found: BTreeSet<&[u8]> =
        files().filter(|(_, file)| was_found(file)).map(|(name, _)| name).collect();
    let is_searched = |name: &[u8], file: &FileUse| !was_found(file) && found.contains(name);
    files().filter(|(name, file)| is_searched(name, file)).map(|(_, file)| file.missing.calls).sum()
}

fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}
