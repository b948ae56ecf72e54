//! Limits that fail a gate: `log.p99 > 5ms`, `syncs > 3/op`.
//!
//! A limit names a figure, the side on which a value fails, and the value. What has the figure
//! says which figures there are; nothing here knows any.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::{parse_size, percent, rough_size, split_unit, three_digits, time};

/// A condition under which a gate fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// As it was written.
    pub text: String,
    /// What has the figure: `log/held@disk`. Empty where none is named.
    pub subject: String,
    /// The figure: `p99`.
    pub figure: String,
    /// Which values fail.
    pub fails: Fails,
    /// The value, in nanoseconds, bytes, or parts of one.
    pub bound: f64,
    /// What the value is of.
    pub quantity: Quantity,
    /// Whether it is per operation: `3/op`.
    pub per_operation: bool,
}

/// Which values fail, compared with the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

/// The kind of a figure, which decides the units of its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Size,
    /// A part of a whole.
    Share,
    /// A number without a unit.
    Number,
}

/// What is known of a value that is compared with a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The best guess.
    pub value: f64,
    /// It is at least this.
    pub low: f64,
    /// It is at most this.
    pub high: f64,
}

impl Range {
    /// A value that is known exactly, as a count is.
    pub fn exactly(value: f64) -> Self {
        Self { value, low: value, high: value }
    }
}

/// What a limit says of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is surely within the limit.
    Met,
    /// It surely fails.
    Missed,
    /// It may be either.
    Undecided,
}

/// Why a text is no limit.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{text}` is not a limit: {why}")]
pub struct LimitError {
    text: String,
    why: String,
}

/// The longer ones first, as the others are parts of them.
const OPERATORS: [(&str, Fails); 4] =
    [(">=", Fails::AtLeast), ("<=", Fails::AtMost), (">", Fails::Above), ("<", Fails::Below)];
const TIME_UNITS: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("µs", 1e3),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("sec", 1e9),
    ("min", 6e10),
    ("h", 3.6e12),
];

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let wrong = |why: String| LimitError { text: text.to_owned(), why };
        let found = text.find(['<', '>']).and_then(|at| {
            let rest = &text[at..];
            let (sign, fails) = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign))?;
            Some((text[..at].trim(), *fails, rest[sign.len()..].trim()))
        });
        let Some((name, fails, bound)) = found else {
            return Err(wrong("write a figure, a sign and a value, as in `log.p99 > 5ms`".into()));
        };
        let (subject, figure) = name.rsplit_once('.').unwrap_or(("", name));
        if figure.is_empty() || figure.contains(char::is_whitespace) {
            return Err(wrong("name a figure before the sign, as in `log.p99 > 5ms`".into()));
        }
        let per_operation = bound.strip_suffix("/op");
        let (value, quantity) = value(per_operation.unwrap_or(bound)).ok_or_else(|| {
            wrong(format!("`{bound}` is no value: write a number, as in 5ms, 4KiB, 2% or 3/op"))
        })?;
        Ok(Self {
            text: text.trim().to_owned(),
            subject: subject.to_owned(),
            figure: figure.to_owned(),
            fails,
            bound: value,
            quantity,
            per_operation: per_operation.is_some(),
        })
    }
}

fn value(text: &str) -> Option<(f64, Quantity)> {
    let text = &text.trim().replace(',', "");
    if let Some(number) = text.strip_suffix('%') {
        return finite(number).map(|number| (number / 100.0, Quantity::Share));
    }
    let (number, unit) = split_unit(text)?;
    if unit.is_empty() {
        return finite(number).map(|number| (number, Quantity::Number));
    }
    match TIME_UNITS.iter().find(|(name, _)| *name == unit) {
        Some((_, ns)) => finite(number).map(|number| (number * ns, Quantity::Time)),
        None => parse_size(text).ok().map(|bytes| (bytes as f64, Quantity::Size)),
    }
}

