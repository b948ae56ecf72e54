//! A study's parameters: what they may be, how they are written, and their values.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use units::{UnitError, exact_duration, exact_size, listed, parse_duration, parse_size};

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

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// A size in bytes, both ends included.
    Size {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// A size, or a range of sizes that are equally likely, both ends included.
    Sizes {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// A whole number, both ends included.
    Count {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// How often operations begin.
    Rate,
    /// When to force data to the device.
    Sync,
    /// A length of time, both ends included.
    Duration {
        /// The shortest.
        min: Duration,
        /// The longest.
        max: Duration,
    },
    /// Any text, which names nothing that is read here and is no command; it says what is wanted.
    Text(&'static str),
    /// The path of a file or folder that is read.
    Path(&'static str),
    /// A name for what the arm's commands do, by which it is told from others: with
    /// one, reports need not show the commands.
    Name(&'static str),
    /// A text that a shell reads.
    Shell(&'static str),
}

/// Sizes that are equally likely; both ends are the same where the size is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
}

impl Sizes {
    /// The mean size.
    pub fn mean(self) -> f64 {
        (self.min + self.max) as f64 / 2.0
    }
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
    /// Once in so long a time.
    Interval(Duration),
}

/// How often operations begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rate {
    /// Each as soon as the one before has ended.
    Max,
    /// So many a second, whether or not earlier ones have ended.
    PerSecond(NonZeroU64),
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ParamValue {
    /// Bytes.
    Size(u64),
    /// Bytes, one size or a range.
    Sizes(Sizes),
    /// A number.
    Count(u64),
    /// A word.
    Choice(&'static str),
    /// How often operations begin.
    Rate(Rate),
    /// When to sync.
    Sync(SyncPolicy),
    /// A length of time.
    Duration(Duration),
    /// A text.
    Text(Arc<str>),
}

impl fmt::Display for SyncPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("never"),
            Self::Each => f.write_str("each"),
            Self::Every(n) => write!(f, "every {n}"),
            Self::Interval(interval) => write!(f, "every {}", exact_duration(*interval)),
        }
    }
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(bytes) => f.write_str(&exact_size(*bytes)),
            Self::Sizes(Sizes { min, max }) if min == max => f.write_str(&exact_size(*min)),
            Self::Sizes(Sizes { min, max }) => {
                write!(f, "uniform {}..{}", exact_size(*min), exact_size(*max))
            }
            Self::Count(count) => count.fmt(f),
            Self::Choice(word) => f.write_str(word),
            Self::Rate(Rate::Max) => f.write_str("max"),
            Self::Rate(Rate::PerSecond(n)) => n.fmt(f),
            Self::Sync(policy) => policy.fmt(f),
            Self::Duration(length) => f.write_str(&exact_duration(*length)),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl ParamValue {
    /// A text as a value.
    pub fn text(text: &str) -> Self {
        Self::Text(Arc::from(text))
    }
}

impl ParamForm {
    /// The parts of what was given on the command line: values are put between
    /// commas, and a text may have commas of its own. A name with a comma needs a plan file.
    pub(crate) fn parts(self, given: &str) -> Vec<&str> {
        match self {
            Self::Text | Self::Shell => vec![given],
            _ => given.split(',').map(str::trim).collect(),
        }
    }
}

impl ParamKind {
    pub(crate) fn form(self) -> ParamForm {
        match self {
            Self::Size { .. } => ParamForm::Size,
            Self::Sizes { .. } => ParamForm::Sizes,
            Self::Count { .. } => ParamForm::Count,
            Self::Choice(_) => ParamForm::Choice,
            Self::Rate => ParamForm::Rate,
            Self::Sync => ParamForm::Sync,
            Self::Duration { .. } => ParamForm::Duration,
            // The formats that others rely on have no word for a path.
            Self::Text(_) | Self::Path(_) => ParamForm::Text,
            Self::Name(_) => ParamForm::Name,
            Self::Shell(_) => ParamForm::Shell,
        }
    }

    /// What may be given, in words for help and errors.
    pub(crate) fn accepts(self) -> String {
        match self {
            Self::Size { min, max } => {
                format!("a size from {} to {}", exact_size(min), exact_size(max))
            }
            Self::Sizes { min, max } => format!(
                "a size from {} to {}, or uniform SIZE..SIZE",
                exact_size(min),
                exact_size(max)
            ),
            Self::Count { min, max } => format!("a number from {min} to {max}"),
            Self::Choice(words) => listed(words, "or"),
            Self::Rate => "max, or a number per second".to_owned(),
            Self::Sync => "never, each, every N, or every TIME".to_owned(),
            Self::Duration { min, max } => {
                format!("a time from {} to {}", exact_duration(min), exact_duration(max))
            }
            Self::Text(what) | Self::Path(what) | Self::Name(what) | Self::Shell(what) => {
                what.to_owned()
            }
        }
    }

    /// Reads a value; the error says what would be one.
    pub(crate) fn parse(self, text: &str) -> Result<ParamValue, String> {
        match self {
            Self::Size { min, max } => size_within(text, min, max).map(ParamValue::Size),
            Self::Sizes { min, max } => parse_sizes(text, min, max).map(ParamValue::Sizes),
            Self::Count { min, max } => parse_count(text, min, max).map(ParamValue::Count),
            Self::Choice(words) => {
                let found = words.iter().find(|word| **word == text);
                found.map(|word| ParamValue::Choice(word)).ok_or_else(|| {
                    format!("`{text}` is not one of the choices: write {}", listed(words, "or"))
                })
            }
            Self::Rate => parse_rate(text).map(ParamValue::Rate),
            Self::Sync => parse_sync(text).map(ParamValue::Sync),
            Self::Duration { min, max } => length_within(text, min, max).map(ParamValue::Duration),
            Self::Text(_) | Self::Path(_) | Self::Name(_) | Self::Shell(_) => {
                Ok(ParamValue::text(text))
            }
        }
    }
}

fn size_within(text: &str, min: u64, max: u64) -> Result<u64, String> {
    within(text, parse_size(text), [min, max], exact_size)
}

fn length_within(text: &str, min: Duration, max: Duration) -> Result<Duration, String> {
    within(text, parse_duration(text), [min, max], exact_duration)
}

fn within<T: Copy + PartialOrd>(
    text: &str,
    quantity: Result<T, UnitError>,
    [min, max]: [T; 2],
    written: fn(T) -> String,
) -> Result<T, String> {
    let quantity = quantity.map_err(|e| e.to_string())?;
    if (min..=max).contains(&quantity) {
        Ok(quantity)
    } else {
        Err(format!("`{text}` is out of range: from {} to {}", written(min), written(max)))
    }
}

fn parse_sizes(text: &str, min: u64, max: u64) -> Result<Sizes, String> {
    let Some(range) = text.trim().strip_prefix("uniform ") else {
        let bytes = size_within(text, min, max)
            .map_err(|e| if text.contains("..") { format!("{e}; {RANGE_SHAPE}") } else { e })?;
        return Ok(Sizes { min: bytes, max: bytes });
    };
    let (low, high) =
        range.split_once("..").ok_or_else(|| format!("`{text}` is not a range: {RANGE_SHAPE}"))?;
    let sizes = Sizes { min: size_within(low, min, max)?, max: size_within(high, min, max)? };
    if sizes.min <= sizes.max {
        Ok(sizes)
    } else {
        Err(format!("`{text}` runs backwards: the smaller size comes first"))
    }
}

const RANGE_SHAPE: &str = "a range is written as in uniform 50 B..500 B";

fn parse_count(text: &str, min: u64, max: u64) -> Result<u64, String> {
    let count = text.parse::<u64>().ok().filter(|n| (min..=max).contains(n));
    count.ok_or_else(|| format!("`{text}` is not a whole number from {min} to {max}"))
}

fn parse_rate(text: &str) -> Result<Rate, String> {
    if text == "max" {
        return Ok(Rate::Max);
    }
    let number = text.strip_suffix("/s").unwrap_or(text).trim();
    number.parse().map(Rate::PerSecond).map_err(|_| {
        format!(
            "`{text}` is not a rate: write max, or a number per second of at least 1, as in 1000"
        )
    })
}

fn parse_sync(text: &str) -> Result<SyncPolicy, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["never"] => Ok(SyncPolicy::Never),
        ["each"] => Ok(SyncPolicy::Each),
        ["every", rest @ ..] if !rest.is_empty() => parse_every(text, &rest.concat()),
        _ => Err(format!(
            "`{text}` is not a sync policy: write never, each, every N or every TIME, as in \
             every 100 or every 10ms"
        )),
    }
}

/// Slices are short: a longer interval would fall into hardly any of them.
const SYNC_INTERVALS: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(1);

fn parse_every(text: &str, what: &str) -> Result<SyncPolicy, String> {
    if let Ok(n) = what.parse() {
        return Ok(SyncPolicy::Every(n));
    }
    // A number without a unit counts records.
    let has_unit = what.ends_with(|c: char| c.is_ascii_alphabetic());
    match parse_duration(what) {
        Ok(interval) if has_unit && SYNC_INTERVALS.contains(&interval) => {
            Ok(SyncPolicy::Interval(interval))
        }
        Ok(_) if has_unit => Err(format!("`{text}` is out of range: every 1ms to every 1s")),
        _ => Err(format!(
            "`{text}`: after `every` comes a number of at least 1 or a time, as in every 100 or \
             every 10ms"
        )),
    }
}

/// A full set of parameter values of one study, in the order of its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Params(pub Vec<(&'static str, ParamValue)>);

/// What a parameter of one kind has.
macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $kind:ident, $what:literal;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self, name: &str) -> $type {
            match self.get(name) {
                ParamValue::$kind(value) => *value,
                other => unreachable!(concat!("{} is not ", $what, " but {}"), name, other),
            }
        }
    )*};
}

