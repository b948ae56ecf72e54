//! Refusing what would fill a disk or the memory, before a run and during it.
//!
//! A file system that runs full harms everything else on it, and one in memory that
//! grows beyond what memory holds has the kernel swap or kill. So a margin must stay:
//! of a file system 1%, at least 64 MiB and at most 1 GiB, but never more than an eighth
//! of it (a container's `/dev/shm` has 64 MiB in all); of its inodes 1%, at least 1,000 and
//! at most 100,000, but never more than an eighth; of memory, or of the limit that
//! this process is under, a tenth, at most 1 GiB. Swap does not count as memory: a file
//! system in memory that swaps is no longer what was to be measured.

use std::collections::BTreeMap;

use bytesize::ByteSize;
use host::memory::MemoryFacts;
use model::place::{PlaceFacts, StorageKind};
use thiserror::Error;
use units::count;

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;
/// Sizes that are suggested are multiples of this.
const SIZE_STEP: u64 = 16 * MIB;

/// Why there is not enough space, and what to do.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct SpaceError(String);

/// What to do.
fn remedy(enough_bytes: Option<u64>) -> String {
    match enough_bytes {
        Some(bytes) => {
            let size = units::exact_size(bytes).replace(' ', "");
            format!("create it with a size of {size} or more, or write less")
        }
        None => "free some space, write less, or pass another directory".to_owned(),
    }
}

/// Nothing where there are no others.
fn others(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        _ => format!(", and other places of this run may take {}", ByteSize(bytes)),
    }
}

/// What a run needs of a place at the most, all at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// For its files' contents.
    pub bytes: u64,
    /// How many files and folders.
    pub files: u64,
}

/// What a run asks of one place.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The place.
    pub facts: &'a PlaceFacts,
    /// What it needs there.
    pub need: Need,
    /// Whether what is written to it takes the space of another, which is asked for by
    /// itself: an image that of the place with its file.
    pub is_held: bool,
}

