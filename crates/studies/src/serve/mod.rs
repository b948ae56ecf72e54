//! `serve`: what files cost as a server's users feel it.
//!
//! An open loop of connections, begun at their times whatever the server does,
//! asks a server whose files are in the place: one that is built in, which reads a
//! page's files, answers from SQLite or writes log lines, or any server of the
//! user's, given as a command. Each slice starts its server anew on fresh files,
//! and what that server wrote is checked when it has been stopped.
//!
//! A slice is judged by the median of its connection times, from the intended start
//! to the last byte; a connection that failed counts as one that took the whole
//! timeout, lest a server look fast by refusing. With `rate=max` it is judged by the
//! highest rate that is held, as the time between its connections.

pub(crate) mod built_in;
mod fetch;
mod furnish;
mod knees;
mod launch;
mod log_check;
mod outcome;
mod rendered;
mod running;
mod slice;
mod spec;
mod switched;

use std::os::fd::BorrowedFd;

use engine::study::{Doing, Operations, Study, StudyError, Task};
use model::study::{Params, StudySpec};
use model::units::exact_duration;

use self::slice::Slice;
use crate::{page, sqlite};

/// What a server of the user's may write in a slice, for all that can be known.
const COMMAND_BYTES: u64 = 16 << 20;

/// The study.
pub(crate) struct Serve;

impl Study for Serve {
    fn spec(&self) -> &'static StudySpec {
        &spec::SPEC
    }

    fn operations(&self, params: &Params) -> Result<Operations, String> {
        Ok(Operations::exactly(params.count("connections")))
    }

    fn warms_up(&self) -> bool {
        // Each slice starts its server anew, and warms it.
        false
    }

    fn refuse(&self, strategy: &str, params: &Params) -> Result<(), String> {
        if strategy == "command" {
            launch::refuse(params)?;
        } else {
            launch::refuse_built_in(strategy, params)?;
            page::parts(params)?;
        }
        let (within, timeout) = (params.duration("p99_within"), params.duration("timeout"));
        if within > timeout {
            return Err(format!(
                "p99_within ({}) is longer than the timeout ({}), so that it would always be kept",
                exact_duration(within),
                exact_duration(timeout)
            ));
        }
        Ok(())
    }

    fn space_bytes(&self, strategy: &str, params: &Params, operations: u64) -> u64 {
        // At the highest rate there are more connections than those asked for.
        let connections = operations.max(1 << 16);
        let log_bytes = params.count("log_lines") * built_in::LINE_BYTES as u64 * connections;
        log_bytes
            + match strategy {
                "page" => page::parts(params).map_or(0, |parts| parts.sizes().iter().sum()),
                "sqlite" => sqlite::space_bytes(params.count("rows")),
                "command" => COMMAND_BYTES,
                _ => 0,
            }
    }

    fn prepare(
        &self,
        strategy: &str,
        params: &Params,
        folder: BorrowedFd<'_>,
    ) -> Result<Box<dyn Task>, StudyError> {
        let folder = folder.try_clone_to_owned().doing("keeping the folder open")?;
        Ok(Box::new(Slice::new(strategy, params, folder)?))
    }
}
