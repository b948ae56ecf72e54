//! What of a study is tried by tests and benches, beside what users time.

use crate::study::{Params, StudyDescription};

/// A strategy with parameters, and what it is tried with. Each strategy of a study has one.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The strategy.
    pub strategy: &'static str,
    /// Its parameters that are not at their default.
    pub set: &'static [(&'static str, &'static str)],
    /// How it is told from others of its strategy, where there are some.
    pub variant: &'static str,
    /// A program that it needs besides those of its strategy.
    pub needs: Option<&'static str>,
    /// Whether its system calls are failed, each in turn.
    pub calls_fail: bool,
    /// Whether it is killed at random moments.
    pub is_killed: bool,
    /// Operations of a slice whose files are held against its footprint.
    pub footprint: Option<u64>,
    /// Operations in which the power is cut.
    pub power_cut: Option<u64>,
    /// Why nothing of this is done; empty where something is.
    pub untried: &'static str,
}

impl Case {
    /// Of these, nothing is tried yet.
    pub const fn of(strategy: &'static str, set: &'static [(&'static str, &'static str)]) -> Self {
        Self {
            strategy,
            set,
            variant: "",
            needs: None,
            calls_fail: false,
            is_killed: false,
            footprint: None,
            power_cut: None,
            untried: "",
        }
    }

    /// It is one of several of its strategy.
    #[must_use]
    pub const fn variant(self, variant: &'static str) -> Self {
        Self { variant, ..self }
    }

    /// It needs a program.
    #[must_use]
    pub const fn needs(self, program: &'static str) -> Self {
        Self { needs: Some(program), ..self }
    }

    /// Its system calls are failed.
    #[must_use]
    pub const fn calls_fail(self) -> Self {
        Self { calls_fail: true, ..self }
    }

    /// It is killed.
    #[must_use]
    pub const fn killed(self) -> Self {
        Self { is_killed: true, ..self }
    }

    /// The files of a slice of so many operations are held against its footprint.
    #[must_use]
    pub const fn footprint(self, operations: u64) -> Self {
        Self { footprint: Some(operations), ..self }
    }

    /// The power is cut within so many operations.
    #[must_use]
    pub const fn power_cut(self, operations: u64) -> Self {
        Self { power_cut: Some(operations), ..self }
    }

    /// Nothing is done, for this reason.
    #[must_use]
    pub const fn untried(self, why: &'static str) -> Self {
        Self { untried: why, ..self }
    }

    /// `held-synced`.
    pub fn name(&self) -> String {
        let gap = if self.variant.is_empty() { "" } else { "-" };
        format!("{}{gap}{}", self.strategy, self.variant)
    }

    /// All of the study's parameters.
    ///
    /// # Errors
    /// Where one of those of the case is none of the study's, or cannot be that.
    pub fn params(&self, study: &'static StudyDescription) -> Result<Params, String> {
        study.params_with(self.set.iter().copied())
    }

    /// The flags of `iotoll compare`.
    pub fn flags(&self, study: &StudyDescription) -> Vec<String> {
        let name = &study.name;
        let set = self.set.iter().map(|(key, value)| format!("--set={name}.{key}={value}"));
        [format!("--study={name}"), format!("--strategy={}", self.strategy)]
            .into_iter()
            .chain(set)
            .collect()
    }

    /// The program that must be installed for it.
    pub fn program(&self, study: &StudyDescription) -> Option<&'static str> {
        self.needs.or_else(|| study.strategy(self.strategy)?.facts.needs)
    }
}
