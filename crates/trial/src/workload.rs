//! A variant of a command as a workload of the engine: each slice is one run.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;
use std::rc::Rc;

use engine::slice_timer::SliceTimer;
use engine::study::{
    About, Footprint, Operations, Ran as RanSlice, Ready, RunsIn, SliceFolders, StudyError,
    Workload,
};
use model::slice::Outcome;
use process::{Program, Server};
use rustix::fs::syncfs;

use crate::cold::chill;
use crate::copies::Copies;
use crate::error::{At as _, Error};
use crate::ground::Ground;
use crate::left::{Left, Ran, Reference};
use crate::recorded::Recorded;
use crate::serving::Serving;
use crate::trial::{COMMAND, Trial};
use crate::variant::Variant;
use crate::view::View;

/// The most files that a run is taken to have at once.
const FILES: u64 = 100_000;

impl Trial {
    /// The variants as workloads of the engine.
    pub fn workloads(
        self: &Rc<Self>,
        variants: &[Variant],
        recorded: &Recorded,
    ) -> Vec<Box<dyn Workload>> {
        let (Some(ground), Some(reference)) = (&self.ground, &self.reference) else {
            return Vec::new();
        };
        let files = Rc::new(recorded.files.clone());
        let tried = |variant: &Variant| {
            let (ground, reference) = (Rc::clone(ground), Rc::clone(reference));
            let tried =
                Tried::new(Rc::clone(self), variant.clone(), ground, reference, Rc::clone(&files));
            Box::new(tried) as Box<dyn Workload>
        };
        variants.iter().map(tried).collect()
    }
}

/// A variant, tried again and again.
pub(crate) struct Tried {
    trial: Rc<Trial>,
    variant: Variant,
    ground: Rc<RefCell<Ground>>,
    reference: Rc<RefCell<Reference>>,
    /// Those that the command uses.
    files: Rc<BTreeSet<PathBuf>>,
    view: Option<View>,
    stretch: usize,
}

impl Tried {
    pub(crate) fn new(
        trial: Rc<Trial>,
        variant: Variant,
        ground: Rc<RefCell<Ground>>,
        reference: Rc<RefCell<Reference>>,
        files: Rc<BTreeSet<PathBuf>>,
    ) -> Self {
        Self { trial, variant, ground, reference, files, view: None, stretch: 0 }
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
            chill(&self.trial.used(&self.files));
        }
        Ok(())
    }

    /// What the run left, which is reset.
    fn take_left(&self) -> Result<BTreeMap<PathBuf, Left>, Error> {
        let mut ground = self.ground.borrow_mut();
        let mut left = BTreeMap::new();
        for copies in ground.all() {
            left.extend(copies.take_left()?);
        }
        ground.is_dirty = false;
        Ok(left)
    }

    fn settle(&self) -> Result<(), Error> {
        let disk = &self.trial.disk;
        let opened = File::open(disk).at("opening", disk)?;
        syncfs(&opened).at("writing out", disk)
    }
}

impl Workload for Tried {
    fn about(&self) -> About {
        let operations = self.trial.serving.as_ref().map_or(1, Serving::connections);
        About {
            // It ran before.
            warms_up: false,
            runs_in: RunsIn::ThisProcess,
            ..About::of(Operations::exactly(operations))
        }
    }

    fn footprint(&self, _operations: u64) -> Footprint {
        let bytes = self.ground.borrow().chosen.bytes();
        Footprint { space_bytes: bytes, files: FILES, written_bytes: bytes }
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        _operations: u64,
        _timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        self.arrange(folders.kept_is_new)?;
        let tried: &Self = self;
        let (Some(serving), Some(view)) = (&tried.trial.serving, &tried.view) else {
            return Ok(Box::new(Arranged(tried)));
        };
        let server = tried.trial.serve(serving, view, tried.variant == Variant::SyncsFree)?;
        Ok(Box::new(Listening { tried, serving, server }))
    }
}

/// A run whose files are there.
struct Arranged<'a>(&'a Tried);

/// A server that is ready.
struct Listening<'a> {
    tried: &'a Tried,
    serving: &'a Serving,
    server: Server,
}

/// A run that has ended, or a server that was loaded.
struct Done<'a> {
    tried: &'a Tried,
    ended: Ended,
}

enum Ended {
    Program(Program),
    Loaded(Server, Outcome),
}

impl<'a> Ready<'a> for Listening<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn RanSlice + 'a>, StudyError> {
        let Self { tried, serving, server } = *self;
        let step = serving.load(Some(&server), &tried.trial.stop)?;
        let outcome = serving.outcome(&step, timer);
        Ok(Box::new(Done { tried, ended: Ended::Loaded(server, outcome) }))
    }
}

impl<'a> Ready<'a> for Arranged<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn RanSlice + 'a>, StudyError> {
        let tried = self.0;
        let Some(view) = &tried.view else { return Err(StudyError::Stopped) };
        let trial = &tried.trial;
        let mut program = trial.start(view, tried.variant == Variant::SyncsFree)?;
        program.wait(trial.timeout, &trial.stop)?;
        timer.lap_of(program.spent());
        Ok(Box::new(Done { tried, ended: Ended::Program(program) }))
    }
}

impl RanSlice for Done<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        Ok(self.tried.settle()?)
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let Self { tried, ended } = *self;
        let (ran, outcome) = match ended {
            Ended::Program(program) => {
                (Ran::of(tried.trial.ended(program, COMMAND)?), Outcome::default())
            }
            Ended::Loaded(server, outcome) => {
                server.stop()?;
                (Ran::of_a_server(), outcome)
            }
        };
        let Some(view) = &tried.view else { return Err(StudyError::Stopped) };
        let failed = tried.trial.failed_check(view)?;
        let ran = Ran { left: tried.take_left()?, ..ran };
        let mut reference = tried.reference.borrow_mut();
        // A server's files depend on which of its requests came first.
        let differs = match (&tried.variant, &tried.trial.serving) {
            (_, Some(_)) => None,
            (Variant::AsNow, None) => reference.widen(&ran).err(),
            (_, None) => reference.difference(&ran),
        };
        let untrusted = failed.or(differs).or(outcome.untrusted);
        Ok(Outcome { untrusted, ..outcome })
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
