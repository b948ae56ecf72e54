//! How following a program ended.

use std::io;

use sys::wait::{Waited, wait_for_end};

use crate::error::{Error, while_};

/// How following a program ended.
#[derive(Debug)]
pub(crate) struct Followed {
    /// The command's end, and what it used.
    pub(crate) end: Option<Waited>,
    /// Why the recording ended before that.
    pub(crate) cut: Option<io::Error>,
}

impl Followed {
    /// The same with the command's end, which is waited for where it was not seen.
    pub(crate) fn until_end_of(self, command: u32) -> Result<Self, Error> {
        let wait = || wait_for_end(command).map_err(while_("waiting for the command"));
        Ok(Self { end: Some(self.end.map_or_else(wait, Ok)?), ..self })
    }
}
