//! Work with files that the program could leave out.

use trace::{Bill, Needless, NeedlessKind};
use units::{counted, percent, rough_size};

use super::names::{folder, shortened};
use crate::text::{Width, heading, paragraph};

/// As many are told where not all are asked for.
const TOLD: usize = 3;
/// The longest that a name is within a sentence.
const NAME_CHARS: usize = 60;

pub(super) fn all(bill: &Bill, full: bool, width: Width) -> String {
    if bill.needless.is_empty() {
        return String::new();
    }
    let told = bill.needless.iter().take(if full { usize::MAX } else { TOLD });
    let lines = told.map(|one| paragraph("• ", "  ", &sentence(bill, one), width));
    format!("\n{}{}", heading("What it could leave out"), lines.collect::<String>())
}

fn sentence(bill: &Bill, one: &Needless) -> String {
    let Needless { kind, times, bytes, share, .. } = one;
    let place = shortened(&folder(bill, &one.folder), NAME_CHARS);
    let (share, bytes) = (percent(*share), rough_size(*bytes));
    match kind {
        NeedlessKind::Scratch => {
            let files = counted(*times, "file");
            let were = if *times == 1 { "was" } else { "were" };
            format!(
                "Scratch files: {files} below {place} {were} made and removed again, {share} of the time. \
                 Memory would do for them."
            )
        }
        NeedlessKind::Overwritten => format!(
            "{bytes} were written below {place} over what was not forced to the device yet: {share} of \
             the time."
        ),
        NeedlessKind::ReadTwice => format!(
            "{bytes} were read again below {place} and had not changed: {share} of the time."
        ),
        NeedlessKind::SyncedThenRemoved => format!(
            "{} of files below {place} that were removed later: {share} of the time. Leave them out only \
             if nothing needs these files after a crash.",
            counted(*times, "sync")
        ),
        NeedlessKind::SmallReads => format!(
            "{} of at most 512 bytes below {place}: {share} of the time.",
            counted(*times, "read")
        ),
    }
}
