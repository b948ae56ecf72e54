//! What a study is: its name, its strategies and its parameters, as data that
//! help texts, plan files and checks are made from.

use std::collections::BTreeMap;

pub use crate::condition::{AppliesWhen, Is, PromiseWhen, ReliesOn, When};
pub use crate::description::Score;
use crate::description::{
    BreakEvenDescription, CauseDescription, FigureDescription, NoteDescription,
    ScoreWhenDescription, StrategyDescription, StudyDescription,
};
pub use crate::figure::{Better, FigureSpec, Fold, Unit};
pub use crate::param::{ParamKind, ParamSpec, ParamValue, Params, Rate, Sizes, SyncPolicy};
use crate::units;

/// One kind of application I/O.
#[derive(Debug)]
pub struct StudySpec {
    /// Its name in plans and flags.
    pub name: &'static str,
    /// What it asks, in a line.
    pub about: &'static str,
    /// What one operation is, for "per …": `record`.
    pub operation: &'static str,
    /// Whether its speed is best told in bytes per second as well.
    pub moves_bytes: bool,
    /// Whether it is timed when no study is named.
    pub by_default: bool,
    /// Parameters whose values are ways of doing it, and are compared as strategies
    /// are, each with the first.
    pub compared: &'static [&'static str],
    /// Its strategies; the first is the base that the others are compared with.
    pub strategies: &'static [StrategySpec],
    /// What strategies promise instead where a parameter changes it; the first that fits
    /// counts.
    pub promises: &'static [PromiseWhen],
    /// What strategies rely on where several processes share their files; all that fit count.
    pub relies_on: &'static [ReliesOn],
    /// Its parameters.
    pub params: &'static [ParamSpec],
    /// Those of them that mean something to some arms alone.
    pub applies: &'static [AppliesWhen],
    /// What it measures beside the toll.
    pub figures: &'static [FigureSpec],
    /// Those of its figures, in order, that add up to the time of one operation: each in
    /// nanoseconds, folded per operation.
    pub parts: &'static [&'static str],
    /// What its arms are judged by.
    pub score: Score,
    /// What some of its arms are judged by instead; the first that fits counts.
    pub score_when: &'static [ScoreWhen],
    /// Reasons for an arm's time that only the study can see.
    pub causes: &'static [CauseSpec],
    /// Where its ways of doing it may write less for more work.
    pub break_evens: &'static [BreakEvenSpec],
    /// What is said of arms that have certain figures.
    pub notes: &'static [NoteSpec],
}

/// One way in which a study does its I/O.
#[derive(Debug)]
pub struct StrategySpec {
    /// Its name in plans and flags.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// What it promises if the process or the machine dies, in a line; empty
    /// where nothing depends on it. [`StudySpec::promises`] may say otherwise for some
    /// values of parameters.
    pub promise: &'static str,
    /// Whether it is timed when no strategy is named.
    pub by_default: bool,
}

/// What arms with some value of a parameter are judged by instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreWhen {
    /// The parameter.
    pub param: &'static str,
    /// Its value, as it is written.
    pub value: &'static str,
    /// What such arms are judged by.
    pub score: Score,
}

/// A reason for the time that an arm takes, which only its study can see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CauseSpec {
    /// A stable name, as in `time-in-files`.
    pub code: &'static str,
    /// Where that time goes, as in "reading and writing files".
    pub what: &'static str,
    /// The figure that has it, as an arm has it: nanoseconds per operation.
    pub figure: &'static str,
    /// The share of an operation's time from which it is worth telling.
    pub threshold_share: f64,
}

/// A way of doing it may write less for more work. On which devices that pays follows from
/// what an operation writes, and what it does besides waiting for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakEvenSpec {
    /// A stable name of the cause that tells it.
    pub code: &'static str,
    /// The figure that has what is written, as an arm has it: bytes per operation.
    pub bytes: &'static str,
    /// The figures that have the time in which the device takes it: nanoseconds per
    /// operation. All other time of an operation is work.
    pub device: &'static [&'static str],
}

/// A sentence made of figures, for arms that have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoteSpec {
    /// The figure that an arm must have for the sentence to be said of it.
    pub when: &'static str,
    /// The sentence, with figures by their names in braces.
    pub text: &'static str,
}

