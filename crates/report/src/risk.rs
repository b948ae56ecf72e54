//! What moving an application's files to a place would risk, and what its ways of doing it rely
//! on that a place does not keep.

use model::analysis::ArmResult;
use model::grouped::{group_of, push_new};
use model::guarantee::Guarantee;
use model::place::{PlaceFacts, StorageKind};
use units::rough_size;

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
        StorageKind::Network => risks.push(shared(place)),
        StorageKind::Fuse => risks.push(format!(
            "{label} is a file system in user space (FUSE): what fsync guarantees depends on its \
             implementation."
        )),
        StorageKind::Disk | StorageKind::Other => {}
    }
    risks.extend(
        place.weakenings().map(|w| format!("{label} is mounted with {}: {}.", w.option, w.risk)),
    );
    risks
}

/// What several machines that share a place do not have there.
fn shared(place: &PlaceFacts) -> String {
    let appends = "appends from several machines may overwrite each other";
    let misses = |guarantee| place.lacks(guarantee);
    let locks = match (misses(Guarantee::Flock), misses(Guarantee::FcntlLocks)) {
        (true, true) => Some("locks are local to this machine"),
        (true, false) => Some("locks of flock(2) are local to this machine"),
        (false, true) => Some("locks of fcntl(2) are local to this machine"),
        (false, false) => None,
    };
    let what = match (misses(Guarantee::Appends), locks) {
        _ if place.not_kept.is_none() => format!("{appends}, and locks and fsync depend on"),
        (false, None) => {
            "appends and locks work between machines, and what fsync guarantees depends on"
                .to_owned()
        }
        (true, None) => {
            format!("{appends}, unless they lock, and what fsync guarantees depends on")
        }
        (false, Some(locks)) => format!("{locks}, and what fsync guarantees depends on"),
        (true, Some(locks)) => {
            format!("{appends}, {locks}, and what fsync guarantees depends on")
        }
    };
    format!("{} is a network file system: {what} the server.", place.label)
}

/// What arms rely on and their places do not keep between the machines that share them, each
/// in a sentence with the names of those arms.
pub(crate) fn unkept<'a>(
    arms: impl IntoIterator<Item = &'a ArmResult>,
    name: impl Fn(&ArmResult) -> String,
) -> Vec<String> {
    let mut unkept = Vec::new();
    for arm in arms {
        for guarantee in &arm.not_kept {
            push_new(group_of(&mut unkept, (arm.place.as_str(), *guarantee)), name(arm));
        }
    }
    let sentence = |((place, guarantee), names): ((&str, Guarantee), Vec<String>)| {
        let rely = if names.len() == 1 { "relies" } else { "rely" };
        let so = match guarantee {
            Guarantee::Appends => "may overwrite each other's records",
            Guarantee::Flock | Guarantee::FcntlLocks => "do not wait for each other",
        };
        format!(
            "{} {rely} on {}, which {place} does not keep between machines: several that write \
             there {so}.",
            names.join(", "),
            guarantee.shown()
        )
    };
    unkept.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shared_place_does_not_keep_is_a_risk() {
        let risk = |not_kept: Option<&[Guarantee]>| {
            let not_kept = not_kept.map(<[_]>::to_vec);
            let kind = StorageKind::Network;
            risks(&PlaceFacts { kind, not_kept, ..PlaceFacts::unknown("gv") }).concat()
        };
        let [appends, flock, fcntl] = Guarantee::ALL;
        assert!(
            risk(None).ends_with("overwrite each other, and locks and fsync depend on the server.")
        );
        assert!(risk(Some(&[])).contains("appends and locks work between machines"));
        assert!(risk(Some(&[appends])).contains("overwrite each other, unless they lock"));
        let locks = risk(Some(&[flock, fcntl]));
        assert!(locks.starts_with("gv is a network file system: locks are local"), "{locks}");
        assert!(risk(Some(&[flock])).contains("locks of flock(2) are local to this machine"));
        let all = risk(Some(&Guarantee::ALL));
        assert!(all.contains("overwrite each other, locks are local to this machine"), "{all}");
    }
}
