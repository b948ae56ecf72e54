//! The Rust files of some folders.

use std::path::{Path, PathBuf};

use anyhow::Result;
use xtask::files::{files_below, has_extension};

/// The Rust files below folders of a root.
pub(crate) fn rust_files(root: &Path, folders: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in folders {
        let below = files_below(root, folder)?.into_iter();
        files.extend(below.filter(|file| has_extension(file, "rs")).map(|file| root.join(file)));
    }
    Ok(files)
}

/// Whether a file has tests alone.
pub(crate) fn is_test(file: &Path) -> bool {
    file.iter().any(|part| part == "tests" || part == "tests.rs")
}

/// A file's text without its tests.
pub(crate) fn outside_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default()
}
