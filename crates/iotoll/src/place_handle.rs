//! A place's working folder, as the engine's slices use it.

use std::error::Error;
use std::io;
use std::os::fd::OwnedFd;

use engine::local::PlaceHandle;
use host::disks::DeviceReader;
use model::spent::DeviceTraffic;
use places::{WorkDir, WorkDirError};

/// The one sub-folder that there is at a time.
const SLICE: &str = "slice";

/// A place of a run, by its working folder.
pub(crate) struct FolderHandle<'a> {
    work: &'a WorkDir,
    devices: Option<DeviceReader>,
}

impl<'a> FolderHandle<'a> {
    /// A place with its counters, where it has any that can be read.
    pub(crate) fn new(work: &'a WorkDir, devices: Option<DeviceReader>) -> Self {
        Self { work, devices }
    }
}

impl PlaceHandle for FolderHandle<'_> {
    fn fresh_folder(&mut self) -> io::Result<OwnedFd> {
        let folder = self.work.subdir(SLICE).map_err(as_io)?;
        folder.fd().try_clone_to_owned()
    }

    fn settle(&mut self) -> io::Result<()> {
        self.work.remove_subdir(SLICE).map_err(as_io)?;
        // The folder's own change commits the journal, so that the next slice
        // does not pay for this one's removal.
        rustix::fs::fsync(self.work.fd())?;
        Ok(())
    }

    fn device_bytes(&mut self) -> Option<DeviceTraffic> {
        Some(self.devices.as_ref()?.read().ok()?.traffic())
    }
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
