//! Where a thread is found without a search: the last bits of its number lead to its slot.
//!
//! Most threads have theirs to themselves. Of two whose slot is the same the first has it, and the
//! other is found in the map of all that are followed; how many belong to a slot says whether there
//! is anyone to look for. Both this process and the programs change slots, each number of them
//! atomically. Where two threads take a free one at once, one of them has it and both are found.

use std::io;
use std::os::fd::AsFd as _;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::kernel::Map;
use super::layout::THREAD_BYTES;

/// `u32`: the thread that has the slot; 0 for none.
pub(super) const THREAD: i16 = 0;
/// `u32`: how many threads that are followed belong to it.
pub(super) const COUNT: i16 = 4;
/// What is known of the one that has it, as in the map of threads.
pub(super) const VALUE: i16 = 8;
/// A slot's length.
pub(super) const BYTES: u32 = VALUE as u32 + THREAD_BYTES;

/// A slot as this process changes it.
#[repr(C)]
struct Slot {
    thread: AtomicU32,
    count: AtomicU32,
    value: [AtomicU64; THREAD_BYTES as usize / 8],
}
const _: () = assert!(size_of::<Slot>() == BYTES as usize && BYTES.is_power_of_two());

/// The slots, in memory that the programs share.
pub(super) struct Slots {
    map: Map,
    at: NonNull<Slot>,
    count: u32,
}

impl Slots {
    /// So many, a power of two.
    pub(super) fn new(count: u32) -> io::Result<Self> {
        assert!(count.is_power_of_two());
        let map = Map::shared(count * BYTES)?;
        // SAFETY: at an address of the kernel's choice, nothing else is there.
        let at = unsafe {
            let (anywhere, all) = (std::ptr::null_mut(), (count * BYTES) as usize);
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            mmap(anywhere, all, protection, MapFlags::SHARED, map.descriptor().as_fd(), 0)
        }?;
        let at = NonNull::new(at.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { map, at, count })
    }

    pub(super) fn number(&self) -> i32 {
        self.map.number()
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    fn slot(&self, index: u32) -> &Slot {
        assert!(index < self.count);
        // SAFETY: there are so many slots; they stay mapped, and all change them atomically.
        unsafe { self.at.add(index as usize).as_ref() }
    }

    /// Whether no thread has one.
    #[cfg(test)]
    pub(super) fn are_free(&self) -> bool {
        let is_free = |slot: &Slot| {
            slot.count.load(Ordering::Acquire) == 0 && slot.thread.load(Ordering::Acquire) == 0
        };
        (0..self.count).all(|index| is_free(self.slot(index)))
    }

    /// Has the programs find a thread, which is in the map of threads already.
    pub(super) fn follow(&self, thread: u32) {
        let slot = self.slot(thread & (self.count - 1));
        slot.count.fetch_add(1, Ordering::AcqRel);
        if slot.thread.load(Ordering::Acquire) == 0 {
            slot.value.iter().for_each(|word| word.store(0, Ordering::Relaxed));
            slot.thread.store(thread, Ordering::Release);
        }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing refers to it any more.
        unsafe {
            let _ = munmap(self.at.as_ptr().cast(), (self.count * BYTES) as usize);
        }
    }
}
