//! A file system in memory.

use std::ffi::OsStr;

use model::created::Tmpfs;
use model::place::{PlaceFacts, StorageKind};

use super::error::CreateError;
use super::kind::{Creation, Kind, sized};

impl Kind for Tmpfs {
    fn needs_root(&self) -> bool {
        false
    }

    fn foresee(&self, label: &str) -> Result<PlaceFacts, CreateError> {
        let huge = self.huge.map(|huge| format!("huge={huge}"));
        Ok(PlaceFacts {
            kind: StorageKind::Memory,
            filesystem: "tmpfs".to_owned(),
            mount_options: huge.into_iter().collect(),
            ..sized(label, self.size_bytes)
        })
    }

    fn create(&self, creation: Creation<'_>) -> Result<(), CreateError> {
        let huge = self.huge.map(|huge| format!(",huge={huge}"));
        let data = format!("size={},mode=0700{}", self.size_bytes, huge.unwrap_or_default());
        creation.standing.mount("tmpfs", OsStr::new("tmpfs"), data)
    }
}
