//! What follows from a run: times per operation, comparisons, verdicts and causes. Made from
//! the record of a run alone, and from any record again.
//!
//! Times are in nanoseconds and sizes in bytes unless the name says otherwise.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::advice::{Advice, Group};
use crate::arm::Axis;
use crate::cause::Cause;
use crate::check::Check;
use crate::description::{ParamForm, StudyDescription};
use crate::guarantee::Guarantee;
use crate::integrity::Integrity;
use crate::noise::Noise;
use crate::reproduction::Reproduction;
use crate::run::Run;
use crate::scaling::Scaling;
use crate::subject::subject;
pub use crate::time_part::{TimeKind, TimePart};

/// What follows from a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// How many blocks were complete.
    pub blocks: u64,
    /// How many stretches were complete.
    #[serde(default)]
    pub stretches: u64,
    /// Whether the run was cut into these after it was measured, as it was saved before there
    /// were any.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_afterwards: bool,
    /// The arms' times, in the order of the plan's arms.
    pub arms: Vec<ArmResult>,
    /// What can be said of the pairs, in the order of the plan's pairs.
    pub comparisons: Vec<Comparison>,
    /// What disturbed the run from outside.
    pub noise: Noise,
    /// Arms after which others take more or less time.
    #[serde(default)]
    pub carry_over: Vec<CarryOver>,
    /// The comparisons that surely save the largest shares, the largest first.
    #[serde(default)]
    pub picks: Vec<Pick>,
    /// What to do about each thing that an application does with files: what pays and keeps
    /// every promise first, then what pays on a condition, what is to be left as it is, and
    /// what is not decided.
    #[serde(default)]
    pub advice: Vec<Advice>,
    /// What the run says of the published measurement that it repeats, if any.
    #[serde(default)]
    pub reproduction: Option<Reproduction>,
    /// What it found of storage, where the run is a check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// How what several clients get done together grows with their number, where there were
    /// several numbers of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scaling: Vec<Scaling>,
}

/// A comparison that was picked out of many for what it saves. To be picked favours
/// luck, which its interval here allows for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pick {
    /// The comparison, as an index.
    pub comparison: usize,
    /// Out of how many statements it was picked: comparisons, and those of their 99th
    /// percentiles and of failures.
    pub out_of: u64,
    /// What the ratio is at least. `null` where there is no bound.
    pub ratio_low: Option<f64>,
    /// What the ratio is at most.
    pub ratio_high: f64,
}

/// One arm's times over all its slices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArmResult {
    /// Its name: `log/held@disk`.
    pub id: String,
    /// The study.
    pub study: String,
    /// What the user calls it, where that is not the study's name: `shop.log`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How it does its I/O.
    pub strategy: String,
    /// The place's label.
    pub place: String,
    /// The parameters, written as a plan file has them.
    pub params: BTreeMap<String, String>,
    /// Slices timed, those of warming up aside.
    pub slices: u64,
    /// Operations timed.
    pub operations: u64,
    /// Time per operation. `null` where no slice was completed.
    pub time_per_op_ns: Option<Latency>,
    /// What verdicts are about: the time per operation in a typical slice or, where
    /// the study says so, the slices' median latency, or the time between operations
    /// at the highest rate held. The ratio of two arms' times is the `ratio` of their
    /// comparison.
    #[serde(default)]
    #[serde(rename = "toll_ns")]
    pub typical_ns: Option<f64>,
    /// How the time per operation changed during the run, where it surely did.
    #[serde(default)]
    pub drift: Option<Drift>,
    /// The two times that its slices take, where there are two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<Modes>,
    /// Processor time per operation.
    pub cpu_ns_per_op: Cpu,
    /// Where its time went, each nanosecond in one part at most, as parts of an operation's
    /// time.
    #[serde(default)]
    pub time: Vec<TimePart>,
    /// What reached the system and the device.
    pub io: Io,
    /// Whether what was written could be read back; `null` where it was not checked.
    pub integrity: Option<Integrity>,
    /// Figures of the study's own, each with its unit in its name; the study's
    /// description has the unit as a value.
    pub metrics: BTreeMap<String, f64>,
    /// What the application told of itself, as means over the slices.
    #[serde(default)]
    pub evidence: BTreeMap<String, f64>,
    /// What the arm's time went into, by itself, the most telling first.
    #[serde(default)]
    pub causes: Vec<Cause>,
    /// What it relies on, and machines that share its place do not have between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<Guarantee>,
    /// Why the arm could not be timed to the end, if so.
    pub failure: Option<String>,
}

/// Two times that an arm's slices take, with hardly any between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Modes {
    /// The median time per operation of the faster slices.
    pub fast_ns: f64,
    /// The share of the slices that are fast.
    pub fast_share: f64,
    /// The median time per operation of the slower slices.
    pub slow_ns: f64,
    /// The kind of time that differs most between the two, where one makes most of it.
    #[serde(default)]
    pub why: Option<String>,
}

