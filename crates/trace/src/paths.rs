//! The paths that entries name by number: the last [`KNOWN_MAX`] of them.
//!
//! Both sides keep as many, so that their memory is bounded however many files a program
//! touches. A path that is used again after so many others is told again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::call::PathId;

/// How many are known at a time. Each is at most [`BYTES_MAX`] long, which makes 64 MiB.
pub(crate) const KNOWN_MAX: usize = 16_384;
/// The longest that the kernel takes (`PATH_MAX`).
pub(crate) const BYTES_MAX: usize = 4096;

/// The paths told last, by number.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    known: VecDeque<Arc<[u8]>>,
    /// How many there were before those.
    forgotten: u32,
}

impl Paths {
    /// The number of the next one; none where numbers have run out.
    pub(crate) fn next(&self) -> Option<PathId> {
        self.forgotten.checked_add(self.known.len() as u32).map(PathId)
    }

    /// Adds the next one; what it made to be forgotten.
    pub(crate) fn add(&mut self, bytes: Arc<[u8]>) -> Option<Arc<[u8]>> {
        let first = if self.known.len() == KNOWN_MAX { self.known.pop_front() } else { None };
        self.forgotten = self.forgotten.saturating_add(u32::from(first.is_some()));
        self.known.push_back(bytes);
        first
    }

    pub(crate) fn get(&self, id: PathId) -> Option<&Arc<[u8]>> {
        self.known.get(id.0.checked_sub(self.forgotten)? as usize)
    }
}

/// The paths told last, and their numbers by what they are.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    paths: Paths,
    numbers: HashMap<Arc<[u8]>, PathId>,
}

impl Numbered {
    pub(crate) fn paths(&self) -> &Paths {
        &self.paths
    }

    pub(crate) fn number(&self, bytes: &[u8]) -> Option<PathId> {
        self.numbers.get(bytes).copied()
    }

    /// Adds the next one, which [`Paths::next`] has the number of.
    pub(crate) fn add(&mut self, bytes: &Arc<[u8]>, id: PathId) {
        if let Some(forgotten) = self.paths.add(Arc::clone(bytes)) {
            // It may have been told again, and have a later number by now.
            if self.numbers.get(&forgotten).is_some_and(|known| self.paths.get(*known).is_none()) {
                self.numbers.remove(&forgotten);
            }
        }
        self.numbers.insert(Arc::clone(bytes), id);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn as_many_are_known_as_may_be_and_the_oldest_are_forgotten() {
        let mut numbered = Numbered::default();
        let told = |numbered: &mut Numbered, text: String| {
            let id = numbered.paths().next().unwrap();
            numbered.add(&text.into_bytes().into(), id);
            id
        };
        for number in 0..KNOWN_MAX {
            assert_eq!(told(&mut numbered, format!("{number}")).0 as usize, number);
        }
        assert_eq!(numbered.number(b"0"), Some(PathId(0)));
        // The same once more, while the first is still known.
        let again = told(&mut numbered, "1".into());
        assert_eq!(numbered.number(b"0"), None);
        assert_eq!(numbered.number(b"1"), Some(again));
        assert_eq!(numbered.paths().get(PathId(0)), None);
        assert_eq!(numbered.paths().get(PathId(1)).unwrap()[..], b"1"[..]);
        // The first is forgotten, and the second is not.
        told(&mut numbered, "new".into());
        assert_eq!(numbered.paths().get(PathId(1)), None);
        assert_eq!(numbered.number(b"1"), Some(again));
        assert!(numbered.numbers.len() <= KNOWN_MAX);
    }
}
