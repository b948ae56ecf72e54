//! What to do, as far as a run proved it, and the lines that do it.

use std::path::{Path, PathBuf};

use model::analysis::Verdict;
use model::trial::{TriedAdvice, TriedCondition, TriedRow, TriedVariant};
use trial::Trial;
use units::{percent, quoted};

use super::found::scratch_of;
use super::recorded::RecordedRun;

/// Advice for the rows that surely save time. What is only a bound is none of them.
pub(crate) fn advice(rows: &[TriedRow], recorded: &RecordedRun, trial: &Trial) -> Vec<TriedAdvice> {
    let alone = rows.iter().any(|row| row.variant == TriedVariant::InRam && saves(row));
    let advised = rows.iter().enumerate().filter(|(_, row)| {
        // One folder that saves says more than all of them.
        saves(row) && (row.variant == TriedVariant::InRam || !alone)
    });
    advised.filter_map(|(at, row)| of_row(at, row, recorded, trial)).collect()
}

fn saves(row: &TriedRow) -> bool {
    row.verdict == Some(Verdict::Faster)
        && matches!(row.variant, TriedVariant::InRam | TriedVariant::AllInRam)
}

fn of_row(at: usize, row: &TriedRow, recorded: &RecordedRun, trial: &Trial) -> Option<TriedAdvice> {
    let moved = match &row.folder {
        Some(moved) => vec![trial.folder.join(moved)],
        None => trial.copied().0.into_iter().map(|copied| within(copied, &trial.folder)).collect(),
    };
    let saved = percent(1.0 - row.ratio?);
    let name = row.folder.clone().unwrap_or_else(|| "the files that it changes".to_owned());
    let remedies = moved.iter().enumerate().map(|(number, folder)| remedy(folder, number));
    let (apply, undo): (Vec<_>, Vec<_>) = remedies.unzip();
    let (apply, undo) = (apply.concat(), undo.concat());
    let alone = moved.first().filter(|_| row.folder.is_some());
    let scratch = alone.and_then(|folder| Some((folder, scratch_of(folder, recorded)?)));
    let Some((folder, scratch)) = scratch else {
        return Some(TriedAdvice {
            condition: TriedCondition::CanBeMadeAgain,
            row: at,
            text: format!("put {name} in ram: saves {saved} of its time."),
            apply,
            undo,
        });
    };
    let share = percent(row.scratch.unwrap_or(scratch.share));
    let (condition, why) = if scratch.synced {
        (TriedCondition::NotAfterCrash, "it syncs files that it removes again")
    } else {
        (TriedCondition::None, "nothing can be lost")
    };
    let how = if is_for_scratch(folder) { "put TMPDIR on tmpfs" } else { "put it on tmpfs" };
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

/// What is copied may be more than the working folder, for the sake of links between folders.
fn within(copied: PathBuf, folder: &Path) -> PathBuf {
    if folder.starts_with(&copied) { folder.to_owned() } else { copied }
}

fn is_for_scratch(folder: &Path) -> bool {
    let named = std::env::var_os("TMPDIR").unwrap_or_else(|| "/tmp".into());
    folder == Path::new(&named)
}

/// Lines that put a folder in memory, the so-and-so-many'th of some, and those that undo it.
fn remedy(folder: &Path, number: usize) -> (Vec<String>, Vec<String>) {
    let path = folder.display().to_string();
    let moved = match number {
        0 => "/dev/shm/moved".to_owned(),
        _ => format!("/dev/shm/moved-{}", number + 1),
    };
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
        format!("cp -a {shown} {moved} && mount --bind {moved} {shown}"),
        format!("fstab: tmpfs {escaped} tmpfs size=1G,mode=0755 0 0"),
        format!("[Service] TemporaryFileSystem={path}"),
    ];
    let undo = vec![
        format!("umount {shown} && mv {shown} {before} && cp -a {moved} {shown} && rm -r {moved}"),
        "remove the line of fstab or of [Service]".to_owned(),
    ];
    (apply, undo)
}
