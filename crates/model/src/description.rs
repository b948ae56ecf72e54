//! What a reader must know of a study to understand a run: its strategies,
//! parameters, figures and causes, kept in the run's record so that no registry
//! of studies is needed to analyse or report it.

use serde::{Deserialize, Serialize};

use crate::figure::{Better, Unit};

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
    /// The figure by which arms that have it are judged: the highest rate held. Its
    /// slices' `score_ns` is the time between operations at that rate.
    pub highest_rate: Option<String>,
    /// Its strategies; the first is the base that the others are compared with.
    pub strategies: Vec<StrategyDescription>,
    /// Its parameters, in its own order.
    pub params: Vec<ParamDescription>,
    /// What it measures beside the toll.
    pub figures: Vec<FigureDescription>,
    /// Causes of its own.
    #[serde(default)]
    pub causes: Vec<CauseDescription>,
    /// Sentences made of its figures.
    #[serde(default)]
    pub notes: Vec<NoteDescription>,
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
    pub default: Vec<String>,
    /// Whether its value is a name that stands for what other parameters say.
    pub is_name: bool,
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

/// How the slices' figures become their arm's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Fold {
    /// The mean over the slices.
    Mean,
    /// The largest.
    Max,
    /// The sum.
    Sum,
    /// The sum over the number of operations.
    PerOperation,
}

/// A cause that a study defines: time that one of its figures tells of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseDescription {
    /// Its stable name.
    pub code: String,
    /// What takes the time: "waiting for a connection of the pool".
    pub what: String,
    /// The figure, in nanoseconds a slice, that is part of the slice's time.
    pub figure: String,
    /// The share of the time from which on it is named.
    pub threshold_share: f64,
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
