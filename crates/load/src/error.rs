//! What can keep a load from being run at all.
//!
//! What goes wrong with single connections is counted, not returned: see
//! [`crate::Errors`].

use std::io;

use rustix::io::Errno;

/// Why a load could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked for cannot be meant, or was not agreed to.
    #[error("{0}")]
    Usage(String),
    /// Something that the system should do always failed, or the host has no address.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// An input that cannot be used, such as a header: `why` says what is wrong with it, and what
    /// to write instead.
    pub(crate) fn input(what: &str, given: &str, why: &str) -> Self {
        Self::Usage(format!("{what} {given:?}: {why}"))
    }

    pub(crate) fn system(what: &'static str) -> impl FnOnce(Errno) -> Self {
        move |errno| Self::System { what: what.to_owned(), source: errno.into() }
    }

    /// True when the user asked for something that cannot be meant, rather
    /// than the machine refusing something that can.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Usage(_))
    }
}
