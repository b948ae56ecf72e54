//! Slices in processes of this program that have one thread.
//!
//! The process of a run has several threads: one watches the places' free space. The kernel then
//! counts the references of a file and locks its position at each call, which a write of a few
//! bytes takes a tenth longer for. So slices run in a process that has one thread, and a new one
//! for each stretch, for how a program lies in memory is chance too. Folders, their removal, the
//! limit of what is written and the record stay with the run; the process gets the folders of each
//! slice as descriptors.

mod message;
mod serve;

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;

use host::clock::ClockTold;
use model::arm::Arm;
use model::place::PlaceFacts;
use model::run::ArmRecord;
use model::slice::Slice;
use process::worker::Program;
use process::{OwnProcess, StopFlag, leave_behind};

use self::message::{Failure, FromProcess, ToProcess};
pub use self::serve::{Workloads, serve};
use crate::error::{Doing as _, StudyError};
use crate::job::recorded;
use crate::study::{RunsIn, SliceFolders};

/// What workloads have read of the user's, by its names: it is not read again.
pub type UserData = fn() -> io::Result<Vec<(String, OwnedFd)>>;

/// What of a run the processes have to know.
pub struct SliceProcesses {
    arms: Vec<ArmRecord>,
    places: Vec<PlaceFacts>,
    user_data: UserData,
    /// That of each stretch, and the one that is kept.
    running: [Option<OwnProcess>; 2],
    unread: Vec<String>,
}

impl SliceProcesses {
    /// For a run of these arms at these places, whose workloads have read this of the user's.
    pub fn new(arms: &[Arm], places: &[PlaceFacts], user_data: UserData) -> Self {
        let arms = arms.iter().map(|arm| recorded(arm, None)).collect();
        let places = places.to_vec();
        Self { arms, places, user_data, running: [None, None], unread: Vec::new() }
    }

    /// What cannot be read there, each with what is not known for it.
    pub(crate) fn unread(&self) -> &[String] {
        &self.unread
    }

    /// Ends the process of the stretch before.
    pub(crate) fn begin_stretch(&mut self) {
        self.running[0] = None;
    }

    /// Ends all of them.
    pub(crate) fn end(&mut self) {
        self.running = [None, None];
    }

    /// Whether the process is there in which such slices run.
    pub(crate) fn is_running(&self, kind: RunsIn) -> bool {
        slot(kind).is_none_or(|slot| self.running[slot].is_some())
    }

    /// Starts it.
    pub(crate) fn start(&mut self, kind: RunsIn, clock: ClockTold) -> Result<(), StudyError> {
        let Some(slot) = slot(kind) else { return Ok(()) };
        let mut process = OwnProcess::start(Program::SLICES)?;
        for (name, data) in (self.user_data)().doing("handing over your data")? {
            process.send(&ToProcess::UserData(name), &[data.as_fd()])?;
        }
        let (places, arms) = (self.places.clone(), self.arms.clone());
        process.send(&ToProcess::Begin { clock, places, arms }, &[])?;
        self.running[slot] = Some(process);
        Ok(())
    }

    /// Has a slice run where such slices do, and does `meanwhile` while it is prepared; how long
    /// that took there comes with it. A process that cannot be used any more is ended.
    pub(crate) fn slice(
        &mut self,
        kind: RunsIn,
        (arm, operations): (usize, u64),
        folders: SliceFolders<'_>,
        stop: &StopFlag,
        meanwhile: impl FnOnce() -> Result<(), StudyError>,
    ) -> Result<(Slice, Duration), StudyError> {
        let not_running = || StudyError::Worker("no process runs slices".to_owned());
        let slot = slot(kind).ok_or_else(not_running)?;
        let process = self.running[slot].as_mut().ok_or_else(not_running)?;
        let request = ToProcess::Slice { arm, operations, kept_is_new: folders.kept_is_new };
        let sent = process.send(&request, &[folders.fresh, folders.kept]);
        let answer = meanwhile().and_then(|()| {
            sent?;
            process.send(&ToProcess::Start, &[])?;
            Ok(process.receive::<FromProcess>(stop)?)
        });
        let FromProcess { slice, preparing, unread, left_behind } = match answer {
            Ok(answer) => answer,
            Err(error) => {
                self.running[slot] = None;
                return Err(error);
            }
        };
        self.unread = unread;
        left_behind.into_iter().for_each(leave_behind);
        match slice {
            Err(Failure::Stopped) if !stop.load(Ordering::Relaxed) => {
                // It ends at its next slice as well.
                self.running[slot] = None;
                let why = "the process that runs slices was told to end by a signal (SIGTERM)";
                Err(StudyError::Worker(why.to_owned()))
            }
            slice => Ok((*slice?, preparing)),
        }
    }
}

/// Whether slices of both kinds run in one process.
pub(crate) fn is_one_process(a: RunsIn, b: RunsIn) -> bool {
    slot(a) == slot(b)
}

/// The process for slices of that kind; nothing for those of the run's own.
fn slot(kind: RunsIn) -> Option<usize> {
    match kind {
        RunsIn::EachStretch => Some(0),
        RunsIn::WholeRun | RunsIn::OneFolder => Some(1),
        RunsIn::ThisProcess => None,
    }
}
