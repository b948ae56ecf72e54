//! What a figure is besides its number: its unit, and which direction is better.

use serde::{Deserialize, Serialize};

use crate::units::{count, percent, rough_size, three_digits, time};

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A length of time in nanoseconds.
    Nanoseconds,
    /// A size in bytes.
    Bytes,
    /// A share from 0 to 1.
    Share,
    /// A share from 0 to 100.
    Percent,
    /// How many there are of something.
    Count,
    /// How many there are in a second.
    PerSecond,
    /// A number without a unit, such as an index.
    Number,
}

/// Which direction of a figure a user would want.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better.
    Less,
    /// More is better.
    More,
    /// Neither direction is better by itself.
    Neither,
}

impl Unit {
    /// A figure in this unit, for people.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Nanoseconds => time(value),
            Self::Bytes => rough_size(value.round() as u64),
            Self::Share => percent(value),
            Self::Percent => percent(value / 100.0),
            Self::PerSecond => count(value.round() as u64),
            Self::Count | Self::Number => three_digits(value),
        }
    }
}