/// A time per operation that grew or shrank from the run's first round to its last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drift {
    /// The time per operation in the first round.
    pub start_ns: f64,
    /// The time per operation in the last round.
    pub end_ns: f64,
    /// The kind of time that changed, where without it there is no trend.
    #[serde(default)]
    pub why: Option<String>,
}

/// An arm after which the next slice, of whatever arm, takes another time than usual.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CarryOver {
    /// The id of the arm.
    pub after: String,
    /// The next slice's time over its usual time.
    pub ratio: f64,
}

/// A distribution of times per operation. The mean is all time over all
/// operations; the rest are percentiles of single operations, within 1%.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// Time over operations.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
    /// The longest, exactly.
    pub max: f64,
}

/// Processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cpu {
    /// In the process's own code.
    pub user: f64,
    /// In the kernel.
    pub system: f64,
}

/// What was asked for and what reached the device, over all slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Io {
    /// What the study asked the system to write or read.
    pub requested_bytes: u64,
    /// What the devices behind the place read and wrote within the timed spans,
    /// for anyone; `null` where it cannot be read.
    pub device_bytes: Option<u64>,
    /// Calls that forced data to the device, within the timed spans.
    pub sync_calls: u64,
    /// Time in those calls, per operation.
    pub sync_ns_per_op: f64,
    /// Forcing what was left unwritten to the device, per slice: no part of the time per operation.
    pub deferred_sync_ns: f64,
}

/// What can be said of two arms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The other takes surely less time, by more than the threshold.
    Faster,
    /// The other takes surely more time, by more than the threshold.
    Slower,
    /// They differ surely by less than the threshold.
    Same,
    /// The budget ran out first.
    #[default]
    Unclear,
    /// The measurement cannot be trusted.
    Invalid,
}

/// Two arms, held against each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The id of the arm that the other is held against.
    pub base: String,
    /// The id of the arm that is judged.
    pub other: String,
    /// What they differ in.
    pub axis: Axis,
    /// The other's time over the base's: the mean of the stretches' ratios, as far as those of
    /// all comparisons add up.
    /// `null` where nothing could be compared.
    pub ratio: Option<f64>,
    /// What the ratio is at least, in another run too where saved runs showed how much runs
    /// differ (`other_runs`). `null` where there is no bound yet.
    pub ratio_low: Option<f64>,
    /// What the ratio is at most, likewise. `null` where there is no bound yet.
    pub ratio_high: Option<f64>,
    /// What other runs add to the interval; `null` where it is of this run alone.
    #[serde(default)]
    pub other_runs: Option<OtherRuns>,
    /// How sure the interval is.
    pub confidence: f64,
    /// The base's time less the other's; negative where the other costs more.
    pub saves_ns_per_op: Option<f64>,
    /// The smallest relative difference that matters.
    #[serde(rename = "worth")]
    pub threshold: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// Blocks that the interval rests on.
    pub blocks: u64,
    /// After how many of them the verdict was sure, to stay so; `null` without a verdict.
    #[serde(default)]
    pub decided_after: Option<u64>,
    /// The ratio of all time spent, where stalls make it differ from `ratio` by more
    /// than the threshold.
    #[serde(default)]
    pub totals: Option<Totals>,
    /// How the ratio changed during the run, where it surely did.
    #[serde(default)]
    pub drift: Option<RatioDrift>,
    /// The same of the 99th percentiles, in each stretch of equally many operations of
    /// either arm. It does not decide when measuring stops, and so
    /// is more often left `unclear`.
    pub p99: TailComparison,
    /// The operations that failed, held against each other; `null` where one that
    /// fails ends the arm.
    #[serde(default)]
    pub errors: Option<ErrorComparison>,
    /// Why the verdict is `unclear` or `invalid`.
    pub why: Option<String>,
    /// How much longer it would have to be measured for a verdict, if it goes on like
    /// this; `null` where it has one, or is too close to call.
    #[serde(default)]
    pub more_seconds: Option<f64>,
    /// What explains the difference, or its absence, the most telling first.
    pub causes: Vec<Cause>,
    /// What would have to be otherwise for the places to differ, and how to see it.
    #[serde(default)]
    pub next: Option<Next>,
}

/// All time spent by two arms, their stalled slices included. A slice has stalled
/// where it took more than one and a half times as long as the arm's typical one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Totals {
    /// Slices of the base.
    pub base_slices: u64,
    /// Those of them that stalled.
    pub base_stalls: u64,
    /// Slices of the other.
    pub other_slices: u64,
    /// Those of them that stalled.
    pub other_stalls: u64,
    /// The other's time for all operations over the base's, per operation.
    pub ratio: f64,
}

/// A ratio that grew or shrank from the run's first block to its last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioDrift {
    /// The ratio at the first block.
    pub start: f64,
    /// The ratio at the last block.
    pub end: f64,
}

/// What to measure next, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Next {
    /// The reason, in a sentence or two.
    pub text: String,
    /// A command for the shell, where one exists that would show it.
    pub command: Option<String>,
}

