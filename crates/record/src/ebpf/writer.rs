//! What the programs do alike: find what is known of a thread, and write to the ring.

use super::assembler::Helper::{
    GetCurrentPidTgid, MapDelete, MapLookup, MapUpdate, RingOutput, RingReserve, RingSubmit,
};
use super::assembler::Register::{R0, R1, R2, R3, R4, R6, R8, Stack};
use super::assembler::Width::{Eight, Four};
use super::assembler::{Assembler, Instruction, Label, Register, Test};
use super::{layout as to, slots};
use crate::shared::NUMBERS;

/// Descriptors of the maps that the programs use.
pub(super) struct Maps {
    /// A word for each system call: [`wanted`](crate::wanted).
    pub(super) wanted: i32,
    /// The threads that are followed, each with what is known of its present call.
    pub(super) threads: i32,
    /// Most of them once more, where they are found without a search: [`Slots`](super::slots::Slots).
    pub(super) slots: i32,
    /// How many slots there are, a power of two.
    pub(super) slot_count: u32,
    pub(super) ring: i32,
    /// Where large records are written.
    pub(super) scratch: i32,
    /// How many records found no room in the ring.
    pub(super) lost: i32,
}

/// The stack: the thread's number as a key, a length, a time, a value.
pub(super) const KEY: i16 = -4;
pub(super) const BYTES: i16 = -16;
pub(super) const ENDED: i16 = -24;
const VALUE: i16 = ENDED - to::THREAD_BYTES as i16;

/// Nobody is to be woken: the ring is looked at from time to time.
const NO_WAKEUP: i32 = 1;

/// A key of a map is added, and its value not changed where it is there.
const NO_EXIST: i32 = 1;

/// What all programs are made of.
pub(super) struct Writer<'m> {
    pub(super) a: Assembler,
    maps: &'m Maps,
    pub(super) out: Label,
}

impl<'m> Writer<'m> {
    pub(super) fn new(maps: &'m Maps) -> Self {
        let mut a = Assembler::default();
        let out = a.label();
        Self { a, maps, out }
    }

    pub(super) fn finish(mut self) -> Option<Vec<Instruction>> {
        self.a.place(self.out);
        self.a.leave();
        self.a.finish()
    }

    /// R1, a system call's number, becomes its word; leaves where it has none.
    pub(super) fn wanted(&mut self) {
        let a = &mut self.a;
        a.jump_if(R1, Test::Above, NUMBERS as i32 - 1, self.out);
        a.map_value(R2, self.maps.wanted);
        a.shift_left(R1, 2);
        a.add_register(R2, R1);
        a.load(Four, R1, R2, 0);
        a.jump_if(R1, Test::Equal, 0, self.out);
    }

    /// R0 becomes the value of the thread whose number is on the stack; leaves where it is not
    /// followed.
    pub(super) fn followed(&mut self) {
        self.followed_or(self.out);
    }

    /// The same, but goes on at a label where it is not followed.
    pub(super) fn followed_or(&mut self, otherwise: Label) {
        let (in_slot, found) = (self.a.label(), self.a.label());
        self.slot();
        let a = &mut self.a;
        a.jump_if_registers(R2, Test::Equal, R3, in_slot);
        a.load(Four, R2, R0, slots::COUNT);
        a.jump_if(R2, Test::Equal, 0, otherwise);
        self.key();
        let a = &mut self.a;
        a.call(MapLookup);
        a.jump_if(R0, Test::Equal, 0, otherwise);
        a.jump(found);
        a.place(in_slot);
        a.add(R0, slots::VALUE.into());
        a.place(found);
    }

    /// R0 becomes the slot of the thread whose number is on the stack, R3 that number, and R2 the
    /// number of the thread that has the slot.
    fn slot(&mut self) {
        let a = &mut self.a;
        a.load(Four, R3, Stack, KEY);
        a.copy(R1, R3);
        a.and(R1, self.maps.slot_count as i32 - 1);
        a.shift_left(R1, slots::BYTES.trailing_zeros() as i32);
        a.map_value(R0, self.maps.slots);
        a.add_register(R0, R1);
        a.load(Four, R2, R0, slots::THREAD);
    }

