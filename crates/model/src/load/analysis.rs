//! What follows from a load's record.

use std::fmt;

use serde::{Deserialize, Serialize};
use stats::Histogram;

use super::step::{Sampled, Step};

/// What follows from a load's record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadAnalysis {
    /// Each step's, in the record's order.
    pub steps: Vec<StepAnalysis>,
}

/// A step with what follows from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnalysedStep {
    /// The raw readings.
    #[serde(flatten)]
    pub step: Step,
    /// What follows from them.
    #[serde(flatten)]
    pub analysis: StepAnalysis,
}

/// What follows from one step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepAnalysis {
    /// From the first intended start to the end of the last connection.
    pub seconds: f64,
    /// Connections started per second.
    pub achieved_rate: f64,
    /// Intended start to last byte, of completed connections.
    pub connection_ms: Option<Summary>,
    /// Connect begun to last byte, of completed connections.
    pub connection_from_connect_ms: Option<Summary>,
    /// Connect begun to connected.
    pub connect_ms: Option<Summary>,
    /// Request sent to last byte of its reply.
    pub reply_ms: Option<Summary>,
    /// Request sent to first byte of its reply.
    pub response_ms: Option<Summary>,
    /// First byte to last byte of a reply.
    pub transfer_ms: Option<Summary>,
    /// How late connections were started; null in a closed loop, which has no
    /// schedule to be late for.
    pub schedule_lag_us: Option<Summary>,
    /// Replies per second over time.
    pub reply_rate: ReplyRate,
    /// CPU time of this client, in percent of one core, all told.
    pub client_cpu_percent: f64,
    /// The part of it that was spent in the kernel.
    pub client_system_percent: f64,
    /// The part of it that was spent polling just before a start, to be on
    /// time, and could have been spent on work.
    pub client_spin_percent: f64,
    /// CPU time of this client for each request, in microseconds.
    pub client_cpu_us_per_request: Option<f64>,
    /// Whether the server kept pace: as many connections ended as began
    /// during the second half. Null in a closed loop, and where the step was
    /// too short to tell.
    pub kept_pace: Option<bool>,
    /// Where the percentiles lie that another step like this one would come to; null where
    /// there are too few requests for any.
    pub percentile_intervals: Option<PercentileIntervals>,
    /// Whether the intervals are as narrow as was asked; null where it was not.
    pub narrow: Option<bool>,
    /// Whether the figures are the server's rather than this client's, and the server was
    /// steady.
    pub valid: bool,
    /// Why not, in words.
    pub why_invalid: Option<String>,
    /// Why not.
    pub invalid_reasons: Vec<InvalidReason>,
}

impl StepAnalysis {
    /// Whether nothing speaks against the figures but that some connections were
    /// started late: medians may then still be the server's.
    pub fn is_merely_late(&self) -> bool {
        !self.valid && self.invalid_reasons.iter().all(InvalidReason::is_lateness)
    }
}

/// Where percentiles lie, in milliseconds. One for which there are too few requests is null.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PercentileIntervals {
    /// The time whose percentiles they are.
    pub of: Sampled,
    /// The probability with which each holds the true percentile.
    pub confidence: f64,
    /// The median.
    pub p50_ms: Option<Bounds>,
    /// The 90th percentile.
    pub p90_ms: Option<Bounds>,
    /// The 99th percentile.
    pub p99_ms: Option<Bounds>,
    /// The 99.9th percentile.
    pub p999_ms: Option<Bounds>,
}

impl PercentileIntervals {
    /// All four, the median's first.
    pub fn all(&self) -> [Option<Bounds>; 4] {
        [self.p50_ms, self.p90_ms, self.p99_ms, self.p999_ms]
    }
}

/// An interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bounds {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Bounds {
    /// Half the width, as a share of the middle.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / (self.high + self.low)
    }
}

