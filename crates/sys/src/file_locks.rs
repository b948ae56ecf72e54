//! Locks on ranges of files, by fcntl(2): those that a process has, and those that an open
//! file has.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// Whose lock it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockOwner {
    /// The process's, whatever it opened the file by: no lock of its own stands in its way, and
    /// all are gone once it closes the file anywhere.
    Process,
    /// The open file's, which descriptors share.
    OpenFile,
}

/// What becomes of the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Others may read.
    Read,
    /// Others may do nothing.
    Write,
    /// It is free.
    Unlock,
}

/// Sets a lock on so many bytes, without waiting; 0 is all to the end, however far that comes to
/// be. Where another has a lock that stands in the way, the error is `EAGAIN` or `EACCES`.
pub fn set(
    file: BorrowedFd<'_>,
    owner: LockOwner,
    kind: Kind,
    offset: i64,
    length: i64,
) -> io::Result<()> {
    let command = match owner {
        LockOwner::Process => libc::F_SETLK,
        LockOwner::OpenFile => libc::F_OFD_SETLK,
    };
    request(file, command, kind, offset, length)
}

/// Sets an open file's lock on all of it, and waits where another stands in the way.
pub fn wait_for_whole(file: BorrowedFd<'_>, kind: Kind) -> io::Result<()> {
    request(file, libc::F_OFD_SETLKW, kind, 0, 0)
}

#[inline]
fn request(
    file: BorrowedFd<'_>,
    command: libc::c_int,
    kind: Kind,
    offset: i64,
    length: i64,
) -> io::Result<()> {
    let kind = match kind {
        Kind::Read => libc::F_RDLCK,
        Kind::Write => libc::F_WRLCK,
        Kind::Unlock => libc::F_UNLCK,
    };
    let lock = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: offset,
        l_len: length,
        l_pid: 0,
    };
    // SAFETY: the descriptor is open, and the call reads the structure, which outlives it.
    crate::done(unsafe { libc::fcntl(file.as_raw_fd(), command, &raw const lock) })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::File;
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn an_open_files_lock_stands_in_the_way_of_another_and_a_processes_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let [a, b] = [(); 2].map(|()| {
            File::options().create(true).truncate(false).write(true).read(true).open(&path).unwrap()
        });
        let set = |file: &File, owner, kind| set(file.as_fd(), owner, kind, 0, 10);
        let own = LockOwner::OpenFile;
        set(&a, own, Kind::Write).unwrap();
        let refused = set(&b, own, Kind::Read).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        set(&a, own, Kind::Unlock).unwrap();
        set(&b, own, Kind::Read).unwrap();
        set(&b, own, Kind::Unlock).unwrap();
        set(&a, LockOwner::Process, Kind::Write).unwrap();
        set(&b, LockOwner::Process, Kind::Write).unwrap();
    }
}