/// Two arms' 99th percentiles, held against each other as their means are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TailComparison {
    /// The other's over the base's.
    pub ratio: Option<f64>,
    /// What the ratio is at least. `null` where there is no bound yet.
    pub ratio_low: Option<f64>,
    /// What the ratio is at most. `null` where there is no bound yet.
    pub ratio_high: Option<f64>,
    /// What other runs add to the interval; `null` where it is of this run alone.
    #[serde(default)]
    pub other_runs: Option<OtherRuns>,
    /// The verdict.
    pub verdict: Verdict,
}

/// What an interval for another run rests on, besides this run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherRuns {
    /// What the ratio is at least in this run alone. `null` where there is no bound yet.
    pub this_run_low: Option<f64>,
    /// What the ratio is at most in this run alone. `null` where there is no bound yet.
    pub this_run_high: Option<f64>,
    /// What the ratio varies by from run to run, as a standard deviation: 0.02 is about 2%.
    pub runs_vary_by: f64,
    /// Of how many saved runs that was learned.
    pub learned_from: u64,
    /// How far this run lies from the last of them, over all of its comparisons, in units of what
    /// they vary by: about 1 is usual. `null` where that is not known.
    #[serde(default)]
    pub unlike_saved: Option<f64>,
}

/// Two arms' shares of operations that failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorComparison {
    /// The base's share.
    pub base_share: f64,
    /// The other's share.
    pub other_share: f64,
    /// Where the mean difference of the shares in a block lies, the other's less the
    /// base's, from -1 to 1; unknown in a record of before it was computed.
    #[serde(default)]
    pub difference_low: Option<f64>,
    /// The upper end of the same.
    #[serde(default)]
    pub difference_high: Option<f64>,
    /// What either share is at most, where none was seen: the upper end of the
    /// exact interval, taking operations as independent.
    pub share_at_most: Option<f64>,
    /// `faster` where surely fewer of the other's fail, `slower` where surely more,
    /// `same` where none of either's did.
    pub verdict: Verdict,
}

impl Verdict {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::Unclear => "unclear",
            Self::Invalid => "invalid",
        }
    }

    /// Whether it says where the true ratio lies.
    pub fn is_sure(self) -> bool {
        matches!(self, Self::Faster | Self::Slower | Self::Same)
    }

    /// Whether it would be true of a ratio; one that decides nothing is true of any.
    pub fn is_true_of(self, ratio: f64, threshold: f64) -> bool {
        let edge = 1.0 + threshold;
        match self {
            Self::Faster => ratio < 1.0 / edge,
            Self::Slower => ratio > edge,
            Self::Same => (1.0 / edge..=edge).contains(&ratio),
            Self::Unclear | Self::Invalid => true,
        }
    }
}

impl ArmResult {
    /// Its study with its label: `log:shop.log`.
    pub fn subject(&self) -> String {
        subject(&self.study, self.label.as_deref())
    }

    /// The parameters in which another arm differs from it, with its own values.
    pub fn params_apart_from(&self, other: &Self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.params.iter();
        own.filter(|(name, value)| other.params.get(*name) != Some(value))
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How it differs from another arm but for the place, in short: its strategy, and the
    /// values of the parameters in which they differ.
    pub fn difference_from(&self, other: &Self, study: Option<&StudyDescription>) -> String {
        let is_name = |name: &str| {
            let param = study.and_then(|study| study.param(name));
            param.is_some_and(|param| param.kind == ParamForm::Name)
        };
        let differing = self.params_apart_from(other).map(|(name, value)| {
            if is_name(name) { value.to_owned() } else { format!("{name} {value}") }
        });
        let strategy = (self.strategy != other.strategy).then(|| self.strategy.clone());
        strategy.into_iter().chain(differing).collect::<Vec<_>>().join(", ")
    }
}

impl Analysis {
    /// The arm of that id.
    pub fn arm(&self, id: &str) -> Option<&ArmResult> {
        self.arms.iter().find(|arm| arm.id == id)
    }

    /// Whether an arm is what an application does now.
    pub fn is_now(&self, id: &str) -> bool {
        self.advice.iter().any(|advice| advice.now.iter().any(|now| now == id))
    }

    /// The comparison of an arm with what an application does now.
    pub fn against_now(&self, id: &str) -> Option<&Comparison> {
        self.comparisons.iter().find(|c| c.other == id && self.is_now(&c.base))
    }

    /// Whether it can have followed from that run: what refers to one another is there.
    pub fn fits(&self, run: &Run) -> bool {
        let comparisons = self.comparisons.len();
        let referred = self.advice.iter().flat_map(|advice| advice.comparisons.iter().copied());
        let mut referred = referred.chain(self.picks.iter().map(|pick| pick.comparison));
        self.arms.iter().map(|arm| &arm.id).eq(run.plan.arms.iter().map(|arm| &arm.id))
            && comparisons == run.plan.pairs.len()
            && referred.all(|index| index < comparisons)
    }
}
