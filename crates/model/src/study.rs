//! What a study is: its name, its strategies and its parameters, as data that
//! help texts, plan files and checks are made from.

pub use crate::description::Fold;
use crate::description::{
    FigureDescription, ParamDescription, ParamForm, StrategyDescription, StudyDescription,
};
use crate::figure::{Better, Unit};
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
    /// Its parameters.
    pub params: &'static [ParamSpec],
    /// What it measures beside the toll.
    pub figures: &'static [FigureSpec],
}

/// One way in which a study does its I/O.
#[derive(Debug)]
pub struct StrategySpec {
    /// Its name in plans and flags.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// What it promises if the process or the machine dies, in a line; empty
    /// where nothing depends on it.
    pub promise: &'static str,
    /// Whether it is timed when no strategy is named.
    pub by_default: bool,
}

/// A figure that a study measures in each slice beside the toll.
#[derive(Debug)]
pub struct FigureSpec {
    /// Its name in results, ending in its unit where it has one.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The head of its column in reports; empty where it is in results alone.
    pub column: &'static str,
    /// How an arm's slices make one figure.
    pub fold: Fold,
}

impl StudySpec {
    /// The study as the record of a run has it.
    pub fn describe(&self) -> StudyDescription {
        StudyDescription {
            name: self.name.to_owned(),
            about: self.about.to_owned(),
            operation: self.operation.to_owned(),
            moves_bytes: self.moves_bytes,
            highest_rate: (self.name == "serve").then(|| "highest_rate_per_s".to_owned()),
            strategies: self.strategies.iter().map(StrategySpec::describe).collect(),
            params: self.params.iter().map(ParamSpec::describe).collect(),
            figures: self.figures.iter().map(FigureSpec::describe).collect(),
            causes: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&'static ParamSpec> {
        self.params.iter().find(|p| p.name == name)
    }

    /// The strategy of that name.
    pub fn strategy(&self, name: &str) -> Option<&'static StrategySpec> {
        self.strategies.iter().find(|s| s.name == name)
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

impl ParamSpec {
    fn describe(&self) -> ParamDescription {
        ParamDescription {
            name: self.name.to_owned(),
            about: self.about.to_owned(),
            accepts: self.accepts(),
            kind: match self.kind {
                ParamKind::Size { .. } => ParamForm::Size,
                ParamKind::Sizes { .. } => ParamForm::Sizes,
                ParamKind::Count { .. } => ParamForm::Count,
                ParamKind::Choice(_) => ParamForm::Choice,
                ParamKind::Rate => ParamForm::Rate,
                ParamKind::Sync => ParamForm::Sync,
                ParamKind::Duration { .. } => ParamForm::Duration,
                ParamKind::Text(_) => ParamForm::Text,
                ParamKind::Shell(_) => ParamForm::Shell,
            },
            default: self.default_values().iter().map(ToString::to_string).collect(),
            is_name: self.name == "variant",
        }
    }
}

impl FigureSpec {
    fn describe(&self) -> FigureDescription {
        let name = self.name;
        let unit = if name.ends_with("_ns") || name.contains("_ns_per_") {
            Unit::Nanoseconds
        } else if name.ends_with("_share") || name == "dropped_per_record" {
            Unit::Share
        } else if name.ends_with("_percent") {
            Unit::Percent
        } else if name.contains("_bytes") {
            Unit::Bytes
        } else if name.ends_with("_per_s") {
            Unit::PerSecond
        } else {
            Unit::Number
        };
        FigureDescription {
            name: name.to_owned(),
            title: self.column.to_owned(),
            about: self.about.to_owned(),
            unit,
            better: Better::Neither,
            fold: self.fold,
            shown: !self.column.is_empty(),
        }
    }
}
