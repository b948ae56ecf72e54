//! The type of every study in this crate: a description, cases and functions.

use std::sync::LazyLock;

use engine::study::{MaybePowerTrial, PowerTrial, Study, StudyError, Work, Workload};
use model::case::Case;
use model::study::{Params, StudyDescription};

type MakeWorkload = fn(&str, &Params) -> Result<Box<dyn Workload>, StudyError>;
type MakePowerTrial = fn(&str, &Params) -> MaybePowerTrial;

/// A study. The methods of [`Study`] say what each part is.
pub(crate) struct BuiltInStudy {
    spec: &'static LazyLock<StudyDescription>,
    cases: &'static [Case],
    workload: MakeWorkload,
    power_trial: MakePowerTrial,
    work: Option<Work>,
}

impl BuiltInStudy {
    /// A study without power-failure trials and worker processes.
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

/// A trial as [`BuiltInStudy::with_power_trial`] wants it.
pub(crate) fn trial(made: Result<impl PowerTrial + 'static, StudyError>) -> MaybePowerTrial {
    Ok(Some(Box::new(made?)))
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

    fn worker(&self) -> Option<Work> {
        self.work
    }
}
