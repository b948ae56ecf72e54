//! The cache: compiled templates, and the manifest that lists what they and the
//! class map were made from.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing, StudyError};
use rustix::fs::fstat;
use serde::{Deserialize, Serialize};

use super::sources::{Source, Tree};
use crate::atomic_replace::Put;
use crate::file::{open_folder, open_for_reading, read_whole};
use crate::tree::{entries, sync_tree};

/// The folder that the cache is in.
pub(super) const FOLDER: &CStr = c"cache";
pub(super) const MANIFEST: &CStr = c"cache/manifest.json";
const READING: &str = "reading the cache";

/// One source as the manifest lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) path: String,
    modified_ns: i64,
    bytes: u64,
    hash: u64,
}

impl Entry {
    pub(super) fn of(source: &Source) -> Self {
        Self {
            path: source.path.clone(),
            modified_ns: source.modified_ns,
            bytes: source.contents.len() as u64,
            hash: source.hash,
        }
    }
}

/// A template as the page runs it: each `{{ name }}` has become a call.
pub(super) fn compile(template: &[u8]) -> Vec<u8> {
    const OPEN: &[u8] = b"<?= escape($";
    const CLOSE: &[u8] = b") ?>";
    let mut compiled = Vec::with_capacity(template.len() * 5 / 4);
    let mut rest = template;
    while let Some(at) = rest.windows(2).position(|pair| pair == b"{{" || pair == b"}}") {
        let opens = rest[at] == b'{';
        let before = if opens { &rest[..at] } else { rest[..at].trim_ascii_end() };
        compiled.extend_from_slice(before);
        compiled.extend_from_slice(if opens { OPEN } else { CLOSE });
        rest = if opens { rest[at + 2..].trim_ascii_start() } else { &rest[at + 2..] };
    }
    compiled.extend_from_slice(rest);
    compiled
}

/// Writes the compiled templates, and the manifest last; says how many bytes.
pub(super) fn write(
    folder: &OwnedFd,
    tree: &Tree,
    sources: &[Source],
    put: Put,
    timer: &mut SliceTimer,
) -> Result<u64, StudyError> {
    let entries: Vec<Entry> = sources.iter().map(Entry::of).collect();
    let mut written = 0;
    for source in sources.iter().filter(|source| tree.is_template(&source.path)) {
        let compiled = compile(&source.contents);
        put.file(folder, &tree.compiled(&source.path), &compiled, timer)?;
        written += compiled.len() as u64;
    }
    let manifest = manifest(&entries);
    put.file(folder, MANIFEST, &manifest, timer)?;
    put.names(folder, FOLDER, timer)?;
    Ok(written + manifest.len() as u64)
}

/// What the manifest says.
pub(super) fn manifest(entries: &[Entry]) -> Vec<u8> {
    let Ok(manifest) = serde_json::to_vec(entries) else {
        unreachable!("numbers and texts have a form in JSON")
    };
    manifest
}

/// Gets the cache to the device.
pub(super) fn sync(folder: &OwnedFd) -> Result<(), StudyError> {
    sync_tree(open_folder(folder, FOLDER).doing("opening the cache's folder")?)
}

/// The manifest, and how many bytes it has.
pub(super) fn load_manifest(folder: &OwnedFd) -> Result<(Vec<Entry>, u64), StudyError> {
    let text = load_file(folder, MANIFEST)?;
    let entries = serde_json::from_slice(&text).map_err(|e| StudyError::Refused {
        doing: READING,
        why: format!("the manifest is broken: {e}"),
    })?;
    Ok((entries, text.len() as u64))
}

/// How many files there are.
pub(super) fn files(folder: &OwnedFd) -> Result<u64, StudyError> {
    let opened = open_folder(folder, FOLDER).doing(READING)?;
    Ok(entries(opened).doing(READING)?.len() as u64)
}

/// One of the cache's files.
pub(super) fn load_file(folder: &OwnedFd, path: &CStr) -> Result<Vec<u8>, StudyError> {
    let file = open_for_reading(folder, path).doing(READING)?;
    let mut contents = vec![0; fstat(&file).doing(READING)?.st_size as usize];
    read_whole(file, &mut contents, READING)?;
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_calls_and_the_rest_stays() {
        let compiled = compile(b"<b>{{ user.name }}</b> {{x}} {{ cut");
        let text = String::from_utf8_lossy(&compiled);
        assert_eq!(text, "<b><?= escape($user.name) ?></b> <?= escape($x) ?> <?= escape($cut");
    }
}
