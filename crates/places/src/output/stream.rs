//! Devices and FIFOs, which are written as they are.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, openat};
use rustix::io::Errno;

use super::error::OutputError;

/// How long a FIFO that nobody reads is waited for once there is something to write.
const READER_PATIENCE: Duration = Duration::from_secs(10);

/// A FIFO or a device.
#[derive(Debug)]
pub(super) struct Stream {
    /// Opened only to be referred to (`O_PATH`).
    pub(super) fd: OwnedFd,
    /// The directory and name that it was found by, where it has one.
    pub(super) name: Option<(OwnedFd, CString)>,
}

impl Stream {
    /// Opens the very one that was found, without waiting for anything. An error (`ENXIO`)
    /// where nobody reads a FIFO.
    pub(super) fn open(&self) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let name = self.name.as_ref().map(|(directory, name)| (directory.as_fd(), name.as_c_str()));
        let file = File::from(reopen(&self.fd, name, flags)?);
        let set = fcntl_getfl(file.as_fd())?;
        fcntl_setfl(file.as_fd(), set - OFlags::NONBLOCK)?;
        Ok(file)
    }
}

/// A FIFO that nobody read yet.
#[derive(Debug)]
pub(super) struct Fifo(pub(super) Stream);

impl Fifo {
    pub(super) fn await_reader(self) -> Result<File, OutputError> {
        let began = Instant::now();
        loop {
            match self.0.open() {
                Err(error) if !is_unread(&error) => return Err(error.into()),
                Err(_) if began.elapsed() > READER_PATIENCE => {
                    return Err(OutputError::Refused(format!(
                        "nothing was reading it for {} s; start its reader first, or name a file",
                        READER_PATIENCE.as_secs()
                    )));
                }
                Err(_) => sleep(Duration::from_millis(50)),
                Ok(file) => return Ok(file),
            }
        }
    }
}

pub(super) fn is_unread(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::NXIO.raw_os_error())
}

/// Opens what is open only to be referred to, and nothing else that may have got the name by
/// which it was found.
pub(super) fn reopen(
    found: &OwnedFd,
    name: Option<(BorrowedFd<'_>, &CStr)>,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    match (openat(CWD, link_to(found), flags, Mode::empty()), name) {
        // There is no `/proc`.
        (Err(Errno::NOENT), Some((directory, name))) => {
            let opened = openat(directory, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
            let [of_opened, of_found] = [fstat(&opened)?, fstat(found)?];
            let is_same =
                (of_opened.st_dev, of_opened.st_ino) == (of_found.st_dev, of_found.st_ino);
            if is_same { Ok(opened) } else { Err(Errno::STALE) }
        }
        (opened, _) => opened,
    }
}

/// The path by which an open file is opened or linked once more.
pub(super) fn link_to(fd: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}
