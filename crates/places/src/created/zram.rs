//! A file system on a compressed block device in memory.

use host::root::Root;
use host::zram;
use model::created::Zram;
use model::place::{PlaceFacts, StorageKind};

use super::error::CreateError;
use super::kind::{Creation, FRESH, Kind, device, sized};
use super::mkfs;
use super::standing::Undo;
use crate::record::{ZramLock, while_busy};

impl Kind for Zram {
    fn age(&self) -> Option<&'static str> {
        Some(FRESH)
    }

    fn foresee(&self, label: &str) -> Result<PlaceFacts, CreateError> {
        mkfs::check(self.filesystem)?;
        if !zram::is_there(&Root::real()) {
            return Err(no_zram());
        }
        Ok(PlaceFacts {
            kind: StorageKind::Memory,
            filesystem: self.filesystem.name().to_owned(),
            devices: vec![device("zram")],
            ..sized(label, self.size_bytes)
        })
    }

    fn create(&self, creation: Creation<'_>) -> Result<(), CreateError> {
        let Creation { standing, record, stop } = creation;
        let root = Root::real();
        if !zram::is_there(&root) {
            return Err(no_zram());
        }
        let lock =
            ZramLock::take().map_err(|error| CreateError::failed("locking zram-control", error))?;
        let latest = zram::latest_disk(&root).ok_or_else(no_disk_numbers)?;
        let added = record.add_zram(latest);
        let added = added.map_err(|e| CreateError::failed("adding a zram device", e))?;
        standing.holds(added);
        let sized = added.set_size(&root, self.size_bytes);
        sized.map_err(|e| CreateError::failed("setting the size of a zram device", e))?;
        drop(lock);
        mkfs::make(self.filesystem, &added.path(), stop)?;
        standing.mount(self.filesystem.name(), added.path().as_os_str(), "")
    }
}

fn no_zram() -> CreateError {
    let why = "this kernel has no zram, or it is not loaded (`modprobe zram`); use tmpfs:SIZE, or \
               image:ext4:SIZE@/dev/shm";
    CreateError(why.to_owned())
}

/// No way to tell one zram device from another.
fn no_disk_numbers() -> CreateError {
    let why = "this kernel does not number its disks (diskseq, since Linux 5.15), so iotoll could \
               not tell its zram device from others; use tmpfs:SIZE";
    CreateError(why.to_owned())
}

impl Undo for zram::Zram {
    fn undo(self: Box<Self>) -> Result<(), CreateError> {
        let removed = while_busy(|| self.remove(&Root::real()));
        removed.map_err(|error| {
            CreateError(format!(
                "{}: could not be removed: {error}; stop whatever uses it, then run `iotoll clean`",
                self.path().display()
            ))
        })
    }
}
