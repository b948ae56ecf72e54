//! One system call.

use crate::flags::{F_UNLCK, LOCK_UN, O_DSYNC, RWF_SYNCS};
use crate::op::Op;

/// A descriptor that a call does not have.
pub const NO_FD: i32 = -1;
/// In place of a descriptor: the working folder (`AT_FDCWD`).
pub const WORKING_FOLDER: i32 = -100;
/// In place of a descriptor: the folder that is the process's root.
pub const ROOT_FOLDER: i32 = -101;
/// In place of an offset: the descriptor's current position.
pub const HERE: i64 = -1;

/// The number of a path that an [`Entry::Path`](crate::Entry::Path) before has told.
///
/// Numbers count up from 0 and are never used again. A path may be told again under a new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "fuzz", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct PathId(pub u32);

/// One system call, as the kernel was asked and as it answered.
///
/// What an operation does not have is at its default: [`NO_FD`], `None`, [`HERE`], 0. Which
/// field means what for which operation is told at [`Op`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "fuzz", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub struct Call {
    /// The thread's number in the outermost PID namespace that the recorder sees.
    pub thread: u32,
    /// When it began, since the recording did.
    pub began_ns: u64,
    /// How long it took, with what of the recorder's own time falls within it
    /// ([`Header::overhead_within_ns`](crate::Header::overhead_within_ns)).
    pub took_ns: u64,
    /// For how much of that the thread was off the processor: it waited for a device, for a lock,
    /// or for a processor that others had. 0 where nobody saw it
    /// ([`Header::sees_waiting`](crate::Header::sees_waiting)).
    pub waited_ns: u64,
    /// What of that it was ready to run and others had the processor; like those below, 0 where
    /// waiting was not told apart ([`Header::divides_waits`](crate::Header::divides_waits)).
    pub queued_ns: u64,
    /// What of that it waited for a lock that another thread had.
    pub locked_ns: u64,
    /// What of that it waited for the other end of a pipe or socket, by a call that moves bytes
    /// between that and a file. The rest of `waited_ns` it waited for a device.
    pub piped_ns: u64,
    /// How many system calls of the thread, of any kind, took the recorder's slower way since its
    /// last entry, this one included ([`Header::dispatch_ns`](crate::Header::dispatch_ns)).
    pub dispatched: u32,
    /// What was called.
    pub op: Op,
    /// The descriptor it acts on, or the folder that `path` is relative to.
    pub fd: i32,
    /// A second descriptor, or the folder that `to` is relative to.
    pub other: i32,
    /// The path as it was given to the call, and may be relative; none where the call has none,
    /// or where it could not be read.
    pub path: Option<PathId>,
    /// A second path.
    pub to: Option<PathId>,
    /// Where in the file, or [`HERE`].
    pub offset: i64,
    /// How many bytes were asked for; buffers of a vector added up.
    pub length: u64,
    /// The flags, command or operation that was asked for.
    pub flags: u64,
    /// Permissions that were asked for.
    pub mode: u32,
    /// What the kernel returned: -errno for a failure.
    pub result: i64,
}

impl Call {
    /// A call that has nothing but its operation, and took no time.
    pub const fn new(thread: u32, op: Op) -> Self {
        Self {
            thread,
            began_ns: 0,
            took_ns: 0,
            waited_ns: 0,
            queued_ns: 0,
            locked_ns: 0,
            piped_ns: 0,
            dispatched: 0,
            op,
            fd: NO_FD,
            other: NO_FD,
            path: None,
            to: None,
            offset: HERE,
            length: 0,
            flags: 0,
            mode: 0,
            result: 0,
        }
    }

    /// When it ended, since the recording began.
    pub const fn ended_ns(&self) -> u64 {
        self.began_ns.saturating_add(self.took_ns)
    }

    /// Whether it writes, or opens what is written, so that data is on the device before a write
    /// returns.
    pub const fn writes_through(&self) -> bool {
        match self.op {
            Op::Open => !self.failed() && self.flags & O_DSYNC > 0,
            Op::Write => self.flags & RWF_SYNCS > 0,
            _ => false,
        }
    }

    /// Whether, of a call on a lock, it lets that go.
    pub(crate) fn unlocks(&self) -> bool {
        match self.op {
            Op::Flock => self.flags & LOCK_UN > 0,
            _ => self.mode == F_UNLCK,
        }
    }

    /// Whether the parts of its time are within it.
    pub(crate) const fn adds_up(&self) -> bool {
        let for_others = self.locked_ns.saturating_add(self.piped_ns);
        let parts = self.queued_ns.saturating_add(for_others);
        parts <= self.waited_ns && self.waited_ns <= self.took_ns
    }

    /// Whether the kernel refused it.
    pub const fn failed(&self) -> bool {
        self.result < 0
    }
}
