//! What memory holds of a file, and how a study gets its own files out of it.
//!
//! `posix_fadvise(2)` with `POSIX_FADV_DONTNEED` drops a file's clean pages, those
//! that no one has mapped. It is advice, and some file systems live in memory or
//! keep a cache of their own beside the kernel's: whoever evicts must look at what
//! is left ([`resident_bytes`]) and at what the device then delivered
//! ([`storage_read_bytes`]).

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;

use rustix::fs::{Advice, fadvise, fdatasync, fstat, fstatfs};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The same on every architecture but Alpha.
const SYS_CACHESTAT: libc::c_long = 451;

/// File systems that are memory, from `linux/magic.h`: tmpfs and ramfs.
const MEMORY_FILE_SYSTEMS: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// Whether a folder's files live in memory, so that there is nothing to evict them to.
pub(crate) fn lives_in_memory(folder: impl AsFd) -> io::Result<bool> {
    Ok(MEMORY_FILE_SYSTEMS.contains(&(fstatfs(folder)?.f_type as u64)))
}

/// Drops a file from memory, once what only memory has is written: pages that are
/// dirty or being written stay.
pub(crate) fn evict(file: impl AsFd) -> io::Result<()> {
    wait_written(&file)?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    if resident_bytes(&file)? > 0 {
        // Some file systems write data only when they are made to, by a sync.
        fdatasync(&file)?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}

/// Starts writing a file's pages without waiting, so that many files are on their
/// way to the device together before the first is waited for.
pub(crate) fn start_writing(file: impl AsFd) -> io::Result<()> {
    sync_file_range(file, libc::SYNC_FILE_RANGE_WRITE)
}

/// Waits until a file's pages are written. It forces neither the file's size nor
/// the device's own cache, for which there is fsync(2), and which costs a flush of
/// the device for each file.
pub(crate) fn wait_written(file: impl AsFd) -> io::Result<()> {
    let before = libc::SYNC_FILE_RANGE_WAIT_BEFORE;
    sync_file_range(file, before | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER)
}

fn sync_file_range(file: impl AsFd, flags: libc::c_uint) -> io::Result<()> {
    let file = file.as_fd().as_raw_fd();
    // SAFETY: takes a descriptor, which is open, and numbers.
    let outcome = unsafe { libc::sync_file_range(file, 0, 0, flags) };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// How much of a file is in memory, in whole pages: by cachestat(2), which Linux has
/// had since 6.5, or by mincore(2) before.
pub(crate) fn resident_bytes(file: impl AsFd) -> io::Result<u64> {
    let file = file.as_fd();
    let pages = cachestat(file).or_else(|_| mincore(file))?;
    Ok(pages * rustix::param::page_size() as u64)
}

/// As the kernel lays it out.
#[repr(C)]
#[derive(Default)]
struct CacheStat {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

#[repr(C)]
struct CacheStatRange {
    offset: u64,
    /// 0 for all up to the file's end.
    length: u64,
}

fn cachestat(file: BorrowedFd<'_>) -> io::Result<u64> {
    let whole = CacheStatRange { offset: 0, length: 0 };
    let mut pages = CacheStat::default();
    // SAFETY: both structs are laid out as the kernel's, live during the call,
    // and the kernel writes to the second alone; the descriptor is open.
    let outcome = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const whole, &raw mut pages, 0)
    };
    if outcome == 0 { Ok(pages.cached) } else { Err(io::Error::last_os_error()) }
}

fn mincore(file: BorrowedFd<'_>) -> io::Result<u64> {
    let length = fstat(file)?.st_size as usize;
    if length == 0 {
        return Ok(0);
    }
    let mut pages = vec![0_u8; length.div_ceil(rustix::param::page_size())];
    // SAFETY: a new mapping of an open file where the kernel likes, which nothing
    // reads and which is gone before this function returns; the vector has a byte
    // for each of its pages.
    let outcome = unsafe {
        let mapped = mmap(ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file, 0)?;
        let outcome = libc::mincore(mapped, length, pages.as_mut_ptr());
        let outcome = if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
        munmap(mapped, length)?;
        outcome
    };
    outcome?;
    Ok(pages.iter().filter(|page| **page & 1 == 1).count() as u64)
}

/// What storage has read for this process so far (`read_bytes` of `proc_pid_io(5)`);
/// `None` where that cannot be read.
pub(crate) fn storage_read_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::testing;

    #[test]
    fn a_file_is_in_memory_once_written_and_out_of_it_once_evicted() {
        let folder = testing::on_disk();
        let path = folder.path().join("file");
        fs::write(&path, vec![1; 100_000]).unwrap();
        let file = fs::File::open(&path).unwrap();
        let whole = 100_000_u64.next_multiple_of(rustix::param::page_size() as u64);
        assert_eq!(resident_bytes(&file).unwrap(), whole);
        assert_eq!(mincore(file.as_fd()).unwrap() * 4096, whole);

        start_writing(&file).unwrap();
        evict(&file).unwrap();
        assert_eq!(resident_bytes(&file).unwrap(), 0);
        assert_eq!(mincore(file.as_fd()).unwrap(), 0);

        let before = storage_read_bytes().unwrap();
        assert_eq!(fs::read(&path).unwrap().len(), 100_000);
        assert!(storage_read_bytes().unwrap() - before >= 100_000);
    }

    #[test]
    fn memory_is_known_for_what_it_is() {
        let ram = testing::in_memory();
        assert!(lives_in_memory(fs::File::open(ram.path()).unwrap()).unwrap());
        let disk = testing::on_disk();
        assert!(!lives_in_memory(fs::File::open(disk.path()).unwrap()).unwrap());
    }
}
