//! The record of a load: everything that one `iotoll load` measured, raw, and
//! what follows from it. Types only; `load` fills a record, an analysis is
//! computed from it, and the report puts both into words.
//!
//! Times are in the unit that ends the field's name. What was not measured is
//! null, never 0.

mod analysis;
mod step;

pub use analysis::{
    AnalysedStep, Bounds, InvalidReason, LoadAnalysis, PercentileIntervals, ReplyRate,
    StepAnalysis, Summary,
};
pub use step::{
    Bytes, ClientUse, Errors, OpenConnections, OwnUse, Phases, ReplyCounts, Sampled, ServerMeter,
    ServerUse, Statuses, Step, Subsamples, Times, Until,
};

use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::document::{self, DocumentError};
use crate::run::Machine;
use crate::sums;

/// Name and version of the record's format.
pub const SCHEMA: &str = "iotoll.load/2";

/// Everything that one invocation measured.
///
/// A file holds `LoadRun<AnalysedStep>`: each step's analysis stands beside
/// its raw readings for whoever reads the file. Read back as a `LoadRun`, only
/// the raw readings are taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "LoadRun", title = "iotoll.load/2"))]
pub struct LoadRun<S = Step> {
    /// `iotoll.load/2`.
    pub schema: String,
    /// When and how it ran.
    pub run: Run,
    /// Where it ran.
    pub machine: Machine,
    /// What was to be done.
    #[serde(flatten)]
    pub plan: LoadPlan,
    /// Bytes of a request, head and body.
    pub request_bytes: u64,
    /// `Server` header of the first reply that had one.
    pub server_software: Option<String>,
    /// Whether descriptors and ports suffice, as checked before the start.
    pub preflight: Preflight,
    /// The steps, in the order in which they were run.
    #[serde(deserialize_with = "bounded::list", bound(deserialize = "S: Deserialize<'de>"))]
    pub steps: Vec<S>,
    /// The search for the highest rate; null when there was none.
    pub search: Option<RateSearch>,
}

/// When and how a load ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// A random name, unique to the run.
    pub id: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// How long it took.
    pub seconds: f64,
    /// The version of iotoll.
    pub version: String,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

/// What was to be done. Headers and bodies are left out: they may be secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadPlan {
    /// The URL as it was given.
    pub url: String,
    /// The server's host, or `unix:` and the path of its socket.
    pub host: String,
    /// The server's port; null for a `unix:` socket.
    pub port: Option<u16>,
    /// Path and query of the request.
    pub path: String,
    /// The address that was connected to.
    pub address: String,
    /// The request's method.
    pub method: String,
    /// The version of HTTP: `1.0` or `1.1`.
    pub http: String,
    /// What drove the load.
    pub mode: Mode,
    /// Connections per second of each step; null in a closed loop, and in a
    /// search for the highest rate.
    #[serde(default, deserialize_with = "bounded::optional_list")]
    pub rates: Option<Vec<f64>>,
    /// Connections of each step, or of the one that ends a search; null in a
    /// closed loop, and where a step lasts ten seconds.
    pub connections: Option<u64>,
    /// Clients at a time; null in an open loop.
    pub concurrency: Option<u32>,
    /// Requests of all clients together; null in an open loop.
    pub requests: Option<u64>,
    /// How the gaps between starts were spread; null in a closed loop.
    pub gap: Option<Gap>,
    /// The seed of the random gaps.
    pub seed: u64,
    /// How long a request could take, in seconds.
    pub timeout_s: f64,
    /// Requests that a connection was to carry; null when as many as there are.
    pub requests_per_connection: Option<u64>,
    /// The relative half-width of intervals at which each step ends; null where it does not
    /// end by itself.
    #[serde(default)]
    pub until: Option<f64>,
}

/// What drives the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Connections start at their times, whatever the server does.
    Open,
    /// Each client waits for its reply before it sends another request.
    Closed,
}

/// How the gaps between intended starts are spread around their mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Gap {
    /// All equal.
    #[default]
    Constant,
    /// Uniform between zero and twice the mean.
    Uniform,
    /// As independent visitors arrive: a Poisson process.
    Exponential,
}

/// What was checked before the start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Preflight {
    /// Connections that would be open at once if the server stopped answering.
    pub connections_at_worst: u64,
    /// Descriptors that this process may have, after raising the limit.
    pub descriptors: u64,
    /// Local ports for each source address; null for a `unix:` socket.
    pub ports_per_source: Option<u64>,
    /// Source addresses that may be used; null for a `unix:` socket.
    pub sources: Option<u64>,
    /// What may not suffice.
    #[serde(deserialize_with = "bounded::list")]
    pub warnings: Vec<String>,
}

/// The search for the highest rate that is held.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateSearch {
    /// The highest rate held, in connections per second; null when none was.
    pub max_rate: Option<f64>,
    /// What kept the next higher rate from being held.
    pub limit: Option<String>,
    /// The rates tried, in order.
    #[serde(deserialize_with = "bounded::list")]
    pub tries: Vec<Try>,
}

/// One rate tried in a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

impl LoadRun {
    /// The record in a file's text.
    pub fn read(text: &str) -> Result<Self, DocumentError> {
        let run: Self = document::read_small(text, SCHEMA)?;
        sums::check(&run.steps).map_err(DocumentError::Damaged)?;
        Ok(run)
    }

    /// The record with each step's analysis beside it, as it is written to a file.
    pub fn with_analysis(&self, analysis: &LoadAnalysis) -> LoadRun<AnalysedStep> {
        let both = self.steps.iter().zip(&analysis.steps);
        LoadRun {
            schema: self.schema.clone(),
            run: self.run.clone(),
            machine: self.machine.clone(),
            plan: self.plan.clone(),
            request_bytes: self.request_bytes,
            server_software: self.server_software.clone(),
            preflight: self.preflight.clone(),
            steps: both
                .map(|(step, analysis)| AnalysedStep {
                    step: step.clone(),
                    analysis: analysis.clone(),
                })
                .collect(),
            search: self.search.clone(),
        }
    }
}
