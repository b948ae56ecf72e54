//! A plan: which arms are timed, for how long, and what difference matters.
//!
//! A [`Draft`] gathers what the plan file and then the flags say; later words
//! replace earlier ones. [`Draft::finish`] fills in the defaults and checks
//! what can be checked without looking at the machine.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::time::Duration;

use thiserror::Error;
use units::{Limit, parse_duration, quoted};

use crate::place::PlaceRequest;
use crate::study::{
    ParamDescription, ParamForm, ParamValue, Params, StrategyDescription, StudyDescription, nearest,
};
use crate::subject::subject;

/// The smallest difference that matters, when nothing else is said.
pub const DEFAULT_THRESHOLD: f64 = 0.05;
/// The share of runs in which a verdict may be wrong, when nothing else is said.
pub const DEFAULT_ERROR_RATE: f64 = 0.05;
/// How long a run may take, when nothing else is said.
pub const DEFAULT_BUDGET: Duration = Duration::from_secs(30);
/// How long a gentle run may take, when nothing else is said: most of it is pauses.
pub const GENTLE_BUDGET: Duration = Duration::from_secs(3600);
/// More arms than this cannot each be timed often enough to learn anything.
pub(crate) const ARMS_MAX: usize = 256;

/// A usage error: what was said that cannot be done, and what could be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct PlanError(pub String);

/// One study of a plan, with the strategies and parameter values to be timed.
#[derive(Clone, Debug)]
pub struct StudyPlan {
    /// The study.
    pub spec: &'static StudyDescription,
    /// What reports call it, where that is not the study's name: `shop.log`.
    pub label: Option<String>,
    /// What a path of the user's was taken for and why, where the study is made of one.
    pub taken_for: Option<String>,
    /// The strategies; the first is the base. Empty means the default ones.
    pub strategies: Vec<&'static StrategyDescription>,
    /// The parameters that were given; one with several values is a factor.
    pub factors: Vec<(&'static str, Vec<ParamValue>)>,
    /// How many of its operations the application does in a second, where that was said.
    pub per_second: Option<f64>,
    /// The labels of places at which it is not measured.
    pub not_at: Vec<String>,
}

/// What was asked for so far.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The smallest relative difference that matters.
    pub threshold: Option<f64>,
    /// The share of runs in which a verdict may be wrong.
    pub error_rate: Option<f64>,
    /// How long the run may take.
    pub budget: Option<Duration>,
    /// The most rounds, if the user set a limit.
    pub rounds: Option<NonZeroU32>,
    /// Whether the run yields to other programs.
    pub gentle: bool,
    /// The most bytes to write to storage that wears, if the user set a limit.
    pub write_limit_bytes: Option<u64>,
    /// What the random order is made from.
    pub seed: Option<u64>,
    /// The limits that fail the run.
    pub fail: Vec<Limit>,
    /// The places; the first is the base.
    pub places: Vec<PlaceRequest>,
    /// The studies. Empty means the default ones.
    pub studies: Vec<StudyPlan>,
}

/// Everything that a run is told.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The smallest relative difference that matters.
    pub threshold: f64,
    /// The share of runs in which a verdict may be wrong, each by itself.
    pub error_rate: f64,
    /// How long the run may take.
    pub budget: Duration,
    /// The most rounds, if the user set a limit.
    pub rounds: Option<NonZeroU32>,
    /// Whether the run yields to other programs.
    pub gentle: bool,
    /// The most bytes to write to storage that wears, if the user set a limit.
    pub write_limit_bytes: Option<u64>,
    /// What the random order is made from.
    pub seed: u64,
    /// The limits that fail the run.
    pub fail: Vec<Limit>,
    /// The places; the first is the base.
    pub places: Vec<PlaceRequest>,
    /// The studies, with the values of each parameter.
    pub studies: Vec<StudyPlan>,
}

impl StudyPlan {
    /// A study with its default strategies and parameters.
    pub fn new(spec: &'static StudyDescription) -> Self {
        let (strategies, factors, not_at) = Default::default();
        let (label, taken_for, per_second) = Default::default();
        Self { spec, label, taken_for, strategies, factors, per_second, not_at }
    }

    /// Its study with its label: `log:shop.log`.
    pub fn subject(&self) -> String {
        subject(&self.spec.name, self.label.as_deref())
    }

