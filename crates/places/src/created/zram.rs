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
            return Err(CreateError::NoZram);
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
            return Err(CreateError::NoZram);
        }
        let lock = ZramLock::take().map_err(CreateError::io("locking zram-control"))?;
        let latest = zram::latest_disk(&root).ok_or(CreateError::NoDiskNumbers)?;
        let added = record.add_zram(latest);
        let added = added.map_err(CreateError::io("adding a zram device"))?;
        standing.holds(added);
        let sized = added.set_size(&root, self.size_bytes);
        sized.map_err(CreateError::io("setting the size of a zram device"))?;
        drop(lock);
        mkfs::make(self.filesystem, &added.path(), stop)?;
        standing.mount(self.filesystem.name(), added.path().as_os_str(), "")
    }
}

impl Undo for zram::Zram {
    fn undo(self: Box<Self>) -> Result<(), CreateError> {
        let removed = while_busy(|| self.remove(&Root::real()));
        removed.map_err(|source| CreateError::Held { device: self.path(), source })
    }
}
