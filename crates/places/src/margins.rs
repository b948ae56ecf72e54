//! Watching, while a run goes on, that what must stay free does.
//!
//! What the run itself takes was counted before it began (`space.rs`), so a margin that is
//! gone means that others fill the place, or that a server of the user's writes more than
//! was foreseen. A look costs some tens of microseconds.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use host::memory::MemoryFacts;
use host::root::Root;
use host::space::FileSystemSpace;
use model::place::PlaceFacts;
use units::{count, rough_size};

use crate::space::{file_system_margin_bytes, inode_margin, memory_margin_bytes};

/// What must stay free at some places, and of memory.
#[derive(Debug)]
pub struct Margins {
    places: Vec<Watched>,
    /// Nothing where it could not be told before.
    memory_bytes: Option<u64>,
}

#[derive(Debug)]
struct Watched {
    name: String,
    dir: OwnedFd,
}

impl Margins {
    /// Of places, each with a directory in it that is open, from now on.
    pub fn new<'a>(
        places: impl IntoIterator<Item = (&'a PlaceFacts, BorrowedFd<'a>)>,
    ) -> io::Result<Self> {
        let watched = |(facts, dir): (&PlaceFacts, BorrowedFd<'_>)| {
            let name = format!("{}={}", facts.label, facts.shown());
            Ok(Watched { name, dir: dir.try_clone_to_owned()? })
        };
        let places = places.into_iter().map(watched).collect::<io::Result<_>>()?;
        let memory = MemoryFacts::read(&Root::real()).ok();
        Ok(Self { places, memory_bytes: memory.as_ref().map(memory_floor_bytes) })
    }

    /// What has less than must stay free, in a sentence with the figures; nothing where
    /// all is well.
    pub fn short(&self) -> Option<String> {
        self.places.iter().find_map(Watched::short).or_else(|| self.short_of_memory())
    }

    fn short_of_memory(&self) -> Option<String> {
        let memory = MemoryFacts::read(&Root::real()).ok()?;
        let (usable_bytes, floor_bytes) = (memory.usable_bytes(), self.memory_bytes?);
        let whose = if usable_bytes < memory.available_bytes {
            " to this container or session"
        } else {
            ""
        };
        (usable_bytes < floor_bytes).then(|| {
            format!(
                "{} of memory is available{whose}, but {} must stay free; stop what uses it, or \
                 measure when more is free",
                rough_size(usable_bytes),
                rough_size(floor_bytes)
            )
        })
    }
}

/// What must stay free of memory; where less than twice that was free before the run, which
/// does not use memory on disks, half of what was.
fn memory_floor_bytes(before: &MemoryFacts) -> u64 {
    memory_margin_bytes(before).min(before.usable_bytes() / 2)
}

impl Watched {
    fn short(&self) -> Option<String> {
        shortage(&FileSystemSpace::of(&self.dir).ok()?).map(|what| format!("{}: {what}", self.name))
    }
}

/// What a file system has too little of, if anything.
fn shortage(space: &FileSystemSpace) -> Option<String> {
    let FileSystemSpace { total_bytes, free_bytes, total_inodes, free_inodes, .. } = *space;
    let margin_bytes = file_system_margin_bytes(total_bytes);
    if free_bytes < margin_bytes {
        return Some(format!(
            "{} is free there now, but {} must stay free; free some space, or pass another \
             directory",
            rough_size(free_bytes),
            rough_size(margin_bytes)
        ));
    }
    let (free, margin) = (free_inodes?, inode_margin(total_inodes?));
    (free < margin).then(|| {
        format!(
            "{} inodes are free there now (`df -i`), but {} must stay free; remove files, or pass \
             another directory",
            count(free),
            count(margin)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_margin_is_gone_when_a_byte_or_an_inode_of_it_is() {
        let space = FileSystemSpace {
            read_only: false,
            total_bytes: 1024 * MIB,
            free_bytes: 64 * MIB,
            total_inodes: Some(16_000),
            free_inodes: Some(1_000),
        };
        assert_eq!(shortage(&space), None);
        let short = |space: FileSystemSpace| shortage(&space).unwrap_or_default();
        let bytes = short(FileSystemSpace { free_bytes: 64 * MIB - 1, ..space.clone() });
        assert!(bytes.contains("is free there now, but 67.1 MB must stay free"), "{bytes}");
        let inodes = short(FileSystemSpace { free_inodes: Some(999), ..space.clone() });
        assert!(inodes.contains("999 inodes are free there now"), "{inodes}");
        let unknown = FileSystemSpace { total_bytes: 0, free_bytes: 0, ..space };
        assert_eq!(shortage(&FileSystemSpace { free_inodes: None, ..unknown }), None);
    }

    #[test]
    fn a_machine_that_is_short_of_memory_to_begin_with_may_run_until_half_of_that_is_gone() {
        let memory = |available_bytes| MemoryFacts {
            total_bytes: 8192 * MIB,
            available_bytes,
            ..MemoryFacts::default()
        };
        assert_eq!(memory_floor_bytes(&memory(8000 * MIB)), 8192 * MIB / 10);
        assert_eq!(memory_floor_bytes(&memory(100 * MIB)), 50 * MIB);
    }
}