    /// Gives a parameter one value or several, replacing what it had.
    pub fn set(&mut self, name: &'static str, values: Vec<ParamValue>) {
        self.factors.retain(|(known, _)| *known != name);
        self.factors.push((name, values));
    }

    /// A parameter's values: those that were given, or its defaults.
    pub(crate) fn values(&self, param: &ParamDescription) -> Vec<ParamValue> {
        let given = self.factors.iter().find(|(name, _)| *name == param.name);
        given.map_or_else(|| param.default_values(), |(_, values)| values.clone())
    }

    /// Refuses a value that a parameter is given twice.
    fn check_values(&self) -> Result<(), PlanError> {
        let repeated = |(name, values): &(&str, Vec<ParamValue>)| {
            Some(PlanError(format!("{}.{name}{}", self.spec.name, said_twice(values)?)))
        };
        self.factors.iter().find_map(repeated).map_or(Ok(()), Err)
    }

    /// How many arms it makes at each place, at least, where they are beyond counting.
    fn ways(&self) -> usize {
        let values = self.spec.params.iter().map(|param| self.values(param).len());
        values.fold(self.strategies.len(), usize::saturating_mul)
    }

    /// Every combination of the parameters' values, in the study's own order.
    pub fn combinations(&self) -> Vec<Params> {
        let mut rows = vec![Vec::new()];
        for param in &self.spec.params {
            let values = self.values(param);
            rows = rows
                .into_iter()
                .flat_map(|row| {
                    values.iter().map(move |value| {
                        [row.clone(), vec![(param.name.as_str(), value.clone())]].concat()
                    })
                })
                .collect();
        }
        rows.into_iter().map(Params).collect()
    }
}

