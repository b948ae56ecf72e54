//! A published measurement that a run repeats: its question, its figures and its
//! conclusions, each with the arms that it is about. It is part of the run's record, so
//! that a reader needs nothing else to hold what was measured against what was published.

use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::figure::Unit;

/// An article, as a run has it that repeats its measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Article {
    /// Its name: `log-locking`.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// When it was published.
    pub year: u32,
    /// What it measured with, as its arms are called here: `PHP`.
    pub original: String,
    /// What it asked.
    pub question: String,
    /// Whether only a tenth of its counts was to be measured.
    pub is_quick: bool,
    /// What it published.
    #[serde(deserialize_with = "bounded::list")]
    pub figures: Vec<PublishedFigure>,
    /// What it concluded.
    #[serde(deserialize_with = "bounded::list")]
    pub conclusions: Vec<PublishedConclusion>,
    /// Programs that were not there, without which some of its arms are not measured.
    #[serde(deserialize_with = "bounded::list")]
    pub missing: Vec<MissingProgram>,
    /// Servers that are asked at other rates than the article's.
    #[serde(default, deserialize_with = "bounded::list")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scaled: Vec<ScaledServer>,
}

/// A server that is asked at other rates than the article's, because it holds more or fewer
/// requests a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScaledServer {
    /// How its arms are named, without place and rate.
    pub arms: String,
    /// How many requests a second the article's held, as its figures show.
    pub held_then: f64,
    /// How many it holds here.
    pub held_here: f64,
    /// By what rates are multiplied.
    pub times: f64,
}

/// A figure that was published, and what is held against it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedFigure {
    /// The chart or table that it is part of.
    pub group: String,
    /// What it is of.
    pub what: String,
    /// What it is in.
    pub unit: Unit,
    /// The figure; `null` where the article tells it in words alone, or has none there.
    pub published: Option<f64>,
    /// The figure that it is held against, as an index: their ratio can be compared from
    /// one machine to another.
    pub against: Option<usize>,
    /// The same here, measured as the article did; `null` where it cannot be.
    pub original: Option<Quantity>,
    /// The same here, measured natively; `null` where there is no such arm.
    pub native: Option<Quantity>,
    /// What a reader of the figure has to know, as a sentence; `null` where it is plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What is taken of an arm, or of two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantity {
    /// What is taken of the arm.
    pub measure: Measure,
    /// How many times: 10,000 for the time that 10,000 operations take.
    pub times: f64,
    /// The arm, as an index into the plan's arms.
    pub arm: usize,
    /// The arm that it is set against, if any.
    pub set_against: Option<SetAgainst>,
}

// A record owns its names and lists of names. A constant borrows them.
/// What may be taken of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Measure"))]
#[serde(rename_all = "kebab-case")]
pub enum Measure<Name = String, Names = Vec<String>> {
    /// Its time.
    #[serde(rename = "toll")]
    TypicalTime,
    /// The mean time per operation.
    MeanTime,
    /// Megabytes moved per second.
    Throughput,
    /// Operations that failed, over all slices.
    Failed,
    /// How many of its operations failed, in percent.
    FailedShare,
    /// How much of its time went into forcing data to the device, in percent.
    SyncShare,
    /// A figure of its study, by its name.
    Figure(Name),
    /// Several of them together.
    Sum(Names),
    /// How much of its operations' time several of them are, in percent.
    Share(Names),
}

/// An arm that another is set against, as an index into the plan's arms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SetAgainst {
    /// The quantity is a ratio: of the arm over this one.
    Over(usize),
    /// The quantity is a difference: the arm less this one.
    Minus(usize),
}

/// A conclusion, and what has to be so where it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedConclusion {
    /// The conclusion, as a sentence.
    pub says: String,
    /// All of these must be so of the arms that the article measured; empty where they
    /// cannot be measured.
    #[serde(deserialize_with = "bounded::list")]
    pub original: Vec<Test>,
    /// The same of native arms; empty where there are none.
    #[serde(deserialize_with = "bounded::list")]
    pub native: Vec<Test>,
    /// Without these, what was measured here cannot be compared with what was published.
    #[serde(default, deserialize_with = "bounded::list")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<Precondition>,
}

