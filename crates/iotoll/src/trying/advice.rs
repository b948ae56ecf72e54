//! What to do, as far as a run proved it, and the lines that do it.

use std::path::Path;

use model::analysis::Verdict;
use model::trial::{TriedAdvice, TriedCondition, TriedRow, TriedVariant};
use units::{percent, quoted};

use super::found::scratch_of;
use super::recorded::RecordedRun;

/// Advice for the rows that surely save time. What is only a bound is none of them.
pub(crate) fn advice(rows: &[TriedRow], recorded: &RecordedRun, folder: &Path) -> Vec<TriedAdvice> {
    let alone = rows.iter().any(|row| row.variant == TriedVariant::InRam && saves(row));
    let advised = rows.iter().enumerate().filter(|(_, row)| {
        // One folder that saves says more than all of them.
        saves(row) && (row.variant == TriedVariant::InRam || !alone)
    });
    advised.filter_map(|(at, row)| of_row(at, row, recorded, folder)).collect()
}

fn saves(row: &TriedRow) -> bool {
    row.verdict == Some(Verdict::Faster)
        && matches!(row.variant, TriedVariant::InRam | TriedVariant::AllInRam)
}

fn of_row(at: usize, row: &TriedRow, recorded: &RecordedRun, folder: &Path) -> Option<TriedAdvice> {
    let moved = match &row.folder {
        Some(moved) => folder.join(moved),
        None => folder.to_owned(),
    };
    let saved = percent(1.0 - row.ratio?);
    let name = row.folder.clone().unwrap_or_else(|| "the files that it changes".to_owned());
    let (apply, undo) = remedy(&moved);
    let Some(scratch) = scratch_of(&moved, recorded).filter(|_| row.folder.is_some()) else {
        return Some(TriedAdvice {
            condition: TriedCondition::CanBeMadeAgain,
            row: at,
            text: format!("put {name} in ram: saves {saved} of its time."),
            apply,
            undo,
        });
    };
    let share = percent(scratch.share.min(1.0));
    let (condition, why) = if scratch.synced {
        (TriedCondition::NotAfterCrash, "it syncs files that it removes again")
    } else {
        (TriedCondition::None, "nothing can be lost")
    };
    let how = if is_for_scratch(&moved) { "put TMPDIR on tmpfs" } else { "put it on tmpfs" };
    Some(TriedAdvice {
        condition,
        row: at,
        text: format!(
            "{share} of its time is files in {name} that it removes again: {how} ({why}). Saves \
             {saved} of its time."
        ),
        apply,
        undo,
    })
}

fn is_for_scratch(folder: &Path) -> bool {
    let named = std::env::var_os("TMPDIR").unwrap_or_else(|| "/tmp".into());
    folder == Path::new(&named)
}

/// Lines that put a folder in memory, and those that undo it.
fn remedy(folder: &Path) -> (Vec<String>, Vec<String>) {
    let path = folder.display().to_string();
    let (shown, before) = (quoted(&path), quoted(&format!("{path}.before")));
    if is_for_scratch(folder) {
        let apply = vec![
            "export TMPDIR=/dev/shm".to_owned(),
            "[Service] Environment=TMPDIR=/dev/shm".to_owned(),
        ];
        return (apply, vec!["unset TMPDIR".to_owned(), "remove the line of [Service]".to_owned()]);
    }
    // As fstab(5) has it.
    let escaped = path.replace('\\', "\\134").replace(' ', "\\040");
    let apply = vec![
        format!("cp -a {shown} /dev/shm/moved && mount --bind /dev/shm/moved {shown}"),
        format!("fstab: tmpfs {escaped} tmpfs size=1G,mode=0755 0 0"),
        format!("[Service] TemporaryFileSystem={path}"),
    ];
    let undo = vec![
        format!(
            "umount {shown} && mv {shown} {before} && cp -a /dev/shm/moved {shown} && rm -r \
             /dev/shm/moved"
        ),
        "remove the line of fstab or of [Service]".to_owned(),
    ];
    (apply, undo)
}
