//! The program that runs where a processor goes from one thread to another: it sees for how long
//! threads are off the processor and why, when none of those that are followed is on one, and which
//! of them sleep in a page fault.
//!
//! Each processor has a word that says whether a followed thread runs there, and one word counts
//! these processors. The last one to stop leaves the time, and the first one to begin again writes
//! down how long that was ago. The time is left before the count goes down, so that a processor which
//! finds the count at 0 finds the time.

use super::assembler::Helper::KtimeGetNs;
use super::assembler::Register::{R0, R1, R2, R6, R7, R8, R9, Stack};
use super::assembler::Width::{Eight, Four};
use super::assembler::{Assembler, Instruction, Label, Maps, OUT, Test};
use super::common::BYTES;
use super::fault_programs;
use super::layout as to;
use super::observed;
use super::places::Places;

pub(super) const TRACEPOINT: &str = "sched_switch";
/// `TASK_INTERRUPTIBLE`: it sleeps until something happens that may never happen, rather than
/// for a device.
pub(super) const SLEEPS: i32 = 1;
/// `TASK_UNINTERRUPTIBLE`: it waits for a device, as likely as not.
const WAITS: i32 = 2;
/// Shorter times are not written down: that would cost a program that waits as briefly as this.
const SHORTEST_NS: i32 = 20_000;

/// Maps of one word each.
pub(super) struct Words {
    /// For each processor, whether a followed thread runs there.
    pub(super) runs_here: i32,
    /// On how many processors one does.
    pub(super) running: i32,
    /// When the last of them stopped; 0 before the first did.
    pub(super) since: i32,
}

/// What the program sees beside for how long threads are off the processor.
pub(super) struct Observed {
    pub(super) words: Words,
    /// The map of page faults, where these are seen.
    pub(super) faults: Option<i32>,
}

/// A processor goes from one thread to another: the one is off it from now on, and the other has
/// been.
pub(super) fn switch(
    maps: &Maps,
    places: &Places,
    observed: Option<&Observed>,
) -> Option<Vec<Instruction>> {
    let mut a = Assembler::new(maps);
    let faults = observed.and_then(|observed| observed.faults);
    let (comes, not_followed, known) = (a.label(), a.label(), a.label());
    a.load(Eight, R9, R1, 0);
    a.load(Eight, R6, R1, 8);
    a.load(Eight, R7, R1, 16);
    leaves(&mut a, places, faults, comes);
    a.place(comes);
    a.thread_or(R7, places.thread, not_followed);
    has_been_off(&mut a);
    if let Some(faults) = faults {
        let awake = a.label();
        fault_programs::goes_on(&mut a, faults, awake);
        a.place(awake);
    }
    a.set(R7, 1);
    a.jump(known);
    a.place(not_followed);
    a.set(R7, 0);
    a.place(known);
    if let Some(observed) = observed {
        idle(&mut a, &observed.words);
    }
    a.finish()
}

/// The thread of R6 is off the processor from now on. R9 is whether it was taken off although it
/// could go on.
fn leaves(a: &mut Assembler<'_>, places: &Places, faults: Option<i32>, comes: Label) {
    let known = a.label();
    a.thread_or(R6, places.thread, comes);
    a.load(Four, R6, R6, places.state);
    a.jump_if(R9, Test::Equal, 0, known);
    a.set(R6, 0);
    a.place(known);
    a.store(Eight, R8, to::OF_THREAD_STATE, R6);
    a.call(KtimeGetNs);
    a.store(Eight, R8, to::OF_THREAD_LEFT, R0);
    if let Some(faults) = faults {
        a.jump_unless(R6, Test::Bits, WAITS, comes);
        fault_programs::sleeps(a, faults, comes);
    }
}

/// The thread whose value R8 is goes on: what it has been off the processor since it left, or since
/// it was woken, is added up.
fn has_been_off(a: &mut Assembler<'_>) {
    let (was_not, slept, added) = (a.label(), a.label(), a.label());
    a.load(Eight, R9, R8, to::OF_THREAD_LEFT);
    a.jump_if(R9, Test::Equal, 0, was_not);
    a.call(KtimeGetNs);
    a.subtract_register(R0, R9);
    a.add_to(R8, to::OF_THREAD_WAITED, R0);
    a.load(Eight, R2, R8, to::OF_THREAD_STATE);
    a.jump_if(R2, Test::Bits, SLEEPS, slept);
    a.jump_if(R2, Test::NotEqual, 0, added);
    a.add_to(R8, to::OF_THREAD_QUEUED, R0);
    a.jump(added);
    a.place(slept);
    // Where nobody saw what woke it.
    a.add_to(R8, to::OF_THREAD_SLEPT, R0);
    a.place(added);
    a.store_number(Eight, R8, to::OF_THREAD_LEFT, 0);
    a.place(was_not);
}

/// R7 is whether a followed thread runs here from now on.
fn idle(a: &mut Assembler<'_>, words: &Words) {
    let begins = a.label();
    a.store_number(Four, Stack, BYTES, 0);
    a.lookup(words.runs_here, BYTES, OUT);
    a.load(Eight, R1, R0, 0);
    a.jump_if_registers(R1, Test::Equal, R7, OUT);
    a.store(Eight, R0, 0, R7);
    a.call(KtimeGetNs);
    a.copy(R9, R0);
    a.jump_if(R7, Test::NotEqual, 0, begins);
    a.map_value(R1, words.since);
    a.store(Eight, R1, 0, R9);
    a.map_value(R1, words.running);
    a.set(R2, -1);
    a.add_atomically(Eight, R1, 0, R2);
    a.jump(OUT);
    a.place(begins);
    a.map_value(R1, words.running);
    a.set(R2, 1);
    a.fetch_and_add(R1, 0, R2);
    a.jump_if(R2, Test::NotEqual, 0, OUT);
    a.map_value(R1, words.since);
    a.load(Eight, R8, R1, 0);
    a.jump_if(R8, Test::Equal, 0, OUT);
    a.copy(R1, R9);
    a.subtract_register(R1, R8);
    a.jump_unless(R1, Test::Above, SHORTEST_NS, OUT);
    a.reserve(observed::IDLE_BYTES);
    a.store(Eight, R0, to::BEGAN, R8);
    a.store(Eight, R0, to::ENDED, R9);
    a.store_number(Four, R0, to::THREAD, 0);
    a.store_number(Four, R0, to::NUMBER, observed::IDLE as i32);
    a.submit(R0);
}
