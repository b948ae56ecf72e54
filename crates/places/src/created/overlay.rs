//! What a container sees of a directory: an overlay whose layers are in a working folder there.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use model::created::Overlay;
use model::place::PlaceFacts;

use super::error::{CreateError, recording};
use super::kind::{Creation, Kind, below};
use super::standing::Undo;
use crate::error::{PlaceName, WorkDirError};
use crate::open::OpenPlace;
use crate::workdir::WorkDir;

impl Kind for Overlay {
    fn foresee(&self, label: &str) -> Result<PlaceFacts, CreateError> {
        Ok(PlaceFacts {
            filesystem: "overlay".to_owned(),
            device: None,
            mount_options: Vec::new(),
            journal: None,
            ..below(label, Some(&self.over))?
        })
    }

    fn create(&self, creation: Creation<'_>) -> Result<(), CreateError> {
        let Creation { standing, record, .. } = creation;
        let name = PlaceName::bare(&self.over);
        let path = OpenPlace::open(&name)?.path;
        // The kernel reads these within options (`overlayfs.rst`).
        if path.as_os_str().as_bytes().iter().any(|byte| b",:\\\"".contains(byte)) {
            return Err(CreateError(format!(
                "{}: an overlay cannot be created over a path with a comma, colon, quote or \
                 backslash; name another directory",
                path.display()
            )));
        }
        record.working_in(&path).map_err(recording)?;
        let layers = WorkDir::create_in(name)?;
        let options = options(&layers);
        standing.holds(layers);
        standing.mount("overlay", OsStr::new("overlay"), options?)
    }
}

/// The layers, as the kernel is told.
fn options(layers: &WorkDir) -> Result<OsString, WorkDirError> {
    let mut options = OsString::new();
    for (option, layer) in [("lowerdir=", "lower"), (",upperdir=", "upper"), (",workdir=", "work")]
    {
        options.push(option);
        options.push(layers.subdir(layer)?.path());
    }
    Ok(options)
}

impl Undo for WorkDir {
    fn undo(self: Box<Self>) -> Result<(), CreateError> {
        Ok(self.remove()?)
    }
}