fn finite(number: &str) -> Option<f64> {
    let number = number.trim().parse::<f64>().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

impl Limit {
    /// An error where the value is of another quantity than the figure.
    pub fn check(&self, figure: Quantity) -> Result<(), LimitError> {
        // A number by itself is bytes where sizes are meant, as everywhere.
        let fits = self.quantity == figure
            || (self.quantity, figure) == (Quantity::Number, Quantity::Size);
        if fits {
            return Ok(());
        }
        let why = format!("write the value of {} {}", self.figure, figure.sample());
        Err(LimitError { text: self.text.clone(), why })
    }

    /// What the limit says of a value of which this much is known.
    pub fn judge(&self, Range { low, high, .. }: Range) -> Judgement {
        let bound = self.bound;
        let (misses, meets) = match self.fails {
            Fails::Above => (low > bound, high <= bound),
            Fails::AtLeast => (low >= bound, high < bound),
            Fails::Below => (high < bound, low >= bound),
            Fails::AtMost => (high <= bound, low > bound),
        };
        match (misses, meets) {
            (true, _) => Judgement::Missed,
            (_, true) => Judgement::Met,
            _ => Judgement::Undecided,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Quantity {
    /// A value, for people.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Time => time(value),
            Self::Size => rough_size(value.round().max(0.0) as u64),
            Self::Share => percent(value),
            Self::Number if value.fract() == 0.0 => format!("{value:.0}"),
            Self::Number => three_digits(value),
        }
    }

    fn sample(self) -> &'static str {
        match self {
            Self::Time => "with a unit, as in 5ms",
            Self::Size => "as a size, as in 4KiB",
            Self::Share => "as a percentage, as in 2%",
            Self::Number => "without a unit, as in 3",
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn limit(text: &str) -> Limit {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn bound(text: &str) -> (f64, Quantity) {
        let limit = limit(text);
        (limit.bound, limit.quantity)
    }

    #[test]
    fn a_limit_is_a_figure_a_sign_and_a_value() {
        let read = limit("log/held@disk.p99 >= 5ms");
        assert_eq!((read.subject.as_str(), read.figure.as_str()), ("log/held@disk", "p99"));
        assert_eq!((read.fails, read.per_operation), (Fails::AtLeast, false));
        let of_label = limit("log:shop.log.p99<1us");
        assert_eq!((of_label.subject.as_str(), of_label.fails), ("log:shop.log", Fails::Below));
        let syncs = limit("syncs > 3/op");
        assert_eq!((syncs.subject.as_str(), syncs.bound, syncs.per_operation), ("", 3.0, true));
    }

    #[test]
    fn values_have_the_units_of_their_quantities() {
        assert_eq!(bound("a > 5ms"), (5e6, Quantity::Time));
        assert_eq!(bound("a > 1.5 µs"), (1500.0, Quantity::Time));
        assert_eq!(bound("a > 4KiB/op"), (4096.0, Quantity::Size));
        assert_eq!(bound("a > 2%"), (0.02, Quantity::Share));
        assert_eq!(bound("a > 1,000"), (1000.0, Quantity::Number));
        assert!(limit("p99 > 5").check(Quantity::Time).unwrap_err().to_string().contains("5ms"));
        assert_eq!(limit("bytes > 5").check(Quantity::Size), Ok(()));
    }

    #[test]
    fn what_is_no_limit_is_answered_with_what_would_be() {
        for text in ["", "log.p99", "> 5ms", "log. > 5ms", "a b > 1", "a > ", "a > fast", "a > -1"]
        {
            let error = text.parse::<Limit>().unwrap_err().to_string();
            assert!(error.contains("is not a limit") && error.contains("as in"), "{error}");
        }
    }

    #[test]
    fn only_what_is_sure_is_met_or_missed() {
        let range = |low, high| Range { value: low, low, high };
        let above = limit("a > 3");
        assert_eq!(above.judge(Range::exactly(3.0)), Judgement::Met);
        assert_eq!(above.judge(Range::exactly(4.0)), Judgement::Missed);
        assert_eq!(above.judge(range(2.0, 4.0)), Judgement::Undecided);
        assert_eq!(above.judge(range(3.5, f64::INFINITY)), Judgement::Missed);
        assert_eq!(limit("a >= 3").judge(Range::exactly(3.0)), Judgement::Missed);
        assert_eq!(limit("a < 3").judge(Range::exactly(3.0)), Judgement::Met);
        assert_eq!(limit("a <= 3").judge(Range::exactly(3.0)), Judgement::Missed);
        assert_eq!(above.judge(range(f64::NAN, f64::NAN)), Judgement::Undecided);
    }
}
