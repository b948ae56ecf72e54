//! A descriptor that was left open to the program by its starter.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};

use rustix::fs::OFlags;
use rustix::io::{Errno, FdFlags};

/// An inherited descriptor that can be written to, as a file of its own: what it stands
/// for is as little closed or begun anew as the shell's `>&N` would.
pub fn inherited_output(number: RawFd) -> io::Result<File> {
    if number < 0 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: the number is used for two system calls within this function, which refuse
    // one that is not open; nothing here closes it.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    // What this process opened itself is closed on exec, and was not meant.
    if rustix::io::fcntl_getfd(descriptor)?.contains(FdFlags::CLOEXEC) {
        return Err(Errno::BADF.into());
    }
    let access = rustix::fs::fcntl_getfl(descriptor)? & OFlags::RWMODE;
    if access == OFlags::RDONLY {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is open for reading only"));
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(descriptor, 3)?.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::{Read as _, Write as _};
    use std::os::fd::AsRawFd as _;

    use super::*;

    #[test]
    fn an_inherited_pipe_is_written_to_and_goes_on_where_it_was() {
        let (mut reader, writer) = io::pipe().unwrap();
        rustix::io::fcntl_setfd(&writer, FdFlags::empty()).unwrap();
        inherited_output(writer.as_raw_fd()).unwrap().write_all(b"one ").unwrap();
        inherited_output(writer.as_raw_fd()).unwrap().write_all(b"two").unwrap();
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one two");
    }

    #[test]
    fn what_was_not_inherited_or_cannot_be_written_is_refused() {
        let (reader, writer) = io::pipe().unwrap();
        rustix::io::fcntl_setfd(&reader, FdFlags::empty()).unwrap();
        let refused = |number| inherited_output(number).unwrap_err().raw_os_error();
        assert_eq!(refused(writer.as_raw_fd()), Some(Errno::BADF.raw_os_error()));
        assert_eq!(refused(-1), Some(Errno::BADF.raw_os_error()));
        assert_eq!(refused(9_999), Some(Errno::BADF.raw_os_error()));
        let error = inherited_output(reader.as_raw_fd()).unwrap_err();
        assert_eq!(error.to_string(), "it is open for reading only");
    }
}
