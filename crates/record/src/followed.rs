//! How following a program ended.

use std::io;

use sys::wait::Waited;

/// How following a program ended.
#[derive(Debug)]
pub(crate) struct Followed {
    /// The command's end, and what it used.
    pub(crate) end: Option<Waited>,
    /// Why the recording ended before that.
    pub(crate) cut: Option<io::Error>,
}
