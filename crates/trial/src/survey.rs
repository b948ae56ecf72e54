//! What a command changes: found by a first run over overlays.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::lgetxattr;

use crate::error::{At as _, Error};
use crate::overlays::{Overlay, modified};

/// Marks of a folder that hides the one below: root's, and a user's.
const OPAQUE: [&CStr; 2] = [c"trusted.overlay.opaque", c"user.overlay.opaque"];

/// What became of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there before.
    Made,
    /// Its contents or its facts are others.
    Changed,
    /// It is not there any more.
    Removed,
}

/// A path that a command changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where, as the command sees it.
    pub path: PathBuf,
    /// How.
    pub kind: ChangeKind,
}

/// What a command changes.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// What it left changed; of a new folder, the folder alone.
    pub changes: Vec<Change>,
    /// The folders in which names were made, changed or removed, also those that are gone again.
    pub(crate) folders: BTreeSet<PathBuf>,
}

impl Survey {
    /// Reads what overlays kept.
    pub(crate) fn of(overlays: &[Overlay]) -> Result<Self, Error> {
        let mut survey = Self::default();
        for Overlay { lower, upper, modified, .. } in overlays {
            // Others may have removed it; the overlay does not show that.
            if !lower.is_dir() {
                continue;
            }
            let after = fs::metadata(upper).at("looking at", upper)?;
            // Others may have changed it since, so what is there now does not count.
            survey.folder(*modified, &after, lower);
            survey.walk(upper, lower)?;
        }
        Ok(survey)
    }

    /// The kernel gives a folder that it copies its old time, and names that are made or removed in it
    /// change that.
    fn folder(&mut self, before: (i64, i64), after: &Metadata, path: &Path) {
        if before != modified(after) {
            self.folders.insert(path.to_owned());
        }
    }

    fn walk(&mut self, upper: &Path, lower: &Path) -> Result<(), Error> {
        for entry in fs::read_dir(upper).at("listing", upper)? {
            let entry = entry.at("listing", upper)?;
            let (kept, path) = (entry.path(), lower.join(entry.file_name()));
            let after = fs::symlink_metadata(&kept).at("looking at", &kept)?;
            let before = fs::symlink_metadata(&path).ok();
            let is_removed = after.file_type().is_char_device() && after.rdev() == 0;
            let kind = match &before {
                _ if is_removed => ChangeKind::Removed,
                None => ChangeKind::Made,
                Some(before) if after.is_dir() && before.is_dir() && !is_opaque(&kept) => {
                    self.folder(modified(before), &after, &path);
                    self.walk(&kept, &path)?;
                    continue;
                }
                Some(_) => ChangeKind::Changed,
            };
            self.folders.insert(lower.to_owned());
            self.changes.push(Change { path, kind });
        }
        Ok(())
    }
}

fn is_opaque(folder: &Path) -> bool {
    OPAQUE.iter().any(|name| lgetxattr(folder, *name, &mut [0_u8; 8][..]).is_ok())
}
