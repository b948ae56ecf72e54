//! What is timed: one file per study, its strategies beside it.
//!
//! # Inside
//!
//! A study is a [`StudyDescription`](model::study::StudyDescription) and the traits of `engine::study`. Plans,
//! flags, reports and the reference follow from the description: strategies with promises and recipes,
//! parameters, figures, causes, and the cases that faults, kills and power cuts are made of.
//!
//! - `user_data` copies the user's files once, into memory, for all combinations. `recognise` tells what a path
//!   is. Nothing of the user's is opened for writing; SQLite gets paths by which it cannot write
//!   (`sqlite/folder.rs`).
//! - `clients` makes a workload of several clients from one of a single client.
//! - `replay/plan` makes a program from a trace, as a pure function. `replay/act.rs` has the calls. Paths are
//!   taken apart as text, so no path of a trace leads out of its folder. Processes of a trace are threads.
//! - `serve` starts the built-in server or the user's. A page is rendered, because an application does that
//!   with the files of a page, and a secret begins each request to the built-in one.
//! - `articles` are published measurements: a plan, figures, and conclusions with bounds.
//! - `corruption` damages files on purpose, to show that checks notice.

pub mod articles;
mod atomic_replace;
mod blocks;
mod built_in_study;
mod cache;
#[cfg(test)]
mod cases;
mod choices;
mod clients;
#[cfg(test)]
mod corruption;
mod drop_cache;
mod exec;
mod file;
mod files;
#[cfg(test)]
mod footprints;
mod journal;
mod log;
mod page;
mod random;
mod read_back;
mod recognise;
mod replay;
mod ring;
mod rules;
mod serve;
mod shared;
mod shell;
mod slices;
mod specs;
mod sqlite;
mod storage;
mod stream;
#[cfg(test)]
mod testing;
mod tree;
mod user_data;
mod worker_stats;
mod workers;

use std::collections::BTreeMap;
use std::io;

use engine::study::{Study, StudyError};
use model::study::StudyDescription;
use process::StopFlag;
use process::worker::{self, Assignment, Report, Session};

pub use recognise::{Recognised, Suggestions, recognise, suggestions};

/// Records that describe themselves, and the account of what became of them.
pub mod records {
    pub use crate::log::records::{Format, Name};
    pub use crate::log::verify::{Account, Expected, account};
}

pub use storage::programs;

pub use slices::{NotStartedByARun, run_slices, user_data};

/// Figures by their names, as an outcome has them.
fn figures_of(figures: impl IntoIterator<Item = (&'static str, f64)>) -> BTreeMap<String, f64> {
    figures.into_iter().map(|(name, figure)| (name.to_owned(), figure)).collect()
}

/// Every study, in the order in which they are listed and run.
pub static ALL: [&dyn Study; 12] = [
    &log::LOG,
    &stream::STREAM,
    &blocks::BLOCKS,
    &storage::STORAGE,
    &page::PAGE,
    &cache::CACHE,
    &files::FILES,
    &sqlite::SQLITE,
    &journal::JOURNAL,
    &serve::SERVE,
    &exec::EXEC,
    &replay::REPLAY,
];

/// What every study is, for help texts and plans.
pub fn specs() -> Vec<&'static StudyDescription> {
    ALL.iter().map(|study| study.spec()).collect()
}

/// Adds to the studies of a record that was read what this program knows of their strategies
/// and records do not have: how each is adopted, and labels and mixes where the record is older
/// than these. A recipe never comes from a record, which may be anybody's.
pub fn complete(studies: &mut [StudyDescription]) {
    for study in studies {
        let Some(known) = find(&study.name).map(Study::spec) else { continue };
        if study.mix.is_none() {
            study.mix.clone_from(&known.mix);
        }
        for strategy in &mut study.strategies {
            let Some(known) = known.strategy(&strategy.name) else { continue };
            strategy.facts.recipe = known.facts.recipe.clone();
            if strategy.label.is_empty() {
                strategy.label.clone_from(&known.label);
            }
        }
    }
}

/// The study of that name.
pub fn find(name: &str) -> Option<&'static dyn Study> {
    ALL.iter().find(|study| study.spec().name == name).copied()
}

/// The hidden command with which the binary is a server of the study `serve`.
pub const SERVE_COMMAND: &str = serve::built_in::COMMAND;

/// Is the server that its configuration, on standard input, describes, until killed.
///
/// # Errors
/// Where it cannot listen, or not work in its folder.
pub fn serve_requests() -> Result<(), StudyError> {
    serve::built_in::serve()
}

/// Serves as a worker process: does the work that comes in on standard input
/// until that is closed. Interrupting a run is its parent's affair, which ends
/// its workers.
pub fn serve_as_worker() -> io::Result<()> {
    worker::serve(io::stdin().lock(), io::stdout().lock(), &StopFlag::default(), work)
}

/// Does an assignment as the study that made it does.
fn work(assignment: &Assignment, session: Session<'_>) -> Result<Report, String> {
    if assignment.study == clients::ASSIGNMENT {
        return clients::do_assignment(assignment, session);
    }
    let study = find(&assignment.study);
    let study = study.ok_or_else(|| format!("there is no study {}", assignment.study))?;
    let none = || format!("the study {} has no worker processes", study.spec().name);
    study.worker().ok_or_else(none)?(assignment, session)
}