impl StudySpec {
    /// A study without strategies, parameters or figures, for others to be written as
    /// what they have besides.
    pub const EMPTY: Self = Self {
        name: "",
        about: "",
        operation: "operation",
        moves_bytes: false,
        by_default: true,
        compared: &[],
        strategies: &[],
        promises: &[],
        relies_on: &[],
        params: &[],
        applies: &[],
        figures: &[],
        parts: &[],
        score: Score::MeanTime,
        score_when: &[],
        causes: &[],
        break_evens: &[],
        notes: &[],
    };

    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&'static ParamSpec> {
        self.params.iter().find(|p| p.name == name)
    }

    /// The strategy of that name.
    pub fn strategy(&self, name: &str) -> Option<&'static StrategySpec> {
        self.strategies.iter().find(|s| s.name == name)
    }
}

impl Params {
    /// The values as a plan file has them.
    pub fn written(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect()
    }
}

/// The nearest of `names` to a mistyped one, if it is near enough to suggest.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&typed.to_lowercase(), name), name))
        .min()
        .filter(|(distance, name)| *distance <= 1 + name.chars().count() / 3)
        .map(|(_, name)| name)
}

/// Reads a share that can serve as `worth`.
pub fn parse_worth(text: &str) -> Result<f64, String> {
    let worth = units::parse_share(text).map_err(|e| e.to_string())?;
    if worth <= 1.0 {
        Ok(worth)
    } else {
        Err(format!(
            "`{text}` is too much: worth is the smallest difference you care about, at most 100%"
        ))
    }
}

/// Reads a share that can serve as the error rate of a comparison.
pub fn parse_error_rate(text: &str) -> Result<f64, String> {
    let error_rate = units::parse_share(text).map_err(|e| e.to_string())?;
    if (0.0001..=0.2).contains(&error_rate) {
        Ok(error_rate)
    } else {
        Err(format!(
            "an error rate of {text} makes no sense: give from 0.01% to 20% of runs in which a \
             verdict may be wrong"
        ))
    }
}

impl StudySpec {
    /// The study as the record of a run has it.
    pub fn describe(&self) -> StudyDescription {
        StudyDescription {
            name: self.name.to_owned(),
            about: self.about.to_owned(),
            operation: self.operation.to_owned(),
            moves_bytes: self.moves_bytes,
            score: self.score,
            score_when: self.score_when.iter().map(ScoreWhen::describe).collect(),
            strategies: self.strategies.iter().map(StrategySpec::describe).collect(),
            promise_when: self.promises.iter().map(PromiseWhen::describe).collect(),
            relies_on: self.relies_on.iter().map(ReliesOn::describe).collect(),
            params: self.params.iter().map(ParamSpec::describe).collect(),
            applies_when: self.applies.iter().map(AppliesWhen::describe).collect(),
            figures: self.figures.iter().map(FigureSpec::describe).collect(),
            parts: self.parts.iter().map(|&part| part.to_owned()).collect(),
            causes: self.causes.iter().map(CauseSpec::describe).collect(),
            break_evens: self.break_evens.iter().map(BreakEvenSpec::describe).collect(),
            notes: self.notes.iter().map(NoteSpec::describe).collect(),
        }
    }
}

impl StrategySpec {
    fn describe(&self) -> StrategyDescription {
        StrategyDescription {
            name: self.name.to_owned(),
            about: self.about.to_owned(),
            promise: self.promise.to_owned(),
            by_default: self.by_default,
        }
    }
}

impl ScoreWhen {
    fn describe(&self) -> ScoreWhenDescription {
        ScoreWhenDescription {
            param: self.param.to_owned(),
            value: self.value.to_owned(),
            score: self.score,
        }
    }
}

impl FigureSpec {
    /// The figure as the record of a run has it.
    pub fn describe(&self) -> FigureDescription {
        FigureDescription {
            name: self.name.to_owned(),
            title: self.title.to_owned(),
            about: self.about.to_owned(),
            unit: self.unit,
            better: self.better,
            fold: self.fold,
            shown: self.shown,
        }
    }
}

impl CauseSpec {
    fn describe(&self) -> CauseDescription {
        CauseDescription {
            code: self.code.to_owned(),
            what: self.what.to_owned(),
            figure: self.figure.to_owned(),
            threshold_share: self.threshold_share,
        }
    }
}

impl BreakEvenSpec {
    fn describe(&self) -> BreakEvenDescription {
        BreakEvenDescription {
            code: self.code.to_owned(),
            bytes: self.bytes.to_owned(),
            device: self.device.iter().map(|&figure| figure.to_owned()).collect(),
        }
    }
}

impl NoteSpec {
    fn describe(&self) -> NoteDescription {
        NoteDescription { when: self.when.to_owned(), text: self.text.to_owned() }
    }
}
