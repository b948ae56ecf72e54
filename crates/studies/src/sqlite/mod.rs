//! `sqlite`: a request of a web application that keeps its data in SQLite: 10
//! inserts, 10 updates and 10 selects, the whole table read 5 times and searched 5
//! times, and what was inserted deleted again.
//!
//! Strategies are named by what SQLite is told: journal mode, `synchronous`, and
//! whether the request is one transaction (`-tx`). Each slice starts from the same
//! database. A single connection works in the thread that is timed; several are
//! threads with a connection each, that wait for one another's locks, and the toll
//! is what one request takes.

pub(crate) mod client;
mod config;
pub(crate) mod database;
pub(crate) mod folder;
pub(crate) mod power;
mod slice;
pub(crate) mod spec;
mod traffic;

use engine::study::{Footprint, Operations, Prepared, SliceFolders, Study, StudyError, Workload};
use model::material::Material;
use model::study::{Params, StudySpec};
use process::worker::WorkerPool;

use self::config::Config;
use self::database::Template;
use self::slice::Database;

/// Even the fastest requests fill a slice sooner.
const REQUESTS_MAX: u64 = 1 << 14;
/// What a row takes, in the table, the journal and the write-ahead log together.
const ROW_BYTES: u64 = 1024;
/// What a request writes, into the journal or the log and from there into the table: some
/// ten statements with some pages each.
const REQUEST_BYTES: u64 = 1 << 20;
/// SQLite merges its write-ahead log beyond 1,000 pages of 4 KiB; readers delay that.
const LOG_BYTES: u64 = 16 << 20;

/// The study.
pub(crate) struct Sqlite;

impl Study for Sqlite {
    fn spec(&self) -> &'static StudySpec {
        &spec::SPEC
    }

    fn workload(&self, strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
        let config = Config::new(strategy, params)?;
        let template = Template::new(config.rows);
        Ok(Box::new(Connections { config, template, pool: WorkerPool::new(), slices: 0 }))
    }
}

/// An arm's connections.
struct Connections {
    config: Config,
    template: Template,
    /// Threads end with their work, so that nobody waits here.
    pool: WorkerPool,
    slices: u32,
}

/// Shares that this is added to again and again, without the whole numbers, cover the
/// range from 0 to 1 evenly, however many there are: the golden ratio's.
const GOLDEN: f64 = 0.618_033_988_749_894_8;

impl Workload for Connections {
    fn material(&self) -> Option<Material> {
        None
    }

    fn operations(&self) -> Operations {
        let connections = self.config.connections;
        Operations { granule: connections, max: REQUESTS_MAX / connections * connections }
    }

    fn warms_up(&self) -> bool {
        true
    }

    fn footprint(&self, operations: u64) -> Footprint {
        footprint(self.config.rows, operations)
    }

    fn kept_footprint(&self) -> Footprint {
        Footprint::NOTHING
    }

    fn prepare<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
    ) -> Result<Box<dyn Prepared + 'a>, StudyError> {
        let Self { config, template, pool, slices } = self;
        let log_filled = (f64::from(*slices) * GOLDEN).fract();
        *slices = slices.wrapping_add(1);
        Ok(Box::new(Database::create(*config, template, pool, folders.fresh, log_filled)?))
    }
}

/// What a database of so many rows comes to at the most, its journal or log included,
/// and what so many requests write to it.
pub(crate) fn footprint(rows: u64, requests: u64) -> Footprint {
    let space_bytes = rows * ROW_BYTES + LOG_BYTES;
    let written_bytes = space_bytes + requests.saturating_mul(REQUEST_BYTES);
    Footprint { space_bytes, files: 4, written_bytes }
}

#[cfg(test)]
mod tests;
