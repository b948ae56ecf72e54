//! What recording took of a program's time, for the most and for the least that was on the way to its
//! end.
//!
//! What it took of threads that ran side by side held the program up once, and what it took of those
//! that ran one after the other, as a shell and what it starts do, held it up each time. So it was on
//! the way, in each short while, at least as much as the thread paid that paid most then, and at most
//! as much as all of them did.

use std::collections::HashMap;

use crate::OverheadNs;

/// A short while.
const WHILE_NS: u64 = 1_000_000;
/// More threads than this do not run in a while.
const THREADS_MAX: usize = 1 << 12;

#[derive(Default)]
pub(super) struct Paid {
    /// By all threads.
    pub(super) all: OverheadNs,
    /// In all whiles before the present one, by the thread that paid most.
    before_ns: i64,
    present: u64,
    /// In the present one, by thread, and the most.
    threads: HashMap<u32, i64>,
    most_ns: i64,
}

impl Paid {
    /// A thread took so much longer because it was recorded.
    pub(super) fn take(&mut self, at_ns: u64, thread: u32, overhead: OverheadNs) {
        self.all.add(overhead);
        // Entries of threads come a little out of order.
        if at_ns / WHILE_NS > self.present || self.threads.len() >= THREADS_MAX {
            self.present = self.present.max(at_ns / WHILE_NS);
            self.before_ns = self.at_least();
            self.threads.clear();
            self.most_ns = 0;
        }
        let of_thread = self.threads.entry(thread).or_default();
        *of_thread = of_thread.saturating_add(overhead.low);
        self.most_ns = self.most_ns.max(*of_thread);
    }

    /// What was on the way at the least.
    pub(super) fn at_least(&self) -> i64 {
        self.before_ns.saturating_add(self.most_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_take_turns_pay_one_after_the_other_and_others_at_once() {
        let paid = |entries: &[(u64, u32)]| {
            let mut paid = Paid::default();
            for (at_ms, thread) in entries {
                paid.take(at_ms * WHILE_NS, *thread, OverheadNs { low: 10, high: 20 });
            }
            (paid.all.low, paid.all.high, paid.at_least())
        };
        assert_eq!(paid(&[(0, 1), (0, 1), (0, 2)]), (30, 60, 20));
        assert_eq!(paid(&[(0, 1), (1, 2), (2, 1)]), (30, 60, 30));
        // One that comes late is of the present while.
        assert_eq!(paid(&[(1, 1), (0, 2), (1, 1)]), (30, 60, 20));
        assert_eq!(paid(&[]), (0, 0, 0));
    }
}
