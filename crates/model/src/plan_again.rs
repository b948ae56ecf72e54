//! A plan that was measured before, made of the record of its run.

use std::time::Duration;

use crate::arm::{Pair, pairs};
use crate::place::{PlaceFacts, PlaceRequest};
use crate::plan::{ARMS_MAX, BUDGETS, Draft, Plan, PlanError, StudyPlan, find_study, unknown_key};
use crate::run::{ArmRecord, PlanRecord, Run};
use crate::study::StudyDescription;

impl Draft {
    /// What was asked for when a run was measured: each way of doing it as a study of its
    /// own, in the order of the arms, so that the same arms follow from it.
    pub fn of_run(run: &Run, registry: &[&'static StudyDescription]) -> Result<Self, PlanError> {
        let PlanRecord { threshold, error_rate, budget_s, arms, taken_for, .. } = &run.plan;
        if arms.len() > ARMS_MAX {
            return Err(PlanError(format!(
                "it has {} combinations, but at most {ARMS_MAX} are allowed",
                arms.len()
            )));
        }
        let budget = Duration::try_from_secs_f64(*budget_s).ok();
        let budget = budget.filter(|budget| BUDGETS.contains(budget));
        let invalid = || PlanError(format!("a budget of {budget_s} s is not valid"));
        let mut studies = Vec::new();
        let mut known: Vec<&ArmRecord> = Vec::new();
        for arm in arms {
            if known.iter().any(|other| is_same_way(other, arm)) {
                continue;
            }
            known.push(arm);
            let not_at = places_without(arm, run);
            let (label, taken_for) = (arm.label.clone(), taken_for.get(&arm.subject()).cloned());
            let way = way(arm, registry)?;
            studies.push(StudyPlan {
                label,
                taken_for,
                per_second: run.plan.rate_of(arm),
                not_at,
                ..way
            });
        }
        let place = |facts: &PlaceFacts| {
            let target = facts.created.clone();
            let target = target.unwrap_or_else(|| facts.path.to_string_lossy().into_owned());
            PlaceRequest::new(&facts.label, &target).map_err(|why| PlanError(why.to_string()))
        };
        Ok(Self {
            threshold: Some(*threshold),
            error_rate: Some(*error_rate),
            budget: Some(budget.ok_or_else(invalid)?),
            rounds: run.plan.rounds,
            seed: Some(run.run.seed),
            places: run.places.iter().map(place).collect::<Result<_, _>>()?,
            studies,
            // A run that pauses between slices has other times.
            gentle: run.plan.gentle,
            ..Self::default()
        })
    }
}

impl Plan {
    /// Whether it has the arms and comparisons of a run; an error that says what is missing.
    pub fn check_against(&self, run: &Run) -> Result<(), PlanError> {
        let arms = self.arms();
        let mut pairs = pairs(&arms);
        if run.checks.is_some() {
            pairs.retain(Pair::is_of_check);
        }
        let [now, then] = [(arms.len(), pairs.len()), (run.plan.arms.len(), run.plan.pairs.len())];
        if now == then {
            return Ok(());
        }
        Err(PlanError(format!(
            "the run had {} arms and {} comparisons, but this version of iotoll gets {} and {} \
             from its plan",
            then.0, then.1, now.0, now.1
        )))
    }
}

/// The places at which a way was not measured.
fn places_without(arm: &ArmRecord, run: &Run) -> Vec<String> {
    let places = run.places.iter().enumerate();
    let is_there =
        |place| run.plan.arms.iter().any(|own| own.place == place && is_same_way(own, arm));
    places.filter(|(at, _)| !is_there(*at)).map(|(_, place)| place.label.clone()).collect()
}

fn is_same_way(a: &ArmRecord, b: &ArmRecord) -> bool {
    a.subject() == b.subject() && a.strategy == b.strategy && a.params == b.params
}

/// An arm's study with its strategy and values alone.
fn way(arm: &ArmRecord, registry: &[&'static StudyDescription]) -> Result<StudyPlan, PlanError> {
    let spec = find_study(&arm.study, registry)?;
    let unknown = || {
        PlanError(format!(
            "this version of iotoll has no strategy `{}` in the study {}",
            arm.strategy, spec.name
        ))
    };
    let mut study = StudyPlan::new(spec);
    study.strategies = vec![spec.strategy(&arm.strategy).ok_or_else(unknown)?];
    for (name, value) in &arm.params {
        let param = spec.param(name).ok_or_else(|| unknown_key(name, spec))?;
        let value =
            param.parse(value).map_err(|why| PlanError(format!("{}.{name}: {why}", spec.name)))?;
        // What is at its default was not asked for, and need not mean anything to the arm.
        if param.default_values() != [value.clone()] {
            study.set(&param.name, vec![value]);
        }
    }
    Ok(study)
}
