//! Programs for the kernel's eBPF machine, instruction by instruction (RFC 9669).
//!
//! The programs here have some hundred instructions: a compiler for them would be a dependency
//! of every build, and one that is not everywhere.

/// One instruction.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    code: u8,
    /// The destination's number in the lower half, the source's in the upper.
    registers: u8,
    offset: i16,
    immediate: i32,
}

#[cfg(test)]
impl std::fmt::Display for Instruction {
    /// The code, destination and source, offset and constant.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { code, registers, offset, immediate } = self;
        let (to, from) = (registers & 0xf, registers >> 4);
        write!(f, "{code:02x} r{to} r{from} {offset:+} {immediate}")
    }
}

/// A register. `R0` has what a call returns, `R1` to `R5` are its arguments and are lost by it,
/// `R6` to `R9` are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    R0 = 0,
    R1 = 1,
    R2 = 2,
    R3 = 3,
    R4 = 4,
    R6 = 6,
    R7 = 7,
    R8 = 8,
    R9 = 9,
    /// The end of the stack's 512 bytes.
    Stack = 10,
}

/// The kernel's functions that are called (`enum bpf_func_id`).
#[derive(Clone, Copy, Debug)]
pub(super) enum Helper {
    MapLookup = 1,
    MapUpdate = 2,
    MapDelete = 3,
    KtimeGetNs = 5,
    GetCurrentPidTgid = 14,
    ProbeReadUser = 112,
    ProbeReadKernel = 113,
    ProbeReadUserString = 114,
    ProbeReadKernelString = 115,
    RingOutput = 130,
    RingReserve = 131,
    RingSubmit = 132,
    GetCurrentTask = 158,
    RegistersOf = 175,
}

/// How many bytes are loaded or stored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Width {
    One = 0x10,
    Two = 0x08,
    Four = 0x00,
    Eight = 0x18,
}

/// What two values are compared for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    Equal = 0x10,
    NotEqual = 0x50,
    /// Any bit in common.
    Bits = 0x40,
    /// Without a sign.
    Above = 0x20,
    /// With one.
    Less = 0xc0,
}

/// Where a jump leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(usize);

/// Descriptors of the maps that the programs use.
#[derive(Default)]
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

/// The program's end.
pub(super) const OUT: Label = Label(0);

/// A program that is being written.
pub(super) struct Assembler<'m> {
    pub(super) maps: &'m Maps,
    instructions: Vec<Instruction>,
    /// Where each label is, once that is known.
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

const LOAD: u8 = 0x61;
const STORE: u8 = 0x63;
const STORE_NUMBER: u8 = 0x62;
const CONSTANT: u8 = 0x18;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
const JUMP: u8 = 0x05;
/// Arithmetic and jumps by a constant; with `BY_REGISTER`, by a register.
const ARITHMETIC: u8 = 0x07;
const BY_REGISTER: u8 = 0x08;
const ADD: u8 = 0x00;
const SUBTRACT: u8 = 0x10;
const AND: u8 = 0x50;
const SHIFT_LEFT: u8 = 0x60;
const SHIFT_RIGHT: u8 = 0x70;
const SHIFT_RIGHT_SIGNED: u8 = 0xc0;
const MOVE: u8 = 0xb0;
const ATOMIC: u8 = 0xc3;
/// `src_reg` of a constant that is a map's descriptor, or the address of its value.
const MAP: u8 = 1;
const MAP_VALUE: u8 = 2;

impl<'m> Assembler<'m> {
    /// An empty one, whose only label is its end.
    pub(super) fn new(maps: &'m Maps) -> Self {
        Self { maps, instructions: Vec::new(), labels: vec![None], jumps: Vec::new() }
    }

    fn push(&mut self, code: u8, to: u8, from: u8, offset: i16, immediate: i32) {
        self.instructions.push(Instruction { code, registers: to | from << 4, offset, immediate });
    }

    /// A place that is not known yet.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// A register becomes the address of a place on the stack.
    pub(super) fn stack(&mut self, to: Register, offset: i16) {
        self.copy(to, Register::Stack);
        self.add(to, offset.into());
    }

    /// Copies what memory has at one place to another; R1 is lost.
    pub(super) fn carry(&mut self, width: Width, from: (Register, i16), to: (Register, i16)) {
        self.load(width, Register::R1, from.0, from.1);
        self.store(width, to.0, to.1, Register::R1);
    }

