//! A file's extents as any user may ask for them (`FS_IOC_FIEMAP`, `linux/fiemap.h`): where
//! they are in the file, and whether they are stored as they are.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

/// `FS_IOC_FIEMAP`, which libc lacks: both ways, `Map` without its extents.
const FIEMAP: libc::c_ulong = 0xC020_660B;
const EXTENTS_MAX: usize = 512;
/// The file has none behind it.
const LAST: u32 = 1;
/// Compressed, or encrypted.
const ENCODED: u32 = 8;
/// Allocated, and never written.
const UNWRITTEN: u32 = 0x800;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved_64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap`, with room for extents.
#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [Extent; EXTENTS_MAX],
}

/// How many bytes a file has in extents that were written, and how many of them are encoded.
pub fn written_and_encoded(file: impl AsFd) -> io::Result<(u64, u64)> {
    let (mut written, mut encoded) = (0, 0);
    each(file, |extent| {
        written += if extent.flags & UNWRITTEN == 0 { extent.length } else { 0 };
        encoded += if extent.flags & ENCODED == 0 { 0 } else { extent.length };
    })?;
    Ok((written, encoded))
}

/// In how many pieces of its device a file lies. Extents that follow each other there are one
/// piece: a file system may write them down by parts.
pub fn pieces(file: impl AsFd) -> io::Result<u64> {
    let (mut pieces, mut end) = (0, None);
    each(file, |extent| {
        pieces += u64::from(end != Some(extent.physical));
        end = Some(extent.physical + extent.length);
    })?;
    Ok(pieces)
}

/// Shows each extent, in the order of the file.
fn each(file: impl AsFd, mut show: impl FnMut(&Extent)) -> io::Result<()> {
    // SAFETY: all fields are numbers, for which zeros are valid.
    let mut map: Box<Map> = unsafe { Box::new(std::mem::zeroed()) };
    loop {
        map.length = u64::MAX - map.start;
        map.room = EXTENTS_MAX as u32;
        let request: *mut Map = &raw mut *map;
        // SAFETY: the structure is laid out as the kernel's, which writes no more extents
        // into it than it says it has room for.
        crate::done(unsafe { libc::ioctl(file.as_fd().as_raw_fd(), FIEMAP as _, request) })?;
        let found = &map.extents[..EXTENTS_MAX.min(map.mapped as usize)];
        found.iter().for_each(&mut show);
        match found.last() {
            Some(last) if last.flags & LAST == 0 => map.start = last.logical + last.length,
            _ => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_structures_are_as_large_as_the_kernels() {
        assert_eq!((size_of::<Extent>(), std::mem::offset_of!(Map, extents)), (56, 32));
    }

    #[test]
    fn a_file_has_what_was_written_to_it_and_nothing_of_it_encoded() {
        let program = std::env::current_exe().unwrap();
        let file = tempfile::NamedTempFile::new_in(program.parent().unwrap()).unwrap();
        std::fs::write(file.path(), vec![7; 100_000]).unwrap();
        file.as_file().sync_all().unwrap();
        match written_and_encoded(file.as_file()) {
            // Whole blocks, and small files compressed by a file system that does so.
            Ok((written, encoded)) => assert!(written >= 100_000 && encoded <= written),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{error}"),
        }
    }
}
