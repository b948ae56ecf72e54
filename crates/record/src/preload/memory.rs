//! Files that are in memory alone, and end with this process and all that use them: of a recorder
//! that is killed nothing is left.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{MemfdFlags, memfd_create};

/// An empty file.
pub(super) fn file(name: &str) -> io::Result<OwnedFd> {
    // Whether it may be a program has to be said, on machines that would refuse it otherwise;
    // older kernels do not know the flag.
    let plain = MemfdFlags::CLOEXEC;
    let made = memfd_create(name, plain | MemfdFlags::NOEXEC_SEAL);
    Ok(made.or_else(|_| memfd_create(name, plain))?)
}

/// The same for a program.
pub(super) fn program(name: &str) -> io::Result<OwnedFd> {
    let plain = MemfdFlags::CLOEXEC;
    let made = memfd_create(name, plain | MemfdFlags::EXEC);
    Ok(made.or_else(|_| memfd_create(name, plain))?)
}

/// Writes all of a file's content.
pub(super) fn write(file: impl AsFd, bytes: &[u8]) -> io::Result<()> {
    let written = rustix::io::write(file, bytes)?;
    if written != bytes.len() {
        return Err(io::ErrorKind::WriteZero.into());
    }
    Ok(())
}
