//! Which calls of other threads a call comes after: those that had ended before it began, and
//! that it would have gone otherwise without. Two reads of one file go side by side as they
//! like; a read goes after the write that came before it.
//!
//! What is kept is what ARTC found to be needed (Weiss, Harter, Arpaci-Dusseau and
//! Arpaci-Dusseau, "ROOT: replaying multithreaded traces with resource-oriented ordering",
//! SOSP 2013): order on names, on open files and on positions that threads share. Unlike there,
//! writes of several threads to one file are not kept in order among themselves.
//!
//! All edges go from what had ended to what had not begun, so they make no circle.

use std::collections::HashMap;

use super::program::PathNumber;
use super::recording::OpenNumber;

/// A recorded thread, as its place among all of them.
pub(super) type ThreadNumber = usize;

/// A step of a recorded thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepOf {
    pub(super) thread: ThreadNumber,
    pub(super) step: usize,
}

/// What calls of several threads can meet at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Object {
    /// What a path stands for.
    Name(PathNumber),
    /// Which names are in a folder.
    Names(PathNumber),
    /// A file's contents and length.
    Contents(usize),
    /// The locks on a file.
    Locks(usize),
    /// An open file.
    Open(OpenNumber),
    /// Its position.
    Position(OpenNumber),
    /// What is in a pipe, or on its way through a socket.
    Pipe(OpenNumber),
}

/// How a call uses what it meets others at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// As others may at the same time: reading.
    Shared,
    /// As others of this kind may at the same time, and none of those that read.
    Changing,
    /// Alone.
    Alone,
}

impl Use {
    fn goes_beside(self, other: Self) -> bool {
        self == other && self != Self::Alone
    }
}

/// Who used what, so far as it still matters.
#[derive(Debug, Default)]
pub(super) struct Order {
    used: HashMap<Object, Vec<(StepOf, Use)>>,
    /// What each thread already comes after: of each other one, so many steps.
    known: Vec<HashMap<ThreadNumber, usize>>,
}

impl Order {
    /// The steps that a thread's next one comes after, the latest of each other thread, given
    /// what it uses.
    pub(super) fn before(
        &mut self,
        thread: ThreadNumber,
        uses: &[(Object, Use)],
        found: &mut Vec<StepOf>,
    ) {
        for (object, how) in uses {
            let Some(earlier) = self.used.get(object) else { continue };
            let others = earlier
                .iter()
                .filter(|(step, other)| step.thread != thread && !how.goes_beside(*other));
            found.extend(others.map(|(step, _)| *step));
        }
        self.only_new(thread, found);
    }

    /// Leaves out what the thread comes after anyway.
    pub(super) fn only_new(&mut self, thread: ThreadNumber, found: &mut Vec<StepOf>) {
        if self.known.len() <= thread {
            self.known.resize_with(thread + 1, HashMap::new);
        }
        let known = &mut self.known[thread];
        // The latest first, so that it is the one that is kept.
        found.sort_unstable_by_key(|step| (step.thread, usize::MAX - step.step));
        found.retain(|step| {
            let steps = known.entry(step.thread).or_insert(0);
            let is_new = step.step + 1 > *steps;
            *steps = (*steps).max(step.step + 1);
            is_new
        });
    }

    /// A step has ended that used this.
    pub(super) fn after(&mut self, step: StepOf, uses: &[(Object, Use)]) {
        let known = self.known.get(step.thread);
        let comes_after = |other: &StepOf| {
            let steps = known.and_then(|known| known.get(&other.thread));
            other.thread == step.thread || steps.is_some_and(|steps| other.step < *steps)
        };
        for (object, how) in uses {
            let earlier = self.used.entry(*object).or_default();
            match how {
                // Whatever it comes after, those that come after it do as well.
                Use::Alone => earlier.retain(|(other, _)| !comes_after(other)),
                _ => earlier.retain(|(other, was)| other.thread != step.thread || was != how),
            }
            earlier.push((step, *how));
        }
    }

    /// Nothing comes after what was used any more.
    pub(super) fn forget(&mut self, object: Object) {
        self.used.remove(&object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Object = Object::Contents(1);

    fn after(order: &mut Order, thread: usize, step: usize, how: Use) {
        order.after(StepOf { thread, step }, &[(FILE, how)]);
    }

    fn before(order: &mut Order, thread: usize, how: Use) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        order.before(thread, &[(FILE, how)], &mut found);
        found.into_iter().map(|step| (step.thread, step.step)).collect()
    }

    #[test]
    fn a_read_goes_after_the_writes_before_it_and_beside_other_reads() {
        let mut order = Order::default();
        after(&mut order, 0, 0, Use::Changing);
        after(&mut order, 0, 1, Use::Changing);
        after(&mut order, 1, 0, Use::Changing);
        assert_eq!(before(&mut order, 2, Use::Changing), []);
        assert_eq!(before(&mut order, 2, Use::Shared), [(0, 1), (1, 0)]);
        // Once is enough.
        assert_eq!(before(&mut order, 2, Use::Shared), []);
        after(&mut order, 2, 0, Use::Shared);
        assert_eq!(before(&mut order, 3, Use::Changing), [(2, 0)]);
    }

    #[test]
    fn what_is_done_alone_comes_after_all_and_all_after_it() {
        let mut order = Order::default();
        after(&mut order, 0, 4, Use::Shared);
        after(&mut order, 1, 2, Use::Changing);
        assert_eq!(before(&mut order, 2, Use::Alone), [(0, 4), (1, 2)]);
        after(&mut order, 2, 7, Use::Alone);
        assert_eq!(before(&mut order, 3, Use::Shared), [(2, 7)]);
        assert_eq!(before(&mut order, 2, Use::Shared), []);
        order.forget(FILE);
        assert_eq!(before(&mut order, 4, Use::Alone), []);
    }
}
