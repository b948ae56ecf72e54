//! One created place as far as it stands, and how that is undone.

use std::ffi::{CString, OsStr};
use std::fmt::Debug;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use super::error::CreateError;
use crate::record::while_busy;

/// A created place, which is mounted last.
#[derive(Debug)]
pub(super) struct Standing {
    /// Where it is mounted.
    pub(super) point: PathBuf,
    is_mounted: bool,
    /// What it stands on.
    held: Option<Box<dyn Undo>>,
}

/// What a mount stands on, and is let go of once that is gone: a device, or layers.
pub(super) trait Undo: Debug {
    /// Lets go of it; of what takes itself down, by dropping it.
    fn undo(self: Box<Self>) -> Result<(), CreateError> {
        Ok(())
    }
}

impl Standing {
    /// Nothing yet, to be mounted there.
    pub(super) fn at(point: &Path) -> Self {
        Self { point: point.to_owned(), is_mounted: false, held: None }
    }

    /// Undoes this in the end, however creation goes on.
    pub(super) fn holds(&mut self, held: impl Undo + 'static) {
        self.held = Some(Box::new(held));
    }

    pub(super) fn mount(
        &mut self,
        filesystem: &str,
        source: &OsStr,
        options: impl AsRef<OsStr>,
    ) -> Result<(), CreateError> {
        let (flags, data) = flags_and_data(options.as_ref());
        let flags = flags | MountFlags::NOSUID | MountFlags::NODEV;
        let shown = data.to_string_lossy().into_owned();
        mount(source, &self.point, filesystem, flags, data.as_c_str())
            .map_err(|error| CreateError::mount(filesystem, &shown, error))?;
        self.is_mounted = true;
        Ok(())
    }

    /// Undoes what was done, the last step first.
    pub(super) fn remove(self) -> Result<(), CreateError> {
        if self.is_mounted {
            let point = self.point.as_path();
            let unmounted = while_busy(|| Ok(unmount(point, UnmountFlags::NOFOLLOW)?));
            if unmounted.is_err() {
                // It goes with the last process that has something open there.
                let detached = unmount(point, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
                detached.map_err(|error| CreateError::failed("unmounting", error))?;
            }
        }
        self.held.map_or(Ok(()), <dyn Undo>::undo)
    }
}

/// What `mount(2)` is told by flags, and the rest, which the file system reads.
fn flags_and_data(options: &OsStr) -> (MountFlags, CString) {
    let mut flags = MountFlags::empty();
    let mut data: Vec<&[u8]> = Vec::new();
    for option in options.as_bytes().split(|&byte| byte == b',').filter(|o| !o.is_empty()) {
        match option {
            b"noatime" => flags |= MountFlags::NOATIME,
            b"nodiratime" => flags |= MountFlags::NODIRATIME,
            b"relatime" => flags |= MountFlags::RELATIME,
            b"strictatime" => flags |= MountFlags::STRICTATIME,
            b"lazytime" => flags |= MountFlags::LAZYTIME,
            b"sync" => flags |= MountFlags::SYNCHRONOUS,
            b"dirsync" => flags |= MountFlags::DIRSYNC,
            b"noexec" => flags |= MountFlags::NOEXEC,
            b"nosuid" | b"nodev" | b"rw" | b"defaults" => {}
            other => data.push(other),
        }
    }
    // No option has an end within: they come from arguments, which have none.
    (flags, CString::new(data.join(&b','.to_owned())).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn options_that_mount_takes_as_flags_are_told_from_the_file_systems_own() {
        let (flags, data) = flags_and_data(OsStr::new("noatime,compress=zstd:3,,sync,discard"));
        assert_eq!(flags, MountFlags::NOATIME | MountFlags::SYNCHRONOUS);
        assert_eq!(data.to_str().unwrap(), "compress=zstd:3,discard");
        assert_eq!(flags_and_data(OsStr::new("")), (MountFlags::empty(), CString::default()));
    }
}
