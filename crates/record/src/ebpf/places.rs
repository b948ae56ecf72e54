//! Where the kernel keeps what the programs read of it, in bytes from the beginning of each structure.

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
    pub(super) arguments: [i16; 6],
}
