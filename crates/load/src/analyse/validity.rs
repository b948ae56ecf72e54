//! Whether a step's figures are the server's or the client's own.
//!
//! A load generator that cannot keep its schedule still prints figures, and
//! they look like those of a slow server. These rules say when not to believe
//! them.

use super::intervals::sparse;
use model::load::{InvalidReason, Phases, Step};

/// At least this share of the intended connections must have started.
const STARTED_MIN: f64 = 0.99;
/// The lag's 99th percentile may be so long …
const LAG_MAX_NS: f64 = 1e6;
/// … and such a share of the median connection time.
const LAG_SHARE_MAX: f64 = 0.1;
/// The client's core may be so busy.
const BUSY_MAX_PERCENT: f64 = 80.0;

/// The reasons why a step is invalid; none when it is valid. `busy_percent` is of this client's
/// core, with waiting for it and without spinning.
pub(super) fn reasons(step: &Step, busy_percent: f64) -> Vec<InvalidReason> {
    let mut reasons = Vec::new();
    if step.interrupted {
        reasons.push(InvalidReason::Interrupted);
    }
    let without_descriptor = step.errors.fd_unavail + step.errors.ftab_full;
    let without_port = step.errors.addrunavail;
    let started = step.attempted.saturating_sub(without_descriptor + without_port);
    if let Some(intended) = step.intended
        && (started as f64) < STARTED_MIN * intended as f64
    {
        reasons.push(InvalidReason::NotStarted { started, intended });
    }
    if without_descriptor > 0 {
        reasons.push(InvalidReason::NoDescriptor { connections: without_descriptor });
    }
    if without_port > 0 {
        reasons.push(InvalidReason::NoPort { connections: without_port });
    }
    reasons.extend(lateness(&step.phases));
    if busy_percent > BUSY_MAX_PERCENT {
        reasons.push(InvalidReason::ClientBusy { percent: busy_percent });
    }
    reasons
}

/// A closed loop has no lag.
fn lateness(phases: &Phases) -> Option<InvalidReason> {
    let lag_p99_ns = phases.lag.quantile_of_some(0.99)?;
    if lag_p99_ns > LAG_MAX_NS {
        return Some(InvalidReason::Late { lag_p99_ns });
    }
    let median_ns = phases.connection.quantile_of_some(0.5)?;
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
    use model::load::{Errors, Times};
    use stats::Histogram;

    /// Times that are all the same, within 1%.
    fn times(ns: u64) -> Times {
        let mut histogram = Histogram::new();
        histogram.record(ns);
        Times::of(&histogram)
    }

    fn phases(lag_ns: u64, connection_ns: u64) -> Phases {
        Phases { lag: times(lag_ns), connection: times(connection_ns), ..Phases::default() }
    }

    fn good() -> Step {
        let phases = phases(99_000, 1_000_000);
        Step { intended: Some(1000), attempted: 991, phases, ..Step::default() }
    }

    #[test]
    fn what_is_just_within_the_rules_is_valid() {
        assert_eq!(reasons(&Step { attempted: 990, ..good() }, 80.0), []);
        let slow = Step { phases: phases(990_000, 100_000_000), ..good() };
        assert_eq!(reasons(&slow, 80.0), []);
        let closed = Step { intended: None, phases: Phases::default(), ..good() };
        assert_eq!(reasons(&closed, 80.0), []);
    }

    #[test]
    fn each_rule_alone_makes_a_step_invalid() {
        let errors = Errors::default;
        for (step, busy_percent, word) in [
            (Step { attempted: 989, ..good() }, 80.0, "only 989 of 1000"),
            (Step { phases: phases(1_100_000, 1_000_000_000), ..good() }, 80.0, "1.1 ms"),
            (Step { phases: phases(110_000, 1_000_000), ..good() }, 80.0, "a tenth"),
            (
                Step { errors: Errors { fd_unavail: 1, ..errors() }, ..good() },
                80.0,
                "no file descriptor",
            ),
            (
                Step { errors: Errors { addrunavail: 1, ..errors() }, ..good() },
                80.0,
                "no local port",
            ),
            (good(), 81.0, "81% busy"),
            (Step { interrupted: true, ..good() }, 80.0, "interrupted"),
        ] {
            let reasons = reasons(&step, busy_percent);
            assert_eq!(reasons.len(), 1, "{reasons:?}");
            assert!(reasons[0].to_string().contains(word), "{reasons:?}");
        }
    }
}
