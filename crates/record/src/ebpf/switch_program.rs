//! A program that runs where a processor goes from one thread to another: it sees when none of the
//! threads that are followed is on a processor, and which of them sleep in a page fault.
//!
//! Each processor has a word that says whether a followed thread runs there, and one word counts
//! these processors. The last one to stop leaves the time, and the first one to begin again writes
//! down how long that was ago. The time is left before the count goes down, so that a processor which
//! finds the count at 0 finds the time.

use super::assembler::Helper::{KtimeGetNs, MapLookup};
use super::assembler::Register::{R0, R1, R2, R6, R7, R8, R9, Stack};
use super::assembler::Width::{Eight, Four};
use super::assembler::{Instruction, Test};
use super::fault_programs;
use super::layout as to;
use super::observed;
use super::writer::{BYTES, Maps, Writer};

pub(super) const TRACEPOINT: &str = "sched_switch";
/// So many values it has where it says how the thread is that leaves: Linux 5.18 and later.
pub(super) const VALUES: usize = 4;
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

/// `thread` is where the kernel keeps a thread's number, and `faults` the map of page faults.
pub(super) fn switch(
    maps: &Maps,
    words: &Words,
    faults: Option<i32>,
    thread: i16,
) -> Option<Vec<Instruction>> {
    let mut w = Writer::new(maps);
    let (comes, not_followed, known) = (w.a.label(), w.a.label(), w.a.label());
    w.a.load(Eight, R7, R1, 8);
    w.a.load(Eight, R6, R1, 16);
    if let Some(faults) = faults {
        let waits = w.a.label();
        w.a.load(Eight, R1, R1, 24);
        w.a.jump_if(R1, Test::Bits, WAITS, waits);
        w.a.jump(comes);
        w.a.place(waits);
        w.thread_or(R7, thread, comes);
        fault_programs::sleeps(&mut w.a, faults, comes);
    }
    w.a.place(comes);
    w.thread_or(R6, thread, not_followed);
    if let Some(faults) = faults {
        let awake = w.a.label();
        fault_programs::goes_on(&mut w, faults, awake);
        w.a.place(awake);
    }
    w.a.set(R7, 1);
    w.a.jump(known);
    w.a.place(not_followed);
    w.a.set(R7, 0);
    w.a.place(known);
    idle(&mut w, words);
    w.finish()
}

/// R7 is whether a followed thread runs here from now on.
fn idle(w: &mut Writer<'_>, words: &Words) {
    let (begins, is_long, out) = (w.a.label(), w.a.label(), w.out);
    let a = &mut w.a;
    a.store_number(Four, Stack, BYTES, 0);
    a.copy(R2, Stack);
    a.add(R2, BYTES.into());
    a.map(R1, words.runs_here);
    a.call(MapLookup);
    a.jump_if(R0, Test::Equal, 0, out);
    a.load(Eight, R1, R0, 0);
    a.jump_if_registers(R1, Test::Equal, R7, out);
    a.store(Eight, R0, 0, R7);
    a.call(KtimeGetNs);
    a.copy(R9, R0);
    a.jump_if(R7, Test::NotEqual, 0, begins);
    a.map_value(R1, words.since);
    a.store(Eight, R1, 0, R9);
    a.map_value(R1, words.running);
    a.set(R2, -1);
    a.add_atomically(Eight, R1, 0, R2);
    a.jump(out);
    a.place(begins);
    a.map_value(R1, words.running);
    a.set(R2, 1);
    a.fetch_and_add(R1, 0, R2);
    a.jump_if(R2, Test::NotEqual, 0, out);
    a.map_value(R1, words.since);
    a.load(Eight, R8, R1, 0);
    a.jump_if(R8, Test::Equal, 0, out);
    a.copy(R1, R9);
    a.subtract_register(R1, R8);
    a.jump_if(R1, Test::Above, SHORTEST_NS, is_long);
    a.jump(out);
    a.place(is_long);
    w.reserve(observed::IDLE_BYTES);
    let a = &mut w.a;
    a.store(Eight, R0, to::BEGAN, R8);
    a.store(Eight, R0, to::ENDED, R9);
    a.store_number(Four, R0, to::THREAD, 0);
    a.store_number(Four, R0, to::NUMBER, observed::IDLE as i32);
    w.submit(R0);
}
