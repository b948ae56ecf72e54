//! Where each arm's search for the highest rate ended, from where its next one starts:
//! a few tries then do what takes a dozen from nowhere. A search that starts wrong
//! still ends right, only later.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::study::Params;

static ENDED: Mutex<BTreeMap<String, f64>> = Mutex::new(BTreeMap::new());

/// An arm, as its slices know it: a place's slices are all made in one folder.
pub(super) struct Knees(String);

impl Knees {
    pub(super) fn of(strategy: &str, params: &Params, path: &Path) -> Self {
        Self(format!("{strategy} {params:?} {}", path.display()))
    }

    /// The rate found the last time.
    pub(super) fn last(&self) -> Option<f64> {
        ended().get(&self.0).copied()
    }

    /// Keeps the rate that was found.
    pub(super) fn note(self, rate: f64) {
        ended().insert(self.0, rate);
    }
}

fn ended() -> MutexGuard<'static, BTreeMap<String, f64>> {
    ENDED.lock().unwrap_or_else(PoisonError::into_inner)
}
