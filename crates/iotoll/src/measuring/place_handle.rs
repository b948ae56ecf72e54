//! A place's folders, as the engine's slices use them.

use std::error::Error;
use std::io;
use std::os::fd::OwnedFd;

use engine::place_handle::PlaceHandle;
use engine::study::Footprint;
use host::disks::DeviceReader;
use host::root::Root;
use model::place::{PlaceFacts, StorageKind};
use model::spent::DeviceTraffic;
use places::{Folder, Need, PlaceFolders, WorkDirError};

use crate::measuring::quiet::Quiet;

/// A place of a run, by the folders in it.
pub(crate) struct FolderHandle<'a> {
    folders: &'a mut PlaceFolders,
    devices: Option<DeviceReader>,
    wears: bool,
    quiet: Quiet,
    left_max: Need,
}

impl<'a> FolderHandle<'a> {
    /// A place with its counters, where it has any that can be read.
    pub(crate) fn new(folders: &'a mut PlaceFolders, facts: &PlaceFacts) -> Self {
        let devices = DeviceReader::new(&Root::real(), facts).ok();
        let wears = facts.kind != StorageKind::Memory;
        let left_max = places::left_max(facts);
        Self { folders, devices, wears, quiet: Quiet::new(), left_max }
    }
}

impl PlaceHandle for FolderHandle<'_> {
    fn fresh_folder(&mut self) -> io::Result<OwnedFd> {
        self.folders.slice().map_err(as_io).and_then(opened)
    }

    fn kept_folder(&mut self, arm: usize) -> io::Result<OwnedFd> {
        self.folders.arm(arm).map_err(as_io).and_then(opened)
    }

    fn leave(&mut self) {
        self.folders.leave();
    }

    fn may_leave(&self, left: &Footprint) -> bool {
        let Need { bytes, files } = self.left_max;
        left.space_bytes <= bytes && left.files <= files
    }

    fn put_away(&mut self) -> io::Result<()> {
        self.folders.put_aside().map_err(as_io)
    }

    fn settle(&mut self) -> io::Result<()> {
        // The folder's own change commits the journal, so that the next slice
        // does not pay for what putting this one aside came to.
        rustix::fs::fsync(self.folders.work().fd())?;
        if let Some(devices) = &self.devices {
            self.quiet.wait(devices);
        }
        Ok(())
    }

    fn wears(&self) -> bool {
        self.wears
    }

    fn device_bytes(&mut self) -> Option<DeviceTraffic> {
        Some(self.devices.as_ref()?.read().ok()?.traffic())
    }
}

fn opened(folder: &Folder) -> io::Result<OwnedFd> {
    folder.fd().try_clone_to_owned()
}

/// The system's own error, if there is one behind it: it carries what to do.
fn as_io(error: WorkDirError) -> io::Error {
    let mut source: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(cause) = source {
        let code = cause.downcast_ref().and_then(io::Error::raw_os_error);
        if let Some(code) = code {
            return io::Error::from_raw_os_error(code);
        }
        source = cause.source();
    }
    io::Error::other(error)
}
