//! What the studies' tests share: slices run end to end on real file systems.

#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

use engine::recorder::{Recorder, StopFlag};
use engine::study::{Study, StudyError, Task};
use host::clock::Clock;
use model::integrity::Integrity;
use model::study::Params;
use tempfile::TempDir;

/// A folder on the file system that the tests are built on.
pub(crate) fn on_disk() -> TempDir {
    let program = std::env::current_exe().unwrap();
    tempfile::tempdir_in(program.parent().unwrap()).unwrap()
}

/// A folder in memory.
pub(crate) fn in_memory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

/// A recorder of no run.
pub(crate) fn recorder() -> Recorder {
    Recorder::new(Clock::new(), StopFlag::default())
}

/// The study's first defaults, with these in their place.
pub(crate) fn params(study: &dyn Study, given: &[(&str, &str)]) -> Params {
    let value = |param: &model::study::ParamSpec| {
        let given = given.iter().find(|(name, _)| *name == param.name);
        given.map_or_else(|| param.default_value(), |(_, text)| param.parse(text).unwrap())
    };
    let params = study.spec().params;
    assert!(given.iter().all(|(name, _)| params.iter().any(|p| p.name == *name)), "{given:?}");
    Params(params.iter().map(|param| (param.name, value(param))).collect())
}

/// One slice's outcome.
#[derive(Debug)]
pub(crate) struct Slice {
    pub(crate) laps: u64,
    pub(crate) requested_bytes: u64,
    pub(crate) integrity: Option<Integrity>,
    pub(crate) figures: Vec<(&'static str, f64)>,
}

impl Slice {
    /// A figure; panics where the slice has none of that name.
    pub(crate) fn figure(&self, name: &str) -> f64 {
        self.figures.iter().find(|(known, _)| *known == name).unwrap().1
    }
}

/// Makes a task ready in a folder.
pub(crate) fn ready(
    study: &dyn Study,
    strategy: &str,
    params: &Params,
    folder: &Path,
    operations: u64,
) -> Result<Box<dyn Task>, StudyError> {
    let folder = File::open(folder).unwrap();
    let mut task = study.prepare(strategy, params, folder.as_fd())?;
    task.ready(operations, &recorder())?;
    Ok(task)
}

/// Runs a task that is ready to its end.
pub(crate) fn finish(task: &mut dyn Task, operations: u64) -> Result<Slice, StudyError> {
    let mut recorder = recorder();
    recorder.start();
    task.run(operations, &mut recorder)?;
    recorder.finish();
    task.flush()?;
    let integrity = task.check()?;
    Ok(Slice {
        laps: recorder.latencies().count(),
        requested_bytes: task.requested_bytes(),
        integrity,
        figures: task.figures(),
    })
}

/// A whole slice, as the engine runs one.
pub(crate) fn slice(
    study: &dyn Study,
    strategy: &str,
    given: &[(&str, &str)],
    folder: &Path,
    operations: u64,
) -> Result<Slice, StudyError> {
    let params = params(study, given);
    study.operations(&params).unwrap();
    let mut task = ready(study, strategy, &params, folder, operations)?;
    finish(task.as_mut(), operations)
}
