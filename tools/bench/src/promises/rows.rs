//! What is tried: of every study, the cases that say within how many operations the power is cut.

use anyhow::{Error, Result};
use engine::study::{PowerTrial, Study};
use model::case::Case;

/// A study and one of its cases.
#[derive(Clone, Copy)]
pub(super) struct Row {
    study: &'static dyn Study,
    case: &'static Case,
    /// Operations of a recording.
    pub(super) operations: u64,
}

/// All of them.
pub(super) fn rows() -> Vec<Row> {
    let of_study = |study: &'static dyn Study| {
        let row = move |case: &'static Case| {
            case.power_cut.map(|operations| Row { study, case, operations })
        };
        study.cases().iter().filter_map(row)
    };
    studies::ALL.into_iter().flat_map(of_study).collect()
}

impl Row {
    /// As it is named on the command line and in the table.
    pub(super) fn name(&self) -> String {
        let Case { strategy, variant, .. } = self.case;
        let gap = if variant.is_empty() { "" } else { " " };
        format!("{}/{strategy}{gap}{variant}", self.study.spec().name)
    }

    /// What the strategy promises with these parameters, in its own words.
    pub(super) fn promise(&self) -> Result<&'static str> {
        let spec = self.study.spec();
        let params = self.case.params(spec).map_err(Error::msg)?;
        Ok(spec.promise_of(self.case.strategy, &params.written()))
    }

    /// The arm, to be tried; nothing where the study has nothing to lose.
    pub(super) fn trial(&self) -> Result<Option<Box<dyn PowerTrial>>> {
        let params = self.case.params(self.study.spec()).map_err(Error::msg)?;
        Ok(self.study.power_trial(self.case.strategy, &params)?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_row_is_an_arm_that_can_be_tried() {
        for row in rows() {
            assert!(row.trial().unwrap().is_some(), "{}", row.name());
            let promise = row.promise().unwrap();
            assert!(!promise.is_empty());
            let is_synced = row.case.variant == "sync=each" && row.case.strategy != "queued";
            let is_safe = promise.contains("power failure: nothing acknowledged is lost");
            assert!(is_safe || !is_synced, "{}: {promise}", row.name());
        }
    }
}
