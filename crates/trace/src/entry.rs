//! What a trace is made of.

use std::sync::Arc;

#[cfg(feature = "fuzz")]
use serde::Deserialize;
use serde::Serialize;

use crate::call::{Call, PathId};
use crate::header::OverheadNs;
use crate::listed::listed;

/// One entry of a trace.
///
/// Entries of one thread are in the order of time. Those of several are in the order in which
/// they ended, as far as the recorder could tell: of two calls that overlap, either may come
/// first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "fuzz", derive(Serialize, Deserialize, schemars::JsonSchema))]
pub enum Entry {
    /// A system call.
    Call(Call),
    /// A path that entries after it name by its number.
    Path {
        /// One more than that of the path before.
        id: PathId,
        /// As the kernel has it: any bytes but 0.
        #[cfg_attr(feature = "fuzz", serde(with = "crate::letters"), schemars(with = "String"))]
        bytes: Arc<[u8]>,
    },
    /// A thread or a process has begun.
    ///
    /// What was there when the recording began has such an entry, too: a process with the
    /// parent 0, and its further threads with the process as their parent.
    Fork {
        /// When, since the recording began.
        at_ns: u64,
        /// The thread that made it, or 0.
        parent: u32,
        /// The new one. Of a process it is its first thread's number, and the process's own.
        child: u32,
        /// Whether it is a thread of the parent's process.
        thread: bool,
        /// Whether it shares the parent's table of descriptors rather than having a copy.
        shares_files: bool,
        /// Whether it shares the parent's working folder rather than having a copy.
        shares_folder: bool,
    },
    /// A process runs another program from here on; its other threads have ended.
    Exec {
        /// When, since the recording began.
        at_ns: u64,
        /// The process: whichever thread called, it is its first thread's number afterwards.
        thread: u32,
        /// The program's file.
        program: Option<PathId>,
    },
    /// A thread has ended, and with its last thread a process.
    Exit {
        /// When, since the recording began.
        at_ns: u64,
        /// Which.
        thread: u32,
        /// As wait(2) has it.
        status: i32,
        /// Processor time of the thread outside the kernel; 0 where it is not known.
        user_ns: u64,
        /// Processor time of the thread within the kernel.
        system_ns: u64,
    },
    /// A thread that slept was woken by another one, which did so within a system call.
    ///
    /// Such entries are there where the recorder sees them
    /// ([`Header::sees_wakers`](crate::Header::sees_wakers)), of sleeps that end by what another
    /// thread does: a pipe or socket, a futex, the end of a process. They come when the sleep ends.
    Woken {
        /// When it was woken, since the recording began.
        at_ns: u64,
        /// The thread that slept.
        thread: u32,
        /// The thread that woke it, which need not be one that is recorded.
        by: u32,
        /// For how long it had slept.
        slept_ns: u64,
    },
    /// A descriptor that a process had when the recording began, or its working folder.
    Inherited {
        /// The process, which a `Fork` before has told.
        process: u32,
        /// The descriptor, [`WORKING_FOLDER`](crate::WORKING_FOLDER), or, where that is not `/`,
        /// [`ROOT_FOLDER`](crate::ROOT_FOLDER).
        fd: i32,
        /// The absolute path of what it stands for, or what `/proc` has in its place, such as
        /// `pipe:[4711]`. Descriptors of one open file have one path, flags and offset.
        path: PathId,
        /// As open(2) has them, `O_CLOEXEC` included.
        flags: u64,
        /// Its position.
        offset: u64,
    },
    /// What a path stands for, as soon as the recorder could look.
    File(FileFacts),
    /// What the recorder cannot see was met.
    Unseen {
        /// What it was.
        kind: Unseen,
        /// How often since the last such entry.
        count: u64,
    },
    /// Entries that could not be kept.
    Lost {
        /// How many since the last such entry.
        count: u64,
    },
    /// No thread was on a processor: all of them waited for something. Shorter times than some
    /// 20 µs are left out.
    Idle {
        /// When that began, since the recording did.
        at_ns: u64,
        /// For how long.
        took_ns: u64,
    },
    /// From here on the recorder costs this, rather than what the header says or an entry before:
    /// it measured that while it recorded.
    Overhead {
        /// How much longer the program takes for each call.
        overhead_ns: OverheadNs,
        /// How much of that falls within the recorded time of the call.
        within_ns: OverheadNs,
    },
    /// For so long since the last such entry, at least one thread was held up by the recorder. Only a
    /// recorder that stops threads has these.
    Held {
        /// At the least.
        low_ns: u64,
        /// At the most.
        high_ns: u64,
    },
    /// A thread outside of the recording that ended waits within it, as far as it could be looked at.
    Outside {
        /// Its number.
        thread: u32,
        /// The process to look at: its own, or the one that started it with the same program.
        process: u32,
        /// The process's name.
        name: PathId,
        /// Where it answers.
        address: Option<PathId>,
    },
}