impl Draft {
    /// Keeps the named studies alone, adding those that no plan file mentioned.
    pub fn select_studies(
        &mut self,
        names: &[String],
        registry: &[&'static StudyDescription],
    ) -> Result<(), PlanError> {
        let mut selected = Vec::new();
        for (position, name) in names.iter().enumerate() {
            let spec = find_study(name, registry)?;
            if names[..position].contains(name) {
                continue;
            }
            let planned: Vec<_> =
                self.studies.iter().filter(|s| s.spec.name == spec.name).cloned().collect();
            if planned.is_empty() {
                selected.push(StudyPlan::new(spec));
            } else {
                selected.extend(planned);
            }
        }
        self.studies = selected;
        Ok(())
    }

    /// Keeps the named strategies alone, in this order; a study that has none
    /// of them is left out.
    pub fn select_strategies(&mut self, names: &[String]) -> Result<(), PlanError> {
        for name in names {
            if self.studies.iter().all(|s| s.spec.strategy(name).is_none()) {
                return Err(self.unknown_strategy(name));
            }
        }
        for study in &mut self.studies {
            study.strategies.clear();
            for strategy in names.iter().filter_map(|name| study.spec.strategy(name)) {
                if !study.strategies.iter().any(|s| s.name == strategy.name) {
                    study.strategies.push(strategy);
                }
            }
        }
        self.studies.retain(|s| !s.strategies.is_empty());
        Ok(())
    }

    fn unknown_strategy(&self, name: &str) -> PlanError {
        let known: Vec<&str> =
            self.studies.iter().flat_map(|s| &s.spec.strategies).map(|s| s.name.as_str()).collect();
        let studies: Vec<&str> = self.studies.iter().map(|s| s.spec.name.as_str()).collect();
        PlanError(format!(
            "no strategy `{name}` in the {} {}{}",
            if studies.len() == 1 { "study" } else { "studies" },
            studies.join(", "),
            suggestion(name, known)
        ))
    }

    /// Takes assignments, each `STUDY.KEY=VALUE[,VALUE...]`. The first of a key replaces
    /// what the plan has for it, and those after it add their values. Gives back the studies
    /// and their keys.
    pub fn set_all(
        &mut self,
        assignments: &[String],
        registry: &[&'static StudyDescription],
    ) -> Result<Vec<(&'static str, &'static str)>, PlanError> {
        let mut given: Vec<(&'static str, &'static str, Vec<ParamValue>)> = Vec::new();
        for assignment in assignments {
            let (spec, param, values) = assigned(assignment, registry)?;
            match given
                .iter_mut()
                .find(|(study, key, _)| (*study, *key) == (&spec.name, &param.name))
            {
                Some((_, _, earlier)) => earlier.extend(values),
                None => given.push((&spec.name, &param.name, values)),
            }
        }
        let set = |(study, key, values): (&'static str, &'static str, Vec<ParamValue>)| {
            let said = format!("{study}.{key} is set, but");
            let planned = self.planned(|planned| planned.spec.name == study, study, &said)?;
            planned.for_each(|planned| planned.set(key, values.clone()));
            Ok((study, key))
        };
        given.into_iter().map(set).collect()
    }

    /// The studies that are meant. Where the plan has none of them, the error begins with what
    /// was said.
    pub(crate) fn planned(
        &mut self,
        is_meant: impl Fn(&StudyPlan) -> bool,
        study: &str,
        said: &str,
    ) -> Result<impl Iterator<Item = &mut StudyPlan>, PlanError> {
        let mut planned = self.studies.iter_mut().filter(move |study| is_meant(study)).peekable();
        match planned.peek() {
            Some(_) => Ok(planned),
            None => Err(PlanError(format!("{said} the study {study} is not part of this run"))),
        }
    }

    /// Takes one `[STUDY=]N`: how many operations the application does in a second, in
    /// each study or in the one that is named, by its label or its name.
    pub fn set_per_second(
        &mut self,
        text: &str,
        registry: &[&'static StudyDescription],
    ) -> Result<(), PlanError> {
        let (study, rate) = match text.split_once('=') {
            Some((study, rate)) => (Some(study.trim()), rate),
            None => (None, text),
        };
        let has_label = |s: &StudyPlan, name: &str| s.label.as_deref() == Some(name);
        let is_label = study.is_some_and(|name| self.studies.iter().any(|s| has_label(s, name)));
        if let Some(name) = study.filter(|_| !is_label) {
            find_study(name, registry)?;
        }
        let rate = parse_per_second(rate).map_err(PlanError)?;
        let named = |s: &StudyPlan| {
            study.is_none_or(|name| if is_label { has_label(s, name) } else { s.spec.name == name })
        };
        let said = format!("--per-second {text}:");
        let planned = self.planned(named, study.unwrap_or_default(), &said)?;
        planned.for_each(|planned| planned.per_second = Some(rate));
        Ok(())
    }

    /// Puts `value` for each `{name}` in the texts that were given; as one word
    /// where a shell reads the text.
    pub fn fill_in(&mut self, name: &str, value: &str) {
        let wanted = format!("{{{name}}}");
        for study in &mut self.studies {
            for (param, values) in &mut study.factors {
                let kind = study.spec.param(param).map(|param| param.kind);
                let word = match kind {
                    Some(ParamForm::Shell) => quoted(value),
                    _ => value.to_owned(),
                };
                for one in values {
                    if let ParamValue::Text(text) = one
                        && text.contains(&wanted)
                    {
                        *one = ParamValue::text(&text.replace(&wanted, &word));
                    }
                }
            }
        }
    }

    /// The plan, with defaults where nothing was said. `seed` is used when none was given.
    pub fn finish(self, seed: u64) -> Result<Plan, PlanError> {
        let mut studies = self.studies;
        for study in &mut studies {
            if study.strategies.is_empty() {
                study.strategies = study.spec.strategies.iter().filter(|s| s.by_default).collect();
            }
        }
        let plan = Plan {
            threshold: self.threshold.unwrap_or(DEFAULT_THRESHOLD),
            error_rate: self.error_rate.unwrap_or(DEFAULT_ERROR_RATE),
            budget: self.budget.unwrap_or(DEFAULT_BUDGET),
            rounds: self.rounds,
            gentle: self.gentle,
            write_limit_bytes: self.write_limit_bytes,
            seed: self.seed.unwrap_or(seed),
            fail: self.fail,
            places: self.places,
            studies,
        };
        plan.check()?;
        Ok(plan)
    }
}

impl Plan {
    fn check(&self) -> Result<(), PlanError> {
        self.check_sizes()?;
        for (position, place) in self.places.iter().enumerate() {
            if self.places[..position].iter().any(|earlier| earlier.label == place.label) {
                return Err(PlanError(format!(
                    "the label `{}` is used twice: give each place a label of its own",
                    place.label
                )));
            }
        }
        self.studies.iter().try_for_each(StudyPlan::check_values)?;
        let arms = self.arms();
        for (position, arm) in arms.iter().enumerate() {
            if arms[..position].iter().any(|earlier| earlier.id == arm.id) {
                return Err(PlanError(format!("the plan names the combination {} twice", arm.id)));
            }
        }
        Ok(())
    }

    /// Whether the lists are short enough to be looked at in pairs: told by their
    /// lengths, before anything is made of them.
    fn check_sizes(&self) -> Result<(), PlanError> {
        let ways = self.studies.iter().map(StudyPlan::ways).fold(0, usize::saturating_add);
        let arms = ways.max(1).saturating_mul(self.places.len());
        if arms <= ARMS_MAX {
            return Ok(());
        }
        let more = if arms == usize::MAX { " or more" } else { "" };
        Err(PlanError(format!(
            "this plan has {arms} combinations{more}, but at most {ARMS_MAX} are allowed: name fewer \
             strategies, parameter values or places"
        )))
    }
}

/// What an assignment `STUDY.KEY=VALUE[,VALUE...]` says.
fn assigned(
    assignment: &str,
    registry: &[&'static StudyDescription],
) -> Result<(&'static StudyDescription, &'static ParamDescription, Vec<ParamValue>), PlanError> {
    let shape = || {
        PlanError(format!(
            "`{assignment}` is not of the form STUDY.KEY=VALUE, as in log.record=8193"
        ))
    };
    let (target, value) = assignment.split_once('=').ok_or_else(shape)?;
    let (study, key) = target.trim().split_once('.').ok_or_else(shape)?;
    let spec = find_study(study, registry)?;
    let param = spec.param(key).ok_or_else(|| unknown_key(key, spec))?;
    let parts = param.parts(value);
    if parts.len() > 1 && parts.contains(&"") {
        return Err(PlanError(format!(
            "{study}.{key}: a value in `{value}` is empty: write something between the commas"
        )));
    }
    let values = parts
        .into_iter()
        .map(|one| param.parse(one))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| PlanError(format!("{study}.{key}: {e}")))?;
    Ok((spec, param, values))
}

/// The study of that name.
pub fn find_study(
    name: &str,
    registry: &[&'static StudyDescription],
) -> Result<&'static StudyDescription, PlanError> {
    registry.iter().find(|s| s.name == name).copied().ok_or_else(|| {
        let known = registry.iter().map(|s| s.name.as_str());
        PlanError(format!(
            "no study `{name}`{} (`iotoll studies` lists them)",
            suggestion(name, known)
        ))
    })
}

/// Budgets that are long enough for a few blocks, and short enough to be meant.
pub(crate) const BUDGETS: RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(24 * 3600);

/// Reads a budget.
pub fn parse_budget(text: &str) -> Result<Duration, String> {
    let budget = parse_duration(text).map_err(|e| e.to_string())?;
    if BUDGETS.contains(&budget) {
        Ok(budget)
    } else {
        Err(format!("a time of {text} makes no sense: give from 1s to 24h"))
    }
}

/// Reads a number of rounds.
pub fn parse_rounds(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| "a run has a whole number of rounds, at least 1".to_owned())
}

/// Reads how many operations an application does in a second.
pub fn parse_per_second(text: &str) -> Result<f64, String> {
    let digits = text.trim().replace(',', "");
    let rate = digits.parse::<f64>().ok().filter(|rate| (1e-6..=1e9).contains(rate));
    rate.ok_or_else(|| {
        format!("`{text}` is not a number of operations per second: give one such as 250 or 0.5")
    })
}

/// What is said of a value that is among these twice, if one is.
pub(crate) fn said_twice(values: &[ParamValue]) -> Option<String> {
    let mut seen = HashSet::new();
    let value = values.iter().find(|value| !seen.insert(*value))?;
    Some(format!(" is given the value `{value}` twice: name each value once"))
}

pub(crate) fn unknown_key(key: &str, spec: &StudyDescription) -> PlanError {
    let known: Vec<&str> = spec.params.iter().map(|p| p.name.as_str()).collect();
    PlanError(format!("the study {} has no key `{key}`{}", spec.name, suggestion(key, known)))
}

/// `; did you mean …?`, or the list where nothing is near.
pub fn suggestion<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(typed, known.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; there is {}", known.join(", ")),
    }
}
