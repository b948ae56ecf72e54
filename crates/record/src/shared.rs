//! What this crate and the library in C (`preload/library`) agree on, once for both.
//!
//! The build script has this file, too. It makes headers of it: constants, which the library has
//! from there, and assertions, with which the library is not compiled unless its structures have
//! each field at its place.
#![allow(dead_code, reason = "the build script uses the lists alone, and the crate all but these")]

macro_rules! shared {
    (
        constants { $($(#[$about:meta])* $name:ident: $type:ty = $value:expr;)* }
        places { $($(#[$about_place:meta])* $place:ident = $at:expr, $struct:ident.$field:ident: $field_type:ty;)* }
    ) => {
        $($(#[$about])* pub(crate) const $name: $type = $value;)*
        $($(#[$about_place])* pub(crate) const $place: usize = $at;)*

        /// The constants by their names in C, and whether they take more than 32 bits.
        pub(crate) const CONSTANTS: &[(&str, u64, bool)] =
            &[$((stringify!($name), $name as u64, size_of::<$type>() > 4)),*];
        /// Fields of the structures in C: where each is, and its size, 0 for one without a size.
        pub(crate) const PLACES: &[(&str, &str, usize, usize)] =
            &[$((stringify!($struct), stringify!($field), $place, size_of::<$field_type>())),*];
    };
}

/// What stands where the library has room for a path, until it has one.
pub(crate) const LIBRARY_MARK: &str = "@iotoll-library@";
pub(crate) const RING_MARK: &str = "@iotoll-ring@";
/// The same by their names in C.
pub(crate) const TEXTS: [(&str, &str); 2] =
    [("LIBRARY_MARK", LIBRARY_MARK), ("RING_MARK", RING_MARK)];

shared! {
    constants {
        /// What the shared memory begins with.
        MAGIC: u64 = u64::from_le_bytes(*b"iotoll1\0");
        /// Numbers of system calls are below this on every architecture.
        NUMBERS: usize = 512;
        /// Where the ring begins; what is before is the library's `struct shared`.
        HEAD_BYTES: usize = 8192;
        /// The ring gives out places in units.
        UNIT_BYTES: usize = 16;
        /// A stamp has its place in the ring, plus 1, above so many bits, and below how many units.
        STAMP_SHIFT: u32 = 16;
        /// The length of a record that is not large, and that of a large one without its rest.
        RECORD_BYTES: usize = 80;
        LARGE_BYTES: usize = 104;

        // A call's word.
        /// The call is recorded.
        WANTED: u32 = 1;
        /// It has pointers, or more than four arguments that are recorded.
        LARGE: u32 = 2;
        /// Where the index of an argument is, plus 1, for the path, the second path and the block.
        PATH_SHIFT: i32 = 4;
        TO_SHIFT: i32 = 8;
        BLOCK_SHIFT: i32 = 12;
        INDEX_MASK: i32 = 7;
        /// How long the block is; 0 for a vector.
        BYTES_SHIFT: i32 = 16;
        BYTES_MASK: i32 = 0xff;
        /// Of so many buffers of a vector the lengths are added up.
        VECTOR_MAX: usize = 16;
        /// The size of one (`struct iovec`).
        VECTOR_BYTES: usize = 16;
        /// A path has at most so many bytes, with the 0 at its end (`PATH_MAX`).
        PATH_BYTES: usize = 4096;

        // The number of a record.
        /// Of a call: all six arguments and what they point to are there.
        IS_LARGE: u32 = 1 << 30;
        /// It is no call.
        IS_EVENT: u32 = 1 << 31;
        BEGAN_PROGRAM: u32 = IS_EVENT | 1;
        EXECUTING: u32 = IS_EVENT | 2;
        NOT_EXECUTED: u32 = IS_EVENT | 3;
        FORKED: u32 = IS_EVENT | 4;
        ENDED: u32 = IS_EVENT | 5;
        REAPED: u32 = IS_EVENT | 6;
        LEFT_ALONE: u32 = IS_EVENT | 7;
        UNFINISHED: u32 = IS_EVENT | 8;

        /// Room for a path within the library.
        OWN_PATH_BYTES: usize = 64;
    }
    places {
        MAGIC_AT = 0, shared.magic: u64;
        /// How long the ring is.
        RING_BYTES = 8, shared.ring_bytes: u64;
        /// Whether anyone reads, and whether times are of the cycle counter.
        OPEN = 16, shared.open: u32;
        CYCLES = 20, shared.cycles: u32;
        /// The device and the inode of the library's file.
        DEVICE = 24, shared.device: u64;
        INODE = 32, shared.inode: u64;
        /// How many units have been given out, and how many have been read.
        RESERVED = 64, shared.reserved: u64;
        READ = 128, shared.read: u64;
        /// For how many records there was no room.
        LOST = 192, shared.lost: u64;
        /// What is wanted.
        WORDS = 256, shared.words: [u32; NUMBERS];

        STAMP = 0, record.stamp: u64;
        BEGAN = 8, record.began: u64;
        ENDED_AT = 16, record.ended: u64;
        THREAD = 24, record.thread: u32;
        NUMBER = 28, record.number: u32;
        RESULT = 32, record.result: i64;
        DISPATCHED = 40, record.dispatched: u32;
        PROCESS = 44, record.process: u32;
        ARGUMENTS = 48, record.arguments: [u64; 4];

        RECORD = 0, large.record: [u8; RECORD_BYTES];
        MORE = ARGUMENTS + 4 * 8, large.more: [u64; 2];
        /// How long its block is, its path and its second path, each with the 0 at its end, and
        /// where they are, one behind the other.
        BLOCK_LENGTH = 96, large.block: u16;
        PATH_LENGTH = 98, large.path: u16;
        TO_LENGTH = 100, large.to: u16;
        REST = LARGE_BYTES, large.rest: [u8; 0];
    }
}

/// A record without pointers has so many units, and none has more than this.
pub(crate) const UNITS_MIN: u64 = (RECORD_BYTES / UNIT_BYTES) as u64;
pub(crate) const UNITS_MAX: u64 = 600;
const _: () = {
    let longest = LARGE_BYTES + VECTOR_MAX * VECTOR_BYTES + 2 * PATH_BYTES;
    assert!(longest / UNIT_BYTES < UNITS_MAX as usize && RECORD_BYTES.is_multiple_of(UNIT_BYTES));
};
