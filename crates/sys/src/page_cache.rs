//! What the page cache holds of a file, and writing it out.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};

/// The same on every architecture but Alpha.
const SYS_CACHESTAT: libc::c_long = 451;

/// `sync_file_range(2)` of so many bytes, 0 for all, with its flags.
pub fn sync_range(file: impl AsFd, offset: i64, bytes: i64, flags: libc::c_uint) -> io::Result<()> {
    let file = file.as_fd().as_raw_fd();
    // SAFETY: takes a descriptor, which is open, and numbers.
    crate::done(unsafe { libc::sync_file_range(file, offset, bytes, flags) })
}

/// What it holds, in pages; laid out as the kernel has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CacheStat {
    /// All.
    pub cached: u64,
    /// Changed, and not written.
    pub dirty: u64,
    /// On their way to the device.
    pub writeback: u64,
    /// Not there any more.
    pub evicted: u64,
    /// Of those, the ones that were used not long ago.
    pub recently_evicted: u64,
}

#[repr(C)]
struct Range {
    offset: u64,
    /// 0 for all up to the file's end.
    length: u64,
}

/// Of a whole file (cachestat(2), since Linux 6.5).
pub fn cachestat(file: BorrowedFd<'_>) -> io::Result<CacheStat> {
    let whole = Range { offset: 0, length: 0 };
    let mut pages = CacheStat::default();
    // SAFETY: both structs are laid out as the kernel's, live during the call,
    // and the kernel writes to the second alone; the descriptor is open.
    crate::done(unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const whole, &raw mut pages, 0)
    })?;
    Ok(pages)
}
