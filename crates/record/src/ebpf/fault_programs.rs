//! Programs that see page faults of mapped files.
//!
//! The kernel has no tracepoint at the end of a fault. So a fault ends where its thread goes on after it
//! slept, or, where it did not sleep, where the page is counted as memory of the program's. Of a page
//! that could be read already and is written to, it ends where the page becomes one to be written back;
//! one that is to be written back already shows no end, and is left out. So are faults for which the
//! kernel only maps what is beside a page that it has in memory. Those within a recorded call are part
//! of it. While a thread is in a fault, or may be in one, the
//! time at which its call began has its highest bit set.

use super::assembler::Helper::{KtimeGetNs, MapLookup, MapUpdate};
use super::assembler::Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, Stack};
use super::assembler::Width::{Eight, Four};
use super::assembler::{Assembler, Instruction, Label, Maps, OUT, Register, Test};
use super::btf::Btf;
use super::common::{ENDED, KEY};
use super::layout as to;
use super::observed;

/// A page of a file is not mapped yet, and not found among those around it.
pub(super) const OF_FILE: &str = "mm_filemap_fault";
/// The program's memory is counted anew.
pub(super) const MAPPED: &str = "rss_stat";
/// A page of a file has something in it that its device has not.
pub(super) const DIRTIED: &str = "writeback_dirty_folio";
/// Any page fault.
pub(super) const ANY: &str = "page_fault_user";

/// What is kept of a thread's last fault.
pub(super) const FAULT_BYTES: u32 = 48;
const INODE: i16 = 0;
const DEVICE: i16 = 8;
const FLAGS: i16 = 12;
const ADDRESS: i16 = 16;
const PAGE: i16 = 24;
/// When it began; 0 from when it has been written down.
const BEGAN: i16 = 32;
/// When its thread fell asleep in it; 0 while it is awake.
const SLEPT: i16 = 40;
/// The same on the stack.
const FAULT: i16 = -96;
/// The flags: a page that is not there is wanted, or one that may be read is written to.
const OF_PAGE: i32 = 0;
const FOR_WRITING: i32 = 1;
/// A thread that sleeps so long after its fault began did something else meanwhile.
const LONGEST_NS: i32 = 10_000_000;

/// A fault of a file begins: (mapping, page). One that slept begins again for the same page.
pub(super) fn of_file(maps: &Maps, faults: i32, btf: &Btf) -> Option<Vec<Instruction>> {
    let mut a = Assembler::new(maps);
    a.load(Eight, R6, R1, 0);
    a.load(Eight, R7, R1, 8);
    outside_of_calls(&mut a);
    a.load(Eight, R1, R6, btf.member("address_space", "host")?);
    a.load(Eight, R2, R1, btf.member("inode", "i_ino")?);
    a.store(Eight, Stack, FAULT + INODE, R2);
    a.load(Eight, R2, R1, btf.member("inode", "i_sb")?);
    a.load(Four, R3, R2, btf.member("super_block", "s_dev")?);
    a.store(Four, Stack, FAULT + DEVICE, R3);
    a.store_number(Four, Stack, FAULT + FLAGS, OF_PAGE);
    a.store_number(Eight, Stack, FAULT + ADDRESS, 0);
    a.store(Eight, Stack, FAULT + PAGE, R7);
    let begins = a.label();
    lookup(&mut a, faults, begins);
    a.copy(R9, R0);
    is_in_one(&mut a, R8, begins);
    a.load(Eight, R1, R9, BEGAN);
    a.jump_if(R1, Test::NotEqual, 0, begins);
    for at in [PAGE, INODE] {
        a.load(Eight, R1, R9, at);
        a.load(Eight, R2, Stack, FAULT + at);
        a.jump_if_registers(R1, Test::NotEqual, R2, begins);
    }
    a.jump(OUT);
    a.place(begins);
    begin(&mut a, faults);
    a.finish()
}

/// Any fault begins, so that one before it is over, if nobody saw its end: (address, registers, what it
/// was for). Perhaps a page of a file is written to that may be read.
pub(super) fn any(maps: &Maps, faults: i32) -> Option<Vec<Instruction>> {
    const PRESENT_AND_WRITE: i32 = 3;
    let mut a = Assembler::new(maps);
    let writes = a.label();
    a.load(Eight, R7, R1, 0);
    a.load(Eight, R6, R1, 16);
    a.and(R6, PRESENT_AND_WRITE);
    outside_of_calls(&mut a);
    a.jump_if(R6, Test::Equal, PRESENT_AND_WRITE, writes);
    is_in_one(&mut a, R8, OUT);
    a.store_number(Eight, R8, to::OF_THREAD_BEGAN, 0);
    lookup(&mut a, faults, OUT);
    a.store_number(Eight, R0, BEGAN, 0);
    a.jump(OUT);
    a.place(writes);
    for at in [INODE, DEVICE, PAGE] {
        a.store_number(Eight, Stack, FAULT + at, 0);
    }
    a.store_number(Four, Stack, FAULT + FLAGS, FOR_WRITING);
    a.store(Eight, Stack, FAULT + ADDRESS, R7);
    begin(&mut a, faults);
    a.finish()
}

/// The program's memory has more pages, or other ones: a fault of a file is over.
pub(super) fn mapped(maps: &Maps, faults: i32) -> Option<Vec<Instruction>> {
    ends(maps, faults, OF_PAGE)
}

/// A page of a file is written to for the first time: what that asks of the file system was done.
pub(super) fn dirtied(maps: &Maps, faults: i32) -> Option<Vec<Instruction>> {
    ends(maps, faults, FOR_WRITING)
}

