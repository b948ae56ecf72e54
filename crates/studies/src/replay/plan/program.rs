//! What is replayed: threads of steps on numbered paths and descriptors, made once of a trace.

use std::ffi::CString;

use super::not_replayed::NotReplayed;

/// Fills are told apart in so many steps of compressibility.
pub(crate) const FILL_STEPS: usize = 16;
/// The fill that does not become smaller, which is taken where nothing is known.
pub(crate) const RANDOM: u8 = FILL_STEPS as u8;

/// A path below the slice's folder, as its place in [`Program::paths`].
pub(crate) type PathNumber = u32;
/// An open file, whatever the descriptors were called that stood for it.
pub(crate) type Slot = u32;
/// What one step waits for and another does, as its place among all signals.
pub(crate) type SignalNumber = u32;

/// That of a step that no other waits for.
pub(crate) const NO_SIGNAL: SignalNumber = SignalNumber::MAX;

/// A recorded program's file calls, or those of the stretch that is replayed.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) replay_threads: Vec<ReplayThread>,
    /// None has `..` in it or begins with a slash; the empty one is the folder itself, as `.`.
    pub(crate) paths: Vec<CString>,
    pub(crate) slots: usize,
    pub(crate) signals: usize,
    /// What is there before, folders before what is in them.
    pub(crate) initial: Vec<Initial>,
    /// Files that were open before.
    pub(crate) opened: Vec<Act>,
    pub(crate) facts: Facts,
}

/// One thread of the replay. Recorded threads that lived one after the other share one.
#[derive(Debug, Default)]
pub(crate) struct ReplayThread {
    pub(crate) steps: Vec<Step>,
    /// What steps wait for, in their order.
    pub(crate) waits: Vec<SignalNumber>,
}

/// One thing that a thread does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// How long the thread did other things before.
    pub(crate) think_ns: u64,
    pub(crate) act: Act,
    /// What the kernel answered when it was recorded: -errno for a failure.
    pub(crate) expected: i64,
    /// What is told to others once it is done.
    pub(crate) signal: SignalNumber,
    /// Where in its thread's list the signals end that it waits for; those of the step before
    /// end where its own begin.
    pub(crate) waits_end: u32,
    /// Whether it waits first and thinks afterwards, as what was woken does.
    pub(crate) waits_first: bool,
    /// For how many microseconds the call was off the processor when it was recorded.
    pub(crate) waited_us: u16,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    // A recorded thread begins; this share of its thinking is computing, the rest is sleep.
    Begin { computing: f32 },
    // It ends, or something happens that others wait for.
    Pass,
    Open { path: PathNumber, slot: Slot, flags: u32, mode: u16 },
    Close { slot: Slot },
    Read { slot: Slot, length: u32, offset: i64 },
    Write { slot: Slot, length: u32, offset: i64, file: u32, fill: u8 },
    Seek { slot: Slot, whence: u8, offset: i64 },
    Sync { slot: Slot, what: Synced },
    SyncRange { slot: Slot, flags: u32, offset: i64, length: i64 },
    Truncate { target: Target, length: u64 },
    Allocate { slot: Slot, mode: u32, offset: u64, length: u64 },
    Advise { slot: Slot, advice: u8, offset: u64, length: u64 },
    Stat { target: Target, follow: bool },
    Access { path: PathNumber, mode: u8 },
    Readlink { path: PathNumber, length: u32 },
    List { slot: Slot, length: u32 },
    Mkdir { path: PathNumber, mode: u16 },
    Mknod { path: PathNumber, mode: u16 },
    Rmdir { path: PathNumber },
    Unlink { path: PathNumber },
    Rename { path: PathNumber, to: PathNumber, flags: u32 },
    Link { path: PathNumber, to: PathNumber },
    // What it says is the first: a path of ours, or a name of nothing.
    Symlink { says: PathNumber, at: PathNumber },
    Chmod { target: Target, mode: u16 },
    Chown { target: Target },
    Utime { target: Target },
    Lock { slot: Slot, kind: LockKind, own: bool, waits: bool, offset: i64, length: i64 },
    Flock { slot: Slot, operation: u8 },
    // The offset is in the file that is read, or -1.
    Copy { from: Slot, to: Slot, length: u32, offset: i64, by_sendfile: bool },
    Clone { from: Slot, to: Slot },
}

