//! What a reader must know of a study to understand a run: its strategies,
//! parameters, figures and causes, kept in the run's record so that no registry
//! of studies is needed to analyse or report it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::condition::{AppliesWhenDescription, PromiseWhenDescription, ReliesOnDescription};
use crate::figure::{Better, Fold, Unit};
use crate::guarantee::Guarantee;

/// One study, as its runs describe it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyDescription {
    /// Its name in plans and flags.
    pub name: String,
    /// What it asks, in a line.
    pub about: String,
    /// What one operation is, for "per …": `record`.
    pub operation: String,
    /// Whether its speed is best told in bytes per second as well.
    pub moves_bytes: bool,
    /// What its arms are judged by.
    pub score: Score,
    /// What some of its arms are judged by instead; the first that fits counts.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::list")]
    pub score_when: Vec<ScoreWhenDescription>,
    /// Its strategies; the first is the base that the others are compared with.
    #[serde(deserialize_with = "bounded::list")]
    pub strategies: Vec<StrategyDescription>,
    /// What strategies promise instead where a parameter changes it; the first that fits
    /// counts.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::list")]
    pub promise_when: Vec<PromiseWhenDescription>,
    /// What strategies rely on where several processes share their files; all that fit count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub relies_on: Vec<ReliesOnDescription>,
    /// Its parameters, in its own order.
    #[serde(deserialize_with = "bounded::list")]
    pub params: Vec<ParamDescription>,
    /// Those of them that mean something to some arms alone.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::list")]
    pub applies_when: Vec<AppliesWhenDescription>,
    /// What it measures beside the toll.
    #[serde(deserialize_with = "bounded::list")]
    pub figures: Vec<FigureDescription>,
    /// The names of those of its figures, in order, that add up to the time of one
    /// operation. Records of older versions have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub parts: Vec<String>,
    /// Causes of its own.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::list")]
    pub causes: Vec<CauseDescription>,
    /// Where its ways of doing it may write less for more work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub break_evens: Vec<BreakEvenDescription>,
    /// Sentences made of its figures.
    #[serde(default)]
    #[serde(deserialize_with = "bounded::list")]
    pub notes: Vec<NoteDescription>,
}

/// What an arm is judged by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// The mean time per operation.
    #[default]
    MeanTime,
    /// The median time of an operation.
    MedianTime,
    /// The highest rate that it held, kept as the time between two operations and
    /// shown as so many per second.
    HighestRate,
}

/// What arms with some value of a parameter are judged by instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScoreWhenDescription {
    /// The parameter.
    pub param: String,
    /// Its value, as it is written.
    pub value: String,
    /// What such arms are judged by.
    pub score: Score,
}

/// One way in which a study does its I/O.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StrategyDescription {
    /// Its name in plans and flags.
    pub name: String,
    /// What it does, in a line.
    pub about: String,
    /// What is lost if the process or the machine dies, in a line; empty where
    /// nothing depends on it.
    pub promise: String,
    /// Whether it is timed when no strategy is named.
    pub by_default: bool,
}

/// One parameter of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParamDescription {
    /// Its name in plans and flags.
    pub name: String,
    /// What it means, in a line.
    pub about: String,
    /// What may be given, in words.
    pub accepts: String,
    /// What kind of value it has.
    pub kind: ParamForm,
    /// The values when none is given, as one would write them.
    #[serde(deserialize_with = "bounded::list")]
    pub default: Vec<String>,
}

/// What kind of value a parameter has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ParamForm {
    /// A size in bytes.
    Size,
    /// A size or a range of sizes.
    Sizes,
    /// A whole number.
    Count,
    /// One of several words.
    Choice,
    /// Operations a second.
    Rate,
    /// When data is forced to the device.
    Sync,
    /// A length of time.
    Duration,
    /// Any text.
    Text,
    /// A name that stands for what other parameters say.
    Name,
    /// A text that a shell reads.
    Shell,
}

/// A figure that a study measures in each slice beside the toll.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureDescription {
    /// Its name in results.
    pub name: String,
    /// What it is called in tables.
    pub title: String,
    /// What it is, in a line.
    pub about: String,
    /// What it counts.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// How the slices' figures become their arm's.
    pub fold: Fold,
    /// Whether reports have a column for it.
    pub shown: bool,
}

/// A cause that a study defines: time that one of its figures tells of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseDescription {
    /// Its stable name.
    pub code: String,
    /// What takes the time: "waiting for a connection of the pool".
    pub what: String,
    /// The figure that has it, as an arm has it: nanoseconds per operation.
    pub figure: String,
    /// The share of the time from which on it is named.
    pub threshold_share: f64,
}

