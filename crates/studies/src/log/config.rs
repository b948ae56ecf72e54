//! What an arm of the study is told: its strategy and parameters, understood.

use engine::study::{Footprint, Operations, StudyError};
use model::study::{Params, Rate, Sizes, SyncPolicy};
use model::units::exact_size;

use super::spec::{FullQueue, RingOrder, Strategy, WriterKind};

/// The records of a slice take this much memory at the most, all writers together.
const SLICE_BYTES: u64 = 24 << 20;
/// What has to be in one slice may take it up to here.
const SLICE_BYTES_MAX: u64 = 64 << 20;
/// More records than this say no more about a slice.
const SLICE_RECORDS: u64 = 1_000_000;
/// Where records come at a rate, a slice lasts this long at the most.
const SLICES_PER_S: u64 = 20;

/// What a sync writes at the least.
const PAGE_BYTES: u64 = 4096;
/// What a slice has beside the files of its writers: those that are merged, and what
/// trials with killed writers leave.
const FILES_BESIDE: u64 = 8;

/// What an arm is told.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) strategy: Strategy,
    pub(super) record: Sizes,
    pub(super) writers: u64,
    pub(super) kind: WriterKind,
    pub(super) sync: SyncPolicy,
    pub(super) rate: Rate,
    pub(super) buffer_bytes: u64,
    pub(super) batch: u64,
    pub(super) queue: u64,
    pub(super) full: FullQueue,
    pub(super) ring: RingOrder,
    /// How often writers are killed after each slice.
    pub(super) kills: u64,
}

impl Config {
    pub(super) fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let config = Self {
            strategy: Strategy::of(strategy)?,
            record: params.sizes("record"),
            writers: params.count("writers"),
            kind: WriterKind::of(params.choice("kind"))?,
            sync: params.sync("sync"),
            rate: params.rate("rate"),
            buffer_bytes: params.size("buffer"),
            batch: params.count("batch"),
            queue: params.count("queue"),
            full: FullQueue::of(params.choice("full"))?,
            ring: RingOrder::of(params.choice("ring"))?,
            kills: params.count("kill"),
        };
        if config.kills > 0 && config.kind == WriterKind::Threads {
            return Err(StudyError::Unsuited(
                "a thread cannot be killed by itself: kill needs kind=processes".to_owned(),
            ));
        }
        if config.granule().saturating_mul(config.record.max) > SLICE_BYTES_MAX {
            return Err(StudyError::Unsuited(format!(
                "{} writers that sync every {} records of {} would take more than {} a slice; \
                 sync more often or write smaller records",
                config.writers,
                config.records_per_sync(),
                exact_size(config.record.max),
                exact_size(SLICE_BYTES_MAX)
            )));
        }
        Ok(config)
    }

    pub(super) fn operations(&self) -> Operations {
        let granule = self.granule();
        let mut max = (SLICE_BYTES / self.record.max).min(SLICE_RECORDS);
        if let Rate::PerSecond(rate) = self.rate {
            max = max.min(rate.get() / SLICES_PER_S);
        }
        Operations { granule, max: (max / granule).max(1) * granule }
    }

    /// Twice the records, for those that are merged or written by those to be
    /// killed, and their times; and a page that is written again for each sync.
    pub(super) fn footprint(&self, operations: u64) -> Footprint {
        let space_bytes = operations * (2 * self.record.max + size_of::<u64>() as u64);
        let written_bytes = space_bytes + self.syncs(operations) * PAGE_BYTES;
        Footprint { space_bytes, files: 2 * self.writers + FILES_BESIDE, written_bytes }
    }

    /// How often a slice syncs at the most.
    fn syncs(&self, operations: u64) -> u64 {
        let by_strategy = if self.strategy == Strategy::Dsync { operations } else { 0 };
        let by_policy = match self.sync {
            SyncPolicy::Never => 0,
            SyncPolicy::Every(n) => operations / n.get() + self.writers,
            SyncPolicy::Each | SyncPolicy::Interval(_) => operations,
        };
        by_strategy.max(by_policy)
    }

    /// A slice has each writer's syncs in their due share.
    fn granule(&self) -> u64 {
        self.records_per_sync().saturating_mul(self.writers)
    }

    fn records_per_sync(&self) -> u64 {
        match self.sync {
            SyncPolicy::Every(n) => n.get(),
            SyncPolicy::Never | SyncPolicy::Each | SyncPolicy::Interval(_) => 1,
        }
    }
}