    /// R1 becomes the map of threads, and R2 the key on the stack.
    fn key(&mut self) {
        let a = &mut self.a;
        a.stack(R2, KEY);
        a.map(R1, self.maps.threads);
    }

    /// R0 becomes the value of the calling thread; leaves where it is not followed.
    pub(super) fn current_followed(&mut self) {
        self.a.call(GetCurrentPidTgid);
        self.a.store(Four, Stack, KEY, R0);
        self.followed();
    }

    /// R8 becomes the value of a thread of which a register has the kernel's own record, with the
    /// thread's number at that place; goes on at the label where it is not followed.
    pub(super) fn thread_or(&mut self, record: Register, number_at: i16, otherwise: Label) {
        self.a.load(Four, R1, record, number_at);
        // An idle processor's thread has no number.
        self.a.jump_if(R1, Test::Equal, 0, otherwise);
        self.a.store(Four, Stack, KEY, R1);
        self.followed_or(otherwise);
        self.a.copy(R8, R0);
    }

    /// Follows the thread whose number is on the stack, if there is room for it.
    pub(super) fn follow(&mut self) {
        for word in (0..to::THREAD_BYTES as i16).step_by(8) {
            self.a.store_number(Eight, Stack, VALUE + word, 0);
        }
        self.key();
        let a = &mut self.a;
        a.stack(R3, VALUE);
        a.set(R4, NO_EXIST);
        a.call(MapUpdate);
        let taken = a.label();
        a.jump_if(R0, Test::NotEqual, 0, taken);
        self.slot();
        let a = &mut self.a;
        a.set(R4, 1);
        a.add_atomically(Four, R0, slots::COUNT, R4);
        a.jump_if(R2, Test::NotEqual, 0, taken);
        for word in (0..to::THREAD_BYTES as i16).step_by(8) {
            a.store_number(Eight, R0, slots::VALUE + word, 0);
        }
        a.store(Four, R0, slots::THREAD, R3);
        a.place(taken);
    }

    /// Follows the thread whose number is on the stack, and which is followed, no more.
    pub(super) fn forget(&mut self) {
        self.key();
        self.a.call(MapDelete);
        self.slot();
        let others = self.a.label();
        let a = &mut self.a;
        a.jump_if_registers(R2, Test::NotEqual, R3, others);
        a.store_number(Four, R0, slots::THREAD, 0);
        a.place(others);
        a.set(R4, -1);
        a.add_atomically(Four, R0, slots::COUNT, R4);
    }

    /// R0 becomes a record of so many bytes; leaves, and counts, where there is no room.
    pub(super) fn reserve(&mut self, bytes: i16) {
        let has_room = self.a.label();
        let a = &mut self.a;
        a.map(R1, self.maps.ring);
        a.set(R2, bytes.into());
        a.set(R3, 0);
        a.call(RingReserve);
        a.jump_if(R0, Test::NotEqual, 0, has_room);
        self.count_lost();
        self.a.jump(self.out);
        self.a.place(has_room);
    }

    pub(super) fn submit(&mut self, record: Register) {
        let a = &mut self.a;
        a.copy(R1, record);
        a.set(R2, NO_WAKEUP);
        a.call(RingSubmit);
    }

    /// R6, the scratch, is a record of so many bytes as R8 has.
    pub(super) fn output(&mut self) {
        let written = self.a.label();
        let a = &mut self.a;
        a.map(R1, self.maps.ring);
        a.copy(R2, R6);
        a.copy(R3, R8);
        a.set(R4, NO_WAKEUP);
        a.call(RingOutput);
        a.jump_if(R0, Test::Equal, 0, written);
        self.count_lost();
        self.a.place(written);
    }

    pub(super) fn count_lost(&mut self) {
        self.a.map_value(R1, self.maps.lost);
        self.a.set(R2, 1);
        self.a.add_atomically(Eight, R1, 0, R2);
    }

    /// R0 becomes a place to write a large record to. Each kind of program has its own: the
    /// kernel runs none of them twice at a time on one processor.
    pub(super) fn scratch(&mut self, which: i32) {
        let a = &mut self.a;
        a.store_number(Four, Stack, VALUE, which);
        a.stack(R2, VALUE);
        a.map(R1, self.maps.scratch);
        a.call(MapLookup);
        a.jump_if(R0, Test::Equal, 0, self.out);
    }
}
