//! Kinds of file calls, as a bill adds them up.

use serde::Serialize;

use crate::listed::listed;
use crate::op::Op;

listed! {
    /// What kind of call.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Kind {
        /// Opening and closing files.
        Open,
        /// Reading, also by sendfile(2) and its like.
        Read,
        /// Writing.
        Write,
        /// Forcing data to the device.
        Sync,
        /// Looking at names and facts: stat(2), access(2), readlink(2), listing folders.
        Look,
        /// Making, renaming and removing names, and changing facts of files.
        Change,
        /// Locks, mostly waiting for them.
        Lock,
        /// Mapping files into memory. What is then read and written needs no call.
        Map,
        /// Page faults of mapped files, which read them or make pages to be written back.
        Fault,
        /// Truncating files, and allocating room for them.
        Size,
        /// Anything else that acts on a file: seeks, advice, and `sync_file_range`, which begins to
        /// write and promises nothing.
        Other,
    }
}

/// How many kinds there are.
pub(crate) const KINDS: usize = Kind::ALL.len();

impl Kind {
    /// What a program does meanwhile, as it goes on after "time spent". Whether most of that is
    /// waiting decides between waiting and working, where it is known; where it is not, fsync and
    /// locks are taken to wait, as they mostly do.
    pub const fn doing(self, waits: Option<bool>) -> &'static str {
        match (self, waits) {
            (Self::Open, _) => "opening and closing",
            (Self::Read, Some(true)) => "waiting for reads",
            (Self::Read, _) => "reading",
            (Self::Write, Some(true)) => "waiting for writes",
            (Self::Write, _) => "writing",
            (Self::Sync, Some(false)) => "running fsync",
            (Self::Sync, _) => "waiting for fsync",
            (Self::Look, _) => "looking up names",
            (Self::Change, _) => "changing names",
            (Self::Lock, Some(false)) => "taking locks",
            (Self::Lock, _) => "waiting for locks",
            (Self::Map, _) => "mapping files",
            (Self::Fault, Some(true)) => "waiting for mapped files",
            (Self::Fault, _) => "using mapped files",
            (Self::Size, Some(true)) => "waiting for changed sizes",
            (Self::Size, _) => "changing sizes",
            (Self::Other, _) => "other file calls",
        }
    }

    /// The kind of an operation; none of those that act on no file.
    pub(crate) const fn of(op: Op) -> Option<Self> {
        Some(match op {
            Op::Open | Op::Close => Self::Open,
            Op::Read | Op::Sendfile | Op::CopyRange | Op::Splice | Op::RingRead => Self::Read,
            Op::Write | Op::RingWrite => Self::Write,
            Op::Fsync | Op::Fdatasync | Op::Syncfs | Op::Sync | Op::Msync | Op::RingSync => {
                Self::Sync
            }
            Op::Stat | Op::Access | Op::Readlink | Op::Statfs | Op::Getdents | Op::Getxattr => {
                Self::Look
            }
            Op::Mkdir
            | Op::Mknod
            | Op::Rmdir
            | Op::Unlink
            | Op::Rename
            | Op::Link
            | Op::Symlink
            | Op::Chmod
            | Op::Chown
            | Op::Utime
            | Op::Setxattr => Self::Change,
            Op::Lock | Op::Flock => Self::Lock,
            Op::Map => Self::Map,
            Op::Fault => Self::Fault,
            Op::Truncate | Op::Allocate => Self::Size,
            Op::Seek
            | Op::SyncRange
            | Op::Advise
            | Op::Ioctl
            | Op::Chdir
            | Op::Duplicate
            | Op::Fcntl
            | Op::RingOther => Self::Other,
            Op::CloseRange
            | Op::Pipe
            | Op::Socket
            | Op::Socketpair
            | Op::Special
            | Op::Chroot
            | Op::Umask
            | Op::Wait
            | Op::Unshare
            | Op::Receive
            | Op::Send => return None,
        })
    }
}
