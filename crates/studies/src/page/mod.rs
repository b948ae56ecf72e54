//! `page`: a request reads the files that its page is made of.
//!
//! Warm, every operation reads the same files, which memory holds. Cold, every
//! operation reads a set of files that memory does not hold: a slice has as many
//! sets as operations, each evicted before the clock starts. That they were out
//! of memory and came from the device is measured in every slice, and stands
//! among the figures. What stays cached is the way to the files, the names and
//! inodes that the kernel keeps apart and gives up only to the superuser.
//!
//! An arm makes its sets once, and they serve all of its slices, each of which checks
//! afterwards that they still are what they were made of.

mod readers;
mod sets;
pub(crate) mod spec;

use engine::slice_timer::SliceTimer;
use engine::study::{About, Footprint, Operations, Ran, Ready, SliceFolders, StudyError, Workload};
use model::slice::Outcome;
use model::study::Params;
use units::exact_size;

use self::readers::Reader;
pub(crate) use self::sets::{OWN, PageFile, Parts, Sets};
use self::spec::Strategy;
use crate::built_in_study::BuiltInStudy;
use crate::clients::{self, Common, OwnOrSame};
use crate::drop_cache::{Cache, is_in_memory};
use crate::figures_of;
use crate::file::keep_open;
use crate::tree::sync_tree;
use crate::user_data::files::OwnFiles;
use host::process::storage_read_bytes;

/// All sets of a cold slice together, or one that is larger. A set costs far more to
/// make and to remove than to read: where freed blocks are discarded at once, each of
/// its files takes milliseconds.
const COLD_BYTES_MAX: u64 = 2 << 20;
/// All files of a cold slice together, for `held` keeps them open.
const COLD_FILES_MAX: u64 = 512;
/// Even the fastest way needs longer than a slice lasts for so many operations.
const WARM_OPERATIONS_MAX: u64 = 1 << 20;

/// The study.
pub(crate) static PAGE: BuiltInStudy = BuiltInStudy::new(&spec::SPEC, spec::CASES, workload);

fn workload(strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
    let config = Config {
        strategy: Strategy::of(strategy)?,
        parts: parts(params)?,
        cache: Cache::of(params.choice("cache"))?,
    };
    let requests = Box::new(Requests { config, sets: None });
    let common = match OwnOrSame::of(params.choice(spec::CLIENTS_READ))? {
        OwnOrSame::Own => Common::Nothing,
        OwnOrSame::Same => Common::Files,
    };
    Ok(clients::each(&spec::SPEC, strategy, params, requests, common))
}

/// What an arm is told.
#[derive(Clone)]
struct Config {
    strategy: Strategy,
    parts: Parts,
    cache: Cache,
}

/// An arm's requests.
struct Requests {
    config: Config,
    /// Made by its first slice.
    sets: Option<Sets>,
}

impl Workload for Requests {
    fn about(&self) -> About {
        let Config { parts, cache, .. } = &self.config;
        let (files, page_bytes) = (parts.count(), parts.bytes());
        let max = match cache {
            Cache::Cold => (COLD_BYTES_MAX / page_bytes).min(COLD_FILES_MAX / files).max(1),
            Cache::Warm => WARM_OPERATIONS_MAX,
        };
        let kept = parts.footprint(self.config.sets(max));
        let material = Some(parts.material());
        About { material, kept, ..About::of(Operations { granule: 1, max }) }
    }

    fn footprint(&self, _operations: u64) -> Footprint {
        Footprint::NOTHING
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        _timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let Self { config, sets } = self;
        if folders.kept_is_new {
            *sets = None;
        }
        let sets = match sets {
            Some(sets) => sets,
            None => sets.insert(Sets::new(keep_open(folders.kept)?, config.parts.clone())),
        };
        if sets.make(config.sets(operations))? {
            // What their making leaves to be written is not for a slice to pay.
            sync_tree(&sets.folder)?;
        }
        let sets: &Sets = sets;
        let reader = readers::open(config.strategy, sets)?;
        bring_to(config.cache, sets)?;
        let resident_percent = check_residency(config.cache, sets)?;
        let storage_read = storage_read_bytes();
        Ok(Box::new(Pages { reader, sets, operations, resident_percent, storage_read }))
    }
}

impl Config {
    /// Sets of files that so many operations need.
    fn sets(&self, operations: u64) -> u64 {
        match self.cache {
            Cache::Cold => operations,
            Cache::Warm => 1,
        }
    }
}

/// What a page is made of, as the parameters `files`, `total` and `set` say.
pub(crate) fn parts(params: &Params) -> Result<Parts, StudyError> {
    let folder = params.text("set");
    if !folder.is_empty() {
        return OwnFiles::read(folder, OWN).map(Parts::Own);
    }
    let (files, total_bytes) = (params.count("files"), params.size("total"));
    let sizes = sets::sizes(files, total_bytes);
    if sizes.contains(&0) {
        return Err(StudyError::Unsuited(format!(
            "{} cannot be split into {files} files of at least a byte; raise total or lower files",
            exact_size(total_bytes)
        )));
    }
    Ok(Parts::Made(sizes))
}

/// Sets of files that memory holds, or does not, as it should be. Handles and contents are kept
/// until the clock has stopped: letting go of them takes time.
struct Pages<'a> {
    reader: Box<dyn Reader>,
    sets: &'a Sets,
    operations: u64,
    /// How much of all files memory held before the clock started.
    resident_percent: f64,
    /// What storage had read for this process by then; from the flush on, what it read meanwhile.
    storage_read: Option<u64>,
}

/// Reads all files into memory, or evicts them from it.
fn bring_to(cache: Cache, sets: &Sets) -> Result<(), StudyError> {
    let is_evicted = cache == Cache::Cold && !is_in_memory(&sets.folder)?;
    if is_evicted { sets.evict() } else { sets.read_all() }
}

/// How much of the files memory holds; an error where cold ones could not be had.
fn check_residency(cache: Cache, sets: &Sets) -> Result<f64, StudyError> {
    let residency = sets.residency()?;
    if cache == Cache::Cold {
        residency.check_cold(&sets.folder)?;
    }
    Ok(residency.percent())
}

impl<'a> Ready<'a> for Pages<'a> {
    fn run(mut self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { ref mut reader, sets, operations, .. } = *self;
        let (mut set, mut requested_bytes) = (0, 0);
        for _ in 0..operations {
            requested_bytes += reader.page(sets, set)?;
            timer.lap();
            set = if set + 1 == sets.count() { 0 } else { set + 1 };
            timer.check_stop()?;
        }
        timer.requested(requested_bytes);
        Ok(self)
    }
}

impl Ran for Pages<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        let read = self.storage_read.zip(storage_read_bytes());
        self.storage_read = read.map(|(before, after)| after.saturating_sub(before));
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let Self { sets, operations, resident_percent, storage_read, .. } = *self;
        let page_bytes = (operations * sets.set_bytes()).max(1) as f64;
        let read = storage_read.map(|read| (spec::FROM_STORAGE, read as f64 * 100.0 / page_bytes));
        let figures = [(spec::RESIDENT, resident_percent)].into_iter().chain(read);
        let integrity = Some(sets.account()?);
        Ok(Outcome { integrity, figures: figures_of(figures), ..Outcome::default() })
    }
}

#[cfg(test)]
mod tests;
