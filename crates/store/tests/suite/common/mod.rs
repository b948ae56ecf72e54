//! Runs of a simulated machine, and a store for them.

#![allow(clippy::unwrap_used, dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::measure::Event;
use iotoll_store::{Content, Entry, Recording, Store};
use model::plan::{Draft, Plan, StudyPlan};
use model::run::{ArmFailure, Run};
use tempfile::TempDir;
use testkit::{ArmBehaviour, SimulatedRunner, run_watched};

pub(crate) fn folder() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("data");
    (home, folder)
}

pub(crate) fn plan() -> Plan {
    let registry = studies::specs();
    let log = model::plan::find_study("log", &registry).unwrap();
    let mut draft = Draft {
        budget: Some(Duration::from_secs(10)),
        places: ["disk=/var/lib/app", "ram=/dev/shm"].iter().map(|p| p.parse().unwrap()).collect(),
        studies: vec![StudyPlan::new(log)],
        ..Draft::default()
    };
    draft.select_strategies(&["reopen".to_owned(), "held".to_owned()]).unwrap();
    draft.finish(7).unwrap()
}

/// Four arms, the last of which fails after some blocks.
pub(crate) fn runner() -> SimulatedRunner {
    let mut arms = [1930.0, 1620.0, 290.0, 292.0].map(|ns| ArmBehaviour::steady(ns, 0.03)).to_vec();
    arms[3].full_from_slice = Some(12);
    SimulatedRunner::new(arms, 1)
}

/// Measures and keeps, until `takes` says no more; the run, and the recording where it is
/// not finished.
pub(crate) fn kept(
    store: Store,
    id: &str,
    takes: &mut dyn FnMut(&Event<'_>) -> bool,
) -> (Run, Recording) {
    let (mut store, mut recording) = (Some(store), None::<Recording>);
    let run = run_watched(&plan(), &mut runner(), &mut |event| {
        if !takes(&event) {
            return;
        }
        match event {
            Event::Begun(run) => {
                recording = Some(store.take().unwrap().begin(&named(run.clone(), id)).unwrap());
            }
            Event::Kept(slices) => recording.as_mut().unwrap().append(slices).unwrap(),
            Event::Failed { arm, why } => {
                recording.as_mut().unwrap().fail(ArmFailure { arm, why: why.to_owned() }).unwrap();
            }
            _ => {}
        }
    });
    (named(run, id), recording.unwrap())
}

pub(crate) fn named(mut run: Run, id: &str) -> Run {
    id.clone_into(&mut run.run.id);
    run
}

pub(crate) fn loaded(store: &Store, name: &str) -> (Entry, Run) {
    let entry = store.find(name).unwrap();
    match store.load(&entry).unwrap() {
        Content::Comparison(run) => (entry, *run),
        Content::Document(_) => panic!("{name} is a comparison"),
    }
}

pub(crate) fn filled(folder: &Path, ids: &[&str]) -> Store {
    for id in ids {
        let (run, recording) = kept(Store::open(folder).unwrap(), id, &mut |_| true);
        recording.finish(&run).unwrap();
    }
    Store::open(folder).unwrap()
}

pub(crate) fn ids(store: &Store) -> Vec<String> {
    store.list().unwrap().into_iter().map(|entry| entry.id).collect()
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
