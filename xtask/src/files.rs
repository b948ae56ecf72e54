//! The files of a folder.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// The files below a folder of a root, at any depth: their paths from the root, in order.
pub fn files_below(root: &Path, folder: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let read = root.join(folder);
    for entry in fs::read_dir(&read).with_context(|| read.display().to_string())? {
        let entry = entry?;
        let path = Path::new(folder).join(entry.file_name()).to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            files.extend(files_below(root, &path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a file's name ends so.
pub fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}
