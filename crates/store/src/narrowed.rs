//! A store that others could read becomes its owner's alone.
//!
//! Older versions, a `mkdir` and a restored backup leave a folder that others may list. It is
//! narrowed where it holds nothing but what iotoll keeps there: a folder that somebody uses for
//! other things, too, keeps its rights, and the database in it does not.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::error::Error;
use crate::{database, lock};

/// Rights of others.
const OTHERS: u32 = 0o077;

/// What others could read until now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowed {
    /// A folder or file.
    pub path: PathBuf,
    /// The rights that it had.
    pub mode: u32,
    /// The rights that it has now.
    pub now: u32,
}

/// Takes the rights of others from the folder of a store and its files, where there are any.
pub(crate) fn narrow(folder: &Path) -> Result<Vec<Narrowed>, Error> {
    let is_only_ours = holds_only_ours(folder).map_err(Error::io(folder, "listing it"))?;
    let folders = is_only_ours.then(|| folder.to_owned());
    let mut narrowed = Vec::new();
    for path in folders.into_iter().chain(database::files(folder)) {
        let found = narrowed_one(&path).map_err(Error::io(&path, "narrowing its rights"))?;
        narrowed.extend(found);
    }
    Ok(narrowed)
}

/// Folders that the program keeps beside the runs.
const FOLDERS: [&str; 1] = ["originals"];

fn holds_only_ours(folder: &Path) -> io::Result<bool> {
    let files = database::files(folder);
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_folder = FOLDERS.iter().any(|name| path.ends_with(name));
        if !is_folder && !files.contains(&path) && !lock::is_file(&path) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// By descriptor, so that what is looked at is what is changed, and no link is followed.
fn narrowed_one(path: &Path) -> io::Result<Option<Narrowed>> {
    // Another error than that it is not there is reported by what needs the file.
    let Ok(file) = database::referred_to(path) else { return Ok(None) };
    let facts = file.metadata()?;
    let mode = facts.mode() & 0o7777;
    let is_own = facts.uid() == geteuid().as_raw() && (facts.is_file() || facts.is_dir());
    if !is_own || mode & OTHERS == 0 {
        return Ok(None);
    }
    let now = mode & !OTHERS & 0o777;
    // What is only referred to has no fchmod(2).
    let by_descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
    fs::set_permissions(by_descriptor, Permissions::from_mode(now))?;
    Ok(Some(Narrowed { path: path.to_owned(), mode, now }))
}