/// Whether so much may be written to these places, all at once: what one takes of a file
/// system or of memory is not there for the others. A file system that tells no size, as
/// some in user space, is taken at its word: nothing can be said of it.
pub fn check_space(asked: &[Asked<'_>], memory: &MemoryFacts) -> Result<(), SpaceError> {
    let (mut taken, mut memory_bytes): (BTreeMap<u64, u64>, u64) = Default::default();
    for Asked { facts, need, is_held } in asked {
        let others_bytes = taken.entry(facts.filesystem_id).or_default();
        check_file_system(facts, *need, *others_bytes)?;
        *others_bytes = others_bytes.saturating_add(need.bytes);
        if facts.kind == StorageKind::Memory && !is_held {
            check_memory(facts, need.bytes, memory_bytes, memory)?;
            memory_bytes = memory_bytes.saturating_add(need.bytes);
        }
    }
    Ok(())
}

fn check_file_system(facts: &PlaceFacts, need: Need, others_bytes: u64) -> Result<(), SpaceError> {
    let (label, place) = (&facts.label, facts.shown());
    if let Some(free_inodes) = facts.free_inodes {
        let margin_inodes = inode_margin(facts.total_inodes.unwrap_or(free_inodes));
        if need.files > free_inodes.saturating_sub(margin_inodes) {
            return Err(SpaceError(format!(
                "{label}={place}: up to {} files are created there, but of the {} inodes still \
                 free (`df -i`), at least {} must stay free; remove files, or pass another \
                 directory",
                count(need.files),
                count(free_inodes),
                count(margin_inodes)
            )));
        }
    }
    let free_bytes = facts.free_bytes;
    let margin_bytes = file_system_margin_bytes(facts.total_bytes);
    let left_bytes = free_bytes.saturating_sub(margin_bytes).saturating_sub(others_bytes);
    if facts.total_bytes > 0 && need.bytes > left_bytes {
        let taken_bytes = facts.total_bytes.saturating_sub(left_bytes);
        let wanted_bytes = need.bytes.saturating_add(taken_bytes.saturating_sub(margin_bytes));
        let enough_bytes = facts.created.is_some().then(|| enough_bytes(wanted_bytes));
        return Err(SpaceError(format!(
            "{label}={place}: up to {} is needed there, but of the {} now free, at least {} must \
             stay free{}; {}",
            ByteSize(need.bytes),
            ByteSize(free_bytes),
            ByteSize(margin_bytes),
            others(others_bytes),
            remedy(enough_bytes)
        )));
    }
    Ok(())
}

/// A size of a file system that has room for so much besides its margin, and for what its own
/// structures take, which is known only once it is there: an eighth covers that.
fn enough_bytes(wanted_bytes: u64) -> u64 {
    let whole = wanted_bytes.saturating_add(wanted_bytes / 8);
    // The margin is at most an eighth of the size, hence a seventh of the rest.
    let margin_bytes = (whole / 7 + 1).min(file_system_margin_bytes(u64::MAX / 2));
    let enough = whole.saturating_add(margin_bytes.max(whole / 99));
    enough.div_ceil(SIZE_STEP).saturating_mul(SIZE_STEP)
}

fn check_memory(
    facts: &PlaceFacts,
    need_bytes: u64,
    others_bytes: u64,
    memory: &MemoryFacts,
) -> Result<(), SpaceError> {
    let usable_bytes = memory.usable_bytes();
    let margin_bytes = memory_margin_bytes(memory);
    if need_bytes <= usable_bytes.saturating_sub(margin_bytes).saturating_sub(others_bytes) {
        return Ok(());
    }
    let whose = if usable_bytes < memory.available_bytes {
        "this container or session may still use"
    } else {
        "the machine has available"
    };
    Err(SpaceError(format!(
        "{}={}: this is in memory, and up to {} is needed there, but of the {} that {whose}, at \
         least {} must stay free{}; write less, or stop what uses the memory",
        facts.label,
        facts.shown(),
        ByteSize(need_bytes),
        ByteSize(usable_bytes),
        ByteSize(margin_bytes),
        others(others_bytes)
    )))
}

/// What must stay free of a file system.
pub(crate) fn file_system_margin_bytes(total_bytes: u64) -> u64 {
    (total_bytes / 100).clamp(64 * MIB, GIB).min(total_bytes / 8)
}

/// What must stay free of a file system's inodes.
pub(crate) fn inode_margin(total_inodes: u64) -> u64 {
    (total_inodes / 100).clamp(1_000, 100_000).min(total_inodes / 8)
}

/// What must stay free of memory.
pub(crate) fn memory_margin_bytes(memory: &MemoryFacts) -> u64 {
    let limit_bytes = memory.limit.as_ref().map_or(u64::MAX, |limit| limit.limit_bytes);
    (memory.total_bytes.min(limit_bytes) / 10).min(GIB)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use host::cgroup::MemoryLimit;
    use host::fixture::Fixture;
    use host::identity::Identity;
    use host::space::FileSystemSpace;

    use super::*;
    use crate::inspect;

    fn place(kind: StorageKind, total_bytes: u64, free_bytes: u64) -> PlaceFacts {
        let (fixture, space) = (Fixture::with_mounts(""), FileSystemSpace::default());
        let (root, path) = (fixture.root(), Path::new("/data"));
        let facts = inspect::facts(&root, "place", path, &Identity::default(), &space);
        PlaceFacts { kind, total_bytes, free_bytes, ..facts }
    }

    fn check_space(facts: &PlaceFacts, need: Need, memory: &MemoryFacts) -> Result<(), SpaceError> {
        super::check_space(&[Asked { facts, need, is_held: false }], memory)
    }

    #[test]
    fn what_one_place_takes_is_not_there_for_the_next() {
        let disk = place(StorageKind::Disk, GIB, 100 * MIB);
        let scarce = memory(GIB, 0);
        let check = |facts: &[&PlaceFacts], is_held| {
            let asked = facts.iter().map(|facts| Asked { facts, need: bytes(20 * MIB), is_held });
            super::check_space(&asked.collect::<Vec<_>>(), &scarce)
        };
        assert_eq!(check(&[&disk], false), Ok(()));
        let error = check(&[&disk, &disk], false).unwrap_err().to_string();
        assert!(error.contains("other places of this run may take 20.0 MiB"), "{error}");
        let other = PlaceFacts { filesystem_id: 1, ..disk.clone() };
        assert_eq!(check(&[&disk, &other], false), Ok(()));
        // An image in memory is paid for by what holds it.
        let ram = place(StorageKind::Memory, GIB, GIB);
        assert!(check(&[&ram], false).is_err());
        assert_eq!(check(&[&ram], true), Ok(()));
    }

    fn bytes(bytes: u64) -> Need {
        Need { bytes, files: 1 }
    }

    fn memory(total_bytes: u64, available_bytes: u64) -> MemoryFacts {
        MemoryFacts { total_bytes, available_bytes, ..MemoryFacts::default() }
    }

    fn limited(limit_bytes: u64, used_bytes: u64) -> MemoryFacts {
        let limit = Some(MemoryLimit { group: "/g".into(), limit_bytes, used_bytes });
        MemoryFacts { limit, ..memory(64 * GIB, 32 * GIB) }
    }

    #[test]
    fn a_disk_keeps_one_percent_within_bounds() {
        let margins =
            [16 * MIB, 64 * MIB, GIB, 20 * GIB, 10_000 * GIB].map(file_system_margin_bytes);
        assert_eq!(margins, [2 * MIB, 8 * MIB, 64 * MIB, 20 * GIB / 100, GIB]);
    }

    #[test]
    fn a_disk_may_be_filled_to_its_margin_and_not_a_byte_further() {
        let disk = place(StorageKind::Disk, GIB, 100 * MIB);
        let scarce = memory(GIB, 0);
        assert_eq!(check_space(&disk, bytes(36 * MIB), &scarce), Ok(()));
        let error = check_space(&disk, bytes(36 * MIB + 1), &scarce).unwrap_err();
        let expected = "place=/data: up to 36.0 MiB is needed there, but of the 100.0 MiB now \
                        free, at least 64.0 MiB must stay free; free some space, write less, or \
                        pass another directory";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn inodes_keep_one_percent_within_bounds() {
        let margins = [8, 16_000, 1_000_000, 50_000_000].map(inode_margin);
        assert_eq!(margins, [1, 1_000, 10_000, 100_000]);
    }

    #[test]
    fn inodes_may_be_used_up_to_their_margin_and_not_one_further() {
        let disk = place(StorageKind::Disk, GIB, GIB);
        let scarce = PlaceFacts { total_inodes: Some(16_000), free_inodes: Some(1_011), ..disk };
        let files = |files| check_space(&scarce, Need { bytes: 0, files }, &memory(GIB, 0));
        assert_eq!(files(11), Ok(()));
        let expected = "place=/data: up to 12 files are created there, but of the 1,011 inodes \
                        still free (`df -i`), at least 1,000 must stay free; remove files, or \
                        pass another directory";
        assert_eq!(files(12).unwrap_err().to_string(), expected);
        let unlimited = PlaceFacts { free_inodes: None, total_inodes: None, ..scarce };
        assert_eq!(check_space(&unlimited, Need { bytes: 0, files: 12 }, &memory(GIB, 0)), Ok(()));
    }

    #[test]
    fn a_tmpfs_may_not_outgrow_memory_though_it_has_space() {
        let tmpfs = place(StorageKind::Memory, 8 * GIB, 8 * GIB);
        let machine = memory(8 * GIB, 2 * GIB);
        let margin = 8 * GIB / 10;
        assert_eq!(check_space(&tmpfs, bytes(2 * GIB - margin), &machine), Ok(()));
        let error = check_space(&tmpfs, bytes(2 * GIB - margin + 1), &machine).unwrap_err();
        assert!(error.to_string().contains("that the machine has available"), "{error}");
    }

    #[test]
    fn two_places_in_memory_share_it() {
        let tmpfs = [1, 2].map(|filesystem_id| PlaceFacts {
            filesystem_id,
            ..place(StorageKind::Memory, 8 * GIB, 8 * GIB)
        });
        let machine = memory(8 * GIB, 2 * GIB);
        let half = (2 * GIB - 8 * GIB / 10) / 2;
        let check = |need| {
            let asked = tmpfs.each_ref().map(|facts| Asked { facts, need, is_held: false });
            super::check_space(&asked, &machine)
        };
        assert_eq!(check(bytes(half)), Ok(()));
        let error = check(bytes(half + 1)).unwrap_err().to_string();
        assert!(error.contains("other places of this run"), "{error}");
    }

    #[test]
    fn a_containers_limit_counts_and_is_named() {
        let tmpfs = place(StorageKind::Memory, 8 * GIB, 8 * GIB);
        let container = limited(500 * MIB, 200 * MIB);
        assert_eq!(check_space(&tmpfs, bytes(250 * MIB), &container), Ok(()));
        let error = check_space(&tmpfs, bytes(250 * MIB + 1), &container).unwrap_err();
        assert!(error.to_string().contains("this container or session may still use"), "{error}");
    }

    #[test]
    fn a_small_tmpfs_is_full_before_memory_is() {
        let shm = place(StorageKind::Memory, 64 * MIB, 64 * MIB);
        let machine = memory(8 * GIB, 8 * GIB);
        assert_eq!(check_space(&shm, bytes(56 * MIB), &machine), Ok(()));
        let error = check_space(&shm, bytes(57 * MIB), &machine).unwrap_err();
        assert!(error.to_string().contains("now free"), "{error}");
    }

    #[test]
    fn the_size_that_is_suggested_is_enough() {
        let machine = memory(1 << 50, 1 << 50);
        for need in [MIB, 50 * MIB, 448 * MIB, 700 * MIB, 10 * GIB, 500 * GIB] {
            let of_size = |bytes| PlaceFacts {
                created: Some("tmpfs".to_owned()),
                ..place(StorageKind::Disk, bytes, bytes)
            };
            let error = check_space(&of_size(MIB), bytes(need), &machine).unwrap_err().to_string();
            let (_, advice) = error.split_once("; create it with a size of ").unwrap();
            let size: ByteSize = advice.split(' ').next().unwrap().parse().unwrap();
            let enough = size.as_u64();
            assert_eq!(check_space(&of_size(enough), bytes(need), &machine), Ok(()), "{need}");
            assert!(enough <= need + need / 2 + SIZE_STEP, "{need}: {enough}");
        }
    }

    #[test]
    fn a_file_system_without_a_size_is_not_refused() {
        let unsized_one = place(StorageKind::Fuse, 0, 0);
        assert_eq!(check_space(&unsized_one, bytes(GIB), &memory(GIB, 0)), Ok(()));
    }

    #[test]
    fn an_absurd_need_is_refused_without_overflow() {
        let disk = place(StorageKind::Disk, u64::MAX, u64::MAX);
        assert!(check_space(&disk, bytes(u64::MAX), &memory(GIB, GIB)).is_err());
    }
}
