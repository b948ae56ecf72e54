//! Whether a step's figures are the server's or the client's own.
//!
//! A load generator that cannot keep its schedule still prints figures, and
//! they look like those of a slow server. These rules say when not to believe
//! them.

/// At least this share of the intended connections must have started.
const STARTED_MIN: f64 = 0.99;
/// The lag's 99th percentile may be so long …
const LAG_MAX_NS: f64 = 1e6;
/// … and such a share of the median connection time.
const LAG_SHARE_MAX: f64 = 0.1;
/// The client's core may be so busy.
const BUSY_MAX_PERCENT: f64 = 80.0;

/// How the reasons begin that have to do with late starts.
pub(crate) const LATE: &str = "starts lagged";

/// What the rules look at.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Facts {
    /// Connections that should have started; `None` in a closed loop.
    pub(crate) intended: Option<u64>,
    pub(crate) started: u64,
    /// `None` in a closed loop.
    pub(crate) lag_p99_ns: Option<f64>,
    /// `None` when no connection was completed.
    pub(crate) connection_p50_ns: Option<f64>,
    pub(crate) without_descriptor: u64,
    pub(crate) without_port: u64,
    /// Of this client's core, with waiting for it and without spinning.
    pub(crate) busy_percent: f64,
    pub(crate) interrupted: bool,
}

/// The reasons why a step is invalid; none when it is valid.
pub(crate) fn reasons(facts: &Facts) -> Vec<String> {
    let mut reasons = Vec::new();
    if facts.interrupted {
        reasons.push(String::from("it was interrupted"));
    }
    if let Some(intended) = facts.intended
        && (facts.started as f64) < STARTED_MIN * intended as f64
    {
        reasons.push(format!("only {} of {intended} connections were started", facts.started));
    }
    if facts.without_descriptor > 0 {
        reasons.push(format!("{} connections found no descriptor", facts.without_descriptor));
    }
    if facts.without_port > 0 {
        reasons.push(format!("{} connections found no local port", facts.without_port));
    }
    reasons.extend(lag_reason(facts));
    if facts.busy_percent > BUSY_MAX_PERCENT {
        reasons.push(format!("this client's core was {:.0}% busy", facts.busy_percent));
    }
    reasons
}

fn lag_reason(facts: &Facts) -> Option<String> {
    let lag = facts.lag_p99_ns?;
    if lag > LAG_MAX_NS {
        return Some(format!("{LATE} by {:.1} ms (p99)", lag / 1e6));
    }
    let median = facts.connection_p50_ns?;
    (lag > LAG_SHARE_MAX * median).then(|| {
        format!(
            "{LATE} by {:.0} µs (p99), over a tenth of the median connection time, {:.0} µs",
            lag / 1e3,
            median / 1e3
        )
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
        assert_eq!(reasons(&good()), Vec::<String>::new());
        let slow = Facts { lag_p99_ns: Some(1e6), connection_p50_ns: Some(1e8), ..good() };
        assert_eq!(reasons(&slow), Vec::<String>::new());
        let closed = Facts { intended: None, lag_p99_ns: None, ..good() };
        assert_eq!(reasons(&closed), Vec::<String>::new());
    }

    #[test]
    fn each_rule_alone_makes_a_step_invalid() {
        for (facts, word) in [
            (Facts { started: 989, ..good() }, "only 989 of 1000"),
            (Facts { lag_p99_ns: Some(1.1e6), connection_p50_ns: Some(1e9), ..good() }, "1.1 ms"),
            (Facts { lag_p99_ns: Some(1.1e5), ..good() }, "a tenth"),
            (Facts { without_descriptor: 1, ..good() }, "no descriptor"),
            (Facts { without_port: 1, ..good() }, "no local port"),
            (Facts { busy_percent: 81.0, ..good() }, "81% busy"),
            (Facts { interrupted: true, ..good() }, "interrupted"),
        ] {
            let reasons = reasons(&facts);
            assert_eq!(reasons.len(), 1, "{reasons:?}");
            assert!(reasons[0].contains(word), "{reasons:?}");
        }
    }
}
