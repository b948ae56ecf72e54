//! What is timed: one file per study, its strategies beside it.

pub mod articles;
mod blocks;
mod cache;
mod choices;
mod clients;
mod cold;
#[cfg(test)]
mod corruption;
mod exec;
mod file;
mod files;
#[cfg(test)]
mod footprints;
mod journal;
mod log;
mod own;
mod page;
pub mod power;
mod put;
mod random;
mod replay;
mod ring;
mod rules;
mod serve;
mod shared;
mod shell;
mod specs;
mod sqlite;
mod stream;
#[cfg(test)]
mod testing;
mod together;
mod tree;
mod workers;

use std::collections::BTreeMap;
use std::io;

use engine::study::{Study, StudyError};
use model::study::{Params, StudyDescription};
use process::StopFlag;
use process::worker::{self, Assignment, Report, Session};

/// Records that describe themselves, and the account of what became of them.
pub mod records {
    pub use crate::log::records::{Format, Name};
    pub use crate::log::verify::{Account, Expected, account};
}

/// Figures by their names, as an outcome has them.
fn figures_of(figures: impl IntoIterator<Item = (&'static str, f64)>) -> BTreeMap<String, f64> {
    figures.into_iter().map(|(name, figure)| (name.to_owned(), figure)).collect()
}

/// Every study, in the order in which they are listed and run.
pub static ALL: [&dyn Study; 11] = [
    &log::Log,
    &stream::Stream,
    &blocks::Blocks,
    &page::Page,
    &cache::Cache,
    &files::Files,
    &sqlite::Sqlite,
    &journal::Journal,
    &serve::Serve,
    &exec::Exec,
    &replay::Replay,
];

/// An arm of a study that writes what a power failure could take; none of another study.
///
/// # Errors
/// Where strategy and parameters do not go together.
pub fn power_trial(
    study: &str,
    strategy: &str,
    params: &Params,
) -> Result<Option<Box<dyn power::Trial>>, StudyError> {
    Ok(Some(match study {
        "log" => Box::new(log::power::Appending::new(strategy, params)?),
        "blocks" => Box::new(blocks::power::Overwritten::new(strategy, params)?),
        "files" => Box::new(files::power::Written::new(strategy, params)?),
        "cache" => Box::new(cache::power::Rebuilt::new(strategy, params)?),
        "sqlite" => Box::new(sqlite::power::Changed::new(strategy, params)?),
        "journal" => Box::new(journal::power::Committed::new(strategy, params)?),
        _ => return Ok(None),
    }))
}

/// What every study is, for help texts and plans.
pub fn specs() -> Vec<&'static StudyDescription> {
    ALL.iter().map(|study| study.spec()).collect()
}

/// The study of that name.
pub fn find(name: &str) -> Option<&'static dyn Study> {
    ALL.iter().find(|study| study.spec().name == name).copied()
}

/// The hidden command with which the binary is a server of the study `serve`.
pub const SERVE_COMMAND: &str = serve::built_in::COMMAND;

/// Is the server that its configuration describes, until killed.
///
/// # Errors
/// Where it cannot listen, or not work in its folder.
pub fn serve_requests(config: &str) -> Result<(), StudyError> {
    serve::built_in::serve(config)
}

/// Serves as a worker process: does the work that comes in on standard input
/// until that is closed. Interrupting a run is its parent's affair, which ends
/// its workers.
pub fn serve_as_worker() -> io::Result<()> {
    worker::serve(io::stdin().lock(), io::stdout().lock(), &StopFlag::default(), work)
}

/// Does an assignment as the study that made it does.
fn work(assignment: &Assignment, session: Session<'_>) -> Result<Report, String> {
    match assignment.study.as_str() {
        "log" => log::do_assignment(assignment, session),
        clients::ASSIGNMENT => clients::do_assignment(assignment, session),
        other => Err(format!("the study {other} has no worker processes")),
    }
}
