//! What a recording has that a replay does not do.

use trace::{Call, Op, Unseen};

/// What the kernel does with files beside calls, and with mapped ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NotReplayed {
    /// Operations on `io_uring`.
    pub(crate) ring_operations: Count,
    /// Page faults of mapped files.
    pub(crate) mapped_pages: Count,
    /// Syncs of mapped files: what they have to write, no call wrote.
    pub(crate) msyncs: Count,
}

/// How often something was done, and how long it took, added up over what was under way at once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Count {
    pub(crate) number: u64,
    pub(crate) ns: u64,
}

/// mmap(2): the pages may be written to …
const PROT_WRITE: u64 = 2;
/// … and are the file's.
const MAP_SHARED: u64 = 1;
/// What a page of a mapped file may take that is read from a device, where that was not measured.
const PAGE_NS: u64 = 100_000;

/// Whether what is written to the pages of a mapped file becomes the file's.
pub(crate) fn maps_to_write(call: &Call) -> bool {
    call.op == Op::Map
        && !call.failed()
        && call.flags & PROT_WRITE > 0
        && (call.flags >> 32) & MAP_SHARED > 0
}

impl NotReplayed {
    /// Takes a call, of a file that was mapped to be written to or not.
    pub(crate) fn call(&mut self, call: &Call, is_mapped: bool) {
        let of = match call.op {
            Op::Fsync | Op::Fdatasync if is_mapped => &mut self.msyncs,
            op if op.is_of_ring() => &mut self.ring_operations,
            Op::Fault => &mut self.mapped_pages,
            Op::Msync => &mut self.msyncs,
            _ => return,
        };
        of.add(1, call.took_ns);
    }

    /// What was counted and not seen; of rings, nobody knows how long it took.
    pub(crate) fn unseen(&mut self, kind: Unseen, count: u64) {
        match kind {
            Unseen::IoUring => self.ring_operations.add(count, u64::MAX),
            Unseen::MappedPages => self.mapped_pages.add(count, count.saturating_mul(PAGE_NS)),
            Unseen::Programs | Unseen::Namespaces | Unseen::Paths | Unseen::Calls => {}
        }
    }
}

impl Count {
    fn add(&mut self, number: u64, ns: u64) {
        self.number = self.number.saturating_add(number);
        self.ns = self.ns.saturating_add(ns);
    }
}
