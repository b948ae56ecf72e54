//! What a study is: its name, its strategies and its parameters, as data that
//! help texts, plan files and checks are made from.

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

/// How the slices' figures become their arm's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl StudySpec {
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
