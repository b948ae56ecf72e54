//! One step of a load as it was counted: one rate, or one closed loop.

use std::fmt;

use serde::{Deserialize, Serialize};
use stats::Histogram;

use crate::bounded;
use crate::slice::Latencies;

/// One step, raw.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// From the first intended start to the end of the last connection.
    pub length_ns: u64,
    /// From the first intended start to the last start.
    pub last_start_ns: u64,
    /// From the first intended start to the end of the last reply.
    pub last_reply_ns: u64,
    /// What went wrong.
    pub errors: Errors,
    /// What was said about the first error.
    pub first_error: Option<String>,
    /// Replies by class of status.
    pub status: Statuses,
    /// Bytes sent and received.
    pub bytes: Bytes,
    /// Connections open at once.
    pub open_connections: OpenConnections,
    /// Local source addresses that were used.
    pub sources: u32,
    /// What this client used.
    pub client: ClientUse,
    /// What the server used meanwhile; null when its process is not known.
    pub server: Option<ServerUse>,
    /// Replies over time.
    pub reply_counts: ReplyCounts,
    /// The times in full.
    pub phases: Phases,
    /// The times of subsamples of one size, in the order in which they came: how requests
    /// depend on each other, and whether the server is steady. Empty in records of older
    /// versions.
    #[serde(default)]
    pub subsamples: Subsamples,
    /// How it was to end by itself; null where it was not.
    #[serde(default)]
    pub until: Option<Until>,
}

/// The times of subsamples of one size.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Subsamples {
    /// The time that is sampled.
    pub of: Sampled,
    /// How many times each subsample has.
    pub size: u64,
    /// The times of each, in nanoseconds.
    #[serde(deserialize_with = "bounded::list")]
    pub latencies: Vec<Latencies>,
}

/// The time that percentiles have intervals for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Sampled {
    /// Of a connection, where each carries one request.
    #[default]
    Connection,
    /// Of a reply, where connections carry several.
    Reply,
}

/// How a step was to end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Until {
    /// Half the width of an interval, as a share of its middle: 0.05 is 5%.
    pub half_width: f64,
    /// The times after which it ends in any case.
    pub most: u64,
}

/// How many connections (or, on kept connections, replies) failed, by kind.
///
/// The first eight kinds are httperf's, with its names. Each connection that
/// fails counts once, under the first thing that went wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Errors {
    /// All of the kinds below together.
    pub total: u64,
    /// The reply was not whole within the timeout.
    pub client_timo: u64,
    /// The system gave up connecting or sending.
    pub socket_timo: u64,
    /// Nobody listens.
    pub connrefused: u64,
    /// The connection was reset by the server.
    pub connreset: u64,
    /// This process has no descriptor left.
    pub fd_unavail: u64,
    /// No local port is left.
    pub addrunavail: u64,
    /// The whole system has no descriptor left.
    pub ftab_full: u64,
    /// Any other error of the system.
    pub other: u64,
    /// The server closed the connection without a whole head.
    pub closed: u64,
    /// What came is not an HTTP reply, or goes on behind its end.
    pub malformed: u64,
    /// The body ended before its length.
    pub short_body: u64,
    /// The body is not what was expected.
    pub unexpected_body: u64,
    /// The status is 400 to 499.
    pub http_4xx: u64,
    /// The status is 500 to 599.
    pub http_5xx: u64,
}

impl Errors {
    /// The kinds that happened, with the names that httperf gave them.
    pub fn named(&self) -> Vec<(&'static str, u64)> {
        let all = [
            ("client-timo", self.client_timo),
            ("socket-timo", self.socket_timo),
            ("connrefused", self.connrefused),
            ("connreset", self.connreset),
            ("fd-unavail", self.fd_unavail),
            ("addrunavail", self.addrunavail),
            ("ftab-full", self.ftab_full),
            ("other", self.other),
            ("closed", self.closed),
            ("malformed", self.malformed),
            ("short-body", self.short_body),
            ("unexpected-body", self.unexpected_body),
            ("http-4xx", self.http_4xx),
            ("http-5xx", self.http_5xx),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}

/// Replies by class of their status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "the names say it")]
pub struct Bytes {
    pub sent: u64,
    pub received_heads: u64,
    pub received_bodies: u64,
}

/// Connections open at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenConnections {
    /// When half of the connections had been started.
    pub middle: u64,
    /// When all had been started.
    pub end: u64,
    /// At most.
    pub max: u64,
}

/// What this client used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientUse {
    /// While there was still something to start.
    pub active: OwnUse,
    /// In the whole step.
    pub whole: OwnUse,
}

