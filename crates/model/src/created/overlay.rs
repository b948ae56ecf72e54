//! `overlay:DIRECTORY`: what a container sees of a directory.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Description, Why};

/// An overlay whose upper layer is in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// The directory.
    pub over: PathBuf,
}

impl Overlay {
    pub(super) const WORD: &str = "overlay";
    pub(super) const FORM: &str = "overlay:PATH";

    pub(super) fn parse(rest: &str) -> Result<Self, Why> {
        if rest.is_empty() {
            return Err(
                "name the directory that holds its upper layer, as in overlay:/srv".to_owned()
            );
        }
        Ok(Self { over: PathBuf::from(rest) })
    }
}

impl Description for Overlay {
    fn usual_label(&self) -> &'static str {
        Self::WORD
    }

    fn stands_on(&self) -> Option<&Path> {
        Some(&self.over)
    }

    fn settle(&mut self, _first: &Path) -> Option<&mut PathBuf> {
        Some(&mut self.over)
    }

    fn needs_consent(&self) -> bool {
        true
    }

    fn anonymise(&mut self, left_out: &str) {
        self.over = PathBuf::from(left_out);
    }
}

impl fmt::Display for Overlay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Self::WORD, self.over.display())
    }
}
