//! What arms are called in charts.

use model::analysis::ArmResult;
use model::printable::{printable, shortened};

/// A longer name of a place is cut.
const PLACE_CHARS: usize = 24;

/// `held(sync=each) on disk`: an arm within its study, its label before it.
pub(crate) fn of_arm(arm: &ArmResult) -> String {
    let place = printable(&arm.place);
    match way(arm) {
        (way, true) => format!("{way} on {}", shortened(&place, PLACE_CHARS)),
        (way, false) => way,
    }
}

/// `held(sync=each)`: an arm's name without its place.
pub(crate) fn of_way(arm: &ArmResult) -> String {
    way(arm).0
}

/// The same, and whether a place was left out.
fn way(arm: &ArmResult) -> (String, bool) {
    let within = arm.id.split_once('/').map_or(arm.id.as_str(), |(_, within)| within);
    let label = arm.label.as_ref().map_or_else(String::new, |label| format!("{label} "));
    let way = within.strip_suffix(&arm.place).and_then(|way| way.strip_suffix('@'));
    (format!("{label}{}", way.unwrap_or(within)), way.is_some())
}

/// An arm's name without some of its parameters.
pub(crate) fn without(arm: &ArmResult, params: &[&str]) -> String {
    params.iter().fold(of_arm(arm), |name, param| {
        let value = arm.params.get(*param).map_or("", String::as_str);
        without_param(&name, &format!("{param}={value}"))
    })
}

/// A name without one parameter, `sync=each`.
pub(crate) fn without_param(name: &str, shown: &str) -> String {
    let name = name.replace(&format!(", {shown}"), "").replace(&format!("{shown}, "), "");
    name.replace(&format!("({shown})"), "")
}
