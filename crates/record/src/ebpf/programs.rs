//! The programs, but for those of files of their own.
//!
//! `enter` and `leave` run on every system call of the machine, and are done with one that is
//! not followed after a look into two arrays. What is not recorded is not looked at either: the
//! first array has a word for each system call, which also says where its pointers are.

use std::io;

use super::assembler::Helper::{
    KtimeGetNs, ProbeReadKernel, ProbeReadKernelString, ProbeReadUser, ProbeReadUserString,
};
use super::assembler::Register::{R0, R1, R2, R3, R6, R7, R8, R9, Stack};
use super::assembler::Width::{Eight, Four, Two};
use super::assembler::{Assembler, Instruction, Label, Maps, OUT, Test};
use super::btf::Btf;
use super::common::{BYTES, ENDED, KEY};
use super::kernel::Program;
use super::layout as to;
use super::places::{Places, Registers};
use super::waits;
use crate::shared::{self, VECTOR_MAX};

/// A program by its name, with its tracepoint.
pub(super) type Named = (&'static str, &'static str, Option<Vec<Instruction>>);

/// Loads a program, without attaching it.
pub(super) fn load(btf: &Btf, (name, tracepoint, code): Named) -> io::Result<Program> {
    let missing = || io::Error::other("its types are not those that are known");
    let id = btf.tracepoint(tracepoint).ok_or_else(missing)?;
    Program::load(name, id, &code.ok_or_else(missing)?)
}

/// All that there have to be. What follows threads is there before what sees their calls.
pub(super) fn all(maps: &Maps, places: &Places) -> [Named; 5] {
    [
        ("fork", "sched_process_fork", fork(maps, places)),
        ("exec", "sched_process_exec", exec(maps, places)),
        ("exit", "sched_process_exit", exit(maps, places)),
        ("leave", "sys_exit", leave(maps, places)),
        ("enter", "sys_enter", enter(maps)),
    ]
}

/// What needs a kernel of 5.15 or later.
pub(super) fn waking(maps: &Maps, places: &Places) -> Named {
    ("waking", "sched_waking", waits::waking(maps, places))
}

/// A call begins: the time is noted.
fn enter(maps: &Maps) -> Option<Vec<Instruction>> {
    let mut a = Assembler::new(maps);
    a.load(Eight, R1, R1, 8);
    a.wanted();
    a.current_followed();
    a.copy(R7, R0);
    a.call(KtimeGetNs);
    a.store(Eight, R7, to::OF_THREAD_BEGAN, R0);
    for sum in
        [to::OF_THREAD_WAITED, to::OF_THREAD_QUEUED, to::OF_THREAD_LOCKED, to::OF_THREAD_SLEPT]
    {
        a.store_number(Eight, R7, sum, 0);
    }
    a.finish()
}

/// A call returns: it is recorded.
fn leave(maps: &Maps, places: &Places) -> Option<Vec<Instruction>> {
    let registers = &places.registers;
    let mut a = Assembler::new(maps);
    a.load(Eight, R6, R1, 0);
    a.load(Eight, R8, R1, 8);
    registers.load_number(&mut a, R1, R6);
    a.wanted();
    a.copy(R9, R1);
    a.current_followed();
    a.copy(R7, R0);
    a.load(Eight, R1, R7, to::OF_THREAD_BEGAN);
    // It was not followed yet when the call began.
    a.jump_if(R1, Test::Equal, 0, OUT);
    a.call(KtimeGetNs);
    a.store(Eight, Stack, ENDED, R0);
    let large = a.label();
    a.jump_if(R9, Test::Bits, shared::LARGE as i32, large);
    a.reserve(to::SMALL_BYTES);
    head(&mut a, registers, 4);
    registers.load_number(&mut a, R1, R6);
    a.store(Four, R0, to::NUMBER, R1);
    a.submit(R0);
    a.jump(OUT);
    a.place(large);
    leave_large(&mut a, registers);
    a.finish()
}

/// Fills in what all calls have: R0 is the record, R6 the registers, R7 the thread's value, R8
/// the result.
fn head(a: &mut Assembler<'_>, registers: &Registers, arguments: usize) {
    for (known, at) in [
        (to::OF_THREAD_BEGAN, to::BEGAN),
        (to::OF_THREAD_WAITED, to::WAITED),
        (to::OF_THREAD_QUEUED, to::QUEUED),
        (to::OF_THREAD_LOCKED, to::LOCKED),
        (to::OF_THREAD_SLEPT, to::SLEPT),
    ] {
        a.carry(Eight, (R7, known), (R0, at));
    }
    a.carry(Eight, (Stack, ENDED), (R0, to::ENDED));
    a.carry(Four, (Stack, KEY), (R0, to::THREAD));
    a.store(Eight, R0, to::RESULT, R8);
    for (at, place) in registers.arguments.iter().take(arguments).enumerate() {
        a.carry(Eight, (R6, *place), (R0, to::ARGUMENTS + 8 * at as i16));
    }
    // A call that the kernel makes again of itself enters again.
    a.store_number(Eight, R7, to::OF_THREAD_BEGAN, 0);
}

