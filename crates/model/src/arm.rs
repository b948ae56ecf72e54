//! Arms, and which of them are compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::{Plan, StudyPlan};
use crate::study::{Params, StrategySpec, StudySpec};

/// What is timed: a study, its strategy and parameters, and a place.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Its name in reports and results: `log/held@disk`, with the parameters
    /// that vary within the run, as in `log/held(sync=each)@disk`.
    pub id: String,
    /// The study.
    pub study: &'static StudySpec,
    /// How it does its I/O.
    pub strategy: &'static StrategySpec,
    /// Where, as an index into the plan's places.
    pub place: usize,
    /// The parameters, all of them.
    pub params: Params,
}

/// What two compared arms differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    /// The same I/O at another place.
    Place,
    /// Another strategy at the same place, or another value of a parameter that
    /// stands for a way of doing it.
    Strategy,
}

/// Two arms that are compared, as indices into the arms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What the other is held against.
    pub base: usize,
    /// The one that is judged.
    pub other: usize,
    /// What they differ in.
    pub axis: Axis,
}

/// The arms of a plan: for each study the product of parameters, strategies and places.
pub(crate) fn expand(plan: &Plan) -> Vec<Arm> {
    let mut arms = Vec::new();
    for study in &plan.studies {
        for params in study.combinations() {
            for strategy in &study.strategies {
                for place in 0..plan.places.len() {
                    let id = arm_id(plan, study.spec, strategy, &params, place);
                    let params = params.clone();
                    arms.push(Arm { id, study: study.spec, strategy, place, params });
                }
            }
        }
    }
    arms
}

fn arm_id(
    plan: &Plan,
    study: &StudySpec,
    strategy: &StrategySpec,
    params: &Params,
    place: usize,
) -> String {
    let same_study: Vec<&StudyPlan> =
        plan.studies.iter().filter(|s| s.spec.name == study.name).collect();
    let varying: Vec<String> = params
        .0
        .iter()
        .filter(|(name, value)| {
            same_study
                .iter()
                .flat_map(|s| s.combinations())
                .any(|other| other.0.iter().any(|(n, v)| n == name && v != value))
        })
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let params =
        if varying.is_empty() { String::new() } else { format!("({})", varying.join(", ")) };
    format!("{}/{}{params}@{}", study.name, strategy.name, plan.places[place].label)
}

/// What is compared: every place with the first for each strategy, and every
/// strategy with the study's first on each place, and so with the parameters that
/// the study compares.
///
/// Holding all against one base keeps the comparisons to a number that a
/// person can read, and each of them to a question that a person asks: "what
/// if I moved?", "what if I wrote it another way?".
pub fn pairs(arms: &[Arm]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut against_first = |axis, alike: &dyn Fn(&Arm, &Arm) -> bool| {
        for (other, arm) in arms.iter().enumerate() {
            let base = arms.iter().position(|a| a.study.name == arm.study.name && alike(a, arm));
            let base = base.filter(|base| *base != other);
            pairs.extend(base.map(|base| Pair { base, other, axis }));
        }
    };
    against_first(Axis::Place, &|a, b| a.strategy.name == b.strategy.name && a.params == b.params);
    against_first(Axis::Strategy, &|a, b| a.place == b.place && a.params == b.params);
    against_first(Axis::Strategy, &|a, b| {
        a.place == b.place && a.strategy.name == b.strategy.name && differ_in_compared(a, b)
    });
    pairs
}

/// Whether two arms' parameters differ in none but those that are compared.
fn differ_in_compared(a: &Arm, b: &Arm) -> bool {
    let compared = a.study.compared;
    let mut pairs = a.params.0.iter().zip(&b.params.0);
    !compared.is_empty() && pairs.all(|(a, b)| a == b || compared.contains(&a.0))
}
