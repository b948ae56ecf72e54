//! What the keeper has open: its end of the socket, and where the user reads.
//!
//! All else is closed, above all the pipe by which the standard library waits to
//! hear that exec succeeded: with that open, our process would wait for as long as
//! the keeper lives.
#![expect(unsafe_code, reason = "a forked process closes what it did not open")]

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};

use rustix::fs::{Mode, OFlags, RawDir, open};
use rustix::stdio::{dup2_stderr, dup2_stdin};
use sys::limits;

use super::text::number;

/// The first descriptor that is none of the three standard ones.
const FIRST: RawFd = 3;
/// Numbers that are tried where nothing tells which are open.
const TRIED_MAX: u64 = 1 << 16;

/// Makes the first the standard input and the second the standard error, and closes
/// all but the standard ones. Neither is a standard one.
pub(super) fn keep_only([input, error]: [RawFd; 2]) {
    // SAFETY: both are open in this process until they are closed below.
    unsafe {
        let _ = dup2_stdin(BorrowedFd::borrow_raw(input));
        let _ = dup2_stderr(BorrowedFd::borrow_raw(error));
    }
    if !close_range() && !close_listed() {
        let bound = limits::descriptors().map_or(TRIED_MAX, |[soft, _]| soft.min(TRIED_MAX));
        (FIRST..bound as RawFd).for_each(close);
    }
}

/// In one call, which Linux has since 5.9.
fn close_range() -> bool {
    // SAFETY: a plain system call; what it closes is not used again.
    unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, 0) == 0 }
}

/// One by one, as `/proc` lists them.
fn close_listed() -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(list) = open(c"/proc/self/fd", flags, Mode::empty()) else { return false };
    let own = list.as_raw_fd();
    let mut buffer = [MaybeUninit::uninit(); 2048];
    let mut entries = RawDir::new(&list, &mut buffer);
    while let Some(entry) = entries.next() {
        let Ok(entry) = entry else { return false };
        let fd = number(entry.file_name().to_bytes());
        fd.into_iter().filter(|fd| *fd >= FIRST && *fd != own).for_each(close);
    }
    true
}

fn close(fd: RawFd) {
    // SAFETY: a plain system call; nothing here uses the descriptor again, and
    // closing one that is not open does nothing.
    unsafe { libc::close(fd) };
}
