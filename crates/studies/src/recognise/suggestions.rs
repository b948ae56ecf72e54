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

/// What is in a folder, as far as that is found at little cost; nothing where it cannot be read.
pub fn suggestions(folder: &str) -> Suggestions {
    let mut names = names(folder);
    names.sort_unstable();
    let path = |name: &String| {
        let path = if folder == "." { name.into() } else { Path::new(folder).join(name) };
        path.to_str().map(str::to_owned)
    };
    let paths = names.iter().filter_map(path).take(LOOKS_MAX);
    let paths = paths.filter(|path| look(path, GLANCE).is_ok()).take(SUGGESTED_MAX).collect();
    Suggestions { has_files: !names.is_empty(), paths }
}

/// The first names of a folder that are not hidden.
fn names(folder: &str) -> Vec<String> {
    let opened = open_untouched(CWD, folder, OFlags::DIRECTORY).and_then(Dir::new);
    let entries = opened.into_iter().flatten().flatten().take(NAMES_MAX);
    let names = entries.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    names.filter(|name| !name.starts_with('.')).collect()
}
