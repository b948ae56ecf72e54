//! What is timed: one file per study, its strategies beside it.

mod file;
mod log;
mod stream;

use engine::study::Study;
use model::study::StudySpec;

/// Every study, in the order in which they are listed and run.
pub static ALL: [&dyn Study; 2] = [&log::Log, &stream::Stream];

/// What every study is, for help texts and plans.
pub fn specs() -> Vec<&'static StudySpec> {
    ALL.iter().map(|study| study.spec()).collect()
}

/// The study of that name.
pub fn find(name: &str) -> Option<&'static dyn Study> {
    ALL.iter().find(|study| study.spec().name == name).copied()
}
