//! What differs between the runs that are compared.

use std::path::PathBuf;

/// What is done to the command's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Nothing.
    AsNow,
    /// All that it may change, and all folders that matter, are in memory.
    AllInRam,
    /// One folder is.
    InRam(PathBuf),
    /// Forcing data to the device does nothing.
    SyncsFree,
    /// What it uses is not in memory when it begins.
    Cold,
}

impl Variant {
    /// The folder that is moved by itself.
    pub fn folder(&self) -> Option<PathBuf> {
        match self {
            Self::InRam(folder) => Some(folder.clone()),
            _ => None,
        }
    }

    /// Whether it takes copies in memory.
    pub fn is_in_ram(&self) -> bool {
        matches!(self, Self::AllInRam | Self::InRam(_))
    }
}