    /// Adds a register to what memory has at a place; R1 is lost.
    pub(super) fn add_to(&mut self, base: Register, offset: i16, summand: Register) {
        self.load(Width::Eight, Register::R1, base, offset);
        self.add_register(Register::R1, summand);
        self.store(Width::Eight, base, offset, Register::R1);
    }

    /// The label is here.
    pub(super) fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.instructions.len());
    }

    pub(super) fn copy(&mut self, to: Register, from: Register) {
        self.push(ARITHMETIC | MOVE | BY_REGISTER, to as u8, from as u8, 0, 0);
    }

    pub(super) fn set(&mut self, to: Register, number: i32) {
        self.push(ARITHMETIC | MOVE, to as u8, 0, 0, number);
    }

    pub(super) fn add(&mut self, to: Register, number: i32) {
        self.push(ARITHMETIC | ADD, to as u8, 0, 0, number);
    }

    pub(super) fn add_register(&mut self, to: Register, other: Register) {
        self.push(ARITHMETIC | ADD | BY_REGISTER, to as u8, other as u8, 0, 0);
    }

    pub(super) fn subtract_register(&mut self, from: Register, other: Register) {
        self.push(ARITHMETIC | SUBTRACT | BY_REGISTER, from as u8, other as u8, 0, 0);
    }

    pub(super) fn and(&mut self, to: Register, number: i32) {
        self.push(ARITHMETIC | AND, to as u8, 0, 0, number);
    }

    pub(super) fn shift_left(&mut self, to: Register, bits: i32) {
        self.push(ARITHMETIC | SHIFT_LEFT, to as u8, 0, 0, bits);
    }

    pub(super) fn shift_right(&mut self, to: Register, bits: i32) {
        self.push(ARITHMETIC | SHIFT_RIGHT, to as u8, 0, 0, bits);
    }

    /// The highest bit stays.
    pub(super) fn shift_right_signed(&mut self, to: Register, bits: i32) {
        self.push(ARITHMETIC | SHIFT_RIGHT_SIGNED, to as u8, 0, 0, bits);
    }

    pub(super) fn load(&mut self, width: Width, to: Register, from: Register, offset: i16) {
        self.push(LOAD | width as u8, to as u8, from as u8, offset, 0);
    }

    pub(super) fn store(&mut self, width: Width, to: Register, offset: i16, from: Register) {
        self.push(STORE | width as u8, to as u8, from as u8, offset, 0);
    }

    pub(super) fn store_number(&mut self, width: Width, to: Register, offset: i16, number: i32) {
        self.push(STORE_NUMBER | width as u8, to as u8, 0, offset, number);
    }

    /// Adds to a number of four or eight bytes, whoever else does.
    pub(super) fn add_atomically(&mut self, width: Width, to: Register, at: i16, from: Register) {
        self.push(ATOMIC | width as u8, to as u8, from as u8, at, 0);
    }

    /// The same; the register becomes the number that was there before.
    pub(super) fn fetch_and_add(&mut self, to: Register, at: i16, from: Register) {
        const FETCH: i32 = 1;
        self.push(ATOMIC | Width::Eight as u8, to as u8, from as u8, at, FETCH);
    }

    /// A map, for a helper.
    pub(super) fn map(&mut self, to: Register, descriptor: i32) {
        self.push(CONSTANT, to as u8, MAP, 0, descriptor);
        self.push(0, 0, 0, 0, 0);
    }

    /// The address of what an array has at its beginning.
    pub(super) fn map_value(&mut self, to: Register, descriptor: i32) {
        self.push(CONSTANT, to as u8, MAP_VALUE, 0, descriptor);
        self.push(0, 0, 0, 0, 0);
    }

    pub(super) fn call(&mut self, helper: Helper) {
        self.push(CALL, 0, 0, 0, helper as i32);
    }

    pub(super) fn jump(&mut self, label: Label) {
        self.jumps.push((self.instructions.len(), label));
        self.push(JUMP, 0, 0, 0, 0);
    }

    pub(super) fn jump_if(&mut self, a: Register, test: Test, number: i32, label: Label) {
        self.jumps.push((self.instructions.len(), label));
        self.push(JUMP | test as u8, a as u8, 0, 0, number);
    }

    pub(super) fn jump_if_registers(&mut self, a: Register, test: Test, b: Register, label: Label) {
        self.jumps.push((self.instructions.len(), label));
        self.push(JUMP | test as u8 | BY_REGISTER, a as u8, b as u8, 0, 0);
    }

    /// Jumps where the test does not hold.
    pub(super) fn jump_unless(&mut self, a: Register, test: Test, number: i32, label: Label) {
        let holds = self.label();
        self.jump_if(a, test, number, holds);
        self.jump(label);
        self.place(holds);
    }

    /// The program, which ends with 0, with its jumps filled in; nothing where one leads nowhere.
    pub(super) fn finish(mut self) -> Option<Vec<Instruction>> {
        self.place(OUT);
        self.set(Register::R0, 0);
        self.push(EXIT, 0, 0, 0, 0);
        for (at, label) in self.jumps {
            let to = self.labels[label.0]?;
            self.instructions[at].offset = i16::try_from(to as i64 - at as i64 - 1).ok()?;
        }
        Some(self.instructions)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Register::{R0, R1, R6, Stack};
    use super::*;

    /// As the kernel has it: little-endian, eight bytes each.
    fn bytes(program: &[Instruction]) -> Vec<[u8; 8]> {
        let one = |i: &Instruction| {
            let mut bytes = [i.code, i.registers, 0, 0, 0, 0, 0, 0];
            bytes[2..4].copy_from_slice(&i.offset.to_le_bytes());
            bytes[4..].copy_from_slice(&i.immediate.to_le_bytes());
            bytes
        };
        program.iter().map(one).collect()
    }

    #[test]
    fn instructions_are_those_of_the_standard() {
        let maps = Maps::default();
        let mut a = Assembler::new(&maps);
        a.copy(R6, R1);
        a.set(R0, -1);
        a.load(Width::Eight, R1, R6, 8);
        a.load(Width::Four, R1, R6, 4);
        a.store(Width::Four, Stack, -4, R0);
        a.store(Width::Eight, R1, 16, R6);
        a.store(Width::Two, R1, 2, R6);
        a.call(Helper::KtimeGetNs);
        a.subtract_register(R0, R6);
        a.shift_right_signed(R0, 32);
        a.add_atomically(Width::Four, R1, 4, R0);
        a.add_atomically(Width::Eight, R1, 0, R0);
        // From `llvm-mc -triple bpf`.
        let expected = [
            [0xbf, 0x16, 0, 0, 0, 0, 0, 0],
            [0xb7, 0x00, 0, 0, 0xff, 0xff, 0xff, 0xff],
            [0x79, 0x61, 8, 0, 0, 0, 0, 0],
            [0x61, 0x61, 4, 0, 0, 0, 0, 0],
            [0x63, 0x0a, 0xfc, 0xff, 0, 0, 0, 0],
            [0x7b, 0x61, 16, 0, 0, 0, 0, 0],
            [0x6b, 0x61, 2, 0, 0, 0, 0, 0],
            [0x85, 0, 0, 0, 5, 0, 0, 0],
            [0x1f, 0x60, 0, 0, 0, 0, 0, 0],
            [0xc7, 0x00, 0, 0, 32, 0, 0, 0],
            [0xc3, 0x01, 4, 0, 0, 0, 0, 0],
            [0xdb, 0x01, 0, 0, 0, 0, 0, 0],
            [0xb7, 0, 0, 0, 0, 0, 0, 0],
            [0x95, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(bytes(&a.finish().unwrap()), expected);
    }

    #[test]
    fn jumps_lead_to_their_labels() {
        let maps = Maps::default();
        let mut a = Assembler::new(&maps);
        let back = a.label();
        a.place(back);
        a.jump_if(R0, Test::Equal, 0, OUT);
        a.map(R1, 7);
        a.jump(back);
        let program = a.finish().unwrap();
        assert_eq!(program[0].offset, 3);
        assert_eq!((program[1].code, program[1].registers, program[1].immediate), (0x18, 0x11, 7));
        assert_eq!(program[3].offset, -4);
        let mut nowhere = Assembler::new(&maps);
        let label = nowhere.label();
        nowhere.jump(label);
        assert_eq!(nowhere.finish(), None);
    }
}
