//! What a file system stores of a file that it may have compressed.
//!
//! btrfs tells the superuser, as compsize(8) asks, each extent of the file with how many bytes
//! it has, and how many the device has of it (`BTRFS_IOC_TREE_SEARCH_V2`,
//! `linux/btrfs_tree.h`). Others learn which extents are compressed. `st_blocks` counts bytes as
//! they were before.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{fstat, fstatfs};
use rustix::io::Errno;
use sys::extent_map::written_and_encoded;
use sys::extent_tree::{EXTENTS, Search};

/// From `linux/magic.h`.
const BTRFS: u64 = 0x9123_683E;
const HEADER_BYTES: usize = 32;
/// Before an extent's own fields: generation, length, and how it is encoded.
const INLINE: u8 = 0;
const REGULAR: u8 = 1;
const INLINE_FROM: usize = 21;

/// What a file has, and what is stored of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Bytes in extents: what was never written is not among them.
    pub file_bytes: u64,
    /// Those of them that are compressed.
    pub compressed_bytes: u64,
    /// What the device has of all; `None` where only root may know.
    pub stored_bytes: Option<u64>,
}

impl Stored {
    /// That of no file.
    pub const NOTHING: Self = Self { file_bytes: 0, compressed_bytes: 0, stored_bytes: Some(0) };

    /// That of a file; nothing where the file system does not compress, or does not tell.
    pub fn of(file: impl AsFd) -> io::Result<Option<Self>> {
        if fstatfs(&file)?.f_type as u64 != BTRFS {
            return Ok(None);
        }
        match extents(&file) {
            Ok(extents) => Ok(Some(extents.sum)),
            Err(error) if error.raw_os_error() == Some(Errno::PERM.raw_os_error()) => {
                let (file_bytes, compressed_bytes) = written_and_encoded(file)?;
                Ok(Some(Self { file_bytes, compressed_bytes, stored_bytes: None }))
            }
            Err(error) => Err(error),
        }
    }

    /// Of two files together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let stored = self.stored_bytes.zip(other.stored_bytes);
        Self {
            file_bytes: self.file_bytes + other.file_bytes,
            compressed_bytes: self.compressed_bytes + other.compressed_bytes,
            stored_bytes: stored.map(|(one, other)| one + other),
        }
    }
}

/// The extents of a file so far.
struct Extents {
    sum: Stored,
    /// Where those begin on the device that were counted: parts of one may be in several
    /// places of the file.
    seen: BTreeSet<u64>,
}

fn extents(file: impl AsFd) -> io::Result<Extents> {
    let inode = fstat(&file)?.st_ino;
    let mut extents = Extents { sum: Stored::NOTHING, seen: BTreeSet::new() };
    let mut search = Search::of(inode);
    let mut offset = 0;
    loop {
        let (found, items) = search.from(&file, offset)?;
        let last = extents.take(found, items);
        match last.and_then(|last| last.checked_add(1)) {
            Some(next) => offset = next,
            None => return Ok(extents),
        }
    }
}

impl Extents {
    /// Takes in what a search found; where in the file the last of it begins, if it found
    /// anything.
    fn take(&mut self, found: &[u8], items: u32) -> Option<u64> {
        let (mut rest, mut last) = (found, None);
        for _ in 0..items {
            let (header, behind) = rest.split_at_checked(HEADER_BYTES)?;
            let length = u32_at(header, 28)? as usize;
            let (extent, behind) = behind.split_at_checked(length)?;
            // A file has other items as well, between those of its extents.
            if u32_at(header, 24)? == EXTENTS {
                self.add(extent);
            }
            last = u64_at(header, 16);
            rest = behind;
        }
        last
    }

