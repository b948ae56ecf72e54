//! Where the kernel keeps what the programs read of it, in bytes from the beginning of each structure.

use super::assembler::{Assembler, Register, Width};
use super::btf::Btf;

/// Offsets in the kernel's structures of all that the programs read.
pub(super) struct Places {
    pub(super) registers: Registers,
    pub(super) thread: i16,
    pub(super) process: i16,
    pub(super) files: i16,
    pub(super) folder: i16,
    pub(super) user: i16,
    pub(super) system: i16,
    pub(super) sum: i16,
    pub(super) status: i16,
    pub(super) program: i16,
    /// Whether it runs, sleeps or waits for a device.
    pub(super) state: i16,
    /// Whether it sleeps for a device: the word, and the bit in it.
    pub(super) for_device: (i16, i32),
}

/// In the registers of a thread when it made a call.
pub(super) struct Registers {
    pub(super) number: i16,
    /// Of that: four bytes have a sign.
    pub(super) number_width: Width,
    pub(super) arguments: [i16; 6],
}

impl Registers {
    /// As the kernel is called on this machine.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn find(btf: &Btf) -> Option<Self> {
        let register = |name| btf.member("pt_regs", name);
        Some(Self {
            number: register("orig_ax")?,
            number_width: Width::Eight,
            arguments: [
                register("di")?,
                register("si")?,
                register("dx")?,
                register("r10")?,
                register("r8")?,
                register("r9")?,
            ],
        })
    }

    /// The result takes the place of the first argument, of which the kernel keeps a copy.
    #[cfg(target_arch = "aarch64")]
    pub(super) fn find(btf: &Btf) -> Option<Self> {
        let register = |name| btf.member("pt_regs", name);
        let first = register("regs")?;
        let [x1, x2, x3, x4, x5] = [1, 2, 3, 4, 5].map(|number| first + 8 * number);
        Some(Self {
            number: register("syscallno")?,
            number_width: Width::Four,
            arguments: [register("orig_x0")?, x1, x2, x3, x4, x5],
        })
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(super) fn find(_: &Btf) -> Option<Self> {
        None
    }

    /// The number of the call that a thread is in; below 0 where it is in none.
    pub(super) fn load_number(&self, a: &mut Assembler<'_>, to: Register, registers: Register) {
        const HALF: i32 = 32;
        a.load(self.number_width, to, registers, self.number);
        if matches!(self.number_width, Width::Four) {
            a.shift_left(to, HALF);
            a.shift_right_signed(to, HALF);
        }
    }
}
