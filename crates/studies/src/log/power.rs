//! What a power failure leaves of a log.
//!
//! What was synced must be there, whole; of the rest nothing is promised. What a file
//! system leaves of it is a prefix of what was written, ordinarily: a record that is
//! there while one before it is not is told as damage.

use std::fs::File;
use std::io::Seek as _;
use std::os::fd::OwnedFd;

use engine::power::Left;
use engine::slice_timer::SliceTimer;
use engine::study::{Doing, PowerTrial, Ready, SliceFolders, StudyError};
use model::integrity::Integrity;
use model::strategy::Syncs;
use model::study::{Params, SyncPolicy};
use process::worker::WorkerPool;
use rustix::io::Errno;

use super::append::log_name;
use super::config::Config;
use super::records::Format;
use super::slice::Slice;
use super::spec::Strategy;
use super::verify::{Expected, account};
use crate::file::open_for_reading;

const READING: &str = "reading the log back after a power failure";

/// A log that one writer appends to.
pub(crate) struct Appending {
    config: Config,
    pool: WorkerPool,
    latest: Option<Latest>,
}

/// The latest slice.
struct Latest {
    stem: String,
    format: Format,
    records: u64,
}

impl Appending {
    pub(crate) fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let config = Config::new(strategy, params)?;
        if config.writers > 1 || config.strategy.interpreter().is_some() {
            let text = "the power failure test needs one writer, which is not an interpreter: set \
                        writers=1"
                .to_owned();
            return Err(StudyError::Unsuited(text));
        }
        Ok(Self { config, pool: WorkerPool::new(), latest: None })
    }

    /// Records that the writer was told were written, once it had given so many.
    fn acknowledged(&self, given: u64) -> u64 {
        let Config { strategy, batch, .. } = self.config;
        if !matches!(strategy, Strategy::Batched | Strategy::Uring) {
            return given;
        }
        // A sync writes out what there is of a batch.
        let synced = given - given % self.records_per_sync().unwrap_or(u64::MAX);
        synced + (given - synced) / batch * batch
    }

    /// Records of these that were forced to the device, too.
    fn forced(&self, given: u64) -> u64 {
        match self.config.strategy {
            strategy if strategy.facts().syncs == Syncs::Always => given,
            // The queue's thread is told to, and nobody waits for it.
            Strategy::Queued => 0,
            _ => self.records_per_sync().map_or(0, |records| given - given % records),
        }
    }

    fn records_per_sync(&self) -> Option<u64> {
        match self.config.sync {
            SyncPolicy::Each => Some(1),
            SyncPolicy::Every(records) => Some(records.get()),
            SyncPolicy::Never | SyncPolicy::Interval(_) => None,
        }
    }
}

impl PowerTrial for Appending {
    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let slice = Slice::new(&self.config, &self.pool, folders)?;
        let (stem, format) = (slice.work.stem.clone(), slice.work.format());
        self.latest = Some(Latest { stem, format, records: operations });
        slice.ready(operations, timer)
    }

    fn look(&self, folders: SliceFolders<'_>, done: u64) -> Result<Left, StudyError> {
        let Some(latest) = &self.latest else { return Ok(Left::default()) };
        let (acknowledged, forced) = (self.acknowledged(done), self.forced(done));
        let file = match open_for_reading(folders.fresh, &log_name(&latest.stem)) {
            // Its name was not on the device yet.
            Err(Errno::NOENT) => return Ok(Left::lost(acknowledged, acknowledged - forced)),
            opened => opened.doing(READING)?,
        };
        let whole = whole(&file, latest).doing(READING)?;
        let lost = acknowledged.saturating_sub(whole.prefix);
        Ok(Left::lost(lost, acknowledged - forced).with_damage(whole.after_a_gap, true))
    }

    fn starts_settled(&self) -> bool {
        false
    }
}

/// What is whole in a log.
struct Whole {
    /// Records from the first on.
    prefix: u64,
    /// What is there after one that is not.
    after_a_gap: Option<String>,
}

fn whole(file: &OwnedFd, latest: &Latest) -> std::io::Result<Whole> {
    let mut file = File::from(file.try_clone()?);
    let mut account_of = |acknowledged: u64| {
        file.rewind()?;
        let expected = Expected { acknowledged, begun: latest.records };
        account(&file, latest.format, &[expected])
    };
    let Integrity { lost, torn, interleaved, overwritten, .. } =
        account_of(latest.records)?.integrity;
    let there = latest.records - lost - torn - interleaved - overwritten;
    let of_these = account_of(there)?;
    if of_these.integrity.is_intact() {
        return Ok(Whole { prefix: there, after_a_gap: None });
    }
    // The longest prefix that is intact.
    let (mut intact, mut broken) = (0, there);
    while broken - intact > 1 {
        let middle = u64::midpoint(intact, broken);
        if account_of(middle)?.integrity.is_intact() {
            intact = middle;
        } else {
            broken = middle;
        }
    }
    let what =
        format!("record {intact} is incomplete, although {} after it are intact", there - intact);
    Ok(Whole { prefix: intact, after_a_gap: Some(what) })
}