/// A call with pointers: what they lead to is copied behind the arguments. R8 becomes how much
/// there is of it, and R6 the scratch.
fn leave_large(a: &mut Assembler<'_>, registers: &Registers) {
    a.scratch(0);
    head(a, registers, 6);
    registers.load_number(a, R1, R6);
    // The bit is free in every number of the table.
    a.add(R1, to::LARGE as i32);
    a.store(Four, R0, to::NUMBER, R1);
    a.copy(R6, R0);
    for length in [to::BLOCK_LENGTH, to::PATH_LENGTH, to::TO_LENGTH, to::UNUSED] {
        a.store_number(Two, R6, length, 0);
    }
    a.set(R8, 0);
    block(a);
    string(a, shared::PATH_SHIFT, to::PATH_LENGTH);
    string(a, shared::TO_SHIFT, to::TO_LENGTH);
    a.add(R8, to::PAYLOAD.into());
    a.output();
}

/// R1 becomes the address of the argument whose index, plus 1, is in R9 at these bits.
fn argument(a: &mut Assembler<'_>, shift: i32, none: Label) {
    a.copy(R1, R9);
    a.shift_right(R1, shift);
    a.and(R1, shared::INDEX_MASK);
    // Before Linux 6.3 the verifier does not see that what is not 0 is at least 1.
    a.jump_unless(R1, Test::Above, 0, none);
    a.add(R1, -1);
    a.shift_left(R1, 3);
    a.add_register(R1, R6);
}

fn block(a: &mut Assembler<'_>) {
    let (none, known, few) = (a.label(), a.label(), a.label());
    argument(a, shared::BLOCK_SHIFT, none);
    a.load(Eight, R3, R1, to::ARGUMENTS);
    a.jump_if(R3, Test::Equal, 0, none);
    a.copy(R2, R9);
    a.shift_right(R2, shared::BYTES_SHIFT);
    a.and(R2, shared::BYTES_MASK);
    a.jump_if(R2, Test::NotEqual, 0, known);
    // A vector, whose count is the next argument; that of the last one is within the scratch.
    a.load(Eight, R2, R1, to::ARGUMENTS + 8);
    a.jump_unless(R2, Test::Above, VECTOR_MAX as i32, few);
    a.set(R2, VECTOR_MAX as i32);
    a.place(few);
    a.shift_left(R2, 4);
    a.place(known);
    a.store(Eight, Stack, BYTES, R2);
    a.copy(R1, R6);
    a.add(R1, to::PAYLOAD.into());
    a.call(ProbeReadUser);
    a.jump_if(R0, Test::NotEqual, 0, none);
    a.load(Eight, R8, Stack, BYTES);
    a.store(Two, R6, to::BLOCK_LENGTH, R8);
    a.place(none);
}

fn string(a: &mut Assembler<'_>, shift: i32, length: i16) {
    let none = a.label();
    argument(a, shift, none);
    a.load(Eight, R3, R1, to::ARGUMENTS);
    a.jump_if(R3, Test::Equal, 0, none);
    a.copy(R1, R6);
    a.add_register(R1, R8);
    a.add(R1, to::PAYLOAD.into());
    a.set(R2, to::PATH_BYTES);
    a.call(ProbeReadUserString);
    a.jump_if(R0, Test::Less, 0, none);
    a.store(Two, R6, length, R0);
    a.add_register(R8, R0);
    a.place(none);
}

/// On the stack: a member of the parent, and the same one of the child.
const PARENTS: i16 = BYTES;
const CHILDS: i16 = ENDED;

/// A thread or process is made by one that is followed, and is followed from its beginning on.
fn fork(maps: &Maps, places: &Places) -> Option<Vec<Instruction>> {
    let mut a = Assembler::new(maps);
    a.load(Eight, R6, R1, 0);
    a.load(Eight, R7, R1, 8);
    a.carry(Four, (R6, places.thread), (Stack, KEY));
    a.followed();
    a.carry(Four, (R7, places.thread), (Stack, KEY));
    a.follow();
    a.call(KtimeGetNs);
    a.copy(R9, R0);
    a.reserve(to::FORK_BYTES);
    a.copy(R8, R0);
    a.store(Eight, R8, to::BEGAN, R9);
    a.store(Eight, R8, to::ENDED, R9);
    a.store_number(Four, R8, to::NUMBER, to::FORKED as i32);
    for (task, member, at) in [
        (R6, places.thread, to::THREAD),
        (R7, places.thread, to::FORK_CHILD),
        (R7, places.process, to::FORK_CHILD_PROCESS),
        (R6, places.process, to::FORK_PARENT_PROCESS),
    ] {
        a.carry(Four, (task, member), (R8, at));
    }
    a.set(R9, 0);
    for (member, bit) in [(places.files, to::SHARES_FILES), (places.folder, to::SHARES_FOLDER)] {
        let own = a.label();
        // If a program reads a pointer directly, the kernel searches all of its types by name when it
        // loads the program: that takes milliseconds.
        for (task, at) in [(R6, PARENTS), (R7, CHILDS)] {
            a.stack(R1, at);
            a.set(R2, 8);
            a.copy(R3, task);
            a.add(R3, member.into());
            a.call(ProbeReadKernel);
        }
        a.load(Eight, R1, Stack, PARENTS);
        a.load(Eight, R2, Stack, CHILDS);
        a.jump_if_registers(R1, Test::NotEqual, R2, own);
        a.add(R9, bit);
        a.place(own);
    }
    a.store(Four, R8, to::FORK_SHARES, R9);
    a.submit(R8);
    a.finish()
}

