//! What each kind of place knows to do.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use model::place::{DeviceLayer, PlaceFacts};

use super::error::CreateError;
use super::standing::Standing;
use crate::inspect::inspect;
use crate::record::Record;

/// A place that is being created.
pub(super) struct Creation<'a> {
    /// What stands of it so far.
    pub(super) standing: &'a mut Standing,
    /// Where what outlives the process is written down before it is created.
    pub(super) record: &'a mut Record,
    /// Ends it early.
    pub(super) stop: &'a AtomicBool,
}

/// How a kind of place is created. It is removed by what it has put into [`Standing`]; whether
/// it wears follows from the kind of storage among its facts.
pub(super) trait Kind {
    /// Whether user namespaces are not enough.
    fn needs_root(&self) -> bool {
        true
    }

    /// How old its file system is; nothing where that has no bearing.
    fn age(&self) -> Option<&'static str> {
        None
    }

    /// The facts as far as they are known before, or what is missing.
    fn foresee(&self, label: &str) -> Result<PlaceFacts, CreateError>;

    /// Creates it, step by step.
    fn create(&self, creation: Creation<'_>) -> Result<(), CreateError>;
}

/// The age of a file system that was made for the run and has had no files yet.
pub(super) const FRESH: &str = "fresh image";

/// The directory that is worked in where none is named.
pub(super) fn or_here(directory: Option<&Path>) -> &Path {
    directory.unwrap_or(Path::new("."))
}

/// The facts of the directory that a place stands on.
pub(super) fn below(label: &str, directory: Option<&Path>) -> Result<PlaceFacts, CreateError> {
    Ok(inspect(label, or_here(directory))?)
}

/// A place of which no more is known than its size.
pub(super) fn sized(label: &str, bytes: u64) -> PlaceFacts {
    PlaceFacts { total_bytes: bytes, free_bytes: bytes, ..PlaceFacts::unknown(label) }
}

/// A device that has no number yet.
pub(super) fn device(kind: &str) -> DeviceLayer {
    DeviceLayer { name: kind.to_owned(), kind: kind.to_owned(), ..DeviceLayer::default() }
}
