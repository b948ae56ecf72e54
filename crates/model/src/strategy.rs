//! A strategy: one way in which a study does its I/O, with what it does and needs.

use serde::{Deserialize, Serialize};

use crate::condition::ParamCondition;
use crate::guarantee::Guarantee;

/// One way in which a study does its I/O.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StrategyDescription {
    /// Its name in plans and flags.
    pub name: String,
    /// What it does, in a few words for a sentence: `keep the file open`. Records of before
    /// there were labels have none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// What it does, in a line.
    pub about: String,
    /// What is lost if the process or the machine dies, in a line; empty where
    /// nothing depends on it.
    pub promise: String,
    /// Whether it is timed when no strategy is named.
    pub by_default: bool,
    /// What else there is to know of it. A run's record does not have it.
    #[serde(skip)]
    pub facts: StrategyFacts,
}

/// What a strategy does and needs. The study's rules follow from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StrategyFacts {
    /// What forces its data to the device.
    pub syncs: Syncs,
    /// What it promises instead, where all of these parameters are so; the first that fits
    /// counts.
    pub promise_when: Vec<(Vec<ParamCondition>, String)>,
    /// What it relies on where several processes share its files, where all of these
    /// parameters are so.
    pub relies_on: Vec<(Guarantee, Vec<ParamCondition>)>,
    /// Parameters that mean something to it, and to other strategies that name them, alone.
    pub params: &'static [&'static str],
    /// The program that runs it, which must be installed.
    pub needs: Option<&'static str>,
    /// How an application adopts it.
    pub recipe: Recipe,
}

/// What forces a strategy's data to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syncs {
    /// Nothing, whatever is asked.
    #[default]
    Never,
    /// A parameter of the study says when.
    AsAsked,
    /// The strategy does, by itself.
    Always,
}

/// How an application adopts a strategy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Recipe {
    /// Not at all: the strategy is there to be compared with.
    #[default]
    Control,
    /// There is nothing to change: the strategy stands for an application, whatever that does.
    AsItIs,
    /// By a change.
    Change {
        /// What to type or change.
        adopt: String,
        /// How to check that it took.
        check: String,
        /// How to undo it.
        undo: String,
    },
}

impl StrategyDescription {
    /// A strategy that is timed when none is named, of which nothing else is known.
    pub fn new(name: &str, about: &str, promise: &str) -> Self {
        Self {
            name: name.to_owned(),
            label: String::new(),
            about: about.to_owned(),
            promise: promise.to_owned(),
            by_default: true,
            facts: StrategyFacts::default(),
        }
    }

    /// Its label, or its name where it has none.
    pub fn shown(&self) -> &str {
        if self.label.is_empty() { &self.name } else { &self.label }
    }
}
