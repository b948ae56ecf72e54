//! Programs at the tracepoints of `io_uring`: an operation is handed in, and is done.

use super::assembler::Helper::{
    GetCurrentPidTgid, KtimeGetNs, MapDelete, MapUpdate, ProbeReadKernel,
};
use super::assembler::Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, Stack};
use super::assembler::Width::{Eight, Four, One};
use super::assembler::{Assembler, Instruction, Maps, OUT, Test};
use super::btf::Btf;
use super::common::{ENDED, KEY};
use super::layout as to;
use super::observed;

/// Where an operation is handed in and done.
pub(super) const HANDED_IN: &str = "io_uring_submit_req";
pub(super) const DONE: &str = "io_uring_complete";

/// What is kept of an operation until it is done, by where the kernel has it.
pub(super) const REQUEST_BYTES: u32 = 32;
const BEGAN: i16 = 0;
const THREAD: i16 = 8;
const DESCRIPTOR: i16 = 12;
const OPERATION: i16 = 16;
const FLAGS: i16 = 20;
const NOTHING: i16 = 24;
/// The same on the stack, and its key; what is read of the file.
const REQUEST: i16 = -88;
const ADDRESS: i16 = -96;
const POINTER: i16 = -104;
const INODE: i16 = -112;
const MODE: i16 = -120;
const DEVICE: i16 = -128;

/// An operation is handed in, by a thread that is followed or for its process.
pub(super) fn hand_in(maps: &Maps, requests: i32, btf: &Btf) -> Option<Vec<Instruction>> {
    let of_request = |member| btf.member("io_kiocb", member);
    let mut a = Assembler::new(maps);
    let (of_process, known) = (a.label(), a.label());
    a.load(Eight, R6, R1, 0);
    a.call(GetCurrentPidTgid);
    a.copy(R7, R0);
    a.store(Four, Stack, KEY, R0);
    a.followed_or(of_process);
    a.jump(known);
    a.place(of_process);
    // The kernel's own thread that polls the ring is a thread of the process, and is not followed.
    a.shift_right(R7, 32);
    a.store(Four, Stack, KEY, R7);
    a.followed();
    a.place(known);
    a.call(KtimeGetNs);
    a.store(Eight, Stack, REQUEST + BEGAN, R0);
    a.carry(Four, (Stack, KEY), (Stack, REQUEST + THREAD));
    for (width, place, at) in [
        (Four, of_request("cqe")? + btf.member("io_cqe", "fd")?, DESCRIPTOR),
        (One, of_request("opcode")?, OPERATION),
        (Four, of_request("flags")?, FLAGS),
    ] {
        a.load(width, R1, R6, place);
        a.store(Four, Stack, REQUEST + at, R1);
    }
    a.store_number(Eight, Stack, REQUEST + NOTHING, 0);
    a.store(Eight, Stack, ADDRESS, R6);
    a.key(requests, ADDRESS);
    a.stack(R3, REQUEST);
    a.set(R4, 0);
    a.call(MapUpdate);
    a.jump_if(R0, Test::Equal, 0, OUT);
    a.count_lost();
    a.finish()
}

/// An operation is done: it is recorded, with the numbers of its file.
pub(super) fn done(maps: &Maps, requests: i32, btf: &Btf) -> Option<Vec<Instruction>> {
    let mut a = Assembler::new(maps);
    a.load(Eight, R6, R1, 8);
    // What came of it.
    match btf.values(DONE)? {
        // (ring, request, completion)
        3 => {
            a.load(Eight, R7, R1, 16);
            a.load(Four, R8, R7, btf.member("io_uring_cqe", "res")?);
        }
        // (ring, request, user data, result, …)
        7 => a.load(Eight, R8, R1, 24),
        _ => return None,
    }
    a.store(Eight, Stack, ADDRESS, R6);
    a.lookup(requests, ADDRESS, OUT);
    a.copy(R9, R0);
    a.call(KtimeGetNs);
    a.store(Eight, Stack, ENDED, R0);
    file_of(&mut a, btf)?;
    a.reserve(observed::RING_BYTES);
    a.carry(Eight, (R9, BEGAN), (R0, to::BEGAN));
    a.carry(Eight, (Stack, ENDED), (R0, to::ENDED));
    a.store_number(Four, R0, to::NUMBER, observed::RING_DONE as i32);
    for (from, at) in [
        (THREAD, to::THREAD),
        (DESCRIPTOR, observed::DESCRIPTOR),
        (OPERATION, observed::OPERATION),
        (FLAGS, observed::REQUEST_FLAGS),
    ] {
        a.carry(Four, (R9, from), (R0, at));
    }
    a.store(Four, R0, observed::RESULT, R8);
    a.carry(Eight, (Stack, INODE), (R0, observed::INODE));
    for (from, at) in [(DEVICE, observed::DEVICE), (MODE, observed::FLAGS)] {
        a.carry(Four, (Stack, from), (R0, at));
    }
    a.submit(R0);
    a.key(requests, ADDRESS);
    a.call(MapDelete);
    a.finish()
}

/// Reads the numbers of the request's file, R6 being the request; they are 0 where it has none.
fn file_of(a: &mut Assembler<'_>, btf: &Btf) -> Option<()> {
    let none = a.label();
    for at in [POINTER, INODE, MODE, DEVICE] {
        a.store_number(Eight, Stack, at, 0);
    }
    a.copy(R3, R6);
    let mut read = |to: i16, bytes: i32, from: i16| {
        a.stack(R1, to);
        a.set(R2, bytes);
        a.add(R3, from.into());
        a.call(ProbeReadKernel);
        a.load(Eight, R3, Stack, POINTER);
        a.jump_if(R3, Test::Equal, 0, none);
    };
    let follow = [
        (POINTER, 8, btf.member("io_kiocb", "file")?),
        (POINTER, 8, btf.member("file", "f_inode")?),
        (INODE, 8, btf.member("inode", "i_ino")?),
        (MODE, 2, btf.member("inode", "i_mode")?),
        (POINTER, 8, btf.member("inode", "i_sb")?),
        (DEVICE, 4, btf.member("super_block", "s_dev")?),
    ];
    for (to, bytes, from) in follow {
        read(to, bytes, from);
    }
    a.place(none);
    Some(())
}