/// A process has another program. The thread that called has the process's number from now on.
fn exec(maps: &Maps, places: &Places) -> Option<Vec<Instruction>> {
    let mut a = Assembler::new(maps);
    a.load(Eight, R6, R1, 0);
    a.load(Eight, R8, R1, 8);
    a.load(Eight, R7, R1, 16);
    a.store(Four, Stack, KEY, R8);
    a.followed();
    a.forget();
    a.carry(Four, (R6, places.thread), (Stack, KEY));
    a.follow();
    a.call(KtimeGetNs);
    a.copy(R9, R0);
    a.scratch(1);
    a.copy(R6, R0);
    a.store(Eight, R6, to::BEGAN, R9);
    a.store(Eight, R6, to::ENDED, R9);
    a.carry(Four, (Stack, KEY), (R6, to::THREAD));
    a.store_number(Four, R6, to::NUMBER, to::EXECUTED as i32);
    a.copy(R1, R6);
    a.add(R1, to::EXEC_PROGRAM.into());
    a.set(R2, to::PATH_BYTES);
    a.load(Eight, R3, R7, places.program);
    a.call(ProbeReadKernelString);
    let known = a.label();
    a.copy(R8, R0);
    a.jump_unless(R8, Test::Above, to::PATH_BYTES, known);
    a.set(R8, 0);
    a.place(known);
    a.store(Eight, R6, to::EXEC_LENGTH, R8);
    a.add(R8, to::EXEC_PROGRAM.into());
    a.output();
    a.finish()
}

/// A thread ends, and is followed no more.
fn exit(maps: &Maps, places: &Places) -> Option<Vec<Instruction>> {
    let mut a = Assembler::new(maps);
    a.load(Eight, R6, R1, 0);
    a.carry(Four, (R6, places.thread), (Stack, KEY));
    a.followed();
    a.forget();
    a.call(KtimeGetNs);
    a.copy(R9, R0);
    a.reserve(to::EXIT_BYTES);
    a.store(Eight, R0, to::BEGAN, R9);
    a.store(Eight, R0, to::ENDED, R9);
    a.carry(Four, (Stack, KEY), (R0, to::THREAD));
    a.store_number(Four, R0, to::NUMBER, to::ENDED_THREAD as i32);
    for (member, at) in
        [(places.sum, to::EXIT_SUM), (places.user, to::EXIT_USER), (places.system, to::EXIT_SYSTEM)]
    {
        a.carry(Eight, (R6, member), (R0, at));
    }
    a.carry(Four, (R6, places.status), (R0, to::EXIT_STATUS));
    a.store_number(Four, R0, to::EXIT_STATUS + 4, 0);
    a.submit(R0);
    a.finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::switch_program::{Observed, TRACEPOINT, Words, switch};
    use super::*;

    /// With places that no kernel has, so that it is the same everywhere.
    #[test]
    fn the_programs_are_those_of_the_snapshot() {
        let maps = Maps {
            wanted: 101,
            threads: 102,
            slots: 103,
            slot_count: 1 << 12,
            ring: 104,
            scratch: 105,
            lost: 106,
        };
        let places = Places {
            registers: Registers {
                number: 1008,
                number_width: Eight,
                arguments: [1016, 1024, 1032, 1040, 1048, 1056],
            },
            thread: 2000,
            process: 2004,
            files: 2008,
            folder: 2016,
            user: 2024,
            system: 2032,
            sum: 2040,
            status: 2048,
            program: 3000,
            state: 2056,
            for_device: (2064, 4),
        };
        let words = Words { runs_here: 107, running: 108, since: 109 };
        let observed = Observed { words, faults: Some(110) };
        let switches = [None, Some(&observed)]
            .map(|observed| ("switch", TRACEPOINT, switch(&maps, &places, observed)));
        let listing = |(name, tracepoint, code): (&str, &str, Option<Vec<Instruction>>)| {
            let lines = code.unwrap().into_iter().enumerate();
            let lines = lines.map(|(at, instruction)| format!("{at:4}: {instruction}\n"));
            format!("{name} at {tracepoint}\n{}", lines.collect::<String>())
        };
        let programs =
            all(&maps, &places).into_iter().chain([waking(&maps, &places)]).chain(switches);
        let listings = programs.map(listing).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!("programs", listings);
    }
}
