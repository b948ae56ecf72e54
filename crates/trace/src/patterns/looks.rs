//! Names are looked up again and again.

use super::Evidence;
use crate::bill::{Kind, Looks, text};
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
    let what = PatternKind::Looks { path, looks, again, missing, per_second };
    vec![evidence.pattern(what, ns)]
}
