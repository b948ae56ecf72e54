//! What of a folder could be named instead of it, found at little cost.

use std::path::Path;

use rustix::fs::{CWD, Dir, OFlags};

use super::{Effort, look};
use crate::user_data::source::open_untouched;

/// So many names of a folder are read …
const NAMES_MAX: usize = 512;
/// … so many of them are looked at …
const LOOKS_MAX: usize = 24;
/// … and so many are suggested.
const SUGGESTED_MAX: usize = 3;
/// As little as tells what it is.
const GLANCE: Effort = Effort { entries_max: 1024, tail_bytes: 64 << 10 };

/// What a folder has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// Whether it has anything that is not hidden.
    pub has_files: bool,
    /// Paths that are recognised, at most three.
    pub paths: Vec<String>,
}

/// What is in a folder, or in one within it that is nothing by itself, as far as that is found
/// at little cost; nothing where it cannot be read.
pub fn suggestions(folder: &str) -> Suggestions {
    let mut names = names(folder);
    names.sort_unstable();
    let mut found = Suggestions { has_files: !names.is_empty(), paths: Vec::new() };
    let mut looks = 0;
    for path in names.iter().filter_map(|name| within(folder, name)) {
        // Of each folder the first that is recognised.
        let inner = self::names(&path);
        let mut inner: Vec<String> = inner.iter().filter_map(|name| within(&path, name)).collect();
        inner.sort_unstable();
        let candidates = std::iter::once(path).chain(inner).take(LOOKS_MAX - looks);
        let mut is_known = |path: &String| {
            looks += 1;
            look(path, GLANCE).is_ok()
        };
        found.paths.extend(candidates.into_iter().find(&mut is_known));
        if found.paths.len() == SUGGESTED_MAX || looks == LOOKS_MAX {
            break;
        }
    }
    found
}

fn within(folder: &str, name: &str) -> Option<String> {
    let path = if folder == "." { name.into() } else { Path::new(folder).join(name) };
    path.to_str().map(str::to_owned)
}

/// The first names of a folder that are not hidden.
fn names(folder: &str) -> Vec<String> {
    let opened = open_untouched(CWD, folder, OFlags::DIRECTORY).and_then(Dir::new);
    let entries = opened.into_iter().flatten().flatten().take(NAMES_MAX);
    let names = entries.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    names.filter(|name| !name.starts_with('.')).collect()
}
