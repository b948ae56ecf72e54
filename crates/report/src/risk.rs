//! What moving an application's files to a place would risk.

use model::place::{PlaceFacts, StorageKind};
use model::units::rough_size;

/// The risks of a place, each in a sentence. Nothing for an ordinary disk.
pub(crate) fn risks(place: &PlaceFacts) -> Vec<String> {
    let label = &place.label;
    let mut risks = Vec::new();
    match place.kind {
        StorageKind::Memory => {
            risks.push(format!(
                "What is kept on {label} is gone after a reboot, a crash or a power cut, \
                 fsync or not: keep there only what can be made again."
            ));
            risks.push(format!(
                "Every byte on {label} takes memory from applications and the page cache; it counts \
                 against a container's limit, and may be swapped out. {} are free there now.",
                rough_size(place.free_bytes)
            ));
        }
        StorageKind::Network => risks.push(format!(
            "{label} is a network file system: appends of several machines may overwrite one \
             another there, and locks and fsync depend on the server."
        )),
        StorageKind::Fuse => risks.push(format!(
            "{label} is a file system in user space: what fsync promises there depends on its program."
        )),
        StorageKind::Disk | StorageKind::Other => {}
    }
    let off = ["nobarrier", "barrier=0", "data=writeback"];
    if let Some(option) = place.mount_options.iter().find(|o| off.contains(&o.as_str())) {
        risks.push(format!(
            "{label} is mounted with {option}: a power cut may lose or garble what fsync promised."
        ));
    }
    risks
}
