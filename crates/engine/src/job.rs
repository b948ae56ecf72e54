//! What one run measures.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use model::arm::{Arm, Pair, pairs};
use model::material::Material;
use model::plan::{Plan, StudyPlan};
use model::run::ArmRecord;

use crate::run_limits::{RunLimits, WRITE_LIMIT_BYTES};

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Job {
    /// The arms.
    pub arms: Vec<Arm>,
    /// What each of them works on, where its study has a say in that; none where nobody asked.
    pub materials: Vec<Option<Material>>,
    /// Which of them are compared.
    pub pairs: Vec<Pair>,
    /// The smallest relative difference that matters.
    pub threshold: f64,
    /// The share of runs in which a verdict may be wrong, each by itself.
    pub error_rate: f64,
    /// When to end at the latest, counted by the runner's clock.
    pub budget: Duration,
    /// After how many rounds to end at the latest, where that was said.
    pub rounds: Option<NonZeroU32>,
    /// What the random order is made from.
    pub seed: u64,
    /// How many operations a second the application does, by study and label, where that was
    /// said.
    pub per_second: BTreeMap<String, f64>,
    /// What a path of the user's was taken for and why, by study and label.
    pub taken_for: BTreeMap<String, String>,
    /// The share of the budget that the slices of each arm take together, where arms are not
    /// to have equal ones; empty where they are.
    pub shares: Vec<f64>,
    /// How the machine and its neighbours are treated.
    pub run_limits: RunLimits,
}

impl Job {
    /// What a plan asks for.
    pub fn of(plan: &Plan) -> Self {
        let arms = plan.arms();
        let pairs = pairs(&arms);
        let rate = |study: &StudyPlan| Some((study.subject(), study.per_second?));
        let taken_for = |study: &StudyPlan| Some((study.subject(), study.taken_for.clone()?));
        Self {
            arms,
            materials: Vec::new(),
            pairs,
            threshold: plan.threshold,
            error_rate: plan.error_rate,
            budget: plan.budget,
            rounds: plan.rounds,
            seed: plan.seed,
            per_second: plan.studies.iter().filter_map(rate).collect(),
            taken_for: plan.studies.iter().filter_map(taken_for).collect(),
            shares: Vec::new(),
            run_limits: RunLimits {
                write_limit_bytes: plan.write_limit_bytes.unwrap_or(WRITE_LIMIT_BYTES),
                gentle: plan.gentle,
            },
        }
    }
}

/// An arm as a record has it.
pub(crate) fn recorded(arm: &Arm, material: Option<Material>) -> ArmRecord {
    ArmRecord {
        id: arm.id.clone(),
        study: arm.study.name.clone(),
        label: arm.label.clone(),
        strategy: arm.strategy.name.clone(),
        place: arm.place,
        params: arm.params.written(),
        material,
    }
}
