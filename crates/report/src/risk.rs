//! What moving an application's files to a place would risk.

use model::place::{APPENDS, Detail, LOCKS, NOT_KEPT, PlaceFacts, StorageKind};
use model::units::rough_size;

/// The risks of a place, each in a sentence. Nothing for an ordinary disk.
pub(crate) fn risks(place: &PlaceFacts) -> Vec<String> {
    let label = &place.label;
    let mut risks = Vec::new();
    match place.kind {
        StorageKind::Memory => {
            risks.push(format!(
                "Data on {label} is lost on a reboot, system crash or power failure, even after \
                 fsync: keep only what can be recreated there."
            ));
            risks.push(format!(
                "Files on {label} use memory that applications and the page cache would use \
                 otherwise, count against a container's memory limit, and may be swapped out. {} \
                 are free there now.",
                rough_size(place.free_bytes)
            ));
        }
        StorageKind::Network => risks.push(shared(label, &place.details)),
        StorageKind::Fuse => risks.push(format!(
            "{label} is a file system in user space (FUSE): what fsync guarantees depends on its \
             implementation."
        )),
        StorageKind::Disk | StorageKind::Other => {}
    }
    let off = ["nobarrier", "barrier=0", "data=writeback"];
    if let Some(option) = place.mount_options.iter().find(|o| off.contains(&o.as_str())) {
        risks.push(format!(
            "{label} is mounted with {option}: a power failure may lose or corrupt synced data."
        ));
    }
    risks
}

/// What several machines that share a place do not have there.
fn shared(label: &str, known: &[Detail]) -> String {
    let kept = |name: &str| {
        let fact = known.iter().find(|fact| fact.name == name);
        fact.map(|fact| !fact.value.starts_with(NOT_KEPT))
    };
    let what = match (kept(APPENDS), kept(LOCKS)) {
        (Some(true), Some(true)) => {
            return format!(
                "{label} is a network file system: appends and locks hold between machines, and \
                 what fsync guarantees depends on the server."
            );
        }
        (Some(false), Some(false)) => {
            "appends from several machines may overwrite each other, locks hold on this machine \
             alone, and what fsync guarantees depends on the server"
        }
        (Some(true), Some(false)) => {
            "locks hold on this machine alone, and what fsync guarantees depends on the server"
        }
        (Some(false), Some(true)) => {
            "appends from several machines may overwrite each other, unless they lock, and what \
             fsync guarantees depends on the server"
        }
        _ => {
            "appends from several machines may overwrite each other, and locks and fsync depend on \
             the server"
        }
    };
    format!("{label} is a network file system: {what}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shared_place_does_not_keep_is_a_risk() {
        let risk = |appends: &str, locks: &str| {
            let detail = |(name, value): (&str, &str)| Detail {
                name: name.to_owned(),
                value: value.to_owned(),
                source: String::new(),
            };
            shared("gv", &[(APPENDS, appends), (LOCKS, locks)].map(detail))
        };
        assert!(risk("kept", "kept").contains("appends and locks hold between machines"));
        assert!(risk("not kept", "kept").contains("overwrite each other, unless they lock"));
        assert!(risk("kept", "not kept").starts_with("gv is a network file system: locks hold on"));
        assert!(risk("not kept", "not kept").contains("locks hold on this machine alone"));
    }
}
