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
mod config;
mod fetch;
mod launch;
pub(crate) mod log_check;
mod outcome;
mod populate;
mod rendered;
mod request;
mod running;
mod slice;
mod spec;
mod switched;

use engine::slice_timer::SliceTimer;
use engine::study::{
    About, Footprint, Operations, Ready, RunsIn, SliceFolders, StudyError, Workload,
};
use model::study::Params;

use self::config::{BuiltIn, Config, Content, ServerKind};
use self::slice::{Kept, Slice};
use crate::built_in_study::BuiltInStudy;
use crate::sqlite::database::Template;

/// The study.
pub(crate) static SERVE: BuiltInStudy = BuiltInStudy::new(&spec::SPEC, spec::CASES, workload);

fn workload(strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
    let config = Config::new(strategy, params)?;
    let rows = match &config.server {
        ServerKind::BuiltIn(BuiltIn { content: Content::Sqlite { rows, .. }, .. }) => *rows,
        ServerKind::BuiltIn(_) | ServerKind::Command(_) => 0,
    };
    Ok(Box::new(Serving { config, kept: Kept { max_rate: None, template: Template::new(rows) } }))
}

/// An arm's server.
struct Serving {
    config: Config,
    kept: Kept,
}

impl Workload for Serving {
    fn about(&self) -> About {
        let material = match &self.config.server {
            ServerKind::BuiltIn(BuiltIn { content: Content::Page { parts, .. }, .. }) => {
                Some(parts.material())
            }
            ServerKind::BuiltIn(_) | ServerKind::Command(_) => None,
        };
        About {
            material,
            // Each slice starts its server anew, and warms it.
            warms_up: false,
            runs_in: RunsIn::WholeRun,
            ..About::of(Operations::exactly(self.config.connections))
        }
    }

    fn footprint(&self, operations: u64) -> Footprint {
        self.config.footprint(operations)
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        _operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let slice = Slice::new(&self.config, &mut self.kept, folders.fresh)?;
        Ok(Box::new(slice.started(timer)?))
    }
}
