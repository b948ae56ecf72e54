//! What a study must do to be timed.
//!
//! A [`Study`] turns an arm's strategy and parameters into a [`Workload`], which is the
//! arm's for the whole run. Each of its slices goes through three states, each made from
//! the one before: [`Ready`], [`Ran`], and the [`Outcome`] once it is
//! finished. Neither [`Workload`] nor any of these has a method with a body of its own, so that
//! what wraps a workload cannot forget to pass one on.

use std::os::fd::BorrowedFd;
use std::rc::Rc;

use model::case::Case;
use model::material::Material;
use model::slice::Outcome;
use model::study::{Params, StudyDescription};
use process::worker::{Assignment, Clients, Report, Session};
use serde::{Deserialize, Serialize};

pub use crate::error::{Doing, StudyError};
use crate::power::Left;
use crate::slice_timer::SliceTimer;

/// One kind of application I/O that can be timed.
pub trait Study: Sync {
    /// Its name, strategies and parameters.
    fn spec(&self) -> &'static StudyDescription;

    /// Understands an arm's strategy and parameters.
    ///
    /// # Errors
    /// Where they do not go together, or cannot be timed here, as far as can be seen
    /// before anything is made.
    fn workload(&self, strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError>;

    /// What of it tests and benches try. Each strategy has a case.
    fn cases(&self) -> &'static [Case];

    /// An arm that writes what a power failure could take; nothing where none of the study
    /// does, as is usual.
    ///
    /// # Errors
    /// Where strategy and parameters do not go together, or the arm is none that can be tried.
    fn power_trial(&self, _strategy: &str, _params: &Params) -> MaybePowerTrial {
        Ok(None)
    }

    /// What does an assignment in a worker process of the study; nothing where the study has none, as
    /// is usual.
    fn worker(&self) -> Option<Work> {
        None
    }
}

/// What [`Study::worker`] gives: it does an assignment, or says in words why it cannot.
pub type Work = fn(&Assignment, Session<'_>) -> Result<Report, String>;

/// What [`Study::power_trial`] answers.
pub type MaybePowerTrial = Result<Option<Box<dyn PowerTrial>>, StudyError>;

/// One arm, whose writing is cut short.
pub trait PowerTrial {
    /// Makes a slice ready, as a run does. Whoever tells how many operations are done is
    /// the recorder that it is run with.
    ///
    /// # Errors
    /// Where that cannot be done.
    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError>;

    /// Looks at what is left of the latest slice, of which so many operations were done.
    ///
    /// # Errors
    /// Where that cannot be read, which is no finding about the strategy.
    fn look(&self, folders: SliceFolders<'_>, done: u64) -> Result<Left, StudyError>;

    /// Whether the promise rests on what is there before the first operation, so that it
    /// has to be on the device by then, as is usual.
    fn starts_settled(&self) -> bool {
        true
    }
}

/// One arm's work: its parameters, and what it keeps from slice to slice.
pub trait Workload {
    /// What all slices of the arm have in common.
    fn about(&self) -> About;

    /// The most that one slice of so many operations comes to in its fresh folder, and
    /// that it writes anywhere, beside what makes the arm's own folder anew.
    fn footprint(&self, operations: u64) -> Footprint;

    /// Prepares a slice of this many operations, before the clock starts.
    ///
    /// # Errors
    /// Where that cannot be done.
    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError>;
}

/// What an arm's work is like.
#[derive(Clone, Debug)]
pub struct About {
    /// What its operations are done on; nothing where that is no choice of the user's.
    pub material: Option<Material>,
    /// How many operations a slice may have.
    pub operations: Operations,
    /// Whether what a slice leaves behind makes the next one faster. Where each
    /// starts everything anew there is no warming up.
    pub warms_up: bool,
    /// Which process its slices run in, where the run has others than its own.
    pub runs_in: RunsIn,
    /// The most that the arm keeps from slice to slice.
    pub kept: Footprint,
}

impl About {
    /// Of what is usual: it is warmed up in a process of each stretch, and keeps nothing.
    pub fn of(operations: Operations) -> Self {
        let (runs_in, kept) = (RunsIn::EachStretch, Footprint::NOTHING);
        Self { material: None, operations, warms_up: true, runs_in, kept }
    }
}

/// The process that an arm's slices run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsIn {
    /// A new one for each stretch of a run.
    EachStretch,
    /// One for the whole run: where each slice starts the programs anyway that do its work, and
    /// the arm keeps what it learned of them.
    WholeRun,
    /// The same process, and the arm's folder stays as well: where it holds a file that takes
    /// long to make, and that several arms read.
    OneFolder,
    /// That of the run: where no other can make the workload.
    ThisProcess,
}

/// What files come to at the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// What they take at once.
    pub space_bytes: u64,
    /// How many there are at once, folders included.
    pub files: u64,
    /// What is written into them to get there, over and over as it may be; what the file
    /// system adds, such as its journal, aside.
    pub written_bytes: u64,
}

impl Footprint {
    /// That of no file.
    pub const NOTHING: Self = Self { space_bytes: 0, files: 0, written_bytes: 0 };

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            space_bytes: self.space_bytes.saturating_add(other.space_bytes),
            files: self.files.saturating_add(other.files),
            written_bytes: self.written_bytes.saturating_add(other.written_bytes),
        }
    }

    /// So many of them.
    #[must_use]
    pub fn times(self, many: u64) -> Self {
        Self {
            space_bytes: self.space_bytes.saturating_mul(many),
            files: self.files.saturating_mul(many),
            written_bytes: self.written_bytes.saturating_mul(many),
        }
    }

    /// Either, of which the larger counts.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            space_bytes: self.space_bytes.max(other.space_bytes),
            files: self.files.max(other.files),
            written_bytes: self.written_bytes.max(other.written_bytes),
        }
    }
}

