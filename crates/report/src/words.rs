//! Verdicts in words: what two arms differ by, and what that would be worth.

use model::arm::Axis;
use model::result::{ArmResult, Comparison, RunResult, Verdict};
use model::units::{percent, three_digits, time};

/// The rate at which a toll is turned into a share of a core.
const RATE_PER_S: f64 = 1000.0;

/// A difference from a ratio: `−16%`, `+40%`, and beyond twofold `×6.7`.
pub(crate) fn difference(ratio: f64) -> String {
    if ratio >= 2.0 {
        return format!("×{}", three_digits(ratio));
    }
    let share = ratio - 1.0;
    let text = percent(round_share(share.abs()));
    match text.as_str() {
        "0%" => text,
        _ if share < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// Below a tenth of a percent a difference is none that anyone could act on.
fn round_share(share: f64) -> f64 {
    if share < 0.0005 { 0.0 } else { share }
}

/// The interval that decided: `−18% to −14%`.
pub(crate) fn interval(comparison: &Comparison) -> String {
    match (comparison.ratio_low, comparison.ratio_high) {
        (Some(low), Some(high)) => format!("{} to {}", difference(low), difference(high)),
        (Some(low), None) => format!("{} or more", difference(low)),
        (None, Some(high)) => format!("{} or less", difference(high)),
        (None, None) => String::new(),
    }
}

/// The verdict's word.
pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "same",
        Verdict::Unclear => "unclear",
        Verdict::Invalid => "invalid",
    }
}

/// A comparison in a sentence, with what it would be worth.
pub(crate) fn sentence(result: &RunResult, comparison: &Comparison, operation: &str) -> String {
    let (Some(base), Some(other)) = (result.arm(&comparison.base), result.arm(&comparison.other))
    else {
        return String::new();
    };
    let subject = match comparison.axis {
        Axis::Place => format!("{}: {} against {}", other.strategy, other.place, base.place),
        Axis::Strategy => {
            format!("on {}: {} against {}", other.place, other.strategy, base.strategy)
        }
    };
    let within = match interval(comparison).as_str() {
        "" => String::new(),
        text => format!(" ({text})"),
    };
    let difference = comparison.ratio.map_or_else(String::new, difference);
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => format!(
            "{subject} is {} by {}{within}. It {}.",
            verdict(comparison.verdict),
            difference.trim_start_matches(['−', '+']),
            worth(comparison, base, other, operation)
        ),
        Verdict::Same => format!(
            "{subject} is the same to within {}{within}: nothing worth having is gained.",
            percent(comparison.worth)
        ),
        Verdict::Unclear | Verdict::Invalid => format!(
            "{subject} is {}{within}: {}.",
            verdict(comparison.verdict),
            comparison.why.as_deref().unwrap_or("no reason was recorded")
        ),
    }
}

/// `saves 0.31 µs a record: at 1,000 records a second, 0.03% of a core`.
fn worth(comparison: &Comparison, base: &ArmResult, other: &ArmResult, operation: &str) -> String {
    let saves_ns = comparison.saves_ns_per_op.unwrap_or_default();
    let does = if saves_ns >= 0.0 { "saves" } else { "costs" };
    if let (Some(from), Some(to)) = (throughput(base), throughput(other)) {
        let amount = time(saves_ns.abs());
        return format!(
            "{does} {amount} a {operation}: {} MB/s instead of {}",
            three_digits(to),
            three_digits(from)
        );
    }
    format!(
        "{does} {} a {operation}: at 1,000 {operation}s a second, {} of a core",
        time(saves_ns.abs()),
        percent(saves_ns.abs() * RATE_PER_S / 1e9)
    )
}

pub(crate) fn throughput(arm: &ArmResult) -> Option<f64> {
    arm.metrics.get("throughput_mb_per_s").copied()
}
