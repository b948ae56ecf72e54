//! What a power failure leaves of a store.

use engine::power::Left;
use engine::slice_timer::SliceTimer;
use engine::study::{Doing as _, PowerTrial, Ready, SliceFolders, StudyError, Workload as _};
use journal::{Error, Snapshot};
use model::study::Params;

use super::check::{State, state_of};
use super::config::Config;
use super::failure::failed;
use super::files::SliceFiles;
use super::items::Items;
use super::slice::Arm;
use super::spec::Start;

/// A store that is filled from the beginning, so that all of it is on the device.
pub(crate) struct Committed {
    arm: Arm,
    items: Items,
}

impl Committed {
    pub(crate) fn new(strategy: &str, params: &Params) -> Result<Self, StudyError> {
        let config = Config::new(strategy, params)?;
        if config.start != Start::Empty {
            let text = "the power failure test needs a store that is filled: set start=empty";
            return Err(StudyError::Unsuited(text.to_owned()));
        }
        let items = config.kind.items(0..0);
        Ok(Self { arm: Arm::new(config), items })
    }

    /// What is wrong with a store that recovered so many transactions.
    fn damage(&self, snapshot: &Snapshot, there: u64) -> Option<String> {
        if there > self.items.transactions() as u64 {
            return Some(format!("there are {there} transactions, more than were begun"));
        }
        let wrong = (0..self.items.transactions()).find(|number| {
            let expected = if (*number as u64) < there { State::Whole } else { State::Missing };
            state_of(snapshot, &self.items, *number) != expected
        });
        wrong.map(|number| format!("transaction {number} of {there} is not as it was committed"))
    }
}

impl PowerTrial for Committed {
    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        self.items = self.arm.config.kind.items(0..operations);
        self.arm.ready(folders, operations, timer)
    }

    fn look(&self, folders: SliceFolders<'_>, done: u64) -> Result<Left, StudyError> {
        const LOOKING: &str = "looking at the store";
        let folder = folders.fresh.try_clone_to_owned().doing(LOOKING)?;
        let files = SliceFiles::new(folder, None).doing(LOOKING)?;
        let snapshot = match Snapshot::read(&files, ()) {
            Ok(snapshot) => snapshot,
            Err(error @ Error::Io { .. }) => return Err(failed(error)),
            Err(error) => {
                return Ok(Left::lost(done, 0).with_damage(Some(error.to_string()), false));
            }
        };
        let there = snapshot.recovered().last;
        let lost = done.saturating_sub(there);
        Ok(Left::lost(lost, 0).with_damage(self.damage(&snapshot, there), false))
    }
}