impl Entry {
    /// The paths that it names.
    pub(crate) fn named(&mut self) -> impl Iterator<Item = &mut PathId> {
        let (path, other) = match self {
            Self::Call(call) => (call.path.as_mut(), call.to.as_mut()),
            Self::Exec { program, .. } => (program.as_mut(), None),
            Self::Inherited { path, .. } => (Some(path), None),
            Self::File(facts) => (Some(&mut facts.path), facts.target.as_mut()),
            Self::Outside { name, address, .. } => (Some(name), address.as_mut()),
            Self::Path { .. }
            | Self::Fork { .. }
            | Self::Exit { .. }
            | Self::Woken { .. }
            | Self::Unseen { .. }
            | Self::Lost { .. }
            | Self::Idle { .. }
            | Self::Overhead { .. }
            | Self::Held { .. } => (None, None),
        };
        path.into_iter().chain(other)
    }
}

/// Behind the path of an inherited socket, as `/proc` has it: a connection that the process accepted.
pub const ACCEPTED: &[u8] = b" accepted";

/// What a path stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "fuzz", derive(Serialize, Deserialize, schemars::JsonSchema))]
pub struct FileFacts {
    /// When it was looked at, since the recording began.
    pub at_ns: u64,
    /// Absolute, or relative to the working folder of the thread that used it last.
    pub path: PathId,
    /// What kind of file.
    pub kind: FileKind,
    /// Its length; of a symbolic link, that of its target's name.
    pub bytes: u64,
    /// The file system's number: with the inode's, whether two paths are one file.
    pub device: u64,
    /// The inode's number.
    pub inode: u64,
    /// Permissions.
    pub mode: u32,
    /// Of how much of the contents a sample was compressed; 0 for none. The sample is not kept.
    pub sample_bytes: u32,
    /// How small the sample became.
    pub compressed_bytes: u32,
    /// What a symbolic link says.
    pub target: Option<PathId>,
}

listed! {
    /// What kind of file a path stands for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[cfg_attr(feature = "fuzz", derive(Serialize, Deserialize, schemars::JsonSchema))]
    #[repr(u8)]
    pub enum FileKind {
        /// A file with contents.
        Regular = 0,
        /// A folder.
        Folder = 1,
        /// A symbolic link.
        Link = 2,
        /// A pipe.
        Pipe = 3,
        /// A socket.
        Socket = 4,
        /// A device.
        Device = 5,
        /// Nothing was there.
        Missing = 6,
        /// Anything else, such as a file of `/proc`.
        #[default]
        Other = 7,
    }
}

listed! {
    /// What a recorder can meet and not see into.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[cfg_attr(feature = "fuzz", derive(Deserialize))]
    #[repr(u8)]
    pub enum Unseen {
        /// Pages that had to be read for mapped files: reads without a call.
        MappedPages = 0,
        /// Calls that hand operations to `io_uring`, or operations where they can be counted.
        IoUring = 1,
        /// Calls that change what is mounted, or for whom: paths mean other files after them.
        Namespaces = 2,
        /// Programs that were not followed, such as those with more rights than the recorder.
        Programs = 3,
        /// Paths that could not be read from the program's memory.
        Paths = 4,
        /// System calls that act on files and that the recorder does not know.
        Calls = 5,
    }
}
