//! What a report is about: a run with what follows from it, and the lookups that
//! every section needs.

use model::analysis::{Analysis, ArmResult, Comparison};
use model::description::{Score, StudyDescription};
use model::grouped::in_groups;
use model::material::Material;
use model::run::Run;

/// A run and its analysis, side by side.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) run: &'a Run,
    pub(crate) analysis: &'a Analysis,
}

impl<'a> Subject<'a> {
    /// The arm of that id.
    pub(crate) fn arm(self, id: &str) -> Option<&'a ArmResult> {
        self.analysis.arm(id)
    }

    /// The arms of a study, each with its position among all of the run.
    pub(crate) fn arms_of(self, study: &str) -> impl Iterator<Item = (usize, &'a ArmResult)> {
        self.analysis.arms.iter().enumerate().filter(move |(_, arm)| arm.study == study)
    }

    /// The first arm of each study. A study counts once for each of its labels.
    pub(crate) fn first_arms(self) -> impl Iterator<Item = &'a ArmResult> {
        let studies = in_groups(self.analysis.arms.iter().map(|arm| (arm.subject(), arm)));
        studies.into_iter().map(|(_, arms)| arms[0])
    }

    /// The study that an arm is of.
    pub(crate) fn study_of(self, arm: &ArmResult) -> Option<&'a StudyDescription> {
        self.run.study(&arm.study)
    }

    /// What an arm's study is called: `shop.log` where the user calls it so, else by its own
    /// name. Two that would be called the same are told apart by the study.
    pub(crate) fn called(self, arm: &ArmResult) -> String {
        let name = |arm: &'_ ArmResult| arm.label.clone().unwrap_or_else(|| arm.study.clone());
        let own = name(arm);
        let is_other = |other: &&ArmResult| other.subject() != arm.subject();
        let mut others = self.analysis.arms.iter().filter(is_other);
        if arm.label.is_some() && others.any(|other| name(other) == own) {
            return format!("{own} ({})", arm.study);
        }
        own
    }

    /// What a path of the user's was taken for to be measured by an arm.
    pub(crate) fn taken_for(self, arm: &ArmResult) -> Option<&'a str> {
        self.run.plan.taken_for.get(&arm.subject()).map(String::as_str)
    }

    /// What an arm worked on, where its study had a say in that.
    pub(crate) fn material(self, arm: &ArmResult) -> Option<&'a Material> {
        let record = self.run.plan.arms.iter().find(|record| record.id == arm.id)?;
        record.material.as_ref()
    }

    /// What an arm's operation is: `record`, or `rebuild` where the study has several.
    pub(crate) fn operation(self, arm: &ArmResult) -> &'a str {
        let chosen = self.arm(&arm.id).and_then(|arm| arm.params.get("operation"));
        let usual = || self.study_of(arm).map_or("operation", |study| study.operation.as_str());
        chosen.map_or_else(usual, String::as_str)
    }

    /// The highest rate that an arm held, where that is what it is judged by.
    pub(crate) fn highest_rate(self, arm: &ArmResult) -> Option<f64> {
        let judged_by_rate = self.study_of(arm)?.score_of(&arm.params) == Score::HighestRate;
        arm.typical_ns.filter(|_| judged_by_rate).map(|typical_ns| 1e9 / typical_ns)
    }

    /// How fast an arm moved its bytes, where its speed is best told so.
    pub(crate) fn bytes_per_s(self, arm: &ArmResult) -> Option<f64> {
        self.study_of(arm).filter(|study| study.moves_bytes)?;
        let bytes_per_op = arm.io.requested_bytes as f64 / arm.operations.max(1) as f64;
        Some(bytes_per_op / arm.typical_ns? * 1e9)
    }

    /// How one arm differs from another at its place, in short.
    pub(crate) fn difference(self, arm: &ArmResult, other: &ArmResult) -> String {
        arm.difference_from(other, self.study_of(arm))
    }

    /// The two arms of a comparison.
    pub(crate) fn sides(self, comparison: &Comparison) -> Option<[&'a ArmResult; 2]> {
        Some([self.arm(&comparison.base)?, self.arm(&comparison.other)?])
    }
}
