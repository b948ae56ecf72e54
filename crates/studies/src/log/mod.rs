//! `log`: an application appends records to a log file, alone or beside others.
//!
//! Every way to append that people use, at one's own scale, and every record
//! accounted for afterwards. Records are made before the clock starts
//! ([`records`]), written by one writer or many ([`writer`], [`task`]) in one of
//! many ways ([`append`] and its siblings), and read back ([`verify`]).

mod acks;
mod append;
mod crash;
mod gathered;
mod interpreters;
mod locked;
mod per_writer;
mod queued;
pub(crate) mod records;
mod spec;
mod task;
mod uring;
pub(crate) mod verify;
mod work;
mod writer;

use std::os::fd::BorrowedFd;

use engine::study::{Doing, Operations, Study, StudyError, Task};
use engine::worker::{Hands, Pool, Program};
use model::study::{Params, Rate, StudySpec, SyncPolicy};
use model::units::exact_size;

pub(crate) use writer::work as serve_ticket;

/// More writers than this have no numbers in their records.
const WRITERS_MAX: u64 = 64;
/// The records of a slice take this much memory at the most, all writers together.
const SLICE_BYTES: u64 = 24 << 20;
/// What has to be in one slice may take it up to here.
const SLICE_BYTES_MAX: u64 = 64 << 20;
/// More records than this say no more about a slice.
const SLICE_RECORDS: u64 = 1_000_000;
/// Where records come at a rate, a slice lasts this long at the most.
const SLICES_PER_S: u64 = 20;

/// The study.
pub(crate) struct Log {
    pool: Pool,
}

/// The one that there is: worker processes wait in it from slice to slice.
pub(crate) static LOG: Log = Log { pool: Pool::new() };

impl Study for Log {
    fn spec(&self) -> &'static StudySpec {
        &spec::SPEC
    }

    fn operations(&self, params: &Params) -> Result<Operations, String> {
        let writers = params.count("writers");
        if params.count("kill") > 0 && params.choice("kind") == "threads" {
            return Err("a thread cannot be killed by itself: kill needs kind=processes".into());
        }
        let per_writer = match params.sync("sync") {
            SyncPolicy::Every(n) => n.get(),
            SyncPolicy::Never | SyncPolicy::Each | SyncPolicy::Interval(_) => 1,
        };
        let granule = per_writer.saturating_mul(writers);
        let size = params.sizes("record").max;
        if granule.saturating_mul(size) > SLICE_BYTES_MAX {
            return Err(format!(
                "{writers} writers that sync every {per_writer} records of {} would take more \
                 than {} a slice; sync more often or write smaller records",
                exact_size(size),
                exact_size(SLICE_BYTES_MAX)
            ));
        }
        let mut max = (SLICE_BYTES / size).min(SLICE_RECORDS);
        if let Rate::PerSecond(rate) = params.rate("rate") {
            max = max.min(rate.get() / SLICES_PER_S);
        }
        Ok(Operations { granule, max: (max / granule).max(1) * granule })
    }

    /// Twice the records, for those that are merged or written by those to be
    /// killed, and their times.
    fn space_bytes(&self, _strategy: &str, params: &Params, operations: u64) -> u64 {
        operations * (2 * params.sizes("record").max + size_of::<u64>() as u64)
    }

    fn prepare(
        &self,
        strategy: &str,
        params: &Params,
        folder: BorrowedFd<'_>,
    ) -> Result<Box<dyn Task>, StudyError> {
        let (writers, kills) = (params.count("writers"), params.count("kill"));
        let work = work::Work::new(strategy, params, writers);
        let interpreter = interpreters::of(strategy);
        if interpreter.is_some() {
            interpreters::check(&work, kills)?;
        }
        let native = match (writers, params.choice("kind")) {
            (1, _) => None,
            (_, "threads") => Some(Hands::Threads(writer::work)),
            _ => Some(Hands::Processes(Program::OURSELVES)),
        };
        Ok(Box::new(task::LogTask::new(task::Setting {
            work,
            writers,
            hands: interpreter.map(Hands::Processes).or(native),
            hand_over_records: interpreter.is_some(),
            kills,
            folder: folder.try_clone_to_owned().doing("keeping the folder open")?,
            pool: &LOG.pool,
        })?))
    }
}

#[cfg(test)]
mod tests;
