//! What arms are called in charts.

use model::analysis::ArmResult;

/// `held(sync=each) on disk`: an arm within its study, its label before it.
pub(crate) fn of_arm(arm: &ArmResult) -> String {
    let within = arm.id.split_once('/').map_or(arm.id.as_str(), |(_, within)| within);
    let label = arm.label.as_ref().map_or_else(String::new, |label| format!("{label} "));
    match within.rsplit_once('@') {
        Some((way, place)) => format!("{label}{way} on {place}"),
        None => format!("{label}{within}"),
    }
}

/// `held(sync=each)`: an arm's name without its place.
pub(crate) fn of_way(arm: &ArmResult) -> String {
    let name = of_arm(arm);
    let end = format!(" on {}", arm.place);
    name.strip_suffix(&end).unwrap_or(&name).to_owned()
}

/// An arm's name without some of its parameters.
pub(crate) fn without(arm: &ArmResult, params: &[&str]) -> String {
    params.iter().fold(of_arm(arm), |name, param| {
        let value = arm.params.get(*param).map_or("", String::as_str);
        let shown = format!("{param}={value}");
        let name = name.replace(&format!(", {shown}"), "").replace(&format!("{shown}, "), "");
        name.replace(&format!("({shown})"), "")
    })
}
