//! What memory holds of files, and how a study gets its own files out of it.
//!
//! cachestat(2), which Linux has had since 6.5 (`mm/filemap.c`), tells; mincore(2) is
//! asked before. The files of a slice are found in its folder, so that a study need not
//! say which they are. `posix_fadvise(2)` with `POSIX_FADV_DONTNEED` drops a file's clean pages, those
//! that no one has mapped. It is advice, and some file systems live in memory or
//! keep a cache of their own beside the kernel's: whoever evicts must look at what
//! is left ([`resident_bytes`]) and at what the device then delivered
//! ([`crate::process::storage_read_bytes`]).

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use model::probes::Residency;
use rustix::fs::{Advice, Dir, FileType, Mode, OFlags, fadvise, fdatasync, fstat, fstatfs, openat};
use rustix::mm::MapFlags;
use sys::mapping::Mapping;
use sys::page_cache::{cachestat, sync_range};

/// Looking at more files than this, at some 2 µs each, would take longer than some slices do.
const FILES_MAX: usize = 1024;
/// No study makes folders as deep as this.
const DEPTH_MAX: usize = 8;

/// File systems that are memory, from `linux/magic.h`: tmpfs and ramfs.
const MEMORY_FILE_SYSTEMS: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// Whether a folder's files live in memory, so that there is nothing to evict them to.
pub fn lives_in_memory(folder: impl AsFd) -> io::Result<bool> {
    Ok(MEMORY_FILE_SYSTEMS.contains(&(fstatfs(folder)?.f_type as u64)))
}

/// Drops a file from memory, once what only memory has is written: pages that are
/// dirty or being written stay.
pub fn evict(file: impl AsFd) -> io::Result<()> {
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
pub fn start_writing(file: impl AsFd) -> io::Result<()> {
    sync_file_range(file, libc::SYNC_FILE_RANGE_WRITE)
}

/// Waits until a file's pages are written. It forces neither the file's size nor
/// the device's own cache, for which there is fsync(2), and which costs a flush of
/// the device for each file.
pub fn wait_written(file: impl AsFd) -> io::Result<()> {
    let before = libc::SYNC_FILE_RANGE_WAIT_BEFORE;
    sync_file_range(file, before | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER)
}

fn sync_file_range(file: impl AsFd, flags: libc::c_uint) -> io::Result<()> {
    sync_range(file, 0, 0, flags)
}

/// How much of a file is in memory, in whole pages: by cachestat(2), which Linux has
/// had since 6.5, or by mincore(2) before.
pub fn resident_bytes(file: impl AsFd) -> io::Result<u64> {
    let file = file.as_fd();
    let pages = cachestat(file).map(|pages| pages.cached).or_else(|_| mincore(file))?;
    Ok(pages * rustix::param::page_size() as u64)
}

/// What the page cache holds of the regular files in a folder and in those within it.
/// Nothing where they are too many or lie too deep; `cached_before_bytes` is left for the
/// caller.
pub fn residency(folder: BorrowedFd<'_>) -> io::Result<Option<Residency>> {
    let mut tally = Tally::default();
    let whole = tally.take_folder(folder, 0)?;
    Ok(whole.then_some(tally.seen))
}

/// What was seen of a folder's files so far.
#[derive(Default)]
struct Tally {
    seen: Residency,
    files: usize,
}

impl Tally {
    /// Takes in a folder; false where there is too much in it.
    fn take_folder(&mut self, folder: BorrowedFd<'_>, depth: usize) -> io::Result<bool> {
        let open = |name: &CStr, kind: OFlags| {
            let flags = kind | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            openat(folder, name, flags, Mode::empty())
        };
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            match entry.file_type() {
                FileType::Directory if matches!(name.to_bytes(), b"." | b"..") => {}
                FileType::Directory => {
                    let within = open(name, OFlags::DIRECTORY)?;
                    if depth == DEPTH_MAX || !self.take_folder(within.as_fd(), depth + 1)? {
                        return Ok(false);
                    }
                }
                FileType::RegularFile | FileType::Unknown => {
                    self.files += 1;
                    if self.files > FILES_MAX {
                        return Ok(false);
                    }
                    self.take_file(&open(name, OFlags::NONBLOCK)?)?;
                }
                _ => {}
            }
        }
        Ok(true)
    }

    fn take_file(&mut self, file: &OwnedFd) -> io::Result<()> {
        let page_bytes = rustix::param::page_size() as u64;
        let pages = cachestat(file.as_fd())?;
        self.seen.file_bytes += fstat(file)?.st_size as u64;
        self.seen.cached_bytes += pages.cached * page_bytes;
        self.seen.unwritten_bytes += (pages.dirty + pages.writeback) * page_bytes;
        Ok(())
    }
}

fn mincore(file: BorrowedFd<'_>) -> io::Result<u64> {
    let length = fstat(file)?.st_size as usize;
    if length == 0 {
        return Ok(0);
    }
    let mapping = Mapping::of_file(file, 0, length, MapFlags::SHARED)?;
    let resident = mapping.resident();
    mapping.unmap()?;
    Ok(resident?.into_iter().filter(|is_resident| *is_resident).count() as u64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stderr)]

    use std::fs::{self, File};

    use tempfile::TempDir;

    use super::*;
    use crate::process::storage_read_bytes;

    /// The system's temporary folder may be in memory, where nothing is ever dirty.
    fn on_disk() -> TempDir {
        let program = std::env::current_exe().unwrap();
        tempfile::tempdir_in(program.parent().unwrap()).unwrap()
    }

    #[test]
    fn a_file_is_in_memory_once_written_and_out_of_it_once_evicted() {
        let folder = on_disk();
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
        let ram = tempfile::tempdir_in("/dev/shm").unwrap();
        assert!(lives_in_memory(fs::File::open(ram.path()).unwrap()).unwrap());
        let disk = on_disk();
        assert!(!lives_in_memory(fs::File::open(disk.path()).unwrap()).unwrap());
    }

    #[test]
    fn what_was_written_is_unwritten_until_it_is_synced() {
        let folder = on_disk();
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
    fn folders_are_looked_into_and_too_many_files_are_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let within = folder.path().join("a/b");
        fs::create_dir_all(&within).unwrap();
        let fd = File::open(folder.path()).unwrap();
        let seen = || residency(fd.as_fd());
        fs::write(within.join("file"), "xyz").unwrap();
        match seen() {
            Ok(seen) => assert_eq!(seen.map(|seen| seen.file_bytes), Some(3)),
            Err(e) => {
                eprintln!("SKIPPED: because cachestat(2) is not there: {e}");
                return;
            }
        }
        // Nothing is followed out of the folder.
        std::os::unix::fs::symlink("/", folder.path().join("link")).unwrap();
        assert_eq!(seen().unwrap().map(|seen| seen.file_bytes), Some(3));
        for name in 1..=FILES_MAX {
            fs::write(within.join(name.to_string()), "x").unwrap();
        }
        assert_eq!(seen().unwrap(), None);
    }
}
