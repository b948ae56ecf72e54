//! Two of the programs: for how long threads are off the processor, and what ends their sleep.
//!
//! `switch` runs whenever a processor goes from one thread to another, `waking` whenever a thread
//! is woken. The second writes a record where a thread that is followed sleeps until another one
//! does something: within a system call, as interrupts wake on behalf of devices and clocks.

use super::assembler::Helper::{GetCurrentTask, KtimeGetNs, RegistersOf};
use super::assembler::Register::{R0, R1, R2, R6, R7, R8, R9, Stack};
use super::assembler::Width::{Eight, Four};
use super::assembler::{Instruction, Test};
use super::layout as to;
use super::places::Places;
use super::writer::{ENDED, KEY, Maps, Writer};

/// `TASK_INTERRUPTIBLE`: it sleeps until something happens that may never happen, rather than
/// for a device.
const SLEEPS: i32 = 1;

/// A processor goes from one thread to another: the one is off it from now on, and the other has
/// been.
pub(super) fn switch(maps: &Maps, places: &Places) -> Option<Vec<Instruction>> {
    let mut w = Writer::new(maps);
    let next = w.a.label();
    w.a.load(Eight, R6, R1, 8);
    w.a.load(Eight, R7, R1, 16);
    w.thread_or(R6, places.thread, next);
    w.a.load(Four, R9, R6, places.state);
    w.a.store(Eight, R8, to::OF_THREAD_STATE, R9);
    w.a.call(KtimeGetNs);
    w.a.store(Eight, R8, to::OF_THREAD_LEFT, R0);
    w.a.place(next);
    let out = w.out;
    w.thread_or(R7, places.thread, out);
    let a = &mut w.a;
    a.load(Eight, R9, R8, to::OF_THREAD_LEFT);
    a.jump_if(R9, Test::Equal, 0, out);
    a.call(KtimeGetNs);
    a.subtract_register(R0, R9);
    a.load(Eight, R1, R8, to::OF_THREAD_WAITED);
    a.add_register(R1, R0);
    a.store(Eight, R8, to::OF_THREAD_WAITED, R1);
    a.store_number(Eight, R8, to::OF_THREAD_LEFT, 0);
    w.finish()
}

/// A thread is woken by the one that runs here.
pub(super) fn waking(maps: &Maps, places: &Places) -> Option<Vec<Instruction>> {
    let mut w = Writer::new(maps);
    let sleeps = w.a.label();
    w.a.load(Eight, R6, R1, 0);
    let out = w.out;
    w.thread_or(R6, places.thread, out);
    let a = &mut w.a;
    a.load(Eight, R1, R8, to::OF_THREAD_LEFT);
    a.jump_if(R1, Test::Equal, 0, out);
    a.load(Eight, R1, R8, to::OF_THREAD_STATE);
    a.jump_if(R1, Test::Bits, SLEEPS, sleeps);
    // Within a call on a file it waits for a device, or for a lock that a replay takes as well.
    a.load(Eight, R1, R8, to::OF_THREAD_BEGAN);
    a.jump_if(R1, Test::NotEqual, 0, out);
    a.place(sleeps);
    a.call(GetCurrentTask);
    a.copy(R7, R0);
    a.copy(R1, R0);
    a.call(RegistersOf);
    a.load(Eight, R9, R0, places.registers.number);
    // A thread that an interrupt found outside of a call has woken nobody.
    a.jump_if(R9, Test::Less, 0, out);
    a.load(Four, R7, R7, places.thread);
    a.jump_if(R7, Test::Equal, 0, out);
    a.call(KtimeGetNs);
    a.store(Eight, Stack, ENDED, R0);
    w.reserve(to::WOKEN_BYTES);
    let a = &mut w.a;
    a.load(Eight, R1, R8, to::OF_THREAD_LEFT);
    a.store(Eight, R0, to::BEGAN, R1);
    a.load(Eight, R2, Stack, ENDED);
    a.store(Eight, R0, to::ENDED, R2);
    a.load(Four, R1, Stack, KEY);
    a.store(Four, R0, to::THREAD, R1);
    a.store_number(Four, R0, to::NUMBER, to::WOKEN as i32);
    a.store(Four, R0, to::WOKEN_BY, R7);
    a.store(Four, R0, to::WOKEN_CALL, R9);
    w.submit(R0);
    w.finish()
}
