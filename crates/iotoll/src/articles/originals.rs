//! The programs that articles measured with, written to a folder of the user's own, where
//! a run's commands find them, and those of `iotoll rerun` find them again.

use std::env;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use places::{Output, Readers};
use studies::articles::{ORIGINALS, OriginalFile};

/// Beside the saved runs.
const FOLDER: &str = "originals";
/// Rights of a folder that is its owner's alone.
const OWNERS_ALONE: u32 = 0o700;

/// The folder, with all of them as this version has them.
pub(crate) fn folder() -> anyhow::Result<PathBuf> {
    let runs = store::usual(|name| env::var_os(name)).and_then(|runs| store::own_folder(&runs))?;
    let folder = runs.join(FOLDER);
    for file in ORIGINALS {
        put(&folder, file).with_context(|| {
            format!("cannot write an article's program, {}", folder.join(file.path).display())
        })?;
    }
    Ok(folder)
}

fn put(folder: &Path, file: &OriginalFile) -> anyhow::Result<()> {
    let path = folder.join(file.path);
    if fs::read_to_string(&path).is_ok_and(|text| text == file.text) {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(folder);
    DirBuilder::new().recursive(true).mode(OWNERS_ALONE).create(parent)?;
    Ok(Output::find(&path, Readers::Usual)?.write(file.text.as_bytes())?)
}
