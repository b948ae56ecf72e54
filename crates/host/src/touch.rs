//! What touching memory costs.
//!
//! A virtual machine's memory is often its hypervisor's promise: a page that the guest
//! never used is found for it when it is first touched, at several times what a page costs
//! that was used before and freed. Which of the two a page is, the guest cannot see; it
//! can only time it.

use std::io;
use std::ptr::{self, NonNull};
use std::time::{Duration, Instant};

use model::run::MemoryFloor;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// More than what lies ready for each processor, so that memory is taken from where a
/// large file's pages come from.
const TOUCHED_BYTES: usize = 8 << 20;
/// Pages timed together; the median of the groups leaves out those that were disturbed.
const GROUP_PAGES: usize = 64;
/// Where each page takes long, fewer tell as much.
const TIME_MAX: Duration = Duration::from_millis(15);

/// Times bare page faults and touches of memory, first and again.
pub fn memory_floor() -> io::Result<MemoryFloor> {
    let unused = Mapping::new(TOUCHED_BYTES)?;
    let fault_ns = unused.touch(|page| {
        // SAFETY: within the mapping. Reading takes no memory: the kernel maps a page of
        // zeros that all share.
        unsafe { ptr::read_volatile(page) };
    });
    let memory = Mapping::new(TOUCHED_BYTES)?;
    let write = |page: *mut u8| {
        // SAFETY: within the mapping, which is writable and has no other user.
        unsafe { ptr::write_volatile(page, 1) };
    };
    let first_touch_ns = memory.touch(write);
    memory.give_back()?;
    let again_ns = memory.touch(write);
    Ok(MemoryFloor { fault_ns, first_touch_ns, again_ns })
}

/// Memory of its own, in pages of the usual size, until it is dropped.
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    fn new(bytes: usize) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping where the kernel likes.
        let start =
            unsafe { mmap_anonymous(ptr::null_mut(), bytes, protection, MapFlags::PRIVATE)? };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mapping = Self { start, bytes };
        // Kernels without huge pages know no such advice, and need none.
        let _ = mapping.advise(Advice::LinuxNoHugepage);
        Ok(mapping)
    }

    fn advise(&self, advice: Advice) -> io::Result<()> {
        // SAFETY: the whole of a mapping that has no other user, and whose contents nobody
        // needs.
        unsafe { madvise(self.start.as_ptr().cast(), self.bytes, advice)? };
        Ok(())
    }

    /// Gives the memory back; the addresses stay.
    fn give_back(&self) -> io::Result<()> {
        self.advise(Advice::LinuxDontNeed)
    }

    /// What touching a page takes, in nanoseconds: the median of groups of them.
    fn touch(&self, touch: impl Fn(*mut u8)) -> f64 {
        let page_bytes = rustix::param::page_size();
        let began = Instant::now();
        let mut groups_ns = Vec::new();
        for group in 0..self.bytes / page_bytes / GROUP_PAGES {
            let group_began = Instant::now();
            for page in group * GROUP_PAGES..(group + 1) * GROUP_PAGES {
                touch(self.start.as_ptr().wrapping_add(page * page_bytes));
            }
            groups_ns.push(group_began.elapsed().as_nanos() as f64 / GROUP_PAGES as f64);
            if began.elapsed() > TIME_MAX {
                break;
            }
        }
        groups_ns.sort_by(f64::total_cmp);
        groups_ns[groups_ns.len() / 2]
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's own, and nothing points into it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn each_touch_costs_something_and_memory_more_than_a_bare_fault() {
        let floor = memory_floor().unwrap();
        assert!(floor.fault_ns > 0.0, "{floor:?}");
        // Far apart: a page of memory must be found, cleared and accounted for.
        assert!(floor.first_touch_ns > floor.fault_ns, "{floor:?}");
    }
}
