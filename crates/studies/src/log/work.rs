//! One writer's part of a slice, in numbers and words that a thread, a process
//! and a script in another language can all be told.

use model::study::{Rate, Sizes, SyncPolicy};
use serde::{Deserialize, Serialize};

use super::config::Config;
use super::records::Format;
use super::spec::{FullQueue, RingOrder, Strategy};

/// What one writer is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Work {
    /// How it writes.
    pub(crate) strategy: Strategy,
    /// The slice's folder.
    pub(crate) folder: String,
    /// What its files are called, before `.log`.
    pub(crate) stem: String,
    /// What the records are told from another slice's by.
    pub(crate) run: u32,
    /// Its number.
    pub(crate) writer: u32,
    /// Records to write.
    pub(crate) records: u64,
    /// The smallest record.
    pub(crate) size_min: u64,
    /// The largest.
    pub(crate) size_max: u64,
    /// Sizes that are as likely as one another, where not all between these are.
    pub(crate) sample: Vec<u32>,
    /// Records between syncs; 0 for none.
    pub(crate) sync_records: u64,
    /// Time between syncs; 0 for none.
    pub(crate) sync_interval_ns: u64,
    /// Time from the start to the first of them.
    pub(crate) sync_first_ns: u64,
    /// Time between records; 0 for as fast as possible.
    pub(crate) pace_ns: f64,
    /// Time from the start to the first record.
    pub(crate) pace_first_ns: f64,
    /// Bytes of a user-space buffer.
    pub(crate) buffer: u64,
    /// Records handed over at once.
    pub(crate) batch: u64,
    /// Records that a queue holds.
    pub(crate) queue: u64,
    /// Whether a full queue drops records.
    pub(crate) drops: bool,
    /// Whether entries of a ring wait for those before them.
    pub(crate) linked: bool,
    /// Threads of the process, with those that sleep.
    pub(crate) threads: u64,
    /// Where to count acknowledged records, for workers that are to be killed.
    pub(crate) acks: Option<String>,
    /// Where the records are, for workers that do not make them.
    pub(crate) records_file: Option<String>,
}

impl Work {
    /// The first writer's work; [`Work::of_writer`] gives the others'.
    pub(super) fn new(config: &Config) -> Self {
        let Sizes { min, max } = config.record;
        let (sync_records, sync_interval_ns) = match config.sync {
            SyncPolicy::Never => (0, 0),
            SyncPolicy::Each => (1, 0),
            SyncPolicy::Every(n) => (n.get(), 0),
            SyncPolicy::Interval(interval) => (0, interval.as_nanos() as u64),
        };
        let pace_ns = match config.rate {
            Rate::Max => 0.0,
            Rate::PerSecond(n) => 1e9 * config.writers as f64 / n.get() as f64,
        };
        Self {
            strategy: config.strategy,
            folder: String::new(),
            stem: "app".to_owned(),
            run: rand::random(),
            writer: 0,
            records: 0,
            size_min: min,
            size_max: max,
            sample: config.sample.as_ref().map_or_else(Vec::new, |own| own.sizes.clone()),
            sync_records,
            sync_interval_ns,
            // A slice may begin at any moment of the interval: over many slices
            // syncs come as often as they should, however short the slices are.
            sync_first_ns: (sync_interval_ns as f64 * rand::random::<f64>()) as u64,
            pace_ns,
            pace_first_ns: 0.0,
            buffer: config.buffer_bytes,
            batch: config.batch,
            queue: config.queue,
            drops: config.full == FullQueue::Drop,
            linked: config.ring == RingOrder::Linked,
            threads: config.threads,
            acks: None,
            records_file: None,
        }
    }

    /// The same for another writer; writers that keep a pace take turns.
    pub(crate) fn of_writer(&self, writer: u32, writers: u64) -> Self {
        let pace_first_ns = self.pace_ns * f64::from(writer) / writers as f64;
        Self { writer, pace_first_ns, ..self.clone() }
    }

    /// How its records look.
    pub(crate) fn format(&self) -> Format {
        if self.sample.is_empty() {
            Format::new(self.run, Sizes { min: self.size_min, max: self.size_max })
        } else {
            Format::sampled(self.run, &self.sample)
        }
    }
}
