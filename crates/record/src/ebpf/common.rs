//! What the programs do alike: find what is known of a thread, and write to the ring.

use super::assembler::Helper::{
    GetCurrentPidTgid, MapDelete, MapLookup, MapUpdate, RingOutput, RingReserve, RingSubmit,
};
use super::assembler::Register::{R0, R1, R2, R3, R4, R6, R8, Stack};
use super::assembler::Width::{Eight, Four};
use super::assembler::{Assembler, Label, OUT, Register, Test};
use super::{layout as to, slots};
use crate::shared::NUMBERS;

/// The stack: the thread's number as a key, a length, a time, a value.
pub(super) const KEY: i16 = -4;
pub(super) const BYTES: i16 = -16;
pub(super) const ENDED: i16 = -24;
const VALUE: i16 = ENDED - to::THREAD_BYTES as i16;

/// Nobody is to be woken: the ring is looked at from time to time.
const NO_WAKEUP: i32 = 1;

/// A key of a map is added, and its value not changed where it is there.
const NO_EXIST: i32 = 1;

impl Assembler<'_> {
    /// R1, a system call's number, becomes its word; leaves where it has none.
    pub(super) fn wanted(&mut self) {
        self.jump_if(R1, Test::Above, NUMBERS as i32 - 1, OUT);
        self.map_value(R2, self.maps.wanted);
        self.shift_left(R1, 2);
        self.add_register(R2, R1);
        self.load(Four, R1, R2, 0);
        self.jump_if(R1, Test::Equal, 0, OUT);
    }

    /// R0 becomes the value of the thread whose number is on the stack; leaves where it is not
    /// followed.
    pub(super) fn followed(&mut self) {
        self.followed_or(OUT);
    }

    /// The same, but goes on at a label where it is not followed.
    pub(super) fn followed_or(&mut self, otherwise: Label) {
        let (in_slot, found) = (self.label(), self.label());
        self.slot();
        self.jump_if_registers(R2, Test::Equal, R3, in_slot);
        self.load(Four, R2, R0, slots::COUNT);
        self.jump_if(R2, Test::Equal, 0, otherwise);
        self.lookup(self.maps.threads, KEY, otherwise);
        self.jump(found);
        self.place(in_slot);
        self.add(R0, slots::VALUE.into());
        self.place(found);
    }

    /// R0 becomes the slot of the thread whose number is on the stack, R3 that number, and R2 the
    /// number of the thread that has the slot.
    fn slot(&mut self) {
        self.load(Four, R3, Stack, KEY);
        self.copy(R1, R3);
        self.and(R1, self.maps.slot_count as i32 - 1);
        self.shift_left(R1, slots::BYTES.trailing_zeros() as i32);
        self.map_value(R0, self.maps.slots);
        self.add_register(R0, R1);
        self.load(Four, R2, R0, slots::THREAD);
    }

    /// R1 becomes a map, and R2 the key on the stack.
    pub(super) fn key(&mut self, map: i32, key: i16) {
        self.stack(R2, key);
        self.map(R1, map);
    }

    /// R0 becomes the value of the key on the stack; goes on at the label where it has none.
    pub(super) fn lookup(&mut self, map: i32, key: i16, otherwise: Label) {
        self.key(map, key);
        self.call(MapLookup);
        self.jump_if(R0, Test::Equal, 0, otherwise);
    }

    /// R0 becomes the value of the calling thread; leaves where it is not followed.
    pub(super) fn current_followed(&mut self) {
        self.call(GetCurrentPidTgid);
        self.store(Four, Stack, KEY, R0);
        self.followed();
    }

    /// R8 becomes the value of a thread of which a register has the kernel's own record, with the
    /// thread's number at that place; goes on at the label where it is not followed.
    pub(super) fn thread_or(&mut self, record: Register, number_at: i16, otherwise: Label) {
        self.load(Four, R1, record, number_at);
        // An idle processor's thread has no number.
        self.jump_if(R1, Test::Equal, 0, otherwise);
        self.store(Four, Stack, KEY, R1);
        self.followed_or(otherwise);
        self.copy(R8, R0);
    }

    /// Follows the thread whose number is on the stack, if there is room for it.
    pub(super) fn follow(&mut self) {
        for word in (0..to::THREAD_BYTES as i16).step_by(8) {
            self.store_number(Eight, Stack, VALUE + word, 0);
        }
        self.key(self.maps.threads, KEY);
        self.stack(R3, VALUE);
        self.set(R4, NO_EXIST);
        self.call(MapUpdate);
        let taken = self.label();
        self.jump_if(R0, Test::NotEqual, 0, taken);
        self.slot();
        self.set(R4, 1);
        self.add_atomically(Four, R0, slots::COUNT, R4);
        self.jump_if(R2, Test::NotEqual, 0, taken);
        for word in (0..to::THREAD_BYTES as i16).step_by(8) {
            self.store_number(Eight, R0, slots::VALUE + word, 0);
        }
        self.store(Four, R0, slots::THREAD, R3);
        self.place(taken);
    }

    /// Follows the thread whose number is on the stack, and which is followed, no more.
    pub(super) fn forget(&mut self) {
        self.key(self.maps.threads, KEY);
        self.call(MapDelete);
        self.slot();
        let others = self.label();
        self.jump_if_registers(R2, Test::NotEqual, R3, others);
        self.store_number(Four, R0, slots::THREAD, 0);
        self.place(others);
        self.set(R4, -1);
        self.add_atomically(Four, R0, slots::COUNT, R4);
    }

    /// R0 becomes a record of so many bytes; leaves, and counts, where there is no room.
    pub(super) fn reserve(&mut self, bytes: i16) {
        let has_room = self.label();
        self.map(R1, self.maps.ring);
        self.set(R2, bytes.into());
        self.set(R3, 0);
        self.call(RingReserve);
        self.jump_if(R0, Test::NotEqual, 0, has_room);
        self.count_lost();
        self.jump(OUT);
        self.place(has_room);
    }

    pub(super) fn submit(&mut self, record: Register) {
        self.copy(R1, record);
        self.set(R2, NO_WAKEUP);
        self.call(RingSubmit);
    }

    /// R6, the scratch, is a record of so many bytes as R8 has.
    pub(super) fn output(&mut self) {
        let written = self.label();
        self.map(R1, self.maps.ring);
        self.copy(R2, R6);
        self.copy(R3, R8);
        self.set(R4, NO_WAKEUP);
        self.call(RingOutput);
        self.jump_if(R0, Test::Equal, 0, written);
        self.count_lost();
        self.place(written);
    }

    pub(super) fn count_lost(&mut self) {
        self.map_value(R1, self.maps.lost);
        self.set(R2, 1);
        self.add_atomically(Eight, R1, 0, R2);
    }

    /// R0 becomes a place to write a large record to. Each kind of program has its own: the
    /// kernel runs none of them twice at a time on one processor.
    pub(super) fn scratch(&mut self, which: i32) {
        self.store_number(Four, Stack, VALUE, which);
        self.lookup(self.maps.scratch, VALUE, OUT);
    }
}
