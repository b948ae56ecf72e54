//! Why a place could not be created, each with what to use instead.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use thiserror::Error;

use crate::error::{PlaceError, WorkDirError};

/// Why a place could not be created, or removed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The process may not have mounts of its own.
    #[error(
        "creating a place needs a mount namespace ({0}): run as root, or allow user namespaces; \
         or use a directory that exists, such as /dev/shm for memory"
    )]
    NoNamespace(io::Error),
    /// It may, but not such.
    #[error(
        "only root can create this place; run as root, or use tmpfs:SIZE, or a directory that \
         exists, such as /dev/shm"
    )]
    NeedsRoot,
    /// The kernel cannot mount it.
    #[error(
        "this kernel does not support {0}; use another file system, or a directory that exists, \
         such as /dev/shm for memory"
    )]
    NoFileSystem(&'static str),
    /// The program that makes the file system is missing.
    #[error("{program} was not found; install it (package {package}), or use another file system")]
    NoProgram {
        /// Which.
        program: &'static str,
        /// What has it.
        package: &'static str,
    },
    /// That program failed.
    #[error("{program} failed: {said}; check the size, or use another file system")]
    Program {
        /// Which.
        program: &'static str,
        /// What it said, or how it ended.
        said: String,
    },
    /// A signal came meanwhile.
    #[error("interrupted while it was created")]
    Interrupted,
    /// No loop device.
    #[error(
        "no loop device is available ({0}); load the module (`modprobe loop`), give the container \
         access to /dev/loop*, or use tmpfs:SIZE"
    )]
    NoLoop(io::Error),
    /// No zram.
    #[error(
        "this kernel has no zram, or it is not loaded (`modprobe zram`); use tmpfs:SIZE, or \
         image:ext4:SIZE@/dev/shm"
    )]
    NoZram,
    /// No way to tell one zram device from another.
    #[error(
        "this kernel does not number its disks (diskseq, since Linux 5.15), so iotoll could not \
         tell its zram device from others; use tmpfs:SIZE"
    )]
    NoDiskNumbers,
    /// The directory cannot hold an image.
    #[error(
        "{}: its file system does not support unnamed files (O_TMPFILE); name a directory on \
         another, as in image:xfs:1G@/var/tmp", .0.display()
    )]
    NoTemporary(PathBuf),
    /// A path that an overlay's options cannot have.
    #[error(
        "{}: an overlay cannot be created over a path with a comma, colon, quote or backslash; \
         name another directory", .0.display()
    )]
    LayerPath(PathBuf),
    /// Mounting failed.
    #[error("mounting {filesystem} with the options `{options}` failed: {source}; {advice}")]
    Mount {
        /// The file system.
        filesystem: &'static str,
        /// Its options.
        options: String,
        /// What the system said.
        source: io::Error,
        /// What to do.
        advice: &'static str,
    },
    /// A device is in use, and so stays.
    #[error(
        "{}: could not be removed: {source}; stop whatever uses it, then run `iotoll clean`",
        device.display()
    )]
    Held {
        /// Which.
        device: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The directory that is needed.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A working folder.
    #[error(transparent)]
    Folder(#[from] WorkDirError),
    /// Anything else that the system says.
    #[error("{action} failed: {source}; see the kernel log (dmesg)")]
    Io {
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// The record is written first, or nothing is created.
pub(super) fn recording(source: io::Error) -> CreateError {
    CreateError::Io { action: "recording what is created", source }
}

impl CreateError {
    pub(super) fn io(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { action, source }
    }

    /// Why a directory has no room for an image.
    pub(super) fn no_image(directory: &Path, error: Errno) -> Self {
        match error {
            Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT => {
                Self::NoTemporary(directory.to_owned())
            }
            _ => Self::Io { action: "creating the image file", source: error.into() },
        }
    }

    pub(super) fn mount(filesystem: &'static str, options: &str, error: Errno) -> Self {
        let advice = match error {
            Errno::NODEV => return Self::NoFileSystem(filesystem),
            Errno::PERM | Errno::ACCESS => "run as root, or use a directory that exists",
            Errno::INVAL => "check the options; the kernel log (dmesg) names the one it refuses",
            _ => "see the kernel log (dmesg)",
        };
        let (options, source) = (options.to_owned(), error.into());
        Self::Mount { filesystem, options, source, advice }
    }
}
