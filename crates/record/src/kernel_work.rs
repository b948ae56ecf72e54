//! What the kernel does with files for a program beside its calls.

use trace::{Call, Op};

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
    /// As it stands in the trace, but for its time and its path.
    pub(crate) call: Call,
    /// None where the address alone is known.
    pub(crate) file: Option<FileNumber>,
    pub(crate) address: u64,
}

/// An operation that `io_uring` has done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingDone {
    /// As it stands in the trace, but for its time, and its path where it has no descriptor.
    pub(crate) call: Call,
    pub(crate) file: FileNumber,
}

/// Which operation on a file of that mode one of `enum io_uring_op` is; none for what is of sockets,
/// timers and the like.
pub(crate) fn op_of_ring(operation: u32, mode: u32) -> Option<Op> {
    let is = |of: &[u32]| of.contains(&operation);
    let op = match () {
        () if is(&READS) || is(&LATER_READS) => Op::RingRead,
        () if is(&WRITES) => Op::RingWrite,
        () if is(&SYNCS) => Op::RingSync,
        () if is(&OTHERS) => return Some(Op::RingOther),
        () => return None,
    };
    [REGULAR, FOLDER, DISK].contains(&(mode & KIND)).then_some(op)
}
