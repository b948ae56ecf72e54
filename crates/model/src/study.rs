//! What a study is: its name, its strategies and its parameters, as data that
//! help texts, plan files and checks are made from.

use std::fmt;
use std::num::NonZeroU64;

use crate::units::{self, UnitError, exact_size, parse_size};

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
    /// Its strategies; the first is the base that the others are compared with.
    pub strategies: &'static [StrategySpec],
    /// Its parameters.
    pub params: &'static [ParamSpec],
}

/// One way in which a study does its I/O.
#[derive(Debug)]
pub struct StrategySpec {
    /// Its name in plans and flags.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
}

/// One parameter of a study.
#[derive(Debug)]
pub struct ParamSpec {
    /// Its name in plans and flags.
    pub name: &'static str,
    /// What it means, in a line.
    pub about: &'static str,
    /// What it may be.
    pub kind: ParamKind,
    /// The value when none is given, as one would write it.
    pub default: &'static str,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug)]
pub enum ParamKind {
    /// A size in bytes, both ends included.
    Size {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// When to force data to the device.
    Sync,
}

/// When written data is forced to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncPolicy {
    /// Not within the timed span.
    Never,
    /// After each operation.
    Each,
    /// After every so many operations.
    Every(NonZeroU64),
}

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamValue {
    /// Bytes.
    Size(u64),
    /// When to sync.
    Sync(SyncPolicy),
}

impl fmt::Display for SyncPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("never"),
            Self::Each => f.write_str("each"),
            Self::Every(n) => write!(f, "every {n}"),
        }
    }
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(bytes) => f.write_str(&exact_size(*bytes)),
            Self::Sync(policy) => policy.fmt(f),
        }
    }
}

impl ParamSpec {
    /// Reads a value; the error says what would be one.
    pub fn parse(&self, text: &str) -> Result<ParamValue, String> {
        match self.kind {
            ParamKind::Size { min, max } => {
                let bytes = parse_size(text).map_err(|e: UnitError| e.to_string())?;
                if (min..=max).contains(&bytes) {
                    Ok(ParamValue::Size(bytes))
                } else {
                    Err(format!(
                        "`{text}` is out of range: from {} to {}",
                        exact_size(min),
                        exact_size(max)
                    ))
                }
            }
            ParamKind::Sync => parse_sync(text).map(ParamValue::Sync),
        }
    }

    /// The default, read.
    pub fn default_value(&self) -> ParamValue {
        self.parse(self.default)
            .unwrap_or_else(|e| unreachable!("the default of {} does not read: {e}", self.name))
    }

    /// What may be given, in words for help and errors.
    pub fn accepts(&self) -> String {
        match self.kind {
            ParamKind::Size { min, max } => {
                format!("a size from {} to {}", exact_size(min), exact_size(max))
            }
            ParamKind::Sync => "never, each, or every N".to_owned(),
        }
    }
}

fn parse_sync(text: &str) -> Result<SyncPolicy, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["never"] => Ok(SyncPolicy::Never),
        ["each"] => Ok(SyncPolicy::Each),
        ["every", n] => n.parse().map(SyncPolicy::Every).map_err(|_| {
            format!("`{text}`: after `every` comes a number of at least 1, as in every 100")
        }),
        _ => Err(format!(
            "`{text}` is not a sync policy: write never, each, or every N, as in every 100"
        )),
    }
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

/// A full set of parameter values of one study, in the order of its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Params(pub Vec<(&'static str, ParamValue)>);

impl Params {
    /// A size parameter; panics where the study has none of that name.
    pub fn size(&self, name: &str) -> u64 {
        match self.get(name) {
            ParamValue::Size(bytes) => bytes,
            ParamValue::Sync(_) => unreachable!("{name} is not a size"),
        }
    }

    /// A sync parameter; panics where the study has none of that name.
    pub fn sync(&self, name: &str) -> SyncPolicy {
        match self.get(name) {
            ParamValue::Sync(policy) => policy,
            ParamValue::Size(_) => unreachable!("{name} is not a sync policy"),
        }
    }

    fn get(&self, name: &str) -> ParamValue {
        let found = self.0.iter().find(|(n, _)| *n == name);
        found.map_or_else(|| unreachable!("the study has no parameter {name}"), |(_, v)| *v)
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