/// Why a step's figures are not to be believed: most are this client's rather than the
/// server's.
///
/// Its words stand here, and not in the report, because whoever uses a step's
/// figures for something else has to pass them on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum InvalidReason {
    /// The step was stopped before its end.
    Interrupted,
    /// Too few of the intended connections were started.
    NotStarted {
        /// Connections that were started.
        started: u64,
        /// Connections that should have been.
        intended: u64,
    },
    /// This process, or the system, ran out of descriptors.
    NoDescriptor {
        /// Connections without one.
        connections: u64,
    },
    /// Local ports ran out.
    NoPort {
        /// Connections without one.
        connections: u64,
    },
    /// Connections were started too late.
    Late {
        /// 99th percentile of the lag.
        lag_p99_ns: f64,
    },
    /// Connections were started too late for how quickly they were answered.
    LateForMedian {
        /// 99th percentile of the lag.
        lag_p99_ns: f64,
        /// Median connection time.
        median_ns: f64,
    },
    /// This client's core was too busy.
    ClientBusy {
        /// How busy.
        percent: f64,
    },
    /// The server became slower or faster during the step.
    Drift {
        /// By how much times rose; negative where they fell.
        percent: f64,
        /// After how many seconds, where they shifted at once; null where they changed all
        /// the while.
        after_s: Option<f64>,
    },
}

impl InvalidReason {
    /// Whether it is about late starts alone.
    pub fn is_lateness(&self) -> bool {
        matches!(self, Self::Late { .. } | Self::LateForMedian { .. })
    }

    /// Whether it is about the server rather than this client.
    pub fn is_drift(&self) -> bool {
        matches!(self, Self::Drift { .. })
    }
}

impl fmt::Display for InvalidReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => write!(f, "it was interrupted"),
            Self::NotStarted { started, intended } => {
                write!(f, "only {started} of {intended} connections were started")
            }
            Self::NoDescriptor { connections } => {
                write!(f, "no file descriptor was left for {connections} connections")
            }
            Self::NoPort { connections } => {
                write!(f, "no local port was left for {connections} connections")
            }
            Self::Late { lag_p99_ns } => {
                write!(f, "starts lagged by {:.1} ms (p99)", lag_p99_ns / 1e6)
            }
            Self::LateForMedian { lag_p99_ns, median_ns } => write!(
                f,
                "starts lagged by {:.0} µs (p99), more than a tenth of the median connection time \
                 ({:.0} µs)",
                lag_p99_ns / 1e3,
                median_ns / 1e3
            ),
            Self::ClientBusy { percent } => write!(f, "this client's core was {percent:.0}% busy"),
            Self::Drift { percent, after_s } => {
                let how = if *percent < 0.0 { "faster" } else { "slower" };
                write!(f, "the server became {how}: times ")?;
                let verb = if *percent < 0.0 { "fell" } else { "rose" };
                write!(f, "{verb} by {:.0}% ", percent.abs())?;
                match after_s {
                    Some(after) => write!(f, "after {after:.1} s"),
                    None => write!(f, "during the step"),
                }
            }
        }
    }
}

/// How values are spread, in the unit that their field's name ends with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "the names say it")]
pub struct Summary {
    pub count: u64,
    pub mean: f64,
    pub stddev: f64,
    pub min: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

impl Summary {
    /// Sums up nanoseconds in a unit of so many; `None` of nothing.
    pub fn of(histogram: &Histogram, unit_ns: f64) -> Option<Self> {
        let count = histogram.count();
        if count == 0 {
            return None;
        }
        let mean = histogram.mean();
        let buckets = histogram.buckets();
        let squares = buckets.iter().map(|(v, n)| (*v as f64 - mean).powi(2) * *n as f64);
        let variance = squares.sum::<f64>() / count as f64;
        let at = |q| histogram.quantile(q) / unit_ns;
        Some(Self {
            count,
            mean: mean / unit_ns,
            stddev: variance.sqrt() / unit_ns,
            min: buckets.first().map_or(0.0, |(v, _)| *v as f64) / unit_ns,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: histogram.max() as f64 / unit_ns,
        })
    }
}

/// Replies per second over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplyRate {
    /// Of the whole step, from its first intended start to its last reply.
    pub mean: f64,
    /// Of the slowest full interval.
    pub min: f64,
    /// Of the fastest full interval.
    pub max: f64,
    /// Among the full intervals.
    pub stddev: f64,
    /// Length of an interval.
    pub interval_ms: f64,
    /// Each full interval's rate, from the first intended start on.
    pub samples: Vec<f64>,
}