/// A way of doing it may write less for more work; on which devices that pays follows from
/// these figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BreakEvenDescription {
    /// The stable name of the cause that tells it.
    pub code: String,
    /// The figure that has what is written, as an arm has it: bytes per operation.
    pub bytes: String,
    /// The figures that have the time in which the device takes it: nanoseconds per
    /// operation. All other time is work.
    #[serde(deserialize_with = "bounded::list")]
    pub device: Vec<String>,
}

/// A sentence made of figures, for arms that have them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoteDescription {
    /// The figure that an arm must have for the sentence to be said.
    pub when: String,
    /// The sentence, with figures by their names in braces.
    pub text: String,
}

impl StudyDescription {
    /// What an arm is judged by, given its parameters as they are written.
    pub fn score_of(&self, params: &BTreeMap<String, String>) -> Score {
        let fits = |when: &&ScoreWhenDescription| params.get(&when.param) == Some(&when.value);
        self.score_when.iter().find(fits).map_or(self.score, |when| when.score)
    }

    /// What an arm promises if the process or the machine dies; empty where nothing
    /// depends on it.
    pub fn promise_of(&self, strategy: &str, params: &BTreeMap<String, String>) -> &str {
        let instead = self.promise_when.iter().find(|rule| rule.when.fits(strategy, params));
        match instead {
            Some(rule) => &rule.promise,
            None => self.strategy(strategy).map_or("", |strategy| &strategy.promise),
        }
    }

    /// What an arm relies on where several processes share its files.
    pub fn guarantees_of(
        &self,
        strategy: &str,
        params: &BTreeMap<String, String>,
    ) -> Vec<Guarantee> {
        let rules = self.relies_on.iter().filter(|rule| rule.when.fits(strategy, params));
        rules.map(|rule| rule.on).collect()
    }

    /// Whether a parameter means anything to an arm.
    pub fn applies(&self, param: &str, strategy: &str, params: &BTreeMap<String, String>) -> bool {
        let mut rules =
            self.applies_when.iter().filter(|rule| rule.params.iter().any(|p| p == param));
        rules.all(|rule| rule.when.fits(strategy, params))
    }

    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&ParamDescription> {
        self.params.iter().find(|param| param.name == name)
    }

    /// The strategy of that name.
    pub fn strategy(&self, name: &str) -> Option<&StrategyDescription> {
        self.strategies.iter().find(|strategy| strategy.name == name)
    }

    /// The figure of that name.
    pub fn figure(&self, name: &str) -> Option<&FigureDescription> {
        self.figures.iter().find(|figure| figure.name == name)
    }
}

impl ParamDescription {
    /// Whether a value is what the parameter has when none is given.
    pub fn is_default(&self, value: &str) -> bool {
        self.default.first().is_some_and(|default| default == value)
    }
}

impl NoteDescription {
    /// The sentence with a value in the place of each figure's name; nothing where one
    /// of them has none.
    pub fn filled_in(&self, value: impl Fn(&str) -> Option<String>) -> Option<String> {
        value(&self.when)?;
        let mut filled = String::new();
        let mut rest = self.text.as_str();
        while let Some((before, from)) = rest.split_once('{') {
            let (name, after) = from.split_once('}')?;
            filled.push_str(before);
            filled.push_str(&value(name)?);
            rest = after;
        }
        Some(filled + rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{ScoreWhen, StudySpec};

    #[test]
    fn a_note_has_its_figures_filled_in_or_is_not_said() {
        let note = |when: &str, text: &str| NoteDescription {
            when: when.to_owned(),
            text: text.to_owned(),
        };
        let value = |name: &str| match name {
            "kills" => Some("1,000".to_owned()),
            "lost" => Some("3".to_owned()),
            _ => None,
        };
        let text = "killed {kills} times; {lost} lost.";
        let filled = note("kills", text).filled_in(value);
        assert_eq!(filled.as_deref(), Some("killed 1,000 times; 3 lost."));
        assert_eq!(note("kills", "{kills} {mixed}").filled_in(value), None);
        assert_eq!(note("mixed", text).filled_in(value), None);
    }

    #[test]
    fn a_parameters_value_decides_what_an_arm_is_judged_by() {
        const WHEN: &[ScoreWhen] =
            &[ScoreWhen { param: "rate", value: "max", score: Score::HighestRate }];
        let spec = StudySpec { score: Score::MedianTime, score_when: WHEN, ..StudySpec::EMPTY };
        let study = spec.describe();
        let with = |value: &str| study.score_of(&[("rate".to_owned(), value.to_owned())].into());
        assert_eq!(with("max"), Score::HighestRate);
        assert_eq!(with("200"), Score::MedianTime);
        assert_eq!(study.score_of(&BTreeMap::new()), Score::MedianTime);
    }
}
