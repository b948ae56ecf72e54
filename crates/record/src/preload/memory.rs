//! Files that are in memory alone, and end with this process and all that use them: of a recorder
//! that is killed nothing is left.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{MemfdFlags, memfd_create};

/// An empty file.
pub(super) fn file(name: &str) -> io::Result<OwnedFd> {
    make(name, MemfdFlags::NOEXEC_SEAL)
}

/// The same for a program.
pub(super) fn program(name: &str) -> io::Result<OwnedFd> {
    make(name, MemfdFlags::EXEC)
}

/// Whether it may be a program has to be said, on machines that would refuse it otherwise; older
/// kernels do not know the flag.
fn make(name: &str, may_run: MemfdFlags) -> io::Result<OwnedFd> {
    let made = memfd_create(name, MemfdFlags::CLOEXEC | may_run);
    Ok(made.or_else(|_| memfd_create(name, MemfdFlags::CLOEXEC))?)
}

/// Writes all of a file's content.
pub(super) fn write(file: impl AsFd, bytes: &[u8]) -> io::Result<()> {
    let written = rustix::io::write(file, bytes)?;
    if written != bytes.len() {
        return Err(io::ErrorKind::WriteZero.into());
    }
    Ok(())
}
