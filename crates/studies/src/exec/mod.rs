//! `exec`: a command of the user's, timed from its start to its end.
//!
//! Each run has a folder of its own, which is prepared anew, outside the clock. It has ended
//! once the command and everything that it started has. Its exit status and what it writes
//! to standard output are checked, so that a command that fails quickly is not taken for a
//! fast one.
//!
//! The time has two parts that are not the command's: the shell's, and that of the keeper
//! which sees to it that nothing of the command is left behind. Both are the same for all
//! arms.

mod command;
mod slice;
mod spec;
#[cfg(test)]
mod tests;

use engine::slice_timer::SliceTimer;
use engine::study::{
    About, Footprint, Operations, Ready, RunsIn, SliceFolders, StudyError, Workload,
};
use model::study::Params;

use self::command::Command;
use self::slice::Filled;
use self::spec::{SPEC, Strategy};
use crate::built_in_study::BuiltInStudy;

/// The most files that a run is taken to have at once.
const FILES: u64 = 10_000;

/// The study.
pub(crate) static EXEC: BuiltInStudy = BuiltInStudy::new(&SPEC, spec::CASES, workload);

fn workload(strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
    let Strategy::Command = Strategy::of(strategy)?;
    Ok(Box::new(Running { command: Command::new(params)?, first_output: None }))
}

/// An arm's command, and what its first run wrote.
struct Running {
    command: Command,
    first_output: Option<Vec<u8>>,
}

impl Workload for Running {
    fn about(&self) -> About {
        About { runs_in: RunsIn::WholeRun, ..About::of(Operations::exactly(1)) }
    }

    /// What a command writes is not known before: the devices behind the place tell.
    fn footprint(&self, _operations: u64) -> Footprint {
        let bytes = self.command.space_bytes;
        Footprint { space_bytes: bytes, files: FILES, written_bytes: bytes }
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        _operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let Self { command, first_output } = self;
        Ok(Box::new(Filled::new(command, first_output, folders.fresh, timer)?))
    }
}