    /// `struct btrfs_file_extent_item`.
    fn add(&mut self, extent: &[u8]) -> Option<()> {
        let (file_bytes, stored_bytes) = match *extent.get(20)? {
            INLINE => (u64_at(extent, 8)?, (extent.len() - INLINE_FROM) as u64),
            REGULAR => {
                let begins = u64_at(extent, 21)?;
                // A hole begins nowhere.
                let file_bytes = if begins == 0 { 0 } else { u64_at(extent, 45)? };
                let is_new = begins != 0 && self.seen.insert(begins);
                (file_bytes, if is_new { u64_at(extent, 29)? } else { 0 })
            }
            // Allocated, and never written.
            _ => (0, 0),
        };
        let compressed_bytes = if *extent.get(16)? == 0 { 0 } else { file_bytes };
        let stored_bytes = Some(stored_bytes);
        self.sum = self.sum.and(Stored { file_bytes, compressed_bytes, stored_bytes });
        Some(())
    }
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|field| u64::from_le_bytes(*field))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|field| u32::from_le_bytes(*field))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// An item as the kernel gives it.
    fn item(offset: u64, kind: u32, extent: &[u8]) -> Vec<u8> {
        let mut item = vec![0; HEADER_BYTES];
        item[16..24].copy_from_slice(&offset.to_le_bytes());
        item[24..28].copy_from_slice(&kind.to_le_bytes());
        item[28..32].copy_from_slice(&(extent.len() as u32).to_le_bytes());
        item.extend(extent);
        item
    }

    /// Compressed where it is stored in fewer bytes.
    fn regular(kind: u8, begins: u64, stored: u64, bytes: u64) -> Vec<u8> {
        let mut extent = vec![0; 53];
        extent[16] = u8::from(stored < bytes) * 3;
        extent[20] = kind;
        extent[21..29].copy_from_slice(&begins.to_le_bytes());
        extent[29..37].copy_from_slice(&stored.to_le_bytes());
        extent[45..53].copy_from_slice(&bytes.to_le_bytes());
        extent
    }

    #[test]
    fn extents_are_added_up_each_once_and_holes_and_what_is_only_allocated_are_not() {
        let mut inline = vec![0; 21 + 30];
        inline[8] = 100;
        let found = [
            item(0, EXTENTS, &inline),
            item(4096, EXTENTS, &regular(REGULAR, 7, 4096, 131_072)),
            item(1 << 20, EXTENTS, &regular(REGULAR, 5, 8192, 8192)),
            item(2 << 20, EXTENTS, &regular(REGULAR, 0, 0, 5000)),
            item(3 << 20, EXTENTS, &regular(2, 9, 8192, 8192)),
            item(4 << 20, 84, b"another kind of item"),
        ]
        .concat();
        let mut extents = Extents { sum: Stored::NOTHING, seen: BTreeSet::new() };
        assert_eq!(extents.take(&found, 6), Some(4 << 20));
        let expected = Stored {
            file_bytes: 100 + 131_072 + 8192,
            compressed_bytes: 131_072,
            stored_bytes: Some(30 + 4096 + 8192),
        };
        assert_eq!(extents.sum, expected);
        assert_eq!(extents.take(&found, 0), None);
        // What is cut is not read beyond its end.
        for length in 0..found.len() {
            let _ =
                Extents { sum: Stored::NOTHING, seen: BTreeSet::new() }.take(&found[..length], 6);
        }
        // Another part of the same extent is stored already.
        extents.add(&regular(REGULAR, 7, 4096, 131_072));
        let stored_bytes = expected.stored_bytes;
        assert_eq!((extents.sum.file_bytes, extents.sum.stored_bytes), (270_436, stored_bytes));
        let unknown = Stored { stored_bytes: None, ..expected };
        assert_eq!(expected.and(unknown).stored_bytes, None);
    }

    #[test]
    fn other_file_systems_say_nothing() {
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        if fstatfs(&file).unwrap().f_type as u64 != BTRFS {
            assert_eq!(Stored::of(&file).unwrap(), None);
        }
        assert_eq!(Stored::of(std::fs::File::open("/dev/shm").unwrap()).unwrap(), None);
    }
}
