//! `journal`: a store commits transactions of 100 items to a write-ahead journal. Does it pay to
//! write differences instead of whole pages, and to compress either, on this device?
//!
//! An operation is a transaction: 100 items are put into a B+tree of pages of 4 KiB, and what
//! that changed is in the journal and on the device when the commit returns. The store is the
//! library `iotoll-journal`, which tells which part of a transaction begins; all strategies
//! commit the same transactions from the same state on.

mod base;
mod check;
mod config;
mod device;
mod failure;
mod files;
mod items;
mod memory;
mod parts;
mod power;
mod slice;
mod spec;

use engine::slice_timer::SliceTimer;
use engine::study::{About, Footprint, Ready, SliceFolders, StudyError, Workload};
use model::study::Params;

use self::config::Config;
use self::slice::{Arm, Waiting};
use self::spec::Start;
use crate::built_in_study::{BuiltInStudy, trial};
use crate::file::keep_open;

/// The study.
pub(crate) static JOURNAL: BuiltInStudy = BuiltInStudy::new(&spec::SPEC, spec::CASES, workload)
    .with_power_trial(|strategy, params| trial(power::Committed::new(strategy, params)));

fn workload(strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
    Ok(Box::new(Arm::new(Config::new(strategy, params)?)))
}

impl Workload for Arm {
    fn about(&self) -> About {
        About {
            warms_up: self.config.start == Start::Loaded,
            ..About::of(self.config.operations())
        }
    }

    fn footprint(&self, operations: u64) -> Footprint {
        self.config.footprint(operations)
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let folder = keep_open(folders.fresh)?;
        Ok(Box::new(Waiting::new(self, folder, operations, timer)?))
    }
}

#[cfg(test)]
mod tests;
