//! `blocks`: blocks of a large file are read and written in place, at random or in order,
//! as databases do and as storage is sold by.
//!
//! The file is written in full before anything is timed, with bytes that do not compress.
//! In a slice each block has one turn at the most, so that every one can be held against
//! what was last written to it. That a device was read, and not memory, is measured in
//! every slice.
//!
//! With several blocks under way, the time per operation is the slice's time divided by its
//! blocks, the reverse of IOPS; latencies count from when a block's place in the queue was free.

mod buffers;
mod common;
mod config;
mod power;
mod queue;
mod share;
mod slice;
mod spec;
mod store;
mod turns;

use std::rc::Rc;

use engine::slice_timer::SliceTimer;
use engine::study::{
    About, Footprint, Operations, Ready, RunsIn, SliceFolders, StudyError, Workload,
};
use model::study::Params;

use self::common::Kept;
use self::config::Config;
use self::slice::Waiting;
pub(crate) use self::spec::figures;
use self::spec::{CLIENTS_FILE, ClientsFile};
use crate::built_in_study::{BuiltInStudy, trial};
use crate::clients::{self, Common};
use crate::file::keep_open;

/// The study.
pub(crate) static BLOCKS: BuiltInStudy = BuiltInStudy::new(&spec::SPEC, spec::CASES, workload)
    .with_power_trial(|strategy, params| trial(power::Overwritten::new(strategy, params)));

fn workload(strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
    let arm = Box::new(Arm::new(Config::new(strategy, params)?));
    let common = match ClientsFile::of(params.choice(CLIENTS_FILE))? {
        ClientsFile::Own => Common::Nothing,
        ClientsFile::Stretch | ClientsFile::Same => Common::PartsOfFiles,
    };
    Ok(clients::each(&spec::SPEC, strategy, params, arm, common))
}

/// An arm's blocks.
struct Arm {
    config: Config,
    /// Made by its first slice, and again in each new folder.
    store: Option<Rc<Kept>>,
    /// Whether other arms that only read have the same file.
    common: Option<Reading>,
    /// Slices so far.
    slices: u32,
    /// Which of its blocks is behind the last of the slice before, where the next one goes on
    /// in order: a device that has just read the file's beginning may still have it in memory.
    next: u64,
}

/// How an arm reads a file that all such arms of a place have together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Whether this arm accounts for what the file takes, and no other does.
    pub(crate) accounts: bool,
    /// The fewest blocks of a slice.
    pub(crate) least: u64,
}

/// An arm that only reads, of a file that all such arms of the place have together.
///
/// # Errors
/// Where strategy and parameters do not go together.
pub(crate) fn reading(
    strategy: &str,
    set: &[(&str, &str)],
    reading: Reading,
) -> Result<Box<dyn Workload>, StudyError> {
    let given = set.iter().copied().chain([("access", "read")]);
    let params = spec::SPEC.params_with(given).map_err(StudyError::Unsuited)?;
    let arm = Arm::new(Config::new(strategy, &params)?);
    Ok(Box::new(Arm { common: Some(reading), ..arm }))
}

impl Arm {
    fn new(config: Config) -> Self {
        Self { config, store: None, common: None, slices: 0, next: 0 }
    }
}

impl Workload for Arm {
    fn about(&self) -> About {
        let max = self.config.share.count();
        let bytes = self.config.offset(max);
        let file = Footprint { space_bytes: bytes, files: 1, written_bytes: bytes };
        let Some(Reading { accounts, least }) = self.common else {
            return About { kept: file, ..About::of(Operations { granule: 1, max }) };
        };
        About {
            warms_up: false,
            runs_in: RunsIn::OneFolder,
            kept: if accounts { file } else { Footprint::NOTHING },
            ..About::of(Operations { granule: least, max })
        }
    }

    fn footprint(&self, operations: u64) -> Footprint {
        let bytes = operations * self.config.size as u64;
        let written_bytes = if self.config.writes() { bytes } else { 0 };
        Footprint { written_bytes, ..Footprint::NOTHING }
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        if folders.kept_is_new && self.common.is_none() {
            self.store = None;
        }
        self.config.share = self.config.share.of(folders.part);
        let folder = keep_open(folders.kept)?;
        Ok(Box::new(Waiting::new(self, folder, operations, timer)?))
    }
}

#[cfg(test)]
mod tests;
