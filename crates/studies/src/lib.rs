//! What is timed: one file per study, its strategies beside it.

mod cache;
mod file;
mod files;
mod log;
mod page;
mod page_cache;
mod put;
mod random;
mod sqlite;
mod stream;
#[cfg(test)]
mod testing;
mod tree;

use engine::study::Study;
use model::study::StudySpec;

/// Every study, in the order in which they are listed and run.
pub static ALL: [&dyn Study; 6] =
    [&log::Log, &stream::Stream, &page::Page, &cache::Cache, &files::Files, &sqlite::Sqlite];

/// What every study is, for help texts and plans.
pub fn specs() -> Vec<&'static StudySpec> {
    ALL.iter().map(|study| study.spec()).collect()
}

/// The study of that name.
pub fn find(name: &str) -> Option<&'static dyn Study> {
    ALL.iter().find(|study| study.spec().name == name).copied()
}