/// A fault ends, if it is one of that kind, and that has not been written down.
fn ends(maps: &Maps, faults: i32, kind: i32) -> Option<Vec<Instruction>> {
    let mut a = Assembler::new(maps);
    a.current_followed();
    a.copy(R8, R0);
    is_in_one(&mut a, R8, OUT);
    lookup(&mut a, faults, OUT);
    a.copy(R9, R0);
    a.load(Four, R1, R9, FLAGS);
    a.jump_if(R1, Test::NotEqual, kind, OUT);
    a.load(Eight, R6, R9, BEGAN);
    a.jump_if(R6, Test::Equal, 0, OUT);
    a.call(KtimeGetNs);
    a.store(Eight, Stack, ENDED, R0);
    a.set(R7, 0);
    write_down(&mut a);
    a.finish()
}

/// R8 becomes the value of the calling thread; leaves where it is within a recorded call.
fn outside_of_calls(a: &mut Assembler<'_>) {
    let is_outside = a.label();
    a.current_followed();
    a.copy(R8, R0);
    a.load(Eight, R1, R8, to::OF_THREAD_BEGAN);
    a.jump_if(R1, Test::Equal, 0, is_outside);
    a.shift_right(R1, 63);
    a.jump_if(R1, Test::Equal, 0, OUT);
    a.place(is_outside);
}

/// The fault on the stack begins now, of the thread whose value R8 is.
fn begin(a: &mut Assembler<'_>, faults: i32) {
    a.call(KtimeGetNs);
    a.store(Eight, Stack, FAULT + BEGAN, R0);
    a.set(R1, 1);
    a.shift_left(R1, 63);
    a.add_register(R0, R1);
    a.store(Eight, R8, to::OF_THREAD_BEGAN, R0);
    a.store_number(Eight, Stack, FAULT + SLEPT, 0);
    // Only a thread's first fault needs a place: to look one up takes a third of the time.
    let (is_new, done) = (a.label(), a.label());
    lookup(a, faults, is_new);
    for at in [INODE, DEVICE, ADDRESS, PAGE, BEGAN, SLEPT] {
        // With the flags behind the device.
        a.carry(Eight, (Stack, FAULT + at), (R0, at));
    }
    a.jump(done);
    a.place(is_new);
    key(a, faults);
    a.stack(R3, FAULT);
    a.set(R4, 0);
    a.call(MapUpdate);
    a.place(done);
}

/// A thread that may be in a fault goes off a processor and waits for a device: R8 is its value,
/// and its number is on the stack.
pub(super) fn sleeps(a: &mut Assembler<'_>, faults: i32, otherwise: Label) {
    is_in_one(a, R8, otherwise);
    lookup(a, faults, otherwise);
    a.copy(R9, R0);
    a.call(KtimeGetNs);
    a.store(Eight, R9, SLEPT, R0);
}

/// A thread that may have slept in a fault goes on: that is written down.
pub(super) fn goes_on(a: &mut Assembler<'_>, faults: i32, otherwise: Label) {
    let (is_short, known) = (a.label(), a.label());
    is_in_one(a, R8, otherwise);
    lookup(a, faults, otherwise);
    a.copy(R9, R0);
    a.load(Eight, R7, R9, SLEPT);
    a.jump_if(R7, Test::Equal, 0, otherwise);
    a.call(KtimeGetNs);
    a.store(Eight, Stack, ENDED, R0);
    a.load(Eight, R6, R9, BEGAN);
    a.copy(R1, R7);
    a.subtract_register(R1, R6);
    a.jump_if(R6, Test::Equal, 0, is_short);
    a.jump_if(R1, Test::Above, LONGEST_NS, is_short);
    a.jump(known);
    a.place(is_short);
    a.copy(R6, R7);
    a.place(known);
    a.subtract_register(R0, R7);
    a.copy(R7, R0);
    write_down(a);
}

fn is_in_one(a: &mut Assembler<'_>, value: Register, otherwise: Label) {
    a.load(Eight, R1, value, to::OF_THREAD_BEGAN);
    a.shift_right(R1, 63);
    a.jump_if(R1, Test::Equal, 0, otherwise);
}

/// A record of the fault R9, from R6 until what is on the stack, of which its thread slept R7.
fn write_down(a: &mut Assembler<'_>) {
    a.store_number(Eight, R9, SLEPT, 0);
    a.store_number(Eight, R9, BEGAN, 0);
    a.reserve(observed::FAULT_BYTES);
    a.store(Eight, R0, to::BEGAN, R6);
    a.carry(Eight, (Stack, ENDED), (R0, to::ENDED));
    a.carry(Four, (Stack, KEY), (R0, to::THREAD));
    a.store_number(Four, R0, to::NUMBER, observed::FAULTED as i32);
    for (from, at) in [
        (INODE, observed::INODE),
        // With the flags behind it.
        (DEVICE, observed::DEVICE),
        (ADDRESS, observed::ADDRESS),
        (PAGE, observed::PAGE),
    ] {
        a.carry(Eight, (R9, from), (R0, at));
    }
    a.store(Eight, R0, observed::WAITED, R7);
    a.submit(R0);
}

/// R1 becomes the map, and R2 the key on the stack.
fn key(a: &mut Assembler<'_>, faults: i32) {
    a.map(R1, faults);
    a.stack(R2, KEY);
}

/// R0 becomes the last fault of the thread whose number is on the stack; goes on at the label where
/// it has had none.
fn lookup(a: &mut Assembler<'_>, faults: i32, otherwise: Label) {
    key(a, faults);
    a.call(MapLookup);
    a.jump_if(R0, Test::Equal, 0, otherwise);
}
