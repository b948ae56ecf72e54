//! What an arm is told: its strategy and parameters, understood.

use engine::study::{Footprint, Operations, StudyError};
use journal::{Compression, Options};
use model::study::Params;
use units::exact_size;

use super::device::Model;
use super::items::{Kind, PER_TRANSACTION};
use super::spec::{Keys, Space, Start, Strategy, Values, Writing};

/// What a slice commits to a loaded store at the most: enough for one of 20 ms where there is
/// no device to wait for, and few enough for the journal to fit into small places.
const LOADED_MAX: u64 = 32;
const PAGE_BYTES: u64 = journal::PAGE_BYTES as u64;
/// A page in a transaction, with its number and length.
const CHANGE_BYTES: u64 = PAGE_BYTES + 6;
/// Each item may change a leaf of its own, and divide it; what is above the leaves, and new
/// there, is little beside that.
const CHANGES_MAX: u64 = 2 * PER_TRANSACTION + 16;
/// What an item takes in a page besides key and value.
const CELL_BYTES: u64 = 6;
/// An entry of the map in `data`.
const ENTRY_BYTES: u64 = 12;
/// No segment is shorter.
const SEGMENT_BYTES_MIN: u64 = 256 << 10;
/// Small pages beside those of the tree: heads, the first of the map's.
const FEW_PAGES: u64 = 32;

/// What an arm is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Config {
    pub(super) kind: Kind,
    /// In the store when the clock starts; with an empty start, when it stops.
    pub(super) transactions: u64,
    pub(super) start: Start,
    pub(super) options: Options,
    pub(super) checkpoint_bytes: u64,
    pub(super) model: Option<Model>,
}

impl Config {
    pub(super) fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let options = options(Strategy::of(strategy)?, params)?;
        let kind = Kind {
            keys: Keys::of(params.choice("keys"))?,
            values: Values::of(params.choice("values"))?,
            value_bytes: params.size("value") as usize,
        };
        Ok(Self {
            kind,
            transactions: params.count("items").div_ceil(PER_TRANSACTION),
            start: Start::of(params.choice("start"))?,
            options,
            checkpoint_bytes: params.size("checkpoint"),
            model: Model::new(
                params.count("modelled_mb"),
                params.count("modelled_iops"),
                params.duration("modelled_sync"),
            ),
        })
    }

    pub(super) fn operations(&self) -> Operations {
        match self.start {
            Start::Loaded => Operations { granule: 1, max: LOADED_MAX },
            Start::Empty => Operations::exactly(self.transactions),
        }
    }

    /// What transactions come to before the clock starts.
    pub(super) fn loaded(&self) -> u64 {
        if self.start == Start::Loaded { self.transactions } else { 0 }
    }

    /// The options of a slice's store. Of a segment's space, what the slice cannot come to is not
    /// made ready: in memory that takes longer than all else before the clock starts.
    pub(super) fn options_for(&self, operations: u64) -> Options {
        let Options { block_bytes, segment_bytes, .. } = self.options;
        let slice = operations.saturating_mul(self.commit_bytes()) + u64::from(block_bytes);
        let segment_bytes = segment_bytes.min(slice.max(SEGMENT_BYTES_MIN));
        Options { segment_bytes, ..self.options }
    }

    /// What a transaction takes in the journal at the most.
    fn commit_bytes(&self) -> u64 {
        CHANGES_MAX * CHANGE_BYTES + u64::from(self.options.block_bytes)
    }

    /// What a slice comes to at the most.
    pub(super) fn footprint(&self, operations: u64) -> Footprint {
        let Options { block_bytes, segment_bytes, space, .. } = self.options_for(operations);
        let commit = self.commit_bytes();
        let journal = operations.saturating_mul(commit);
        let at_once = journal.min(self.checkpoint_bytes.saturating_add(commit));
        let data = self.data_bytes(self.loaded() + operations);
        let segments = journal / segment_bytes + 2;
        // Where a file system cannot only note that space is allocated, it writes zeros.
        let filled = if space == journal::Space::Growing { 0 } else { segments * segment_bytes };
        // A new segment is there before those that a checkpoint frees are removed; recycled,
        // eight of them are kept.
        let spares = if space == journal::Space::Recycled { 9 } else { 1 };
        let checkpoints = journal / self.checkpoint_bytes + 1;
        Footprint {
            // Before a checkpoint is complete the last one stays.
            space_bytes: at_once + segment_bytes * (1 + spares) + 2 * data,
            files: at_once / segment_bytes + 4 + spares,
            written_bytes: journal
                .saturating_add(filled)
                .saturating_add(checkpoints.saturating_mul(data))
                .saturating_add((segments + 2) * 2 * u64::from(block_bytes).max(PAGE_BYTES)),
        }
    }

    /// The file `data` with the items of so many transactions, in pages that are half full.
    fn data_bytes(&self, transactions: u64) -> u64 {
        let item = self.kind.item_bytes() as u64 + CELL_BYTES;
        let pages = (transactions * PER_TRANSACTION).saturating_mul(item) * 2 / PAGE_BYTES;
        (pages + pages / 8 + FEW_PAGES) * (PAGE_BYTES + ENTRY_BYTES)
    }
}

fn options(strategy: Strategy, params: &Params) -> Result<Options, StudyError> {
    let block_bytes = params.size("block") as u32;
    if !block_bytes.is_power_of_two() {
        let block = exact_size(u64::from(block_bytes));
        return Err(StudyError::Unsuited(format!(
            "a block of {block} is not a power of two; set journal.block to 512 B or 4 KiB"
        )));
    }
    let level = params.count("zstd_level") as i32;
    let (differences, compression) = match strategy {
        Strategy::Pages => (false, Compression::None),
        Strategy::PagesLz4 => (false, Compression::Lz4),
        Strategy::PagesSnappy => (false, Compression::Snappy),
        Strategy::PagesZstd => (false, Compression::Zstd { level }),
        Strategy::Differences => (true, Compression::None),
        Strategy::DifferencesLz4 => (true, Compression::Lz4),
        Strategy::DifferencesZstd => (true, Compression::Zstd { level }),
    };
    Ok(Options {
        differences,
        compression,
        threshold_bytes: params.size("threshold") as u32,
        block_bytes,
        writing: match Writing::of(params.choice("writing"))? {
            Writing::Fdatasync => journal::Writing::Buffered,
            Writing::Dsync => journal::Writing::Dsync,
            Writing::Direct => journal::Writing::Direct,
        },
        space: match Space::of(params.choice("space"))? {
            Space::Preallocated => journal::Space::Preallocated,
            Space::Growing => journal::Space::Growing,
            Space::ZeroFilled => journal::Space::ZeroFilled,
            Space::Recycled => journal::Space::Recycled,
        },
        segment_bytes: params.size("segment"),
    })
}
