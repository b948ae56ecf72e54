//! What the kernel does with files for a program beside its calls, and the entry of the trace that
//! it becomes.

use trace::{Call, Op, PathId};

/// `enum io_uring_op`: what acts on files, by what a bill calls it.
const READS: [u32; 4] = [1, 4, 22, 30];
const WRITES: [u32; 4] = [2, 5, 23, 60];
const SYNCS: [u32; 2] = [3, 8];
const OTHERS: [u32; 15] = [17, 18, 19, 21, 24, 28, 35, 36, 37, 38, 39, 41, 42, 43, 55];
/// Reads of several buffers into registered memory, and of a provided buffer.
const LATER_READS: [u32; 2] = [49, 59];
/// stat(2): files and folders, and disks.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const DISK: u32 = 0o060_000;

/// A file by its numbers in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileNumber {
    /// As the kernel has it, of which the lower 20 bits are the minor number.
    pub(crate) device: u32,
    pub(crate) inode: u64,
}

/// A page fault of a mapped file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) thread: u32,
    pub(crate) began_ns: u64,
    pub(crate) ended_ns: u64,
    pub(crate) waited_ns: u64,
    /// None where the address alone is known.
    pub(crate) file: Option<FileNumber>,
    pub(crate) address: u64,
    /// Which page of the file.
    pub(crate) page: u64,
    pub(crate) for_writing: bool,
}

/// An operation that `io_uring` has done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingDone {
    pub(crate) thread: u32,
    pub(crate) began_ns: u64,
    pub(crate) ended_ns: u64,
    pub(crate) file: FileNumber,
    pub(crate) mode: u32,
    /// None for a registered file.
    pub(crate) descriptor: Option<i32>,
    /// `enum io_uring_op`.
    pub(crate) operation: u32,
    pub(crate) result: i32,
}

impl Fault {
    /// As it stands in the trace, `origin_ns` being the recording's beginning.
    pub(crate) fn call(&self, origin_ns: u64, page_bytes: u64, path: Option<PathId>) -> Call {
        let took_ns = self.ended_ns.saturating_sub(self.began_ns);
        Call {
            began_ns: self.began_ns.saturating_sub(origin_ns),
            took_ns,
            waited_ns: self.waited_ns.min(took_ns),
            path,
            offset: self.page.saturating_mul(page_bytes).cast_signed(),
            length: page_bytes,
            flags: self.for_writing.into(),
            ..Call::new(self.thread, Op::Fault)
        }
    }
}

impl RingDone {
    /// Which operation on a file it is; none for what is of sockets, timers and the like.
    pub(crate) fn op(&self) -> Option<Op> {
        let is = |of: &[u32]| of.contains(&self.operation);
        let op = match () {
            () if is(&READS) || is(&LATER_READS) => Op::RingRead,
            () if is(&WRITES) => Op::RingWrite,
            () if is(&SYNCS) => Op::RingSync,
            () if is(&OTHERS) => return Some(Op::RingOther),
            () => return None,
        };
        [REGULAR, FOLDER, DISK].contains(&(self.mode & KIND)).then_some(op)
    }

    /// As it stands in the trace.
    pub(crate) fn call(&self, op: Op, origin_ns: u64, path: Option<PathId>) -> Call {
        let bytes = u64::try_from(self.result).unwrap_or(0);
        let mut call = Call {
            began_ns: self.began_ns.saturating_sub(origin_ns),
            took_ns: self.ended_ns.saturating_sub(self.began_ns),
            path,
            length: bytes,
            result: self.result.into(),
            ..Call::new(self.thread, op)
        };
        // The descriptor of what opens, renames or removes is a folder's.
        if op != Op::RingOther && path.is_none() {
            call.fd = self.descriptor.unwrap_or(trace::NO_FD);
        }
        call
    }
}
