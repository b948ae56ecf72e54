//! What arms are called in charts.

use model::analysis::ArmResult;

/// `held(sync=each) on disk`: an arm within its study.
pub(crate) fn of_arm(arm: &ArmResult) -> String {
    let within = arm.id.split_once('/').map_or(arm.id.as_str(), |(_, within)| within);
    match within.rsplit_once('@') {
        Some((way, place)) => format!("{way} on {place}"),
        None => within.to_owned(),
    }
}
