//! Workers on several machines, which a run was started with.

use std::fmt;
use std::fs::read_link;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use super::transport::Transport;

/// The clients of a place that several machines share: a worker on each, this process's own
/// the first.
pub trait Clients: fmt::Debug {
    /// How many there are.
    fn count(&self) -> usize;

    /// The first so many of them, for the work of one slice.
    fn group(&self, workers: usize) -> Box<dyn Transport>;

    /// Where a client has a folder of this process: the same one, or where each has its own
    /// disk, the one that stands for it there, which nobody has made yet.
    ///
    /// # Errors
    /// Where the folder has no path any more, or none that is text.
    fn path_to(&self, client: usize, folder: BorrowedFd<'_>) -> io::Result<String>;

    /// Whether each client has its own disk where this folder is.
    ///
    /// # Errors
    /// As of [`path_to`](Self::path_to).
    fn is_each_ones_own(&self, folder: BorrowedFd<'_>) -> io::Result<bool>;
}

/// The path of a folder of this process: clients have no `/proc` in common, and reach the same
/// places by the same paths.
///
/// # Errors
/// Where it has none any more, or none that is text.
pub fn path_of(folder: BorrowedFd<'_>) -> io::Result<String> {
    let path = read_link(format!("/proc/self/fd/{}", folder.as_raw_fd()))?;
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "its path is not UTF-8");
    path.into_os_string().into_string().map_err(not_text)
}
