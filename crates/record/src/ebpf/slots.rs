//! Where a thread is found without a search: the last bits of its number lead to its slot.
//!
//! Most threads have theirs to themselves. Of two whose slot is the same the first has it, and the
//! other is found in the map of all that are followed; how many belong to a slot says whether there
//! is anyone to look for. Both this process and the programs change slots, each number of them
//! atomically. Where two threads take a free one at once, one of them has it and both are found.

use std::io;
use std::sync::atomic::Ordering;

use rustix::mm::MapFlags;
use sys::mapping::Mapping;

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

const _: () = assert!(BYTES.is_power_of_two() && THREAD_BYTES.is_multiple_of(8));

/// The slots, in memory that the programs share.
pub(super) struct Slots {
    map: Map,
    memory: Mapping,
    count: u32,
}

impl Slots {
    /// So many, a power of two.
    pub(super) fn new(count: u32) -> io::Result<Self> {
        assert!(count.is_power_of_two());
        let map = Map::shared(count * BYTES)?;
        let memory =
            Mapping::shared(map.descriptor(), (count * BYTES) as usize, MapFlags::empty())?;
        Ok(Self { map, memory, count })
    }

    pub(super) fn number(&self) -> i32 {
        self.map.number()
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Where a field of a slot is, which both sides change atomically.
    fn at(index: u32, field: i16) -> usize {
        (index * BYTES) as usize + field as usize
    }

    /// Whether no thread has one.
    #[cfg(test)]
    pub(super) fn are_free(&self) -> bool {
        let is_zero = |at| self.memory.half_word(at).load(Ordering::Acquire) == 0;
        (0..self.count)
            .all(|index| is_zero(Self::at(index, COUNT)) && is_zero(Self::at(index, THREAD)))
    }

    /// Has the programs find a thread, which is in the map of threads already.
    pub(super) fn follow(&self, thread: u32) {
        let index = thread & (self.count - 1);
        let owner = self.memory.half_word(Self::at(index, THREAD));
        self.memory.half_word(Self::at(index, COUNT)).fetch_add(1, Ordering::AcqRel);
        if owner.load(Ordering::Acquire) == 0 {
            for word in (0..THREAD_BYTES as usize).step_by(8) {
                let value = self.memory.word(Self::at(index, VALUE) + word);
                value.store(0, Ordering::Relaxed);
            }
            owner.store(thread, Ordering::Release);
        }
    }
}
