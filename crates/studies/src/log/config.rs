//! What an arm of the study is told: its strategy and parameters, understood.

use std::sync::Arc;

use engine::study::{Footprint, Operations, StudyError};
use model::material::Material;
use model::scaling::{CLIENTS, THREADS};
use model::strategy::Syncs;
use model::study::{ParamValue, Params, Rate, Sizes, SyncPolicy};
use units::exact_size;

use super::records::SHORT_MIN;
use super::spec::{FullQueue, RECORD_BYTES_MAX, RECORDS_MAX, RingOrder, Strategy, WriterKind};
use crate::user_data::lines::LineSizes;

/// The records of a slice take this much memory at the most, all writers together.
const SLICE_BYTES: u64 = 24 << 20;
/// What has to be in one slice may take it up to here.
const SLICE_BYTES_MAX: u64 = 64 << 20;
/// A number of records that was asked for may take it up to here.
const ASKED_BYTES_MAX: u64 = 128 << 20;
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
    /// The smallest record and the largest.
    pub(super) record: Sizes,
    /// Those of a log of the user's.
    pub(super) sample: Option<Arc<LineSizes>>,
    /// How many write at the same time, one on each client where there are several.
    pub(super) writers: u64,
    pub(super) clients: u64,
    /// What each writer appends in a slice; 0 where that is left open.
    pub(super) records: u64,
    pub(super) kind: WriterKind,
    /// Of each process that writes, with those that sleep.
    pub(super) threads: u64,
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
        let sample = match params.text("sample") {
            "" => None,
            log => Some(LineSizes::read(log, SHORT_MIN as u32, RECORD_BYTES_MAX as u32)?),
        };
        let clients = params.count(CLIENTS);
        let config = Self {
            strategy: Strategy::of(strategy)?,
            record: sample.as_ref().map_or_else(|| params.sizes("record"), |own| own.range()),
            sample,
            writers: params.count("writers").max(clients),
            clients,
            records: params.count("records"),
            kind: WriterKind::of(params.choice("kind"))?,
            threads: params.count(THREADS),
            sync: params.sync("sync"),
            rate: params.rate("rate"),
            buffer_bytes: params.size("buffer"),
            batch: params.count("batch"),
            queue: params.count("queue"),
            full: FullQueue::of(params.choice("full"))?,
            ring: RingOrder::of(params.choice("ring"))?,
            kills: params.count("kill"),
        };
        if clients > 1 {
            config.check_clients(params.count("writers"))?;
        }
        if config.kills > 0 && config.kind == WriterKind::Threads {
            return Err(StudyError::Unsuited(
                "a thread cannot be killed by itself: kill needs kind=processes".to_owned(),
            ));
        }
        if config.bytes(config.granule()) > SLICE_BYTES_MAX {
            return Err(StudyError::Unsuited(format!(
                "{} writers that sync every {} records of {} would take more than {} a slice; \
                 sync more often or write smaller records",
                config.writers,
                config.records_per_sync(),
                exact_size(config.record.max),
                exact_size(SLICE_BYTES_MAX)
            )));
        }
        config.check_records()?;
        Ok(config)
    }

    /// Refuses a number of records that a slice cannot have.
    fn check_records(&self) -> Result<(), StudyError> {
        let Self { records, record, writers, .. } = self;
        if self.bytes(records.saturating_mul(*writers)) > ASKED_BYTES_MAX {
            return Err(StudyError::Unsuited(format!(
                "{records} records of {} by each of {writers} writers are more than {} a slice; \
                 write fewer or smaller ones",
                exact_size(record.max),
                exact_size(ASKED_BYTES_MAX)
            )));
        }
        if !records.is_multiple_of(self.records_per_sync()) {
            return Err(StudyError::Unsuited(format!(
                "{records} records are no multiple of the {} after which each writer syncs",
                self.records_per_sync()
            )));
        }
        Ok(())
    }

    /// Whether an interpreter can do what it is asked. Others that are asked the same may
    /// well be able to, so that this ends an arm and not the run.
    pub(super) fn check_interpreter(&self) -> Result<(), StudyError> {
        let strategy = self.strategy;
        let unsuited = |why: &str| Err(StudyError::Unsuited(format!("{} {why}", strategy.name())));
        if self.sync != SyncPolicy::Never && strategy.facts().syncs == Syncs::Never {
            return unsuited("has no file handle that could be synced; set sync=never for it");
        }
        if self.kills > 0 && strategy.interpreter().is_some() {
            return unsuited(
                "does not support kill: an interpreter has no shared memory in which to count \
                 acknowledged records; set kill=0 for it",
            );
        }
        Ok(())
    }

    /// What several clients cannot do.
    fn check_clients(&self, writers: u64) -> Result<(), StudyError> {
        let why = if writers > 1 {
            "each client is one writer: set either writers or clients"
        } else if self.strategy.interpreter().is_some() {
            "clients are writers of iotoll's own: leave the strategies of interpreters out"
        } else if self.kills > 0 {
            "writers on several machines cannot be killed at one moment: kill needs clients=1"
        } else {
            return Ok(());
        };
        Err(StudyError::Unsuited(why.to_owned()))
    }

    pub(super) fn operations(&self) -> Operations {
        if self.records > 0 {
            return Operations::exactly(self.records * self.writers);
        }
        let granule = self.granule();
        let mut max = (SLICE_BYTES / self.usual_bytes()).min(RECORDS_MAX);
        if let Rate::PerSecond(rate) = self.rate {
            max = max.min(rate.get() / SLICES_PER_S);
        }
        Operations { granule, max: (max / granule).max(1) * granule }
    }

    /// Twice the records, for those that are merged or written by those to be
    /// killed, and their times; and a page that is written again for each sync.
    pub(super) fn footprint(&self, operations: u64) -> Footprint {
        let space_bytes = 2 * self.bytes(operations) + operations * size_of::<u64>() as u64;
        let written_bytes = space_bytes + self.syncs(operations) * PAGE_BYTES;
        Footprint { space_bytes, files: 2 * self.writers + FILES_BESIDE, written_bytes }
    }

    /// What so many records come to at the most. The sum of a sample's scatters about its mean
    /// by less than this in all but one of a billion slices: no size is further from the mean
    /// than the largest, so that its variance is at most their product.
    fn bytes(&self, records: u64) -> u64 {
        let Sizes { max, .. } = self.record;
        let Some(sample) = &self.sample else { return records.saturating_mul(max) };
        let sum = records as f64 * sample.mean();
        (sum + 6.0 * (sum * max as f64).sqrt()) as u64 + max
    }

    /// What a record comes to on average.
    pub(super) fn mean_bytes(&self) -> f64 {
        self.sample.as_ref().map_or_else(|| self.record.mean(), |sample| sample.mean())
    }

    /// By which a slice's records are counted, so that they fit.
    fn usual_bytes(&self) -> u64 {
        let twice_mean = |sample: &Arc<LineSizes>| 2 * sample.mean().ceil() as u64;
        self.sample.as_ref().map_or(self.record.max, twice_mean)
    }

    /// What reports say of its records.
    pub(super) fn material(&self) -> Material {
        let size = ParamValue::Sizes(self.record);
        let generated = || Material::generated(format!("records of {size}"), "sample");
        self.sample.as_ref().map_or_else(generated, |sample| sample.material())
    }

    /// How often a slice syncs at the most.
    fn syncs(&self, operations: u64) -> u64 {
        let by_strategy = if self.strategy.facts().syncs == Syncs::Always { operations } else { 0 };
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
