//! `sqlite`: a request of a web application that keeps its data in SQLite: 10
//! inserts, 10 updates and 10 selects, the whole table read 5 times and searched 5
//! times, and what was inserted deleted again. Or the statements of a file, made to a copy
//! of a database of the user's.
//!
//! Strategies are named by what SQLite is told: journal mode, `synchronous`, and
//! whether the request is one transaction (`-tx`). Each slice starts from the same
//! database. A single connection works in the thread that is timed; several are
//! threads with a connection each, that wait for one another's locks, and the time
//! is what one request takes.

pub(crate) mod client;
mod config;
mod data;
pub(crate) mod database;
pub(crate) mod folder;
mod power;
mod slice;
pub(crate) mod spec;
mod traffic;
mod user_data;

use engine::slice_timer::SliceTimer;
use engine::study::{About, Footprint, Operations, Ready, SliceFolders, StudyError, Workload};
use model::study::Params;
use process::worker::WorkerPool;

use self::config::Config;
pub(crate) use self::data::footprint;
use self::database::Template;
use self::slice::Database;
use crate::built_in_study::{BuiltInStudy, trial};

/// Even the fastest requests fill a slice sooner.
const REQUESTS_MAX: u64 = 1 << 14;
/// The study.
pub(crate) static SQLITE: BuiltInStudy = BuiltInStudy::new(&spec::SPEC, spec::CASES, workload)
    .with_power_trial(|strategy, params| trial(power::Changed::new(strategy, params)));

fn workload(strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
    let config = Config::new(strategy, params)?;
    let template = config.data.template();
    Ok(Box::new(Connections { config, template, pool: WorkerPool::new(), slices: 0 }))
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
    fn about(&self) -> About {
        let Config { connections, data, .. } = &self.config;
        let max = REQUESTS_MAX.min(data.requests_max()) / connections;
        let operations = Operations { granule: *connections, max: max.max(1) * connections };
        About { material: Some(data.material()), ..About::of(operations) }
    }

    fn footprint(&self, operations: u64) -> Footprint {
        self.config.data.footprint(operations)
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let Self { config, template, pool, slices } = self;
        let log_filled = (f64::from(*slices) * GOLDEN).fract();
        *slices = slices.wrapping_add(1);
        let database = Database::create(config, template, pool, folders.fresh, log_filled)?;
        database.ready(operations, timer)
    }
}

#[cfg(test)]
mod tests;
