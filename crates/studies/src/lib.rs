//! What is timed: one file per study, its strategies beside it.

mod file;
mod log;
mod page;
mod page_cache;
mod random;
mod stream;
#[cfg(test)]
mod testing;

use engine::study::Study;
use model::study::StudySpec;

/// Every study, in the order in which they are listed and run.
pub static ALL: [&dyn Study; 3] = [&log::Log, &stream::Stream, &page::Page];

/// What every study is, for help texts and plans.
pub fn specs() -> Vec<&'static StudySpec> {
    ALL.iter().map(|study| study.spec()).collect()
}

/// The study of that name.
pub fn find(name: &str) -> Option<&'static dyn Study> {
    ALL.iter().find(|study| study.spec().name == name).copied()
}
