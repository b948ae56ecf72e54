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

use crate::memory::MemoryFacts;
use crate::root::Root;

/// Small enough to take no time, and large enough for a median.
const FEW_PAGES_BYTES: usize = 2 << 20;
/// Pages timed together; the median of the groups leaves out those that were disturbed.
const GROUP_PAGES: usize = 64;
/// The kernel gives memory that was freed before memory that was never used, and keeps
/// the latter in blocks: by blocks, and so many of them, there is a chance to come to it.
const BLOCK_BYTES: usize = 2 << 20;
const BLOCKS_MAX: usize = 64;
/// What may be had without pushing anything out is not to be used up.
const SHARE_OF_MEMORY: u64 = 16;
/// Where each page takes long, fewer tell as much.
const TIME_MAX: Duration = Duration::from_millis(20);

/// Times bare page faults and touches of memory, first and again.
pub fn memory_floor() -> io::Result<MemoryFloor> {
    let unused = Mapping::new(FEW_PAGES_BYTES, Advice::LinuxNoHugepage)?;
    let fault_ns = median(unused.touch(GROUP_PAGES, |page| {
        // SAFETY: within the mapping. Reading takes no memory: the kernel maps a page of
        // zeros that all share.
        unsafe { ptr::read_volatile(page) };
    }));
    let used = Mapping::new(FEW_PAGES_BYTES, Advice::LinuxNoHugepage)?;
    used.touch(GROUP_PAGES, write);
    used.give_back()?;
    let again_ns = median(used.touch(GROUP_PAGES, write));
    Ok(MemoryFloor { fault_ns, first_touch_ns: again_ns + first_touch_more_ns()?, again_ns })
}

/// What the first touch of a page takes beyond a second one: of memory that is taken
/// block by block until time is up, so that the last ones are those that took long. The
/// lesser of the last two, for one may have been disturbed.
fn first_touch_more_ns() -> io::Result<f64> {
    let usable = MemoryFacts::read(&Root::real()).map_err(io::Error::other)?.usable_bytes();
    let blocks = (usable / SHARE_OF_MEMORY) as usize / BLOCK_BYTES;
    let memory = Mapping::new(blocks.clamp(1, BLOCKS_MAX) * BLOCK_BYTES, Advice::LinuxHugepage)?;
    let pages = BLOCK_BYTES / rustix::param::page_size();
    let first_ns = memory.touch(pages, write);
    memory.give_back()?;
    let again_ns = memory.touch(pages, write);
    let of_last = |ns: &[f64]| ns.iter().rev().take(2).copied().fold(f64::INFINITY, f64::min);
    Ok((of_last(&first_ns) - median(again_ns)).max(0.0))
}

fn write(page: *mut u8) {
    // SAFETY: only ever called with a page of a mapping that is writable and has no other
    // user.
    unsafe { ptr::write_volatile(page, 1) };
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Memory of its own until it is dropped.
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    /// With advice on the size of its pages. Kernels that know of no huge ones need none.
    fn new(bytes: usize, pages: Advice) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping where the kernel likes.
        let start =
            unsafe { mmap_anonymous(ptr::null_mut(), bytes, protection, MapFlags::PRIVATE)? };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mapping = Self { start, bytes };
        let _ = mapping.advise(pages);
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

    /// What touching a page takes, in nanoseconds, in each group of so many until time is up.
    fn touch(&self, group_pages: usize, touch: impl Fn(*mut u8)) -> Vec<f64> {
        let page_bytes = rustix::param::page_size();
        let began = Instant::now();
        let mut groups_ns = Vec::new();
        for group in 0..self.bytes / page_bytes / group_pages {
            let group_began = Instant::now();
            for page in group * group_pages..(group + 1) * group_pages {
                touch(self.start.as_ptr().wrapping_add(page * page_bytes));
            }
            groups_ns.push(group_began.elapsed().as_nanos() as f64 / group_pages as f64);
            if began.elapsed() > TIME_MAX {
                break;
            }
        }
        groups_ns
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
    fn memory_costs_more_than_a_bare_fault_and_no_less_at_first_touch() {
        let floor = memory_floor().unwrap();
        assert!(floor.fault_ns > 0.0, "{floor:?}");
        // Far apart: a page of memory must be found, cleared and accounted for.
        assert!(floor.again_ns > floor.fault_ns, "{floor:?}");
        assert!(floor.first_touch_ns >= floor.again_ns, "{floor:?}");
    }
}
