//! What can keep a load from being run at all.
//!
//! What goes wrong with single connections is counted, not returned: see
//! [`crate::Errors`].

use crate::UrlShown;
use std::{io, path::PathBuf};

/// Why a load could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `https://` was asked for.
    #[error(
        "{url}: https is not supported yet; use the server's plain HTTP port, or \
         a proxy in front of it that terminates TLS"
    )]
    Tls {
        /// The URL as given.
        url: UrlShown,
    },
    /// The URL cannot be used.
    #[error("{url}: {why}; write it as http://HOST[:PORT]/PATH or unix:/SOCKET[:/PATH]")]
    Url {
        /// The URL as given.
        url: UrlShown,
        /// What is wrong with it.
        why: String,
    },
    /// A server of someone else's, as far as its address tells.
    #[error(
        "{url}: the server ({addresses}) is neither on this machine nor in a private network; if \
         you are allowed to put load on it, add --remote"
    )]
    Remote {
        /// The URL as given.
        url: UrlShown,
        /// The addresses behind it.
        addresses: String,
    },
    /// More than a server has to bear without a word.
    #[error(
        "{what} for a server {reach}; if you are allowed to put that much load on it, add \
         --unlimited"
    )]
    Limit {
        /// What was asked for, and what the limit is.
        what: String,
        /// Where the server is.
        reach: &'static str,
    },
    /// The host has no address.
    #[error("cannot resolve {host}: {source}")]
    Resolve {
        /// Host and port.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// A header, method or expectation cannot be used.
    #[error("{what} {given:?}: {why}")]
    Input {
        /// Which input: header, method, expectation …
        what: &'static str,
        /// As given.
        given: String,
        /// What is wrong with it, and what to write instead.
        why: String,
    },
    /// A file could not be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something that the system should do always failed.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn system(what: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| Self::System { what, source: errno.into() }
    }

    /// True when the user asked for something that cannot be meant, rather
    /// than the machine refusing something that can.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Tls { .. }
                | Self::Url { .. }
                | Self::Remote { .. }
                | Self::Limit { .. }
                | Self::Input { .. }
        )
    }
}