/// Something that was so where the article was measured, and that a conclusion depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Precondition {
    /// The precondition, as a clause: `the server is saturated as theirs was`.
    pub says: String,
    /// What shows it of the arms that the article measured; `null` where it is their program
    /// that the conclusion depends on.
    pub original: Option<Test>,
    /// The same of native arms; `null` where they cannot have it.
    pub native: Option<Test>,
}

/// What has to be so of a quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Test {
    /// The quantity.
    pub of: Quantity,
    /// Where it has to lie.
    pub is: Is,
}

/// Where a quantity has to lie. What is `faster`, `slower` or the `same` differs, or does
/// not, by the smallest difference that matters in the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Is {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// Within these.
    Between(f64, f64),
    /// A ratio that is surely less than 1.
    Faster,
    /// A ratio that is surely more than 1.
    Slower,
    /// A ratio that is surely about 1.
    Same,
    /// A ratio that is surely about 1 or more.
    NotFaster,
    /// Of an arm: all that it wrote could be read back.
    Intact,
}

/// A program that is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingProgram {
    /// What it is called.
    pub what: String,
    /// The command that installs it.
    pub install: String,
}

/// Each may compare two arms that the plan does not. Published ones have some dozens.
const QUANTITIES_MAX: usize = 1024;

impl Article {
    /// Whether what it refers to is there, in a plan of so many arms.
    pub(crate) fn check(&self, arms: usize) -> Result<(), String> {
        let tests = self.conclusions.iter().flat_map(PublishedConclusion::all_tests);
        let of_figures = self.figures.iter().flat_map(|f| f.original.iter().chain(&f.native));
        let quantities: Vec<&Quantity> = of_figures.chain(tests.map(|test| &test.of)).collect();
        if quantities.len() > QUANTITIES_MAX {
            return Err(format!(
                "the article {} has {} figures and tests, but at most {QUANTITIES_MAX} are allowed",
                self.name,
                quantities.len()
            ));
        }
        let mut quantities = quantities.into_iter();
        if let Some(arm) = quantities.find_map(|quantity| quantity.arms().find(|arm| *arm >= arms))
        {
            return Err(format!("the article {} refers to arm {arm} of {arms}", self.name));
        }
        let figures = self.figures.len();
        let mut against = self.figures.iter().filter_map(|figure| figure.against);
        match against.find(|index| *index >= figures) {
            Some(index) => {
                Err(format!("the article {} refers to figure {index} of {figures}", self.name))
            }
            None => Ok(()),
        }
    }
}

impl PublishedConclusion {
    /// Everything that is tested for it, of all arms.
    pub fn all_tests(&self) -> impl Iterator<Item = &Test> {
        let of_preconditions =
            self.preconditions.iter().flat_map(|of| of.original.iter().chain(&of.native));
        self.original.iter().chain(&self.native).chain(of_preconditions)
    }
}

impl SetAgainst {
    /// The arm.
    pub fn arm(self) -> usize {
        match self {
            Self::Over(arm) | Self::Minus(arm) => arm,
        }
    }
}

impl Quantity {
    /// The arms that it is taken of.
    pub fn arms(&self) -> impl Iterator<Item = usize> {
        let other = self.set_against.map(SetAgainst::arm);
        std::iter::once(self.arm).chain(other)
    }
}

impl Is {
    /// From where to where it has to lie, given the smallest difference that matters.
    /// Nothing for what is no matter of a number.
    pub fn range(self, threshold: f64) -> Option<[f64; 2]> {
        let more = 1.0 + threshold;
        let any = f64::INFINITY;
        Some(match self {
            Self::AtLeast(least) => [least, any],
            Self::AtMost(most) => [-any, most],
            Self::Between(least, most) => [least, most],
            Self::Faster => [-any, 1.0 / more],
            Self::Slower => [more, any],
            Self::Same => [1.0 / more, more],
            Self::NotFaster => [1.0 / more, any],
            Self::Intact => return None,
        })
    }
}
