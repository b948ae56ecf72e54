//! A variant of a command as a workload of the engine: each slice is one run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::rc::Rc;

use engine::slice_timer::SliceTimer;
use engine::study::{
    Footprint, Operations, Prepared, Ran as RanSlice, Ready, RunsIn, SliceFolders, StudyError,
    Workload,
};
use model::material::Material;
use model::slice::Outcome;
use process::Program;
use rustix::fs::syncfs;

use crate::cold::chill;
use crate::copies::{Chosen, Copies};
use crate::error::{At as _, Error};
use crate::left::{Ran, Reference};
use crate::trial::{Trial, Variant};
use crate::view::{StandIn, View};

/// The most files that a run is taken to have at once.
const FILES: u64 = 100_000;

/// The copies that variants have in common.
pub(crate) struct Ground {
    pub(crate) chosen: Chosen,
    pub(crate) disk: Copies,
    pub(crate) ram: Option<Copies>,
    /// The stretch that they were made for.
    pub(crate) stretch: usize,
    /// Whether a run was not accounted for.
    pub(crate) is_dirty: bool,
}

impl Ground {
    /// What is seen in a variant.
    pub(crate) fn stand_ins(&self, variant: &Variant) -> Vec<StandIn> {
        let mut stand_ins = match (variant, &self.ram) {
            (Variant::AllInRam, Some(ram)) => return ram.stand_ins(),
            _ => self.disk.stand_ins(),
        };
        if let (Variant::InRam(folder), Some(ram)) = (variant, &self.ram) {
            stand_ins.retain(|stand_in| !stand_in.at.starts_with(folder));
            stand_ins.extend(ram.stand_ins_of(folder));
        }
        stand_ins
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Copies> {
        [Some(&mut self.disk), self.ram.as_mut()].into_iter().flatten()
    }
}

/// A variant, tried again and again.
pub(crate) struct Tried {
    trial: Rc<Trial>,
    variant: Variant,
    ground: Rc<RefCell<Ground>>,
    reference: Rc<RefCell<Reference>>,
    used: Rc<Vec<(PathBuf, bool)>>,
    view: Option<View>,
    stretch: usize,
}

impl Tried {
    pub(crate) fn new(
        trial: Rc<Trial>,
        variant: Variant,
        ground: Rc<RefCell<Ground>>,
        reference: Rc<RefCell<Reference>>,
        used: Rc<Vec<(PathBuf, bool)>>,
    ) -> Self {
        Self { trial, variant, ground, reference, used, view: None, stretch: 0 }
    }

    /// Gives the run its files, and nothing that is still to be written.
    fn arrange(&mut self, is_new: bool) -> Result<(), Error> {
        let mut ground = self.ground.borrow_mut();
        if is_new {
            self.view = None;
            self.stretch += 1;
            if ground.stretch < self.stretch {
                ground.stretch = self.stretch;
                ground.all().try_for_each(Copies::remake)?;
                ground.is_dirty = false;
            }
        }
        if std::mem::replace(&mut ground.is_dirty, true) {
            for copies in ground.all() {
                copies.take_left()?;
            }
        }
        drop(ground);
        let view = match self.view.take() {
            Some(view) => view,
            None => self.trial.view(&self.variant)?,
        };
        let view = self.view.insert(view);
        self.trial.set_up(view)?;
        self.settle()?;
        if self.variant == Variant::Cold {
            chill(&self.used);
        }
        Ok(())
    }

    fn settle(&self) -> Result<(), Error> {
        let disk = &self.trial.disk;
        let opened = File::open(disk).at("opening", disk)?;
        syncfs(&opened).at("writing out", disk)
    }
}

impl Workload for Tried {
    fn material(&self) -> Option<Material> {
        None
    }

    fn operations(&self) -> Operations {
        Operations::exactly(1)
    }

    /// It ran before.
    fn warms_up(&self) -> bool {
        false
    }

    fn runs_in(&self) -> RunsIn {
        RunsIn::ThisProcess
    }

    fn footprint(&self, _operations: u64) -> Footprint {
        let bytes = self.ground.borrow().chosen.bytes();
        Footprint { space_bytes: bytes, files: FILES, written_bytes: bytes }
    }

    fn kept_footprint(&self) -> Footprint {
        Footprint::NOTHING
    }

    fn prepare<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
    ) -> Result<Box<dyn Prepared + 'a>, StudyError> {
        self.arrange(folders.kept_is_new)?;
        Ok(Box::new(Arranged(self)))
    }
}

/// A run whose files are there.
struct Arranged<'a>(&'a Tried);

/// A run that has ended.
struct Done<'a> {
    tried: &'a Tried,
    program: Program,
}

impl Prepared for Arranged<'_> {
    fn ready<'a>(
        self: Box<Self>,
        _operations: u64,
        _timer: &SliceTimer,
    ) -> Result<Box<dyn Ready + 'a>, StudyError>
    where
        Self: 'a,
    {
        Ok(self)
    }
}

impl Ready for Arranged<'_> {
    fn run<'a>(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn RanSlice + 'a>, StudyError>
    where
        Self: 'a,
    {
        let tried = self.0;
        let Some(view) = &tried.view else { return Err(StudyError::Stopped) };
        let trial = &tried.trial;
        let mut program = trial.start(view, tried.variant == Variant::SyncsFree)?;
        program.wait(trial.timeout, &trial.stop)?;
        timer.lap();
        Ok(Box::new(Done { tried, program }))
    }
}

impl RanSlice for Done<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        Ok(self.tried.settle()?)
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let Self { tried, program } = *self;
        let ended = program.finish()?;
        let Some(view) = &tried.view else { return Err(StudyError::Stopped) };
        let failed = tried.trial.failed_check(view)?;
        let mut ground = tried.ground.borrow_mut();
        let mut left = BTreeMap::new();
        for copies in ground.all() {
            left.extend(copies.take_left()?);
        }
        ground.is_dirty = false;
        let took = std::time::Duration::ZERO;
        let ran =
            Ran { status: ended.status, output: ended.output, stderr: ended.stderr, took, left };
        let mut reference = tried.reference.borrow_mut();
        let differs = if tried.variant == Variant::AsNow {
            reference.widen(&ran).err()
        } else {
            reference.difference(&ran)
        };
        Ok(Outcome { untrusted: failed.or(differs), ..Outcome::default() })
    }
}

impl From<Error> for StudyError {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopped => Self::Stopped,
            Error::Process(error) => error.into(),
            error => Self::Worker(error.to_string()),
        }
    }
}
