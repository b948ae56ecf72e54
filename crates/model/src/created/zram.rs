//! `zram:SIZE[:FS]`: a file system on a compressed block device in memory.

use std::fmt;

use super::{Description, ImageFs, Why, size};

/// A file system on a compressed block device in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zram {
    /// The size of the device, before compression.
    pub size_bytes: u64,
    /// The file system on it.
    pub filesystem: ImageFs,
}

impl Zram {
    pub(super) const WORD: &str = "zram";
    pub(super) const FORM: &str = "zram:SIZE";

    pub(super) fn parse(rest: &str) -> Result<Self, Why> {
        let (size, name) = size::split_option(rest);
        let filesystem = name.map_or(Ok(ImageFs::Ext4), ImageFs::named)?;
        let size_bytes = size::parse(size, filesystem.bytes_min(), filesystem.name())?;
        Ok(Self { size_bytes, filesystem })
    }
}

impl Description for Zram {
    fn usual_label(&self) -> &'static str {
        Self::WORD
    }
}

impl fmt::Display for Zram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = size::written(self.size_bytes);
        write!(f, "{}:{size}:{}", Self::WORD, self.filesystem.name())
    }
}