/// What this client's thread used in some span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(clippy::struct_field_names, reason = "the unit ends the name")]
pub struct OwnUse {
    /// The span.
    pub wall_ns: u64,
    /// CPU time.
    pub cpu_ns: u64,
    /// The part of it in the kernel.
    pub system_ns: u64,
    /// The part of it that was spent polling just before a start, to be on
    /// time, and could have been spent on work.
    pub spin_ns: u64,
    /// Time spent ready to run while something else had the core.
    pub delayed_ns: u64,
}

/// Replies counted over time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplyCounts {
    /// Length of an interval.
    pub interval_ns: u64,
    /// Replies in each interval, from the first intended start to the interval
    /// of the last reply.
    #[serde(deserialize_with = "bounded::list")]
    pub counts: Vec<u64>,
}

/// Every phase's times.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Phases {
    /// Intended start to last byte, of completed connections.
    pub connection: Times,
    /// The same of those alone that got what they asked for: a refusal is quick,
    /// and makes a server look fast.
    pub answered: Times,
    /// Connect begun to last byte.
    pub connection_from_connect: Times,
    /// Connect begun to connected.
    pub connect: Times,
    /// Request sent to last byte.
    pub reply: Times,
    /// Request sent to first byte.
    pub response: Times,
    /// First byte to last byte.
    pub transfer: Times,
    /// Intended start to connect begun.
    pub lag: Times,
}

/// Times in nanoseconds: a sparse histogram, and their exact sum.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Times {
    /// The exact sum.
    pub sum_ns: u64,
    /// The histogram; its clock ticks nanoseconds.
    #[serde(flatten)]
    pub latencies: Latencies,
}

impl Times {
    /// What a histogram of nanoseconds holds.
    pub fn of(histogram: &Histogram) -> Self {
        Self { sum_ns: histogram.sum(), latencies: Latencies::from(histogram) }
    }

    /// The histogram of nanoseconds.
    pub fn histogram(&self) -> Histogram {
        let Latencies { buckets, max } = &self.latencies;
        Histogram::restore(buckets.iter().copied(), self.sum_ns, *max)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.latencies.buckets.iter().map(|(_, count)| count).sum()
    }

    /// The nanoseconds below or at which the fraction `q` (0 to 1) lies, within
    /// 1%; 0 of none.
    pub fn quantile(&self, q: f64) -> f64 {
        self.histogram().quantile(q)
    }

    /// The same; `None` of none.
    pub fn quantile_of_some(&self, q: f64) -> Option<f64> {
        (self.count() > 0).then(|| self.quantile(q))
    }
}

impl fmt::Debug for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} times up to {} ns", self.count(), self.latencies.max)
    }
}

/// Measures a server beside the load.
pub trait ServerMeter {
    /// Begins to measure. What it returns is called at the end of the step, with
    /// the replies that came meanwhile, and tells what the server used.
    fn begin(&self) -> Box<dyn FnOnce(u64) -> ServerUse + '_>;
}

/// What a server with all its processes used during a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerUse {
    /// Processes at the end of the step.
    pub processes: u64,
    /// CPU time of all processes. Exact for those that live; that of children
    /// that have ended is told by the kernel in steps of 10 ms.
    pub cpu_ms: f64,
    /// The part of it in user mode, told in steps of 10 ms for each process.
    pub cpu_user_ms: f64,
    /// The part of it in the kernel, told in steps of 10 ms for each process.
    pub cpu_system_ms: f64,
    /// CPU time in percent of one core.
    pub cpu_percent: f64,
    /// CPU time for each reply.
    pub cpu_us_per_reply: Option<f64>,
    /// Bytes that came by `read_calls`.
    pub asked_read_bytes: u64,
    /// Bytes that went by `write_calls`.
    pub asked_write_bytes: u64,
    /// Calls of read, readv, pread, sendfile and their like, on files, pipes
    /// and sockets. What a server takes from a socket by recv and its like
    /// is not counted.
    pub read_calls: u64,
    /// Calls of write, writev, pwrite, sendfile and their like, on files,
    /// pipes and sockets. What a server gives to a socket by send and its
    /// like is not counted.
    pub write_calls: u64,
    /// Bytes that had to come from a device.
    pub device_read_bytes: u64,
    /// Bytes that were or will be written to a device.
    pub device_write_bytes: u64,
    /// Calls of fsync, fdatasync, `sync_file_range`, msync, syncfs and sync;
    /// null where they cannot be counted.
    pub sync_calls: Option<u64>,
    /// Why not, and what to do.
    pub sync_note: Option<String>,
    /// Memory at the end of the step.
    pub memory_bytes: u64,
    /// Whether shared memory counts in shares (PSS) rather than in full for
    /// each process (RSS).
    pub memory_is_pss: bool,
}
