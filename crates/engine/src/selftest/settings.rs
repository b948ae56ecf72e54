//! What a selftest is asked to do.

use std::time::Duration;

use model::selftest::PlantedKind;
use process::StopFlag;

use crate::study::Study;

/// What a selftest is asked to do.
pub struct Settings<'a> {
    /// What is compared with itself.
    pub work: Work<'a>,
    /// What is slowed down on purpose, each kind for itself.
    pub plantings: Vec<Planting<'a>>,
    /// Time since the budget started to count.
    pub elapsed: &'a dyn Fn() -> Duration,
    /// How long all places may take together.
    pub budget: Duration,
    /// What everything random is made from.
    pub seed: u64,
    /// Raised to interrupt the test.
    pub stop: StopFlag,
}

/// What an arm does.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// The study that is timed.
    pub study: &'a dyn Study,
    /// Its strategy.
    pub strategy: &'a str,
    /// The parameters that do not have their defaults, each as `KEY=VALUE`.
    pub params: &'a [&'a str],
}

/// A kind of I/O that is slowed down on purpose.
#[derive(Clone, Copy)]
pub struct Planting<'a> {
    /// Which.
    pub kind: PlantedKind,
    /// What does it.
    pub work: Work<'a>,
}

impl Work<'_> {
    /// `log/held sync=each`.
    pub(super) fn name(&self) -> String {
        let name = format!("{}/{}", self.study.spec().name, self.strategy);
        [&[name.as_str()], self.params].concat().join(" ")
    }
}
