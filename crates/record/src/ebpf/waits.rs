//! The program that sees what ends the sleep of threads: it runs whenever a thread is woken.
//!
//! The time until then was for what the kernel's state of the thread says, and the time after it is
//! for a processor. A record is written where a thread that is followed sleeps until another one
//! does something: within a system call, as interrupts wake on behalf of devices and clocks.

use super::assembler::Helper::{GetCurrentTask, KtimeGetNs, RegistersOf};
use super::assembler::Register::{R0, R1, R2, R6, R7, R8, R9, Stack};
use super::assembler::Width::{Eight, Four};
use super::assembler::{Assembler, Instruction, Maps, OUT, Test};
use super::common::{BYTES, ENDED, KEY};
use super::layout as to;
use super::places::Places;
use super::switch_program::SLEEPS;

/// A thread is woken by the one that runs here.
pub(super) fn waking(maps: &Maps, places: &Places) -> Option<Vec<Instruction>> {
    let mut a = Assembler::new(maps);
    let sleeps = a.label();
    a.load(Eight, R6, R1, 0);
    a.thread_or(R6, places.thread, OUT);
    a.load(Eight, R1, R8, to::OF_THREAD_LEFT);
    a.jump_if(R1, Test::Equal, 0, OUT);
    a.store(Eight, Stack, BYTES, R1);
    a.call(KtimeGetNs);
    a.store(Eight, Stack, ENDED, R0);
    a.call(GetCurrentTask);
    a.copy(R7, R0);
    a.copy(R1, R0);
    a.call(RegistersOf);
    places.registers.load_number(&mut a, R9, R0);
    a.load(Four, R7, R7, places.thread);
    is_ready(&mut a, places);
    a.load(Eight, R1, R8, to::OF_THREAD_STATE);
    a.store_number(Eight, R8, to::OF_THREAD_STATE, 0);
    a.jump_if(R1, Test::Bits, SLEEPS, sleeps);
    // Within a call on a file it waits for a device, or for a lock that a replay takes as well.
    a.load(Eight, R1, R8, to::OF_THREAD_BEGAN);
    a.jump_if(R1, Test::NotEqual, 0, OUT);
    a.place(sleeps);
    // A thread that an interrupt found outside of a call has woken nobody.
    a.jump_if(R9, Test::Less, 0, OUT);
    a.jump_if(R7, Test::Equal, 0, OUT);
    a.reserve(to::WOKEN_BYTES);
    a.carry(Eight, (Stack, BYTES), (R0, to::BEGAN));
    a.load(Eight, R2, Stack, ENDED);
    a.store(Eight, R0, to::ENDED, R2);
    a.carry(Four, (Stack, KEY), (R0, to::THREAD));
    a.store_number(Four, R0, to::NUMBER, to::WOKEN as i32);
    a.store(Four, R0, to::WOKEN_BY, R7);
    a.store(Four, R0, to::WOKEN_CALL, R9);
    a.submit(R0);
    a.finish()
}

/// The sleep of the thread whose value R8 is and whose record R6 is has ended: it is added up, and
/// from now on the thread waits for a processor. R7 is the thread that woke it, and R9 the system call
/// of that.
///
/// What is no device's and is ended by another thread within a system call was a lock: a journal is
/// written by a thread of the kernel's, which makes no calls.
fn is_ready(a: &mut Assembler<'_>, places: &Places) {
    let (word, bit) = places.for_device;
    let (slept, added) = (a.label(), a.label());
    a.load(Eight, R0, Stack, ENDED);
    a.load(Eight, R1, Stack, BYTES);
    a.subtract_register(R0, R1);
    a.add_to(R8, to::OF_THREAD_WAITED, R0);
    a.load(Eight, R1, R8, to::OF_THREAD_STATE);
    a.jump_if(R1, Test::Bits, SLEEPS, slept);
    a.load(Four, R1, R6, word);
    a.jump_if(R1, Test::Bits, bit, added);
    a.jump_if(R9, Test::Less, 0, added);
    a.jump_if(R7, Test::Equal, 0, added);
    a.add_to(R8, to::OF_THREAD_LOCKED, R0);
    a.jump(added);
    a.place(slept);
    a.add_to(R8, to::OF_THREAD_SLEPT, R0);
    a.place(added);
    a.load(Eight, R0, Stack, ENDED);
    a.store(Eight, R8, to::OF_THREAD_LEFT, R0);
}
