//! Low latency for a thread that must start something when it is due, though others
//! keep every processor busy.
//!
//! The scheduler runs first whose slice is used up first, and a thread may ask for
//! shorter slices than others have (`sched_runtime` of `sched_setattr(2)`, Linux 6.12
//! and later): it is then woken sooner, and gets no more processor time than before.
//! Needs no right. A kernel that knows nothing of it does as it always did.

use std::mem::size_of;

/// The shortest that the kernel allows.
const SLICE_NS: u64 = 100_000;

/// While it lives, the thread that made it is scheduled with low latency.
#[derive(Debug)]
pub struct LowLatencyScheduling {
    /// What the thread had before; nothing where that could not be changed.
    before: Option<libc::sched_attr>,
    /// It is a thread's own.
    _of_this_thread: std::marker::PhantomData<*const ()>,
}

impl LowLatencyScheduling {
    /// For the calling thread.
    pub fn of_this_thread() -> Self {
        let before = attributes().filter(|before| {
            before.sched_policy == libc::SCHED_OTHER.cast_unsigned()
                && set(&libc::sched_attr { sched_runtime: SLICE_NS, ..*before })
        });
        Self { before, _of_this_thread: std::marker::PhantomData }
    }
}

impl Drop for LowLatencyScheduling {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // It was allowed before, and is to less effect now.
            set(before);
        }
    }
}

fn attributes() -> Option<libc::sched_attr> {
    let size = size_of::<libc::sched_attr>();
    // SAFETY: a structure of integers may be zero; the call fills no more than the
    // size that it is told.
    unsafe {
        let mut attributes: libc::sched_attr = std::mem::zeroed();
        let filled = libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0);
        (filled == 0).then_some(attributes)
    }
}

fn set(attributes: &libc::sched_attr) -> bool {
    // SAFETY: the pointer is to a structure that begins with its size.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::from_ref(attributes), 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_has_what_it_had_afterwards() {
        let told = |a: libc::sched_attr| (a.sched_policy, a.sched_nice, a.sched_runtime);
        let before = attributes().map(told);
        let scheduling = LowLatencyScheduling::of_this_thread();
        if scheduling.before.is_some() {
            // Before Linux 6.12 the kernel takes the wish and forgets it.
            let during = attributes().map(told);
            assert_eq!(during.map(|d| (d.0, d.1)), before.map(|b| (b.0, b.1)));
        }
        drop(scheduling);
        assert_eq!(attributes().map(told), before);
    }
}
