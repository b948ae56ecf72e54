//! Programs at the tracepoints of `io_uring`: an operation is handed in, and is done.

use super::assembler::Helper::{
    GetCurrentPidTgid, KtimeGetNs, MapDelete, MapLookup, MapUpdate, ProbeReadKernel,
};
use super::assembler::Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9, Stack};
use super::assembler::Width::{Eight, Four, One};
use super::assembler::{Assembler, Instruction, Test};
use super::btf::Btf;
use super::fault_programs::Places as FilePlaces;
use super::layout as to;
use super::observed;
use super::writer::{ENDED, KEY, Maps, Writer};

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

/// Where the kernel keeps what is asked of a ring, and what came of it.
pub(super) struct Places {
    file: i16,
    operation: i16,
    flags: i16,
    descriptor: i16,
    result: Outcome,
}

/// What came of an operation: at a place of what the tracepoint's last value points to, or that
/// value itself.
enum Outcome {
    Within(i16),
    Value(i16),
}

impl Places {
    pub(super) fn find(btf: &Btf) -> Option<Self> {
        let result = match btf.values(DONE)? {
            // (ring, request, completion)
            3 => Outcome::Within(btf.member("io_uring_cqe", "res")?),
            // (ring, request, user data, result, …)
            7 => Outcome::Value(24),
            _ => return None,
        };
        let of_request = |member| btf.member("io_kiocb", member);
        Some(Self {
            file: of_request("file")?,
            operation: of_request("opcode")?,
            flags: of_request("flags")?,
            descriptor: of_request("cqe")? + btf.member("io_cqe", "fd")?,
            result,
        })
    }
}

/// An operation is handed in, by a thread that is followed or for its process.
pub(super) fn hand_in(maps: &Maps, requests: i32, places: &Places) -> Option<Vec<Instruction>> {
    let mut w = Writer::new(maps);
    let (of_process, known) = (w.a.label(), w.a.label());
    w.a.load(Eight, R6, R1, 0);
    w.a.call(GetCurrentPidTgid);
    w.a.copy(R7, R0);
    w.a.store(Four, Stack, KEY, R0);
    w.followed_or(of_process);
    w.a.jump(known);
    w.a.place(of_process);
    // The kernel's own thread that polls the ring is a thread of the process, and is not followed.
    w.a.shift_right(R7, 32);
    w.a.store(Four, Stack, KEY, R7);
    w.followed();
    w.a.place(known);
    let a = &mut w.a;
    a.call(KtimeGetNs);
    a.store(Eight, Stack, REQUEST + BEGAN, R0);
    a.carry(Four, (Stack, KEY), (Stack, REQUEST + THREAD));
    for (width, place, at) in [
        (Four, places.descriptor, DESCRIPTOR),
        (One, places.operation, OPERATION),
        (Four, places.flags, FLAGS),
    ] {
        a.load(width, R1, R6, place);
        a.store(Four, Stack, REQUEST + at, R1);
    }
    a.store_number(Eight, Stack, REQUEST + NOTHING, 0);
    a.store(Eight, Stack, ADDRESS, R6);
    key(a, requests);
    a.stack(R3, REQUEST);
    a.set(R4, 0);
    a.call(MapUpdate);
    a.jump_if(R0, Test::Equal, 0, w.out);
    w.count_lost();
    w.finish()
}

/// R1 becomes the map, and R2 the key on the stack.
fn key(a: &mut Assembler, requests: i32) {
    a.map(R1, requests);
    a.stack(R2, ADDRESS);
}

/// An operation is done: it is recorded, with the numbers of its file.
pub(super) fn done(
    maps: &Maps,
    requests: i32,
    places: &Places,
    of_file: &FilePlaces,
) -> Option<Vec<Instruction>> {
    let mut w = Writer::new(maps);
    let a = &mut w.a;
    a.load(Eight, R6, R1, 8);
    match places.result {
        Outcome::Within(place) => {
            a.load(Eight, R7, R1, 16);
            a.load(Four, R8, R7, place);
        }
        Outcome::Value(place) => a.load(Eight, R8, R1, place),
    }
    a.store(Eight, Stack, ADDRESS, R6);
    key(a, requests);
    a.call(MapLookup);
    a.jump_if(R0, Test::Equal, 0, w.out);
    a.copy(R9, R0);
    a.call(KtimeGetNs);
    a.store(Eight, Stack, ENDED, R0);
    file_of(&mut w, places, of_file);
    w.reserve(observed::RING_BYTES);
    let a = &mut w.a;
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
    w.submit(R0);
    key(&mut w.a, requests);
    w.a.call(MapDelete);
    w.finish()
}

/// Reads the numbers of the request's file, R6 being the request; they are 0 where it has none.
fn file_of(w: &mut Writer<'_>, places: &Places, of_file: &FilePlaces) {
    let none = w.a.label();
    let a = &mut w.a;
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
        (POINTER, 8, places.file),
        (POINTER, 8, of_file.inode_of_file),
        (INODE, 8, of_file.inode),
        (MODE, 2, of_file.mode),
        (POINTER, 8, of_file.file_system),
        (DEVICE, 4, of_file.device),
    ];
    for (to, bytes, from) in follow {
        read(to, bytes, from);
    }
    w.a.place(none);
}
