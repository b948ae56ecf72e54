//! What is reported while a load runs.

use crate::meter::Meter;
use model::load::Step;

/// Something that happened.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A step begins: which of how many, and its rate (null in a closed loop).
    /// In a search it is not known how many there will be.
    StepBegins {
        /// Counted from 1.
        number: usize,
        /// How many there will be.
        of: Option<usize>,
        /// Connections per second.
        rate: Option<f64>,
        /// Connections (open loop) or requests (closed loop) of the step.
        goal: u64,
    },
    /// Four times a second.
    Progress(Progress),
    /// A step has ended.
    StepEnds(&'a Step),
}

/// How a step stands.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Seconds since the first intended start.
    pub seconds: f64,
    /// Connections tried so far.
    pub attempted: u64,
    /// Replies so far.
    pub replies: u64,
    /// Errors so far.
    pub errors: u64,
    /// Connections open now.
    pub open: u64,
    /// Median time from the intended start to the last byte (from the
    /// request's sending on kept connections that have not ended), in
    /// milliseconds.
    pub latency_p50_ms: f64,
    /// 99th percentile of the same.
    pub latency_p99_ms: f64,
    /// 99th percentile of the lag, in microseconds.
    pub lag_p99_us: f64,
}

impl Progress {
    pub(crate) fn new(meter: &Meter, open: u64, now: u64) -> Self {
        let (step, phases) = (&meter.step, &meter.phases);
        let latency = if step.completed > 0 { &phases.connection } else { &phases.reply };
        Self {
            seconds: now.saturating_sub(meter.start_ns) as f64 / 1e9,
            attempted: step.attempted,
            replies: step.replies,
            errors: step.errors.total,
            open,
            latency_p50_ms: latency.quantile(0.5) / 1e6,
            latency_p99_ms: latency.quantile(0.99) / 1e6,
            lag_p99_us: phases.lag.quantile(0.99) / 1e3,
        }
    }
}
