//! What broken records mean for a verdict: a strategy that breaks data cannot be
//! faster or slower than one that does not.

use model::analysis::ArmResult;
use units::count;

/// Why no verdict on this arm can be trusted, where its data broke.
pub(crate) fn why_invalid(arm: &ArmResult) -> Option<String> {
    let integrity = arm.integrity.as_ref().filter(|integrity| !integrity.is_intact())?;
    let kinds: Vec<String> =
        integrity.kinds().map(|(kind, n)| format!("{} {kind}", count(n))).collect();
    Some(format!(
        "{} lost or corrupted {} of {} records ({})",
        arm.id,
        count(integrity.broken()),
        count(integrity.records),
        kinds.join(", ")
    ))
}
