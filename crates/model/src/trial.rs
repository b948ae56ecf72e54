//! What came of trying a command: its files moved, and its syncs left out, for real.
//!
//! Shares are plain numbers: 0.05 is 5%. Times are in nanoseconds unless the name says otherwise.

use serde::{Deserialize, Serialize};

use crate::analysis::Verdict;

/// The version of the format.
pub const SCHEMA: &str = "iotoll.try/1";

/// A command that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "iotoll.try/1"))]
pub struct TryResult {
    /// `iotoll.try/1`.
    pub schema: String,
    /// The version of iotoll.
    pub version: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Where it worked.
    pub folder: String,
    /// How long all of it took, in seconds.
    pub seconds: f64,
    /// How many rounds were complete: each variant once in each.
    pub rounds: u64,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The exit status of the command as now.
    pub status: i32,
    /// The smallest relative difference that matters.
    pub threshold: f64,
    /// The seed of the random order.
    pub seed: u64,
    /// What no move of files can save more than, as a share of the time in which the command was busy.
    pub bound: f64,
    /// Whether all that it does with files was seen. If not, more may be saved.
    pub bound_complete: bool,
    /// How it forces data to the device.
    pub syncs: TriedSyncs,
    /// How it ran as now, and each variant.
    pub rows: Vec<TriedRow>,
    /// What to do, or on which condition.
    pub advice: Vec<TriedAdvice>,
    /// Folders of which it had private copies, because it changes what is in them.
    pub copied: Vec<String>,
    /// What it would have written outside of its working folder.
    pub outside: Vec<String>,
    /// What else one must know, each in a sentence.
    pub notes: Vec<String>,
}

/// How a command forces data to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedSyncs {
    /// Calls that do so.
    pub calls: u64,
    /// Their time as a share of the time in which the command was busy.
    pub share: f64,
    /// Whether it also does so without such a call, as with `O_SYNC`: without syncs it would save at
    /// least what is measured.
    pub at_least: bool,
}

/// What was done to the command's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TriedVariant {
    /// Nothing.
    AsNow,
    /// All that it may change, and the folders that matter, are in memory.
    AllInRam,
    /// One folder is in memory.
    InRam,
    /// Forcing data to the device does nothing. This is a bound, and nothing to do.
    SyncsFree,
    /// What it uses is not in memory when it begins.
    Cold,
}

/// One variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedRow {
    /// Which.
    pub variant: TriedVariant,
    /// The folder that was moved, where it is one.
    pub folder: Option<String>,
    /// How long a run takes; `null` where none was complete.
    pub time_ns: Option<f64>,
    /// This over the time as now, and where the truth lies; `null` of what is as now.
    pub ratio: Option<f64>,
    /// What the ratio is at least.
    pub ratio_low: Option<f64>,
    /// What the ratio is at most.
    pub ratio_high: Option<f64>,
    /// The verdict; `null` of what is as now.
    pub verdict: Option<Verdict>,
    /// Why the verdict is `unclear` or `invalid`.
    pub why: Option<String>,
    /// What explains the difference, or its absence.
    pub cause: String,
    /// Whether it says what something costs, and not what to do.
    pub is_bound: bool,
    /// What of its files is only scratch, as a share of the time; `null` where the folder is none of
    /// scratch files.
    pub scratch: Option<f64>,
}

/// On which condition a change is advised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TriedCondition {
    /// On none: nothing can be lost.
    None,
    /// The files can be made again after a reboot.
    CanBeMadeAgain,
    /// The command does not go on from its scratch files after a crash.
    NotAfterCrash,
}

/// A change that a run proved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedAdvice {
    /// On which condition.
    pub condition: TriedCondition,
    /// The row that proves it, as an index.
    pub row: usize,
    /// What to do.
    pub text: String,
    /// Lines that apply it: for a shell, `fstab` or systemd.
    pub apply: Vec<String>,
    /// Lines that undo it.
    pub undo: Vec<String>,
}