/// Where a slice works.
#[derive(Clone, Copy, Debug)]
pub struct SliceFolders<'f> {
    /// Empty, and this slice's alone: for what its operations write.
    pub fresh: BorrowedFd<'f>,
    /// The arm's own, for what its operations only read, which would else be made and
    /// removed for each slice.
    pub kept: BorrowedFd<'f>,
    /// Whether that one is another than in the slice before, and empty, as in the first slice
    /// of each stretch of a run: where files happen to lie, on the device and in memory, is
    /// chance that a run draws ten times. Worker processes are started again with it.
    pub kept_is_new: bool,
    /// Workers on other machines, where the run was started with some.
    pub clients: Option<&'f Rc<dyn Clients>>,
    /// Whose these folders are.
    pub part: Part,
}

impl<'f> SliceFolders<'f> {
    /// Those of a slice that nobody else has a part in.
    pub fn alone(fresh: BorrowedFd<'f>, kept: BorrowedFd<'f>, kept_is_new: bool) -> Self {
        Self { fresh, kept, kept_is_new, clients: None, part: Part::WHOLE }
    }
}

/// Which of several clients a slice is of, that have its folders in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The client, from 0.
    pub number: u64,
    /// How many there are.
    pub of: u64,
}

impl Part {
    /// Nobody else is in these folders.
    pub const WHOLE: Self = Self { number: 0, of: 1 };

    /// Whether others are.
    pub fn is_shared(self) -> bool {
        self.of > 1
    }
}

/// A slice that has everything it needs.
pub trait Ready<'a> {
    /// Does the operations under the clock, one [`SliceTimer::lap`] after each.
    ///
    /// # Errors
    /// Where an operation fails, or the run was interrupted.
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError>;
}

/// A slice whose operations are done.
pub trait Ran {
    /// Forces what the slice left unwritten to the device.
    ///
    /// # Errors
    /// Where that fails.
    fn flush(&mut self) -> Result<(), StudyError>;

    /// Reads back what was written, accounts for every record, and lets go of all
    /// that the slice held, outside the clock.
    ///
    /// # Errors
    /// Where the data cannot be read; broken data is part of the outcome.
    fn finish(self: Box<Self>) -> Result<Outcome, StudyError>;
}

/// How many operations a slice may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations {
    /// A slice has a multiple of this many, so that work done once in so many
    /// operations is in every slice in its due share.
    pub granule: u64,
    /// A slice has no more than this.
    pub max: u64,
}

impl Operations {
    /// Always the same number.
    pub fn exactly(operations: u64) -> Self {
        Self { granule: operations, max: operations }
    }

    /// The nearest number that a slice may have.
    pub fn fit(self, wanted: f64) -> u64 {
        let granules = (wanted / self.granule as f64).round().max(1.0) as u64;
        granules.saturating_mul(self.granule).min(self.max.max(self.granule))
    }
}
