//! What touching memory costs.
//!
//! A virtual machine's memory is often its hypervisor's promise: a page that the guest
//! never used is found for it when it is first touched, at several times what a page costs
//! that was used before and freed. Which of the two a page is, the guest cannot see; it
//! can only time it.

use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use model::run::MemoryFloor;
use rustix::mm::Advice;
use sys::mapping::Mapping;

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
/// Enough blocks for a median.
const FEW_BLOCKS: usize = 8;
/// What may be had without pushing anything out is not to be used up.
const SHARE_OF_MEMORY: u64 = 16;
/// Where each page takes long, fewer tell as much.
const TIME_MAX: Duration = Duration::from_millis(20);

/// Times bare page faults and touches of memory, first and again.
pub fn memory_floor() -> io::Result<MemoryFloor> {
    let unused = memory(FEW_PAGES_BYTES, Advice::LinuxNoHugepage)?;
    let fault_ns = median(touch(&unused, FEW_PAGES_BYTES, GROUP_PAGES, |page| {
        // Reading takes no memory: the kernel maps a page of zeros that all share.
        black_box(page.load(Ordering::Relaxed));
    }));
    let mut used = memory(FEW_PAGES_BYTES, Advice::LinuxNoHugepage)?;
    touch(&used, FEW_PAGES_BYTES, GROUP_PAGES, write);
    used.advise(Advice::LinuxDontNeed)?;
    let again_ns = median(touch(&used, FEW_PAGES_BYTES, GROUP_PAGES, write));
    let huge = huge_pages()?;
    let first_touch_ns = again_ns + huge.first_more_ns;
    Ok(MemoryFloor { fault_ns, first_touch_ns, again_ns, huge_clear_ns: Some(huge.clear_ns) })
}

/// What the first touch of a page takes beyond a second one, as of now: a host may have taken
/// back what this machine had used and freed.
pub fn first_touch_more_ns() -> io::Result<f64> {
    Ok(huge_pages()?.first_more_ns)
}

/// What touching takes where memory is had in huge pages, per page of the usual size.
struct HugePages {
    /// The first time, beyond a second one.
    first_more_ns: f64,
    /// The kernel's clearing of all of it.
    clear_ns: f64,
}

/// What the first touch of a page takes beyond a second one: of memory that is taken
/// block by block until time is up, so that the last ones are those that took long. The
/// lesser of the last two, for one may have been disturbed.
fn huge_pages() -> io::Result<HugePages> {
    let usable = MemoryFacts::read(&Root::real()).map_err(io::Error::other)?.usable_bytes();
    let blocks = (usable / SHARE_OF_MEMORY) as usize / BLOCK_BYTES;
    let bytes = blocks.clamp(1, BLOCKS_MAX) * BLOCK_BYTES;
    let mut memory = memory(bytes, Advice::LinuxHugepage)?;
    let pages = BLOCK_BYTES / rustix::param::page_size();
    let first_ns = touch(&memory, bytes, pages, write);
    memory.advise(Advice::LinuxDontNeed)?;
    let few_bytes = bytes.min(FEW_BLOCKS * BLOCK_BYTES);
    let again_ns = median(touch(&memory, few_bytes, pages, write));
    let of_last = |ns: &[f64]| ns.iter().rev().take(2).copied().fold(f64::INFINITY, f64::min);
    // The touches themselves miss the processor's caches.
    let touched_ns = median(touch(&memory, few_bytes, pages, write));
    Ok(HugePages {
        first_more_ns: (of_last(&first_ns) - again_ns).max(0.0),
        clear_ns: (again_ns - touched_ns).max(0.0),
    })
}

fn write(page: &AtomicU8) {
    page.store(1, Ordering::Relaxed);
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Memory with advice on the size of its pages. Kernels that know of no huge ones need none.
fn memory(bytes: usize, pages: Advice) -> io::Result<Mapping> {
    let mut mapping = Mapping::anonymous(bytes)?;
    let _ = mapping.advise(pages);
    Ok(mapping)
}

/// What touching a page takes, in nanoseconds, in each group of so many until time is up.
fn touch(
    memory: &Mapping,
    bytes: usize,
    group_pages: usize,
    touch: impl Fn(&AtomicU8),
) -> Vec<f64> {
    let page_bytes = rustix::param::page_size();
    let began = Instant::now();
    let mut groups_ns = Vec::new();
    for group in 0..bytes / page_bytes / group_pages {
        let group_began = Instant::now();
        for page in group * group_pages..(group + 1) * group_pages {
            touch(memory.byte(page * page_bytes));
        }
        groups_ns.push(group_began.elapsed().as_nanos() as f64 / group_pages as f64);
        if began.elapsed() > TIME_MAX {
            break;
        }
    }
    groups_ns
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn memory_costs_more_than_a_bare_fault_and_no_less_at_first_touch() {
        // Far apart: a page of memory must be found, cleared and accounted for.
        let is_so = |floor: &MemoryFloor| {
            floor.fault_ns > 0.0
                && floor.again_ns > floor.fault_ns
                && floor.first_touch_ns >= floor.again_ns
                && floor.huge_clear_ns.is_some_and(|ns| ns < floor.again_ns)
        };
        // A host that has to find a page first makes one measurement long.
        let floors: Vec<MemoryFloor> = (0..3).map(|_| memory_floor().unwrap()).collect();
        assert!(floors.iter().any(is_so), "{floors:?}");
    }
}
