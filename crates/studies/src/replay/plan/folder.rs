//! Which folder is replayed, where the user does not say it: the working folder of the recorded
//! command if it wrote there, or else the one that all files are in that it wrote.

use std::collections::HashMap;

use trace::Op;

use super::paths::{below, common, parent, whole};
use super::program::PathNumber;
use super::recording::{EventKind, OpenNumber, Recorded, Recording};

/// What is in these is no data of an application.
const NOT_DATA: [&[u8]; 4] = [b"/dev", b"/proc", b"/sys", b"/run/user"];

/// The folder, absolute.
///
/// # Errors
/// In words, where none suggests itself.
pub(crate) fn chosen(recording: &Recording) -> Result<Vec<u8>, String> {
    let began_in = recording.began_in.map(|path| recording.path(path));
    let began_in = began_in.filter(|path| path.starts_with(b"/") && *path != b"/");
    let mut all: Option<Vec<u8>> = None;
    let mut within = false;
    for path in written(recording).into_iter().map(|path| recording.path(path)) {
        let is_data = NOT_DATA.iter().all(|folder| below(folder, path).is_none());
        if !path.starts_with(b"/") || !is_data {
            continue;
        }
        let folder = parent(path).filter(|folder| !folder.is_empty()).unwrap_or(b"/");
        all = Some(all.map_or(folder.to_vec(), |all| common(&all, folder).to_vec()));
        within |= began_in.is_some_and(|began_in| below(began_in, path).is_some());
    }
    let folder = match (began_in, all) {
        (Some(began_in), Some(_)) if within => began_in.to_vec(),
        (_, Some(all)) => all,
        (Some(began_in), None) => began_in.to_vec(),
        (None, None) => b"/".to_vec(),
    };
    if folder == b"/" {
        return Err("the files of the recorded program are all over the file system; name the \
                    folder that is to be moved, as in --set replay.folder=/var/lib/app"
            .to_owned());
    }
    Ok(folder)
}

/// A folder that the user names.
///
/// # Errors
/// In words, where it is none that can be meant.
pub(crate) fn named(text: &str) -> Result<Vec<u8>, String> {
    match whole(text.as_bytes()) {
        Some(folder) if folder != b"/" => Ok(folder),
        _ => Err(format!(
            "replay.folder is {text}, and must be the path of a folder from / on, other than / \
             itself, as in --set replay.folder=/var/lib/app"
        )),
    }
}

/// The files that were written or made, by their paths.
fn written(recording: &Recording) -> Vec<PathNumber> {
    const MAKING: u64 = (libc::O_CREAT | libc::O_TRUNC) as u64;
    let inherited = recording.inherited.iter().map(|(number, was)| (*number, was.path));
    let mut opened: HashMap<OpenNumber, PathNumber> = inherited.collect();
    let mut found = Vec::new();
    for event in &recording.events {
        let EventKind::Ends(number) = event.what else { continue };
        let Recorded { call, file, made, path, to, .. } = &recording.calls[number as usize];
        if call.failed() {
            continue;
        }
        match call.op {
            Op::Open => {
                if let (Some(made), Some(path)) = (made, path) {
                    opened.insert(*made, *path);
                }
                found.extend(path.filter(|_| call.flags & MAKING != 0));
            }
            Op::Write | Op::Allocate | Op::Truncate => {
                let held = file.and_then(|file| opened.get(&file).copied());
                found.extend(path.or(held));
            }
            Op::Mkdir | Op::Unlink => found.extend(path),
            Op::Rename => found.extend(to),
            _ => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
