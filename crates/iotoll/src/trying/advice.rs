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
    let (apply, undo): (Vec<_>, Vec<_>) = moved.iter().map(|folder| remedy(folder)).unzip();
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

/// What comes before lines that exchange a folder.
const STOPPED: &str = "# as root, while nothing uses the folder:";

/// What is copied may be more than the working folder, for the sake of links between folders.
fn within(copied: PathBuf, folder: &Path) -> PathBuf {
    if folder.starts_with(&copied) { folder.to_owned() } else { copied }
}

fn is_for_scratch(folder: &Path) -> bool {
    let named = std::env::var_os("TMPDIR").unwrap_or_else(|| "/tmp".into());
    folder == Path::new(&named)
}

/// Lines that put a folder in memory, and lines that undo it. They mount a tmpfs for it, since systemd
/// empties `/dev/shm` of an ordinary user's files at logout (`RemoveIPC` of `logind.conf(5)`). Each line
/// stops if a name that it needs exists, and removes nothing that has no copy elsewhere.
fn remedy(folder: &Path) -> (Vec<String>, Vec<String>) {
    // Without the slash at its end, with which `.ram` would be a name inside the folder.
    let path = folder.components().collect::<PathBuf>().display().to_string();
    let [shown, ram, new, before] =
        ["", ".ram", ".new", ".before"].map(|end| quoted(&format!("{path}{end}")));
    if is_for_scratch(folder) {
        let apply = vec![
            "export TMPDIR=/dev/shm".to_owned(),
            format!("[Service] TemporaryFileSystem={}", for_systemd(&format!("{path}:mode=1777"))),
        ];
        return (apply, vec!["unset TMPDIR".to_owned(), "remove the line of [Service]".to_owned()]);
    }
    // As fstab(5) has it.
    let escaped = path.replace('\\', "\\134").replace(' ', "\\040");
    let escaped = escaped.replace('\t', "\\011").replace('\n', "\\012");
    let apply = vec![
        STOPPED.to_owned(),
        format!(
            "mkdir {ram} && mount -t tmpfs -o mode=0755 tmpfs {ram} && cp -aT {shown} {ram} && mount --bind {ram} \
             {shown}"
        ),
        "# or, empty after each start:".to_owned(),
        format!("fstab: tmpfs {escaped} tmpfs size=1G,mode=0755 0 0"),
        format!("[Service] TemporaryFileSystem={}", for_systemd(&path)),
    ];
    let undo = vec![
        STOPPED.to_owned(),
        format!(
            "mkdir {new} && cp -aT {ram} {new} && sync -f {new} && umount {shown} && mv -T {shown} {before} && \
             mv -T {new} {shown} && umount {ram} && rmdir {ram}"
        ),
        "remove the line of fstab or of [Service]".to_owned(),
    ];
    (apply, undo)
}

/// A word as units have it: systemd.syntax(7), and `%` as systemd.unit(5) escapes it.
fn for_systemd(word: &str) -> String {
    let escaped = word.replace('%', "%%");
    if !escaped.contains([' ', '\t', '\n', '"', '\'', '\\']) {
        return escaped;
    }
    let escaped = escaped.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stderr)]

    use std::fs;
    use std::process::Command;

    use super::*;

    /// Fails where what is to be typed loses a file, leaves one behind, or moves nothing.
    #[test]
    fn a_folder_is_moved_to_ram_and_back() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("a shop");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("old"), "old").unwrap();
        // As the working folder is named within itself.
        let (apply, undo) = remedy(&folder.join(""));
        let unit = format!("[Service] TemporaryFileSystem=\"{}\"", folder.display());
        assert_eq!(apply[4], unit);
        let lines =
            [&*apply[1], "stat -f -c %T \"$0\"", "echo new > \"$0/new\"", &undo[1]].join("\n");
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--mount", "sh", "-ec", &lines]).arg(&folder);
        let output = unshare.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if said.starts_with("unshare") {
            return eprintln!("SKIPPED: a_folder_is_moved_to_ram_and_back: {said}");
        }
        assert!(output.status.success(), "{lines}: {said}");
        assert_eq!(output.stdout, b"tmpfs\n");
        let names = |folder: &Path| {
            let entries = fs::read_dir(folder).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(top.path()), ["a shop", "a shop.before"]);
        assert_eq!(names(&folder), ["new", "old"]);
        assert_eq!(names(&top.path().join("a shop.before")), ["old"]);
    }
}
