//! Whether a step's figures are the server's or the client's own.
//!
//! A load generator that cannot keep its schedule still prints figures, and
//! they look like those of a slow server. These rules say when not to believe
//! them.

use std::fmt;

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

/// Why a step is invalid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reason {
    Interrupted,
    NotStarted { started: u64, intended: u64 },
    NoDescriptor(u64),
    NoPort(u64),
    Late { lag_p99_ns: f64 },
    LateForItsMedian { lag_p99_ns: f64, median_ns: f64 },
    Busy { percent: f64 },
}

impl Reason {
    /// Whether it has to do with late starts alone.
    pub(crate) fn is_lateness(&self) -> bool {
        matches!(self, Self::Late { .. } | Self::LateForItsMedian { .. })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => write!(f, "it was interrupted"),
            Self::NotStarted { started, intended } => {
                write!(f, "only {started} of {intended} connections were started")
            }
            Self::NoDescriptor(count) => write!(f, "{count} connections found no descriptor"),
            Self::NoPort(count) => write!(f, "{count} connections found no local port"),
            Self::Late { lag_p99_ns } => {
                write!(f, "starts lagged by {:.1} ms (p99)", lag_p99_ns / 1e6)
            }
            Self::LateForItsMedian { lag_p99_ns, median_ns } => write!(
                f,
                "starts lagged by {:.0} µs (p99), over a tenth of the median connection time, \
                 {:.0} µs",
                lag_p99_ns / 1e3,
                median_ns / 1e3
            ),
            Self::Busy { percent } => write!(f, "this client's core was {percent:.0}% busy"),
        }
    }
}

/// The reasons why a step is invalid; none when it is valid.
pub(crate) fn reasons(facts: &Facts) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if facts.interrupted {
        reasons.push(Reason::Interrupted);
    }
    if let Some(intended) = facts.intended
        && (facts.started as f64) < STARTED_MIN * intended as f64
    {
        reasons.push(Reason::NotStarted { started: facts.started, intended });
    }
    if facts.without_descriptor > 0 {
        reasons.push(Reason::NoDescriptor(facts.without_descriptor));
    }
    if facts.without_port > 0 {
        reasons.push(Reason::NoPort(facts.without_port));
    }
    reasons.extend(lateness(facts));
    if facts.busy_percent > BUSY_MAX_PERCENT {
        reasons.push(Reason::Busy { percent: facts.busy_percent });
    }
    reasons
}

/// The reasons in words; `None` of none.
pub(crate) fn in_words(reasons: &[Reason]) -> Option<String> {
    let words: Vec<String> = reasons.iter().map(Reason::to_string).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// Whether there are reasons, and none but late starts.
pub(crate) fn merely_late(reasons: &[Reason]) -> bool {
    !reasons.is_empty() && reasons.iter().all(Reason::is_lateness)
}

fn lateness(facts: &Facts) -> Option<Reason> {
    let lag_p99_ns = facts.lag_p99_ns?;
    if lag_p99_ns > LAG_MAX_NS {
        return Some(Reason::Late { lag_p99_ns });
    }
    let median_ns = facts.connection_p50_ns?;
    (lag_p99_ns > LAG_SHARE_MAX * median_ns)
        .then_some(Reason::LateForItsMedian { lag_p99_ns, median_ns })
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
            (Facts { without_descriptor: 1, ..good() }, "no descriptor"),
            (Facts { without_port: 1, ..good() }, "no local port"),
            (Facts { busy_percent: 81.0, ..good() }, "81% busy"),
            (Facts { interrupted: true, ..good() }, "interrupted"),
        ] {
            let reasons = reasons(&facts);
            assert_eq!(reasons.len(), 1, "{reasons:?}");
            assert!(in_words(&reasons).is_some_and(|text| text.contains(word)), "{reasons:?}");
        }
    }

    #[test]
    fn only_late_starts_and_nothing_beside_them_are_mere_lateness() {
        let by_the_median = Facts { lag_p99_ns: Some(2e5), ..good() };
        let by_itself = Facts { lag_p99_ns: Some(2e6), ..good() };
        for (facts, expected) in [
            (good(), false),
            (by_the_median, true),
            (by_itself, true),
            (Facts { busy_percent: 81.0, ..by_itself }, false),
            (Facts { without_port: 1, ..good() }, false),
        ] {
            assert_eq!(merely_late(&reasons(&facts)), expected, "{facts:?}");
        }
        let both = reasons(&Facts { interrupted: true, ..by_itself });
        let text = "it was interrupted; starts lagged by 2.0 ms (p99)";
        assert_eq!(in_words(&both).as_deref(), Some(text));
        assert_eq!(in_words(&[]), None);
    }
}
