//! A program's settings that change what its calls cost.

use serde::Serialize;

/// What could be changed about a program that is known, and what its calls cost now.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// The program: `PostgreSQL`.
    pub program: &'static str,
    /// Which of its calls this is about: `fsync of its write-ahead log`.
    pub subject: &'static str,
    /// The folder with all of these files.
    pub path: String,
    /// How many files.
    pub files: u64,
    /// How many calls.
    pub calls: u64,
    /// How long they took, those of threads in parallel added up.
    pub summed_ns: u64,
    /// This as a share of the time in which the program was busy, 1 at the most. No change saves
    /// more.
    pub share: f64,
    /// Changes to choose from, the one that loses least first.
    pub changes: &'static [Change],
}

/// A change to the settings of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The setting or the flag, as it is written.
    pub set: &'static str,
    /// How that helps, and what still holds.
    pub promises: &'static str,
    /// What it gives up.
    pub loses: &'static str,
    /// How it is taken back.
    pub undo: &'static str,
}
