//! `replay`: the file calls of a program of the user's, as `iotoll record` saw them.
//!
//! A trace becomes a program once, outside the clock: threads, each a list of steps on numbered
//! paths and open files. What threads wait for each other for is kept, and so is the time
//! between their calls, without what recording took. A slice makes the files that the program
//! found, then replays it once, and holds each call's answer against the one that was
//! recorded.
//!
//! Nothing but what is below one folder is replayed, and it never leaves the slice's. All other
//! time is thinking, which no move of that folder changes, but for what waits leave behind
//! (`cold_cache_penalty.rs`).

mod act;
mod cold_cache_penalty;
mod config;
mod deviations;
mod fill;
mod plan;
mod prepare;
mod read;
mod run;
mod shared_state;
mod slice;
mod spec;
#[cfg(test)]
mod tests;
mod unexplained;

use engine::slice_timer::SliceTimer;
use engine::study::{About, Footprint, Operations, Ready, SliceFolders, StudyError, Workload};
use model::study::Params;

use self::config::Config;
use self::slice::Filled;
use self::spec::{SPEC, Strategy};
use crate::built_in_study::BuiltInStudy;

/// The study.
pub(crate) static REPLAY: BuiltInStudy = BuiltInStudy::new(&SPEC, spec::CASES, workload);

fn workload(strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
    let Strategy::Recorded = Strategy::of(strategy)?;
    Ok(Box::new(Config::new(params)?))
}

impl Workload for Config {
    fn about(&self) -> About {
        // The whole stretch is one operation: only from its beginning on is it known what files
        // there are.
        About { material: self.material(), ..About::of(Operations::exactly(1)) }
    }

    fn footprint(&self, _operations: u64) -> Footprint {
        self.whole_footprint()
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        _operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        Ok(Box::new(Filled::new(self, folders.fresh, timer)?))
    }
}
