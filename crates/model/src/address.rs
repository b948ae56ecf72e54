//! Addresses of servers, as they are given.

use std::fmt;
use std::path::PathBuf;

/// Where to connect, as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A host by name or number, and its port.
    Tcp(String, u16),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host, port) => write!(f, "{host}:{port}"),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}
