//! What a load found, as a slice tells it.

use std::time::Duration;

use engine::slice_timer::{SliceTimer, WorkersAre};
use engine::study::StudyError;
use load::{MaxRate, Phases, ServerUse, Step, StepAnalysis, analyse_slice};
use model::slice::Outcome;
use model::spent::{Calls, Spent};
use stats::Histogram;

use super::spec;
use crate::figures_of;

/// The usual connection may be begun late by this share of what it takes.
const LATE_SHARE_MAX: f64 = 0.1;
/// And the slowest by this one of what the slowest take.
const LATE_TAIL_SHARE_MAX: f64 = 0.2;

/// One slice's load.
pub(super) struct LoadOutcome {
    step: Step,
    seen: StepAnalysis,
    /// Where it was looked for.
    highest_rate: Option<f64>,
    timeout: Duration,
    /// Connections the slice counts as; a search has its own number of them.
    operations: u64,
    untrusted: Option<String>,
}

impl LoadOutcome {
    /// Of a step at a fixed rate.
    pub(super) fn of_step(
        step: Step,
        timeout: Duration,
        operations: u64,
    ) -> Result<Self, StudyError> {
        if step.phases.answered.count() == 0 {
            let first = step.first_error.as_deref().unwrap_or("no reason was given");
            return Err(refused(format!(
                "none of {} connections was answered: {first}",
                step.attempted
            )));
        }
        let seen = analyse_slice(&step);
        let untrusted = why_untrusted(&step, &seen);
        Ok(Self { step, seen, highest_rate: None, timeout, operations, untrusted })
    }

    /// Of a search for the highest rate.
    pub(super) fn of_max_rate(
        found: MaxRate,
        timeout: Duration,
        operations: u64,
    ) -> Result<Self, StudyError> {
        let MaxRate { estimate: Some(rate), last_held: Some(step), client_limited, .. } = found
        else {
            let limit = found.limit.or(found.client_limited).unwrap_or_default();
            return Err(refused(format!("not even the lowest rate tried was held: {limit}")));
        };
        let (seen, untrusted) = (analyse_slice(&step), client_limited);
        Ok(Self { step, seen, highest_rate: Some(rate), timeout, operations, untrusted })
    }

    /// Gives the recorder what the connections took and the server's processes spent.
    pub(super) fn record(&self, timer: &mut SliceTimer) {
        let tick_ns = timer.clock().tick_ns();
        let durations = self.times();
        let used = self.step.server.as_ref().map(|used| self.used(used));
        let spent = Spent {
            elapsed_ns: (durations.mean() * self.operations as f64) as u64,
            ..used.unwrap_or_default()
        };
        let ticks = |(ns, times)| ((ns as f64 / tick_ns) as u64, times);
        timer.absorb(WorkersAre::Processes, spent, durations.buckets().into_iter().map(ticks));
    }

    /// What the server used, as the slice's number of connections has it.
    fn used(&self, used: &ServerUse) -> Spent {
        let ns = |ms: f64| (ms * 1e6 * self.scale()) as u64;
        let count = |n: u64| (n as f64 * self.scale()) as u64;
        Spent {
            user_ns: ns(used.cpu_user_ms),
            system_ns: ns(used.cpu_system_ms),
            requested_bytes: count(used.asked_read_bytes + used.asked_write_bytes),
            sync_calls: used.sync_calls.map_or(0, count),
            calls: Some(Calls {
                reads: count(used.read_calls),
                writes: count(used.write_calls),
                read_bytes: count(used.asked_read_bytes),
                written_bytes: count(used.asked_write_bytes),
                storage_read_bytes: count(used.device_read_bytes),
                storage_dirtied_bytes: count(used.device_write_bytes),
                ..Calls::default()
            }),
            ..Spent::default()
        }
    }

    /// Connection times, those that failed having taken the whole timeout.
    fn times(&self) -> Histogram {
        let mut times = self.step.phases.answered.histogram();
        times.record_many(self.timeout.as_nanos() as u64, self.failed_in_step());
        times
    }

