//! What follows from a run that repeats a published measurement: its figures beside those
//! that were published, and whether the conclusions hold here.

use serde::{Deserialize, Serialize};

use crate::article::{MissingProgram, ScaledServer};
use crate::bounded;
use crate::figure::Unit;

/// A published measurement, repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reproduction {
    /// The article's name: `log-locking`.
    pub article: String,
    /// What it is called.
    pub title: String,
    /// When it was published.
    pub year: u32,
    /// What it measured with: `PHP`.
    pub original: String,
    /// What it asked.
    pub question: String,
    /// Whether only a tenth of its counts was to be measured.
    pub is_quick: bool,
    /// Each figure that was published, and the same here.
    #[serde(deserialize_with = "bounded::list")]
    pub figures: Vec<FigureHere>,
    /// Each conclusion, and whether it holds here.
    #[serde(deserialize_with = "bounded::list")]
    pub conclusions: Vec<ConclusionHere>,
    /// Programs that were not there, without which some of its arms are not measured.
    #[serde(deserialize_with = "bounded::list")]
    pub missing: Vec<MissingProgram>,
    /// Servers that are asked at other rates than the article's.
    #[serde(default, deserialize_with = "bounded::list")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scaled: Vec<ScaledServer>,
    /// How much a ratio of times is assumed to differ from run to run, as the standard
    /// deviation of its logarithm; `null` where saved runs showed it.
    #[serde(default)]
    pub assumed_variation: Option<f64>,
}

/// A figure that was published, and the same here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureHere {
    /// The chart or table that it is part of.
    pub group: String,
    /// What it is of.
    pub what: String,
    /// What it is in.
    pub unit: Unit,
    /// The figure that was published; `null` where there is none.
    pub published: Option<f64>,
    /// What the figure is of that the ratios hold it against.
    pub against: Option<String>,
    /// The ratio of the two figures that were published.
    pub published_ratio: Option<f64>,
    /// The same here, measured as the article did; `null` where it was not measured.
    pub original: Option<Measured>,
    /// The same here, measured natively.
    pub native: Option<Measured>,
    /// What a reader of the figure has to know; `null` where it is plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What was measured here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measured {
    /// The ids of the arms that it is of.
    #[serde(deserialize_with = "bounded::list")]
    pub arms: Vec<String>,
    /// The figure.
    pub value: Option<f64>,
    /// Its ratio to the figure that it is held against.
    pub ratio: Option<f64>,
    /// What the ratio is at least. `null` where there is no bound.
    pub ratio_low: Option<f64>,
    /// What the ratio is at most.
    pub ratio_high: Option<f64>,
}

/// A conclusion, and whether it holds here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConclusionHere {
    /// The conclusion, as a sentence.
    pub says: String,
    /// Whether it holds here: of the arms that the article measured or, where those were
    /// not measured, of native ones.
    pub decision: Decision,
    /// Whether it holds of native arms; `null` where there are none.
    pub native: Option<Decision>,
    /// What decided.
    #[serde(deserialize_with = "bounded::list")]
    pub tests: Vec<TestHere>,
    /// What has to be so for it to be compared, and whether it is.
    #[serde(default, deserialize_with = "bounded::list")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<PreconditionHere>,
    /// What the arms' time went into, with the figures that show it.
    pub cause: Option<String>,
}

/// Something that was so where the article was measured, and whether it is so here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PreconditionHere {
    /// The precondition, as a clause.
    pub says: String,
    /// Whether it surely is so here.
    pub decision: Decision,
    /// What shows it; `null` where it is that the article's own program is measured.
    pub test: Option<TestHere>,
}

/// Whether a conclusion holds here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It surely does.
    Holds,
    /// It surely does not.
    DoesNotHold,
    /// What was measured does not tell.
    Unclear,
    /// Something that it depends on surely differs from what the article measured.
    NotComparable,
}

/// One of the things that must be so where a conclusion holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestHere {
    /// What is taken of the arms; `null` for the time per operation.
    pub of: Option<String>,
    /// The ids of the arms: of a ratio, the one that is judged and its base.
    #[serde(deserialize_with = "bounded::list")]
    pub arms: Vec<String>,
    /// What it is in.
    pub unit: Unit,
    /// What was measured.
    pub value: Option<f64>,
    /// What it is at least. `null` where there is no bound.
    pub low: Option<f64>,
    /// What it is at most.
    pub high: Option<f64>,
    /// What it has to be at least. `null` for what is no matter of a number.
    pub at_least: Option<f64>,
    /// What it has to be at most.
    pub at_most: Option<f64>,
    /// Whether it surely is.
    pub decision: Decision,
    /// What keeps it from being told, or what was counted.
    pub note: Option<String>,
}

impl Decision {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 4] = [Self::Holds, Self::DoesNotHold, Self::Unclear, Self::NotComparable];

    /// What is said of it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Holds => "holds here",
            Self::DoesNotHold => "does not hold here",
            Self::Unclear => "unclear here",
            Self::NotComparable => "cannot be compared here",
        }
    }

    /// The same of a conclusion whose preconditions, all together, are met or not.
    #[must_use]
    pub fn under(self, preconditions: Self) -> Self {
        match preconditions {
            Self::Holds => self,
            Self::Unclear => Self::Unclear,
            Self::DoesNotHold | Self::NotComparable => Self::NotComparable,
        }
    }

    /// That of several things that must all be so.
    pub fn of_all(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::Holds, |whole, one| match (whole, one) {
            (Self::NotComparable, _) | (_, Self::NotComparable) => Self::NotComparable,
            (Self::DoesNotHold, _) | (_, Self::DoesNotHold) => Self::DoesNotHold,
            (Self::Unclear, _) | (_, Self::Unclear) => Self::Unclear,
            (Self::Holds, Self::Holds) => Self::Holds,
        })
    }
}

impl Reproduction {
    /// How many of the conclusions are decided so.
    pub fn count(&self, decision: Decision) -> usize {
        self.conclusions.iter().filter(|conclusion| conclusion.decision == decision).count()
    }
}
