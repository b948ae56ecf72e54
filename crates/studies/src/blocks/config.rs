//! What an arm is told: its strategy and parameters, understood.

use engine::study::StudyError;
use model::study::Params;
use rand::seq::index::sample;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use units::{count, exact_size};

use super::share::Share;
use super::spec::{Access, CLIENTS_FILE, ClientsFile, Order, Strategy, Sync};
use crate::drop_cache::Cache;

/// Of each block it is kept when it was last written, in 8 bytes.
const BLOCKS_MAX: u64 = 1 << 26;
/// Buffers of all blocks that are under way together.
const UNDER_WAY_BYTES_MAX: u64 = 256 << 20;
/// The smallest sector of any device.
const SECTOR_BYTES: u64 = 512;

/// What an arm is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Config {
    pub(super) strategy: Strategy,
    pub(super) order: Order,
    pub(super) cache: Cache,
    pub(super) sync: Sync,
    pub(super) size: usize,
    /// Which blocks of the file have turns.
    pub(super) share: Share,
    pub(super) depth: usize,
    reads_percent: u32,
}

/// What is done with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) block: u64,
    pub(super) reads: bool,
}

impl Config {
    pub(super) fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let strategy = Strategy::of(strategy)?;
        let (size, file_bytes) = (params.size("size"), params.size("file"));
        let depth = if strategy.is_queued() { params.count("depth") } else { 1 };
        let layout = ClientsFile::of(params.choice(CLIENTS_FILE))?;
        check(strategy, size, file_bytes, depth).map_err(StudyError::Unsuited)?;
        Ok(Self {
            strategy,
            order: Order::of(params.choice("order"))?,
            cache: Cache::of(params.choice("cache"))?,
            sync: Sync::of(params.choice("sync"))?,
            size: size as usize,
            share: Share::whole(layout, file_bytes / size),
            depth: depth as usize,
            reads_percent: match Access::of(params.choice("access"))? {
                Access::Read => 100,
                Access::Write => 0,
                Access::Mixed => params.count("mix") as u32,
            },
        })
    }

    /// The file's size.
    pub(super) fn file_bytes(&self) -> u64 {
        self.offset(self.share.in_file())
    }

    /// Whether any block is written.
    pub(super) fn writes(&self) -> bool {
        self.reads_percent < 100
    }

    /// Whether any is read.
    pub(super) fn reads(&self) -> bool {
        self.reads_percent > 0
    }

    /// Whether each write returns once the device has the block.
    pub(super) fn is_synced(&self) -> bool {
        self.sync == Sync::Each
    }

    /// Where a block is in the file.
    #[inline]
    pub(super) fn offset(&self, block: u64) -> u64 {
        block * self.size as u64
    }

    /// Which blocks have a turn in a slice, each once: those from one on, in order and
    /// from the front again at the end, or any.
    pub(super) fn turns(&self, operations: u64, slice: u32, from: u64) -> Vec<Turn> {
        let mut random = ChaCha8Rng::seed_from_u64(u64::from(slice));
        let blocks = self.share.count();
        let operations = operations.min(blocks);
        let chosen: Vec<u64> = match self.order {
            Order::Sequential => (0..operations).map(|turn| (from + turn) % blocks).collect(),
            Order::Random => {
                let any = sample(&mut random, blocks as usize, operations as usize);
                any.into_iter().map(|block| block as u64).collect()
            }
        };
        let mut reads = || random.random_range(0..100) < self.reads_percent;
        let turn = |own| Turn { block: self.share.block(own), reads: reads() };
        chosen.into_iter().map(turn).collect()
    }
}

/// What does not go together, if anything.
fn check(strategy: Strategy, size: u64, file_bytes: u64, depth: u64) -> Result<(), String> {
    let (block, file) = (exact_size(size), exact_size(file_bytes));
    if file_bytes < size || !file_bytes.is_multiple_of(size) {
        return Err(format!("a file of {file} is not a whole number of blocks of {block}"));
    }
    let (blocks, most) = (count(file_bytes / size), count(BLOCKS_MAX));
    if file_bytes / size > BLOCKS_MAX {
        return Err(format!(
            "a file of {file} has {blocks} blocks of {block}, but at most {most} are allowed; \
             choose a larger block size or a smaller file"
        ));
    }
    if size * depth > UNDER_WAY_BYTES_MAX {
        let most = exact_size(UNDER_WAY_BYTES_MAX);
        return Err(format!(
            "{depth} blocks of {block} at a time take more than {most}; choose a smaller depth or \
             block size"
        ));
    }
    if strategy.is_direct() && !size.is_multiple_of(SECTOR_BYTES) {
        let sector = exact_size(SECTOR_BYTES);
        return Err(format!(
            "O_DIRECT takes whole sectors, and {block} is not a multiple of {sector}; choose \
             another size, or the strategies buffered and uring"
        ));
    }
    Ok(())
}
