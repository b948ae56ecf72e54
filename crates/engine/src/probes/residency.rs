//! What the page cache holds of a slice's files, from cachestat(2), which Linux
//! has had since 6.5 (`mm/filemap.c`).
//!
//! The files are found in the slice's folder, so that a study need not say which
//! they are.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use model::probes::Residency;
use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, openat};

/// Looking at more files than this would take longer than some slices do.
const FILES_MAX: usize = 64;

/// The same on every architecture but Alpha.
const SYS_CACHESTAT: libc::c_long = 451;

/// What the page cache holds of the regular files right in a folder. Nothing
/// where they are too many; `cached_before_bytes` is left for the caller.
pub fn residency(folder: BorrowedFd<'_>) -> io::Result<Option<Residency>> {
    let page_bytes = rustix::param::page_size() as u64;
    let mut seen = Residency::default();
    let mut files = 0;
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_type(), FileType::RegularFile | FileType::Unknown) {
            continue;
        }
        files += 1;
        if files > FILES_MAX {
            return Ok(None);
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(folder, entry.file_name(), flags, Mode::empty())?;
        let pages = cachestat(file.as_fd())?;
        seen.file_bytes += fstat(&file)?.st_size as u64;
        seen.cached_bytes += pages.cached * page_bytes;
        seen.unwritten_bytes += (pages.dirty + pages.writeback) * page_bytes;
    }
    Ok(Some(seen))
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

fn cachestat(file: BorrowedFd<'_>) -> io::Result<CacheStat> {
    let whole = CacheStatRange { offset: 0, length: 0 };
    let mut pages = CacheStat::default();
    // SAFETY: both structs are laid out as the kernel's, live during the call,
    // and the kernel writes to the second alone; the descriptor is open.
    let outcome = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const whole, &raw mut pages, 0)
    };
    if outcome == 0 { Ok(pages) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stderr)]

    use std::fs::{self, File};

    use super::*;

    #[test]
    fn what_was_written_is_unwritten_until_it_is_synced() {
        // The system's temporary folder may be in memory, where nothing is ever dirty.
        let program = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let file = folder.path().join("a");
        fs::write(&file, vec![1; 1 << 20]).unwrap();
        let fd = File::open(folder.path()).unwrap();
        let seen = match residency(fd.as_fd()) {
            Ok(seen) => seen.unwrap(),
            Err(e) => {
                eprintln!("SKIPPED: because cachestat(2) is not there: {e}");
                return;
            }
        };
        assert_eq!(seen.file_bytes, 1 << 20);
        assert!(seen.cached_bytes >= 1 << 20);
        File::open(&file).unwrap().sync_all().unwrap();
        assert_eq!(residency(fd.as_fd()).unwrap().unwrap().unwritten_bytes, 0);
    }

    #[test]
    fn too_many_files_are_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        for name in 0..=FILES_MAX {
            fs::write(folder.path().join(name.to_string()), "x").unwrap();
        }
        let fd = File::open(folder.path()).unwrap();
        match residency(fd.as_fd()) {
            Ok(seen) => assert_eq!(seen, None),
            Err(e) => eprintln!("SKIPPED: because cachestat(2) is not there: {e}"),
        }
    }
}