    fn failed_in_step(&self) -> u64 {
        self.step.attempted.saturating_sub(self.step.phases.answered.count())
    }

    /// From the step's connections to the slice's.
    fn scale(&self) -> f64 {
        self.operations as f64 / self.step.attempted.max(1) as f64
    }

    /// Connections that failed. At the highest rate held there is nothing to count:
    /// it is held because they did not fail.
    fn failed(&self) -> Option<u64> {
        self.highest_rate.is_none().then(|| self.failed_in_step())
    }

    /// The median connection time, or the time between connections at the highest rate.
    fn score_ns(&self) -> f64 {
        let timeout_ns = self.timeout.as_nanos() as f64;
        let median_ns = || self.times().quantile(0.5).min(timeout_ns);
        self.highest_rate.map_or_else(median_ns, |rate| 1e9 / rate)
    }

    /// Whether the slowest connections tell of something else than the server: of
    /// late starts, or of a rate that the server itself has set.
    fn tail_untrusted(&self) -> bool {
        let Phases { lag, connection, .. } = &self.step.phases;
        let late = lag.quantile(0.99) > connection.quantile(0.99) * LATE_TAIL_SHARE_MAX;
        self.highest_rate.is_some() || late
    }

    /// The slice's outcome, as far as the load alone can tell.
    pub(super) fn slice(&self) -> Outcome {
        Outcome {
            figures: figures_of(self.figures()),
            score_ns: Some(self.score_ns()),
            failed: self.failed(),
            tail_untrusted: self.tail_untrusted(),
            untrusted: self.untrusted.clone(),
            ..Outcome::default()
        }
    }

    /// Processor time for each connection, in nanoseconds.
    pub(super) fn server_cpu_ns(&self) -> Option<f64> {
        self.step.server.as_ref()?.cpu_us_per_reply.map(|us| us * 1e3)
    }

    /// The figures besides the time per operation.
    fn figures(&self) -> Vec<(&'static str, f64)> {
        let step = &self.step;
        let Phases { response, transfer, lag, .. } = &step.phases;
        let attempted = step.attempted.max(1) as f64;
        let mut figures = vec![
            (spec::ERRORS, self.failed_in_step() as f64 * 100.0 / attempted),
            (spec::RESPONSE, response.quantile(0.5)),
            (spec::TRANSFER, transfer.quantile(0.5)),
            (spec::LAG, lag.quantile(0.99)),
            (spec::CLIENT_CPU, self.seen.client_cpu_percent),
            (spec::INVALID, f64::from(u8::from(!self.seen.valid))),
        ];
        if let Some(rate) = self.highest_rate {
            figures.extend([(spec::RATE, rate), (spec::P50, self.times().quantile(0.5))]);
        }
        figures.extend(self.server_cpu_ns().map(|ns| (spec::SERVER_CPU, ns)));
        if let Some(used) = &step.server {
            let each = |n: u64| n as f64 / attempted;
            figures.extend(used.sync_calls.map(|syncs| (spec::SYNCS, each(syncs))));
            figures.extend([
                (spec::READ_CALLS, each(used.read_calls)),
                (spec::WRITE_CALLS, each(used.write_calls)),
                (spec::TO_DEVICE, each(used.device_write_bytes)),
                (spec::MEMORY, used.memory_bytes as f64),
            ]);
        }
        figures
    }
}

/// Why a step's median is not the server's.
///
/// That of a hundred connections one was begun late spoils their p99 and leaves
/// their median as it was, which rests on how late the usual connection was begun.
fn why_untrusted(step: &Step, seen: &StepAnalysis) -> Option<String> {
    let Phases { lag, connection, .. } = &step.phases;
    let usual = lag.quantile(0.5);
    if seen.is_merely_late() && usual <= connection.quantile(0.5) * LATE_SHARE_MAX {
        return None;
    }
    seen.why_invalid.clone()
}

/// A load that came to nothing.
pub(super) fn refused(why: String) -> StudyError {
    StudyError::Refused { doing: "loading the server", why }
}
