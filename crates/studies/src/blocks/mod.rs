//! `blocks`: blocks of a large file are read and written, at random or in order, as
//! databases do and as storage is sold by.
//!
//! The file is written in full before anything is timed, with bytes that do not compress,
//! and its blocks are overwritten in place. In a slice each block has one turn at the most,
//! so that every one can be held against what was last written to it. That a device was
//! read, and not memory, is measured in every slice.
//!
//! With several blocks under way, a toll is the slice's time divided by its blocks, the
//! reverse of IOPS; latencies count from when a block's place in the queue was free.

mod buffers;
mod queue;
mod slice;
mod spec;
mod store;

use engine::study::{Operations, Prepared, SliceFolders, Study, StudyError, Workload};
use model::study::{Params, StudySpec};
use model::units::exact_size;
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use self::slice::Kept;
use self::spec::{Access, Cache, Order, Strategy};
use self::store::Store;

/// The study.
pub(crate) struct Blocks;

impl Study for Blocks {
    fn spec(&self) -> &'static StudySpec {
        &spec::SPEC
    }

    fn workload(&self, strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
        let config = Config::new(strategy, params)?;
        Ok(Box::new(Arm { config, store: None }))
    }
}

/// What an arm is told.
#[derive(Clone, Copy, Debug)]
struct Config {
    strategy: Strategy,
    order: Order,
    cache: Cache,
    size: usize,
    file_bytes: u64,
    depth: usize,
    reads_percent: u32,
}

impl Config {
    fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let strategy = Strategy::of(strategy)?;
        let (size, file_bytes) = (params.size("size"), params.size("file"));
        if file_bytes < size || !file_bytes.is_multiple_of(size) {
            let (size, file) = (exact_size(size), exact_size(file_bytes));
            let why = format!("a file of {file} is not a whole number of blocks of {size}");
            return Err(StudyError::Unsuited(why));
        }
        if strategy.is_direct() && !size.is_multiple_of(512) {
            let size = exact_size(size);
            let why = format!("O_DIRECT takes whole sectors of 512 B; {size} is none");
            return Err(StudyError::Unsuited(why));
        }
        Ok(Self {
            strategy,
            order: Order::of(params.choice("order"))?,
            cache: Cache::of(params.choice("cache"))?,
            size: size as usize,
            file_bytes,
            depth: if strategy.is_queued() { params.count("depth") as usize } else { 1 },
            reads_percent: match Access::of(params.choice("access"))? {
                Access::Read => 100,
                Access::Write => 0,
                Access::Mixed => params.count("mix") as u32,
            },
        })
    }

    fn blocks(&self) -> u64 {
        self.file_bytes / self.size as u64
    }

    /// Which blocks have a turn in a slice, in order.
    fn turns(&self, operations: u64, slice: u32) -> Vec<Turn> {
        let mut random = ChaCha8Rng::seed_from_u64(u64::from(slice));
        let blocks = self.blocks() as usize;
        let chosen = match self.order {
            Order::Sequential => (0..operations).collect(),
            Order::Random => {
                let mut all: Vec<u64> = (0..blocks as u64).collect();
                all.partial_shuffle(&mut random, operations as usize).0.to_vec()
            }
        };
        let is_read = |random: &mut ChaCha8Rng| random.random_range(0..100) < self.reads_percent;
        chosen.into_iter().map(|block| Turn { block, reads: is_read(&mut random) }).collect()
    }
}

/// What is done with a block.
#[derive(Clone, Copy, Debug)]
struct Turn {
    block: u64,
    reads: bool,
}

/// An arm's blocks.
struct Arm {
    config: Config,
    /// Made by its first slice, and again in each new folder.
    store: Option<Store>,
}

impl Workload for Arm {
    fn operations(&self) -> Operations {
        Operations { granule: 1, max: self.config.blocks() }
    }

    fn warms_up(&self) -> bool {
        true
    }

    fn space_bytes(&self, _operations: u64) -> u64 {
        0
    }

    fn kept_bytes(&self) -> u64 {
        self.config.file_bytes
    }

    fn prepare<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
    ) -> Result<Box<dyn Prepared + 'a>, StudyError> {
        let Self { config, store } = self;
        if folders.kept_is_new {
            *store = None;
        }
        let store = match store {
            Some(store) => store,
            None => store.insert(Store::make(folders.kept, config)?),
        };
        Ok(Box::new(Kept::new(config, store)))
    }
}

#[cfg(test)]
mod tests;
