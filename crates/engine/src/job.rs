//! What one run measures.

use std::time::Duration;

use model::arm::{Arm, Pair, pairs};
use model::plan::Plan;

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Job {
    /// The arms.
    pub arms: Vec<Arm>,
    /// Which of them are compared.
    pub pairs: Vec<Pair>,
    /// The smallest relative difference that matters.
    pub worth: f64,
    /// The share of runs in which a verdict may be wrong, each by itself.
    pub error_rate: f64,
    /// When to end at the latest, counted by the runner's clock.
    pub budget: Duration,
    /// What the random order is made from.
    pub seed: u64,
}

impl Job {
    /// What a plan asks for.
    pub fn of(plan: &Plan) -> Self {
        let arms = plan.arms();
        let pairs = pairs(&arms);
        Self {
            arms,
            pairs,
            worth: plan.worth,
            error_rate: plan.error_rate,
            budget: plan.budget,
            seed: plan.seed,
        }
    }
}
