//! What a load found: `iotoll.load/1`.
//!
//! Times are in the unit that ends the field's name. What was not measured is
//! null, never 0.

use crate::{Errors, Gap, server::ServerUse};
use serde::Serialize;
use stats::Histogram;
use std::fmt;

/// Name and version of the result's form.
pub const SCHEMA: &str = "iotoll.load/1";

/// Everything that one invocation found.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadResult {
    /// `iotoll.load/1`.
    pub schema: &'static str,
    /// Version of iotoll.
    pub version: &'static str,
    /// The URL as it was given.
    pub url: String,
    /// The address that was connected to.
    pub address: String,
    /// What drove the load.
    pub mode: Mode,
    /// How the gaps between starts were spread; null in a closed loop.
    pub gap: Option<Gap>,
    /// What the random gaps were made from.
    pub seed: u64,
    /// How long a request could take, in seconds.
    pub timeout_s: f64,
    /// Requests that a connection was to carry; null when as many as there are.
    pub requests_per_connection: Option<u64>,
    /// Bytes of a request, head and body.
    pub request_bytes: u64,
    /// `Server` header of the first reply that had one.
    pub server_software: Option<String>,
    /// Whether descriptors and ports would do, as checked before the start.
    pub preflight: Preflight,
    /// The steps, in the order in which they were run.
    pub steps: Vec<Step>,
    /// The search for the highest rate; null when there was none.
    pub search: Option<Search>,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

/// What drives the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Connections start at their times, whatever the server does.
    Open,
    /// Each client waits for its reply before it asks again.
    Closed,
}

/// What was checked before the start.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Preflight {
    /// Connections that would be open at once if the server stopped answering.
    pub connections_at_worst: u64,
    /// Descriptors this process may have, after raising the limit.
    pub descriptors: u64,
    /// Local ports for each source address; null for a `unix:` socket.
    pub ports_per_source: Option<u64>,
    /// Source addresses that may be used; null for a `unix:` socket.
    pub sources: Option<u64>,
    /// What may not suffice.
    pub warnings: Vec<String>,
}

/// How values are spread, in the unit that their field's name ends with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
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
    pub(crate) fn of(histogram: &Histogram, unit_ns: f64) -> Option<Self> {
        if histogram.count() == 0 {
            return None;
        }
        let mean = histogram.mean();
        let variance = histogram.buckets().map(|(v, n)| (v - mean).powi(2) * n as f64).sum::<f64>()
            / histogram.count() as f64;
        let at = |q| histogram.quantile(q) / unit_ns;
        Some(Self {
            count: histogram.count(),
            mean: mean / unit_ns,
            stddev: variance.sqrt() / unit_ns,
            min: histogram.buckets().next().map_or(0.0, |(v, _)| v) / unit_ns,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: histogram.max() as f64 / unit_ns,
        })
    }
}

/// Every phase's times, in nanoseconds.
#[derive(Clone, Default)]
pub struct Phases {
    /// Intended start to last byte.
    pub connection: Histogram,
    /// The same of those alone that got what they asked for: a refusal is quick,
    /// and makes a server look fast.
    pub answered: Histogram,
    /// Connect begun to last byte.
    pub connection_from_connect: Histogram,
    /// Connect begun to connected.
    pub connect: Histogram,
    /// Request sent to last byte.
    pub reply: Histogram,
    /// Request sent to first byte.
    pub response: Histogram,
    /// First byte to last byte.
    pub transfer: Histogram,
    /// Intended start to connect begun.
    pub lag: Histogram,
}

impl fmt::Debug for Phases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Phases").finish_non_exhaustive()
    }
}

/// Replies per second over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
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

/// Replies by class of their status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "the names say it")]
pub struct Statuses {
    #[serde(rename = "2xx")]
    pub success: u64,
    #[serde(rename = "3xx")]
    pub redirect: u64,
    #[serde(rename = "4xx")]
    pub client_error: u64,
    #[serde(rename = "5xx")]
    pub server_error: u64,
}

/// Bytes that went over the connections, without those of TCP.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "the names say it")]
pub struct Bytes {
    pub sent: u64,
    pub received_heads: u64,
    pub received_bodies: u64,
}

/// Connections open at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenConnections {
    /// When half of the connections had been started.
    pub middle: u64,
    /// When all had been started.
    pub end: u64,
    /// At most.
    pub max: u64,
}

/// One step: one rate, or one closed loop.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// Connections per second that were asked for; null in a closed loop.
    pub rate: Option<f64>,
    /// Clients at a time; null in an open loop.
    pub concurrency: Option<u32>,
    /// Connections that were asked for; null in a closed loop.
    pub intended: Option<u64>,
    /// Connections that were tried.
    pub attempted: u64,
    /// Connections whose replies all came whole.
    pub completed: u64,
    /// Requests that were sent, or would have been on connections that failed.
    pub requests: u64,
    /// Replies that came whole.
    pub replies: u64,
    /// Connections that the server ended before they had carried all their
    /// requests, without breaking any.
    pub ended_early: u64,
    /// Requests that crossed with the server's closing of a kept connection
    /// and were sent again on another one (closed loop).
    pub sent_again: u64,
    /// Connections that were still open when the load was interrupted.
    pub abandoned: u64,
    /// From the first intended start to the end of the last connection.
    pub seconds: f64,
    /// Connections started per second.
    pub achieved_rate: f64,
    /// What went wrong.
    pub errors: Errors,
    /// What was said about the first error.
    pub first_error: Option<String>,
    /// Replies by class of status.
    pub status: Statuses,
    /// Bytes sent and received.
    pub bytes: Bytes,
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
    /// Connections open at once.
    pub open_connections: OpenConnections,
    /// CPU time of this client, in percent of one core, all told.
    pub client_cpu_percent: f64,
    /// The part of it that was spent in the kernel.
    pub client_system_percent: f64,
    /// The part of it that was spent polling just before a start, to be on
    /// time, and could have been spent on work.
    pub client_spin_percent: f64,
    /// CPU time of this client for each request, in microseconds.
    pub client_cpu_us_per_request: Option<f64>,
    /// Local source addresses that were used.
    pub sources: u32,
    /// What the server used meanwhile; null when its process is not known.
    pub server: Option<ServerUse>,
    /// Whether the server kept pace: as many connections ended as began
    /// during the second half. Null in a closed loop.
    pub kept_pace: Option<bool>,
    /// Whether the figures are the server's rather than this client's.
    pub valid: bool,
    /// Why not.
    pub why_invalid: Option<String>,
    /// Whether nothing speaks against the figures but that some connections were
    /// begun late: medians may then still be the server's.
    #[serde(skip)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub merely_late: bool,
    /// The times in full.
    #[serde(skip)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub phases: Phases,
}

/// The search for the highest rate that is held.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Search {
    /// The highest rate held, in connections per second; null when none was.
    pub max_rate: Option<f64>,
    /// What kept the next higher rate from being held.
    pub limit: Option<String>,
    /// The rates tried, in order.
    pub tries: Vec<Try>,
}

/// One rate tried in a search.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Try {
    /// Connections per second.
    pub rate: f64,
    /// Connections in the try.
    pub connections: u64,
    /// Whether it was held.
    pub held: bool,
    /// Why it was not.
    pub why_not: Option<String>,
}
