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
mod launch;
mod log_check;
mod outcome;
mod rendered;
mod running;
mod slice;
mod spec;

use std::os::fd::BorrowedFd;

use engine::study::{Doing, Operations, Study, StudyError, Task};
use model::study::{Params, StudySpec};
use model::units::exact_duration;

use self::slice::Slice;
use crate::page;

/// What a built-in server's files take beside a page's: a database and its journal.
const DATABASE_BYTES: u64 = 32 << 20;
/// What a server of the user's may write in a slice, for all that can be known.
const COMMAND_BYTES: u64 = 64 << 20;

/// The study.
pub(crate) struct Serve;

impl Study for Serve {
    fn spec(&self) -> &'static StudySpec {
        &spec::SPEC
    }

    fn operations(&self, params: &Params) -> Result<Operations, String> {
        Ok(Operations::exactly(params.count("connections")))
    }

    fn refuse(&self, strategy: &str, params: &Params) -> Result<(), String> {
        let given = !params.text("command").is_empty();
        match strategy {
            "command" if !given => {
                Err("there is no command to start the server with; give one, as \
                 in --set 'serve.command=php -S 127.0.0.1:{port} -t {place}'"
                    .to_owned())
            }
            "command" => launch::refuse(params),
            _ if given => Err(format!(
                "a command was given, and {strategy} is a server that is built in; add --strategy \
                 command to time the command"
            )),
            _ => page::parts(params).map(drop),
        }?;
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

    fn space_bytes(&self, params: &Params, operations: u64) -> u64 {
        let page_bytes: u64 = page::parts(params).map_or(0, |parts| parts.sizes().iter().sum());
        // At the highest rate there are more connections than those asked for.
        let connections = operations.max(1 << 16);
        let log_bytes = params.count("log_lines") * built_in::LINE_BYTES as u64 * connections;
        page_bytes + log_bytes + DATABASE_BYTES + COMMAND_BYTES
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
