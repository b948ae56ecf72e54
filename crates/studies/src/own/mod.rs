//! What users have of their own for a study to work on: folders of files, logs, and
//! databases, for which `sqlite/own` has the rest.
//!
//! Each is read once, before anything is made, and kept in memory. All arms of a run work
//! on copies of that one state, whatever becomes of the original meanwhile, and a place
//! within the folder that is copied is no part of it. Nothing of the user's is opened
//! for writing, locked, or opened again while slices run.

pub(crate) mod files;
pub(crate) mod lines;
pub(crate) mod source;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use engine::study::StudyError;

/// What was read and is still in use, by where it was read from: arms that name the same
/// share it.
pub(crate) struct Shared<T>(Mutex<Vec<(Vec<PathBuf>, Weak<T>)>>);

impl<T> Shared<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// What comes of these paths, read unless it was before.
    pub(crate) fn get(
        &self,
        paths: &[&str],
        read: impl FnOnce() -> Result<T, String>,
    ) -> Result<Arc<T>, StudyError> {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(_, kept)| kept.strong_count() > 0);
        let found = known.iter().find(|(of, _)| *of == paths);
        if let Some(kept) = found.and_then(|(_, kept)| kept.upgrade()) {
            return Ok(kept);
        }
        let new = Arc::new(read().map_err(StudyError::Unsuited)?);
        known.push((paths, Arc::downgrade(&new)));
        Ok(new)
    }
}

#[cfg(test)]
mod tests;
