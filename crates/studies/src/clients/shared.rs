//! Clients that work in one folder, where they have one in common.

use engine::slice_timer::SliceTimer;
use engine::study::{
    About, Doing as _, Footprint, Ready, RunsIn, SliceFolders, StudyError, Workload,
};

/// An arm of several clients that share files.
pub(super) struct InOneFolder {
    /// What all of them do together.
    pub(super) all: Box<dyn Workload>,
    /// What they do where each has its own disk.
    pub(super) apart: Box<dyn Workload>,
}

impl Workload for InOneFolder {
    fn about(&self) -> About {
        let (all, apart) = (self.all.about(), self.apart.about());
        About { runs_in: RunsIn::EachStretch, kept: all.kept.or(apart.kept), ..all }
    }

    fn footprint(&self, operations: u64) -> Footprint {
        self.all.footprint(operations).or(self.apart.footprint(operations))
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let is_own =
            folders.clients.map_or(Ok(false), |there| there.is_each_ones_own(folders.fresh));
        if is_own.doing("finding a client's folder")? {
            return self.apart.ready(folders, operations, timer);
        }
        self.all.ready(folders, operations, timer)
    }
}
