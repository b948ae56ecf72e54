//! The command that would measure a run's plan again.

use std::collections::BTreeMap;
use std::time::Duration;

use model::description::{ParamForm, StudyDescription};
use model::grouped::each_once;
use model::run::{ArmRecord, Run};
use units::exact_duration;
use units::quoted;

/// The command; nothing where the plan's arms are not what flags can ask for, or where the
/// places are not told.
pub(super) fn of(run: &Run) -> Option<String> {
    let has_label = |arm: &ArmRecord| arm.label.is_some();
    if run.places.iter().any(|place| !place.path.is_absolute())
        || run.plan.arms.iter().any(has_label)
    {
        return None;
    }
    let mut words = vec!["iotoll".to_owned(), "compare".to_owned()];
    for place in &run.places {
        words.push(format!("{}={}", place.label, place.target()?));
    }
    let studies: Vec<&str> = run.studies.iter().map(|study| study.name.as_str()).collect();
    words.extend(["--study".to_owned(), studies.join(",")]);
    words.extend(strategies(run)?);
    for study in &run.studies {
        words.extend(settings(run, study)?);
    }
    words.extend(numbers(run));
    Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}

/// The flag that chooses strategies, which is for all studies.
fn strategies(run: &Run) -> Option<Vec<String>> {
    if run.studies.iter().all(|study| run.chosen_strategies(study).is_none()) {
        return Some(Vec::new());
    }
    let [study] = run.studies.as_slice() else { return None };
    Some(vec!["--strategy".to_owned(), run.chosen_strategies(study)?.join(",")])
}

/// The flags that set a study's parameters where they are not at their defaults.
fn settings(run: &Run, study: &StudyDescription) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut product: usize = 1;
    for param in &study.params {
        let values = run.arms_of(study).filter_map(|arm| arm.params.get(&param.name));
        let values = each_once(values.map(String::as_str));
        product = product.saturating_mul(values.len().max(1));
        if !values.iter().copied().eq(param.default.iter().map(String::as_str)) {
            let is_text = matches!(param.kind, ParamForm::Text | ParamForm::Shell);
            if values.len() > 1 && (is_text || values.iter().any(|value| value.contains(','))) {
                return None;
            }
            words.push("--set".to_owned());
            words.push(format!("{}.{}={}", study.name, param.name, values.join(",")));
        }
    }
    // Values that mean nothing to a strategy make no arms of it.
    let ways = run.strategies_of(study).len().saturating_mul(run.places.len());
    let is_product = run.arms_of(study).count() <= product.saturating_mul(ways);
    let mut of_way: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    run.arms_of(study).for_each(|arm| *of_way.entry((&arm.strategy, arm.place)).or_default() += 1);
    (is_product && of_way.values().any(|arms| *arms == product)).then_some(words)
}

/// How long the run was to take at the most.
pub(super) fn budget(run: &Run) -> String {
    exact_duration(Duration::try_from_secs_f64(run.plan.budget_s).unwrap_or_default())
}

fn numbers(run: &Run) -> Vec<String> {
    let mut words = vec!["--budget".to_owned(), budget(run)];
    let share = |share: f64| format!("{}%", share * 100.0);
    if (run.plan.threshold - model::plan::DEFAULT_THRESHOLD).abs() > 1e-12 {
        words.extend(["--threshold".to_owned(), share(run.plan.threshold)]);
    }
    if (run.plan.error_rate - model::plan::DEFAULT_ERROR_RATE).abs() > 1e-12 {
        words.extend(["--error-rate".to_owned(), share(run.plan.error_rate)]);
    }
    for (study, rate) in &run.plan.per_second {
        words.extend(["--per-second".to_owned(), format!("{study}={rate}")]);
    }
    if run.plan.gentle {
        words.push("--gentle".to_owned());
    }
    words.extend(["--seed".to_owned(), run.run.seed.to_string()]);
    words
}
