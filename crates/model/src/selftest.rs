//! The selftest's result file: whether this machine, as it is now, lets
//! verdicts be trusted, and how small a difference it can show.
//!
//! Shares are plain numbers: 0.05 is 5%. Times are in nanoseconds unless the
//! name says otherwise.

use serde::{Deserialize, Serialize};

use crate::analysis::Verdict;
use crate::bounded;
use crate::document::{self, DocumentError};
use crate::noise::Noise;
use crate::place::PlaceFacts;
use crate::run::{Invocation, Machine};
use crate::sums;

/// The version of the format.
pub const SCHEMA: &str = "iotoll.selftest/3";

/// One selftest, whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "iotoll.selftest/3"))]
pub struct SelftestResult {
    /// `iotoll.selftest/3`.
    pub schema: String,
    /// When and how it ran.
    pub run: Invocation,
    /// Where it ran.
    pub machine: Machine,
    /// What disturbed it.
    pub noise: Noise,
    /// What the harness and its clock cost, and how good the clock is.
    pub clock: ClockCheck,
    /// What was found at each place; the last is in part where the run was interrupted.
    #[serde(deserialize_with = "bounded::list")]
    pub places: Vec<PlaceSelftest>,
    /// Why verdicts from this machine should not be trusted, each in a sentence.
    /// Empty where they can be.
    #[serde(deserialize_with = "bounded::list")]
    pub objections: Vec<String>,
}

impl SelftestResult {
    /// The result in a file's text.
    pub fn read(text: &str) -> Result<Self, DocumentError> {
        let result: Self = document::read_small(text, SCHEMA)?;
        sums::check(&result.places).map_err(DocumentError::Damaged)?;
        let impossible = result.rates().find(|rate| rate.count > rate.of).copied();
        impossible.map_or(Ok(result), |Rate { count, of, .. }| {
            Err(DocumentError::Damaged(format!("it counts {count} of {of}")))
        })
    }

    /// Whatever was counted of something.
    fn rates(&self) -> impl Iterator<Item = &Rate> {
        let itself = self.places.iter().filter_map(|tested| tested.against_itself.as_ref());
        let itself = itself.flat_map(|found| [&found.false_verdicts, &found.missed_by_interval]);
        let planted = self.places.iter().flat_map(|tested| &tested.planted);
        let planted = planted.filter_map(|planted| planted.found.as_ref());
        let planted =
            planted.flat_map(|found| std::iter::once(&found.missed).chain(&found.hidden_in_totals));
        itself.chain(planted)
    }
}

/// The harness's clock and its own overhead.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockCheck {
    /// Where the time comes from: `tsc` or `monotonic`.
    pub source: String,
    /// Timing and recording one operation; part of every time per operation.
    pub record_ns: f64,
    /// Reading the clock once; part of `record_ns`.
    pub read_ns: f64,
    /// The smallest step that the clock was seen to make.
    pub resolution_ns: f64,
    /// Readings that were earlier than the one before.
    pub backward_steps: u64,
    /// How much more time the clock showed than `CLOCK_MONOTONIC` over the whole
    /// run, in millionths; negative where it showed less.
    pub ahead_of_monotonic_ppm: f64,
}

/// What was found at one place. `null` where the budget or Ctrl-C came first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceSelftest {
    /// The place.
    pub place: PlaceFacts,
    /// The study and strategy that was timed: `log/held`.
    pub workload: String,
    /// What an operation takes there, as a median over blocks.
    #[serde(rename = "toll_ns")]
    pub typical_ns: Option<f64>,
    /// The place against itself.
    pub against_itself: Option<AgainstItself>,
    /// How small a difference can be told.
    pub resolution: Option<Resolution>,
    /// Slow-downs that were put there on purpose, one for each kind of I/O.
    #[serde(deserialize_with = "bounded::list")]
    pub planted: Vec<Planted>,
    /// Why the place could not be tested to the end, if so.
    pub failure: Option<String>,
}

/// Many comparisons of a place with itself, in which `faster` and `slower` are false.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgainstItself {
    /// The smallest relative difference that mattered.
    #[serde(rename = "worth")]
    pub threshold: f64,
    /// Comparisons that came out `same`, which is right.
    pub same: u64,
    /// Comparisons whose share of the budget ended first.
    pub unclear: u64,
    /// Comparisons that came out `faster` or `slower`, which is false.
    pub false_verdicts: Rate,
    /// The same blocks judged more strictly: comparisons whose interval, at any
    /// look, did not contain "no difference at all".
    pub missed_by_interval: Rate,
    /// Blocks of a comparison until it ended, as a median.
    pub blocks_median: f64,
    /// How long a slice lasted, about.
    pub slice_ns: f64,
    /// How long it all took.
    pub seconds: f64,
}

