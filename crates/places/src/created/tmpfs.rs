//! A file system in memory.

use std::ffi::OsStr;
use std::sync::atomic::AtomicBool;

use model::created::Tmpfs;
use model::place::{PlaceFacts, StorageKind};

use super::error::CreateError;
use super::kind::{Kind, sized};
use super::standing::Standing;
use crate::record::Record;

impl Kind for Tmpfs {
    fn needs_root(&self) -> bool {
        false
    }

    fn foresee(&self, label: &str) -> Result<PlaceFacts, CreateError> {
        Ok(PlaceFacts {
            kind: StorageKind::Memory,
            filesystem: "tmpfs".to_owned(),
            mount_options: self
                .huge
                .map(|huge| format!("huge={}", huge.name()))
                .into_iter()
                .collect(),
            ..sized(label, self.size_bytes)
        })
    }

    fn create(
        &self,
        standing: &mut Standing,
        _record: &mut Record,
        _stop: &AtomicBool,
    ) -> Result<(), CreateError> {
        let huge = self.huge.map(|huge| format!(",huge={}", huge.name()));
        let data = format!("size={},mode=0700{}", self.size_bytes, huge.unwrap_or_default());
        standing.mount("tmpfs", OsStr::new("tmpfs"), data)
    }
}