impl Params {
    getters! {
        /// A size parameter; panics where the study has none of that name.
        size: u64 = Size, "a size";
        /// A parameter of one size or a range; panics where the study has none of that name.
        sizes: Sizes = Sizes, "a range of sizes";
        /// A number; panics where the study has none of that name.
        count: u64 = Count, "a number";
        /// A word out of several; panics where the study has none of that name.
        choice: &'static str = Choice, "a choice";
        /// A rate; panics where the study has none of that name.
        rate: Rate = Rate, "a rate";
        /// A sync parameter; panics where the study has none of that name.
        sync: SyncPolicy = Sync, "a sync policy";
        /// A length of time; panics where the study has none of that name.
        duration: Duration = Duration, "a length of time";
    }

    /// A text; panics where the study has none of that name.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            ParamValue::Text(text) => text,
            other => unreachable!("{name} is not a text but {other}"),
        }
    }

    fn get(&self, name: &str) -> &ParamValue {
        let found = self.0.iter().find(|(n, _)| *n == name);
        found.map_or_else(|| unreachable!("the study has no parameter {name}"), |(_, v)| v)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn values_read_back_as_they_were_written() {
        let second = Duration::from_secs(1);
        let cases: [(ParamKind, &[&str]); 7] = [
            (ParamKind::Duration { min: second / 1000, max: second }, &["1ms", "100ms", "1s"]),
            (ParamKind::Text("a command"), &["", "php -S 127.0.0.1:{port}, a comma"]),
            (ParamKind::Sizes { min: 1, max: 1 << 20 }, &["70 B", "uniform 50 B..4 KiB"]),
            (ParamKind::Count { min: 1, max: 64 }, &["1", "64"]),
            (ParamKind::Choice(&["processes", "threads"]), &["threads"]),
            (ParamKind::Rate, &["max", "1000"]),
            (ParamKind::Sync, &["never", "each", "every 100", "every 10ms", "every 1s"]),
        ];
        for (kind, texts) in cases {
            for text in texts {
                assert_eq!(kind.parse(text).unwrap().to_string(), **text);
            }
        }
    }

    #[test]
    fn a_value_that_cannot_be_is_answered_with_what_could() {
        let cases = [
            (ParamKind::Sizes { min: 1, max: 100 }, "uniform 9 B", "is not a range"),
            (ParamKind::Sizes { min: 1, max: 100 }, "uniform 9..2", "runs backwards"),
            (ParamKind::Sizes { min: 1, max: 100 }, "9..20", "a range is written as in"),
            (ParamKind::Sizes { min: 1, max: 100 }, "uniform 9..200", "out of range"),
            (ParamKind::Count { min: 1, max: 64 }, "0", "from 1 to 64"),
            (ParamKind::Count { min: 1, max: 64 }, "-1", "from 1 to 64"),
            (ParamKind::Choice(&["a", "b", "c"]), "d", "write a, b or c"),
            (ParamKind::Rate, "0", "is not a rate"),
            (ParamKind::Sync, "every", "is not a sync policy"),
            (ParamKind::Sync, "every 0", "after `every` comes"),
            (ParamKind::Sync, "every 0.5", "after `every` comes"),
            (ParamKind::Sync, "every 2s", "out of range"),
        ];
        for (kind, text, answer) in cases {
            let error = kind.parse(text).unwrap_err();
            assert!(error.contains(answer), "{text}: {error}");
        }
    }
}
