//! A study as what it is made of, which every study of this crate hands over.

use std::sync::LazyLock;

use engine::study::{MaybePowerTrial, Study, StudyError, Workload};
use model::case::Case;
use model::study::{Params, StudyDescription};
use process::worker::{Assignment, Report, Session};

type MakeWorkload = fn(&str, &Params) -> Result<Box<dyn Workload>, StudyError>;
type MakePowerTrial = fn(&str, &Params) -> MaybePowerTrial;
type Work = fn(&Assignment, Session<'_>) -> Result<Report, String>;

/// A study; the methods of [`Study`] say what each is.
pub(crate) struct BuiltInStudy {
    spec: &'static LazyLock<StudyDescription>,
    cases: &'static [Case],
    workload: MakeWorkload,
    power_trial: MakePowerTrial,
    work: Option<Work>,
}

impl BuiltInStudy {
    /// One of which nothing is tried by power failures, and that has no worker processes.
    pub(crate) const fn new(
        spec: &'static LazyLock<StudyDescription>,
        cases: &'static [Case],
        workload: MakeWorkload,
    ) -> Self {
        Self { spec, cases, workload, power_trial: |_, _| Ok(None), work: None }
    }

    pub(crate) const fn with_power_trial(self, power_trial: MakePowerTrial) -> Self {
        Self { power_trial, ..self }
    }

    pub(crate) const fn with_workers(self, work: Work) -> Self {
        Self { work: Some(work), ..self }
    }
}

impl Study for BuiltInStudy {
    fn spec(&self) -> &'static StudyDescription {
        self.spec
    }

    fn workload(&self, strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError> {
        (self.workload)(strategy, params)
    }

    fn cases(&self) -> &'static [Case] {
        self.cases
    }

    fn power_trial(&self, strategy: &str, params: &Params) -> MaybePowerTrial {
        (self.power_trial)(strategy, params)
    }

    fn work(&self, assignment: &Assignment, session: Session<'_>) -> Result<Report, String> {
        match self.work {
            Some(work) => work(assignment, session),
            None => Err(format!("the study {} has no worker processes", self.spec.name)),
        }
    }
}
