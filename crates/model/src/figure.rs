//! What a study measures besides time, as data: its unit, which direction is
//! better, and how the slices' values become one.

use serde::{Deserialize, Serialize};
use units::{count, percent, rough_size, three_digits, time};

/// A figure that a study measures in each slice besides the time per operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureDescription {
    /// Its name in results.
    pub name: String,
    /// What it is called in tables.
    pub title: String,
    /// What it is, in a line.
    pub about: String,
    /// What it counts.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// How the slices' figures become their arm's.
    pub fold: Fold,
    /// Whether reports have a column for it.
    pub shown: bool,
}

impl FigureDescription {
    /// A number of which less is better, and the mean over the slices counts.
    pub fn new(name: &str, title: &str, about: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            about: about.to_owned(),
            unit: Unit::Count,
            better: Better::Less,
            fold: Fold::Mean,
            shown: true,
        }
    }
}

/// How much of a file memory held when the clock started, in percent.
pub const RESIDENT_BEFORE: &str = "resident_before_percent";
/// How much of what was read storage had to deliver, in percent.
pub const READ_FROM_STORAGE: &str = "read_from_storage_percent";
/// How much of the time an estimate left out, in nanoseconds. The time is taken to be known within
/// as much either way.
pub const ESTIMATED_AWAY: &str = "spared_ns";
/// The name of [`written_on_device`].
pub const WRITTEN_ON_DEVICE: &str = "device_written_bytes";

/// What the devices behind the place were given to write while the clock ran, for anyone. The
/// engine reads it in every slice; a study that lists it has it per operation.
pub fn written_on_device() -> FigureDescription {
    let about = "what the devices were given to write meanwhile, for anyone";
    FigureDescription {
        unit: Unit::Bytes,
        fold: Fold::PerOperation,
        ..FigureDescription::new(WRITTEN_ON_DEVICE, "on device", about)
    }
}

/// What a figure is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A length of time in nanoseconds.
    Nanoseconds,
    /// A size in bytes.
    Bytes,
    /// A number of things.
    Count,
    /// A part of a whole, from 0 to 1.
    Share,
    /// A part of a whole in percent.
    Percent,
    /// A number of things per second.
    PerSecond,
    /// Millions of bytes per second.
    MegabytesPerSecond,
    /// A number without a unit.
    Ratio,
}

impl Unit {
    /// A value in this unit, for people.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Nanoseconds => time(value),
            Self::Bytes => rough_size(value.round() as u64),
            Self::Share => percent(value),
            Self::Percent => percent(value / 100.0),
            Self::PerSecond => count(value.round() as u64),
            Self::Count if value.fract() == 0.0 => count(value as u64),
            Self::Count | Self::MegabytesPerSecond | Self::Ratio => three_digits(value),
        }
    }
}

/// Which of two values of a figure is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// The smaller one.
    Less,
    /// The larger one.
    More,
    /// Neither is.
    Neither,
}

/// How the slices' values become their arm's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
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
