//! When to give up.
//!
//! All requests have the same patience and nearly all are answered long
//! before it ends, so setting and dropping a timer for each would be the most
//! frequent and most useless work here. Instead each slot has at most one
//! entry in a heap, made when the slot has none. An entry that comes due is
//! held against its slot's deadline of that moment and put back if that lies
//! later. This costs a heap operation per slot and timeout rather than two
//! per request, and memory for the slots that were ever in use at once.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

/// Deadlines of slots.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    has_entry: Vec<bool>,
}

impl Deadlines {
    /// Sees to it that `slot` is looked at when `at_ns` comes.
    #[inline]
    pub(crate) fn arm(&mut self, slot: u32, at_ns: u64) {
        let index = slot as usize;
        if index >= self.has_entry.len() {
            self.has_entry.resize(index + 1, false);
        }
        if !self.has_entry[index] {
            self.has_entry[index] = true;
            self.heap.push(Reverse((at_ns, slot)));
        }
    }

    /// The earliest time at which anything might be due.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// A slot that is due. `deadline_of` returns the current deadline of a slot,
    /// or `None` when the slot is free.
    pub(crate) fn pop_due(
        &mut self,
        now_ns: u64,
        deadline_of: impl Fn(u32) -> Option<u64>,
    ) -> Option<u32> {
        while let Some(&Reverse((at, slot))) = self.heap.peek() {
            if at > now_ns {
                return None;
            }
            self.heap.pop();
            self.has_entry[slot as usize] = false;
            match deadline_of(slot) {
                Some(deadline) if deadline > now_ns => self.arm(slot, deadline),
                Some(_) => return Some(slot),
                None => {}
            }
        }
        None
    }
}

/// Things that are all due after the same delay, so that a queue keeps them
/// in order.
#[derive(Debug)]
pub(crate) struct Delay<T> {
    delay_ns: u64,
    queue: VecDeque<(u64, T)>,
}

impl<T> Delay<T> {
    pub(crate) fn new(delay_ns: u64) -> Self {
        Self { delay_ns, queue: VecDeque::new() }
    }

    pub(crate) fn push(&mut self, now_ns: u64, thing: T) {
        self.queue.push_back((now_ns + self.delay_ns, thing));
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
    }

    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.queue.front().map(|(at, _)| *at)
    }

    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<T> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.queue.pop_front().map(|(_, thing)| thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_due_at_its_own_deadline_however_often_it_was_put_off() {
        let mut deadlines = Deadlines::default();
        let mut current = [Some(100), Some(110)];
        deadlines.arm(0, 100);
        deadlines.arm(1, 110);
        assert_eq!(deadlines.next_ns(), Some(100));
        // Slot 0 was answered and used again for a request until 150.
        current[0] = Some(150);
        deadlines.arm(0, 150);
        assert_eq!(deadlines.pop_due(120, |s| current[s as usize]), Some(1));
        assert_eq!(deadlines.pop_due(120, |s| current[s as usize]), None);
        assert_eq!(deadlines.next_ns(), Some(150));
        current[0] = None;
        assert_eq!(deadlines.pop_due(200, |s| current[s as usize]), None);
        assert_eq!(deadlines.next_ns(), None);
    }

    #[test]
    fn entries_stay_as_many_as_slots() {
        let mut deadlines = Deadlines::default();
        (0..100_000).for_each(|i| deadlines.arm(i % 8, u64::from(i)));
        assert_eq!(deadlines.heap.len(), 8);
    }

    #[test]
    fn delayed_things_come_in_order_and_not_before() {
        let mut delay = Delay::new(10);
        delay.push(0, 'a');
        delay.push(5, 'b');
        assert_eq!(delay.pop_due(9), None);
        assert_eq!(delay.pop_due(12), Some('a'));
        assert_eq!(delay.pop_due(12), None);
        assert_eq!(delay.pop_due(15), Some('b'));
    }
}
