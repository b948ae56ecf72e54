//! Whether a step's figures are the server's or the client's own.
//!
//! A load generator that cannot keep its schedule still prints figures, and
//! they look like those of a slow server. These rules say when not to believe
//! them.

use super::intervals::sparse;
use model::load::{InvalidReason, Step};

/// At least this share of the intended connections must have started.
const STARTED_MIN: f64 = 0.99;
/// The lag's 99th percentile may be so long …
const LAG_MAX_NS: f64 = 1e6;
/// … and such a share of the median connection time.
const LAG_SHARE_MAX: f64 = 0.1;
/// The client's core may be so busy.
const BUSY_MAX_PERCENT: f64 = 80.0;

/// What the rules look at.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    /// Connections that should have started; `None` in a closed loop.
    pub(super) intended: Option<u64>,
    pub(super) started: u64,
    /// `None` in a closed loop.
    pub(super) lag_p99_ns: Option<f64>,
    /// `None` when no connection was completed.
    pub(super) connection_p50_ns: Option<f64>,
    pub(super) without_descriptor: u64,
    pub(super) without_port: u64,
    /// Of this client's core, with waiting for it and without spinning.
    pub(super) busy_percent: f64,
    pub(super) interrupted: bool,
}

impl Facts {
    pub(super) fn of(step: &Step, busy_percent: f64) -> Self {
        let (errors, phases) = (&step.errors, &step.phases);
        let without_descriptor = errors.fd_unavail + errors.ftab_full;
        Self {
            intended: step.intended,
            started: step.attempted.saturating_sub(without_descriptor + errors.addrunavail),
            lag_p99_ns: phases.lag.quantile_of_some(0.99),
            connection_p50_ns: phases.connection.quantile_of_some(0.5),
            without_descriptor,
            without_port: errors.addrunavail,
            busy_percent,
            interrupted: step.interrupted,
        }
    }
}

/// The reasons why a step is invalid; none when it is valid.
pub(super) fn reasons(facts: &Facts) -> Vec<InvalidReason> {
    let mut reasons = Vec::new();
    if facts.interrupted {
        reasons.push(InvalidReason::Interrupted);
    }
    if let Some(intended) = facts.intended
        && (facts.started as f64) < STARTED_MIN * intended as f64
    {
        reasons.push(InvalidReason::NotStarted { started: facts.started, intended });
    }
    if facts.without_descriptor > 0 {
        reasons.push(InvalidReason::NoDescriptor { connections: facts.without_descriptor });
    }
    if facts.without_port > 0 {
        reasons.push(InvalidReason::NoPort { connections: facts.without_port });
    }
    reasons.extend(lateness(facts));
    if facts.busy_percent > BUSY_MAX_PERCENT {
        reasons.push(InvalidReason::ClientBusy { percent: facts.busy_percent });
    }
    reasons
}

fn lateness(facts: &Facts) -> Option<InvalidReason> {
    let lag_p99_ns = facts.lag_p99_ns?;
    if lag_p99_ns > LAG_MAX_NS {
        return Some(InvalidReason::Late { lag_p99_ns });
    }
    let median_ns = facts.connection_p50_ns?;
    (lag_p99_ns > LAG_SHARE_MAX * median_ns)
        .then_some(InvalidReason::LateForMedian { lag_p99_ns, median_ns })
}

/// Whether the server became slower or faster.
pub(super) fn drift(step: &Step) -> Option<InvalidReason> {
    let stats::Drift { factor, shifted_at } = stats::drift(&sparse(&step.subsamples))?;
    let seconds = step.last_start_ns as f64 / 1e9;
    Some(InvalidReason::Drift {
        percent: (factor - 1.0) * 100.0,
        after_s: shifted_at.map(|at| at * seconds),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Facts {
        Facts {
            intended: Some(1000),
            started: 990,
            lag_p99_ns: Some(1e5),
            connection_p50_ns: Some(1e6),
            busy_percent: 80.0,
            ..Facts::default()
        }
    }

    #[test]
    fn what_is_just_within_the_rules_is_valid() {
        assert_eq!(reasons(&good()), []);
        let slow = Facts { lag_p99_ns: Some(1e6), connection_p50_ns: Some(1e8), ..good() };
        assert_eq!(reasons(&slow), []);
        let closed = Facts { intended: None, lag_p99_ns: None, ..good() };
        assert_eq!(reasons(&closed), []);
    }

    #[test]
    fn each_rule_alone_makes_a_step_invalid() {
        for (facts, word) in [
            (Facts { started: 989, ..good() }, "only 989 of 1000"),
            (Facts { lag_p99_ns: Some(1.1e6), connection_p50_ns: Some(1e9), ..good() }, "1.1 ms"),
            (Facts { lag_p99_ns: Some(1.1e5), ..good() }, "a tenth"),
            (Facts { without_descriptor: 1, ..good() }, "no file descriptor"),
            (Facts { without_port: 1, ..good() }, "no local port"),
            (Facts { busy_percent: 81.0, ..good() }, "81% busy"),
            (Facts { interrupted: true, ..good() }, "interrupted"),
        ] {
            let reasons = reasons(&facts);
            assert_eq!(reasons.len(), 1, "{reasons:?}");
            assert!(reasons[0].to_string().contains(word), "{reasons:?}");
        }
    }
}