/// What a call acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    At(PathNumber),
    Held(Slot),
}

/// What is forced to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Synced {
    All,
    Data,
    FileSystem,
}

/// What becomes of a range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockKind {
    Read,
    Write,
    Unlock,
}

/// What is in the folder before the replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Initial {
    pub(crate) path: PathNumber,
    pub(crate) what: InitialKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InitialKind {
    Folder,
    File { bytes: u64, fill: u8, mode: u16 },
    // A link that says this, which leads nowhere else than below the folder.
    Link { says: CString },
}

/// A replay whose calls take no time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Shortest {
    /// How long it takes.
    pub(crate) ns: f64,
    /// For how much of that it waits for what is not known.
    pub(crate) asleep_ns: f64,
}

/// What the recording was like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Facts {
    /// How long all of it took, without the recorder's overhead.
    pub(crate) recorded_ns: u64,
    /// How long the stretch took that is replayed, likewise.
    pub(crate) stretch_ns: u64,
    /// In so much of that some thread was in a call that is replayed, at the most.
    pub(crate) files_ns: u64,
    /// What is left of it when calls take no time.
    pub(crate) shortest: Shortest,
    /// Whether it is known which thread woke another one.
    pub(crate) sees_wakers: bool,
    /// What is not.
    pub(crate) not_replayed: NotReplayed,
    /// Calls that are replayed.
    pub(crate) calls: u64,
    /// What they write.
    pub(crate) written_bytes: u64,
    /// How many files and folders they make at the most.
    pub(crate) made: u64,
}

/// The kinds of calls that time is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Open,
    Read,
    Write,
    Sync,
    Metadata,
    Lock,
}

impl Kind {
    pub(crate) const COUNT: usize = 6;
}

impl Act {
    /// The kind of call that it is; none where it calls nothing.
    pub(crate) fn kind(&self) -> Option<Kind> {
        Some(match self {
            Self::Begin { .. } | Self::Pass => return None,
            Self::Open { .. } | Self::Close { .. } => Kind::Open,
            Self::Read { .. } => Kind::Read,
            Self::Write { .. } | Self::Copy { .. } | Self::Clone { .. } => Kind::Write,
            Self::Sync { .. } | Self::SyncRange { .. } => Kind::Sync,
            Self::Lock { .. } | Self::Flock { .. } => Kind::Lock,
            _ => Kind::Metadata,
        })
    }

    /// Whether a file's or folder's name comes, goes or changes by it.
    pub(crate) fn changes_name(&self) -> bool {
        matches!(
            self,
            Self::Mkdir { .. }
                | Self::Mknod { .. }
                | Self::Rmdir { .. }
                | Self::Unlink { .. }
                | Self::Rename { .. }
                | Self::Link { .. }
                | Self::Symlink { .. }
        ) || matches!(self, Self::Open { flags, .. } if flags & (libc::O_CREAT | libc::O_TRUNC) as u32 != 0)
    }

    /// Whether the kernel's answer is a number that must be the same: bytes, or a position.
    /// Of all others it is that they succeed, or fail for the same reason.
    fn counts(&self) -> bool {
        matches!(
            self,
            Self::Read { .. }
                | Self::Write { .. }
                | Self::Seek { .. }
                | Self::Readlink { .. }
                | Self::Copy { .. }
        )
    }

    /// Whether it went as it was recorded.
    pub(crate) fn agrees(&self, expected: i64, found: i64) -> bool {
        let both_succeed = expected >= 0 && found >= 0;
        expected == found || (both_succeed && !self.counts())
    }
}

/// The fill that becomes so small, from 0 to 1.
pub(crate) fn fill_of(compressed: Option<f32>) -> u8 {
    compressed.map_or(RANDOM, |share| (share.clamp(0.0, 1.0) * FILL_STEPS as f32).round() as u8)
}
