//! `log`: an application appends records to a log file, alone or beside others.
//!
//! Every way to append that people use, at one's own scale, and every record
//! accounted for afterwards. Records are made before the clock starts
//! ([`records`]), written by one writer or many ([`writer`], [`slice`]) in one of
//! many ways ([`append`] and its siblings), and read back ([`verify`]).

mod acks;
mod append;
mod cases;
mod config;
mod crash;
mod crew;
mod each;
mod figures;
mod gathered;
mod interpreters;
mod locked;
mod make;
mod per_writer;
mod power;
mod promises;
mod queued;
pub(crate) mod records;
mod round;
mod sleeping;
mod slice;
mod spec;
mod states;
mod strategies;
mod uring;
pub(crate) mod verify;
mod work;
mod writer;

use engine::slice_timer::SliceTimer;
use engine::study::{About, Footprint, Ready, SliceFolders, StudyError, Workload};
use model::study::Params;
use process::worker::WorkerPool;

use self::config::Config;
use self::slice::Slice;
use crate::built_in_study::{BuiltInStudy, trial};
use crate::clients;

/// The study.
pub(crate) static LOG: BuiltInStudy = BuiltInStudy::new(&spec::SPEC, cases::CASES, workload)
    .with_power_trial(|strategy, params| trial(power::Appending::new(strategy, params)))
    .with_workers(writer::do_assignment);

fn workload(strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
    let config = Config::new(strategy, params)?;
    let writers = Box::new(Writers { config, pool: WorkerPool::new() });
    clients::in_one_folder(&LOG, strategy, params, writers, spec::RECORDS_PER_S)
}

/// An arm's writers.
struct Writers {
    config: Config,
    /// Worker processes wait here from slice to slice of a stretch.
    pool: WorkerPool,
}

impl Workload for Writers {
    fn about(&self) -> About {
        About { material: Some(self.config.material()), ..About::of(self.config.operations()) }
    }

    fn footprint(&self, operations: u64) -> Footprint {
        self.config.footprint(operations)
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        self.config.check_interpreter()?;
        if folders.kept_is_new {
            self.pool = WorkerPool::new();
        }
        Slice::new(&self.config, &self.pool, folders)?.ready(operations, timer)
    }
}

#[cfg(test)]
mod tests;
