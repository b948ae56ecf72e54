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
        StorageKind::Network => risks.push(format!(
            "{label} is a network file system: concurrent appends from several machines may \
             overwrite each other, and locks and fsync depend on the server."
        )),
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