/// How often something happened.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// How often it did.
    pub count: u64,
    /// How often it could have.
    pub of: u64,
    /// One over the other.
    pub rate: f64,
    /// The true rate is at least this, at 95%: exact binomial bound (Clopper and Pearson).
    pub at_least: f64,
    /// The true rate is at most this, at 95%: exact binomial bound (Clopper and Pearson).
    pub at_most: f64,
}

/// How small a difference 60 seconds can show, by simulation: the blocks of a
/// place against itself, drawn again and judged as real ones are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resolution {
    /// Blocks measured, to draw from.
    pub blocks: u64,
    /// How much a block's ratio scatters: a robust standard deviation, as a share.
    pub noise_per_block: f64,
    /// How many blocks 60 seconds have room for.
    pub blocks_in_60_s: u64,
    /// Simulated runs.
    pub simulated_runs: u64,
    /// The smallest difference that at least 80% of the runs tell from none.
    pub smallest_difference: Option<f64>,
    /// The smallest slow-down that at least 80% of the runs call `slower`, at the threshold.
    pub smallest_slower: Option<f64>,
    /// The smallest relative difference that mattered.
    #[serde(rename = "worth")]
    pub threshold: f64,
    /// The share of the runs that call no difference `same`, at the threshold.
    pub same_share: f64,
    /// How many blocks that takes, as a median over the runs that do.
    pub same_blocks_median: Option<f64>,
}

/// A slow-down of known size in one kind of I/O: slices of one arm wait under the clock
/// until they have taken just so many times their own time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Planted {
    /// What was slowed down.
    pub kind: PlantedKind,
    /// The study, the strategy and what parameters were given: `log/held sync=each`.
    pub workload: String,
    /// How much was added to the time of all slices together, as a share of it.
    pub added: f64,
    /// The ratio of two typical slices that follows: 1.1; of stalls, 1.
    pub truth: f64,
    /// What the comparisons found; `null` where there was none.
    pub found: Option<PlantedFound>,
    /// Why there was none, or why they ended early, if so.
    pub untested: Option<String>,
}

/// What is slowed down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlantedKind {
    /// Every slice that writes.
    Writing,
    /// Every slice that forces each record to the device.
    Syncing,
    /// Every slice that reads what memory does not hold.
    ColdReading,
    /// A few slices that write, much more than the others: the typical one is not slower.
    Stalls,
}

/// What comparisons found of a slow-down whose size is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlantedFound {
    /// Comparisons whose verdict is right: `slower`; of stalls `same`, or an open one
    /// beside which the stalls are told.
    pub right: u64,
    /// Comparisons that ended without a verdict.
    pub unclear: u64,
    /// Comparisons whose verdict is false.
    pub wrong: u64,
    /// Comparisons whose time ended before the interval had both bounds: they say nothing
    /// of intervals, and `missed` leaves them out.
    pub unbounded: u64,
    /// Comparisons whose interval does not hold the truth.
    pub missed: Rate,
    /// Each of those.
    #[serde(deserialize_with = "bounded::list")]
    pub misses: Vec<Missed>,
    /// Comparisons in which the arms' total times do not show what was added. Of stalls
    /// alone, which nothing else shows.
    pub hidden_in_totals: Option<Rate>,
    /// How wide the intervals are: the median of ln(high / low). `null` without any.
    pub log_width_median: Option<f64>,
    /// Blocks of a comparison until it ended, as a median.
    pub blocks_median: f64,
    /// How long a slice of the arm that was not slowed down lasted, about.
    pub slice_ns: f64,
    /// How long it all took.
    pub seconds: f64,
}

/// A comparison whose interval misses the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missed {
    /// The ratio that was found.
    pub ratio: f64,
    /// The interval's lower bound.
    pub ratio_low: f64,
    /// The interval's upper bound.
    pub ratio_high: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// Blocks that the interval rests on.
    pub blocks: u64,
}

impl Rate {
    /// The probability with which each bound may be wrong.
    const ERROR_RATE: f64 = 0.05;

    /// Something that happened so many times of so many.
    pub fn new(count: u64, of: u64) -> Self {
        Self {
            count,
            of,
            rate: count as f64 / of.max(1) as f64,
            at_least: stats::rate_at_least(count, of, Self::ERROR_RATE),
            at_most: stats::rate_at_most(count, of, Self::ERROR_RATE),
        }
    }
}
