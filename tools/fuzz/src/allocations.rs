//! How much memory this thread holds, and has held at most.
#![expect(unsafe_code, reason = "an allocator is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

/// The most that `work` held, besides what the thread held before.
pub fn most_held<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let before = HELD.get();
    MOST.set(before);
    let result = work();
    (result, MOST.get().saturating_sub(before))
}

/// The system's allocator, counted by thread. What is given back by another thread than
/// took it is counted wrongly, which no target does.
#[derive(Debug)]
pub struct Counting;

impl Counting {
    fn took(bytes: usize) {
        let held = HELD.get().wrapping_add(bytes);
        HELD.set(held);
        MOST.set(MOST.get().max(held));
    }

    fn gave_back(bytes: usize) {
        HELD.set(HELD.get().saturating_sub(bytes));
    }
}

// SAFETY: every call is handed on as it is; what is counted allocates nothing, for the
// cells are constants that need no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::took(layout.size());
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::took(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Self::gave_back(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::gave_back(layout.size());
        Self::took(size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    #[test]
    fn what_was_held_at_most_is_seen_after_it_was_given_back() {
        let (_, most) = most_held(|| {
            drop(vec![1_u8; 3_000_000]);
            vec![1_u8; 1_000_000]
        });
        assert!((3_000_000..3_100_000).contains(&most), "{most}");
    }
}
