//! What the library writes to the ring (`shared.h`), and how it is read.

use crate::bytes::{eight, four, text, two};
use crate::call_record::{CallRecord, EVENT};
use crate::raw_call::RawCall;

/// What the shared memory begins with.
pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"iotoll1\0");
/// Where the ring begins; what is before is the library's `struct shared`.
pub(super) const HEAD_BYTES: usize = 8192;
pub(super) const UNIT_BYTES: usize = 16;
/// `u64`: how long the ring is.
pub(super) const RING_BYTES: usize = 8;
/// `u32`: whether anyone reads; and beside it, whether times are of the cycle counter.
pub(super) const OPEN: usize = 16;
/// `u64`: the device and the inode of the library's file.
pub(super) const DEVICE: usize = 24;
pub(super) const INODE: usize = 32;
/// `u64`: how many units have been given out, and how many have been read.
pub(super) const RESERVED: usize = 64;
pub(super) const READ: usize = 128;
/// `u64`: for how many records there was no room.
pub(super) const LOST: usize = 192;
/// `[u32; 512]`: what is wanted.
pub(super) const WORDS: usize = 256;

/// A record without pointers has so many units, and none has more than this.
pub(super) const UNITS_MIN: u64 = 5;
pub(super) const UNITS_MAX: u64 = 600;

const BEGAN_PROGRAM: u32 = EVENT | 1;
const EXECUTING: u32 = EVENT | 2;
const NOT_EXECUTED: u32 = EVENT | 3;
const FORKED: u32 = EVENT | 4;
const ENDED: u32 = EVENT | 5;
const REAPED: u32 = EVENT | 6;
const LEFT_ALONE: u32 = EVENT | 7;
const UNFINISHED: u32 = EVENT | 8;

pub(super) const BEGAN: usize = 8;
pub(super) const ENDED_AT: usize = 16;
pub(super) const THREAD: usize = 24;
pub(super) const NUMBER: usize = 28;
pub(super) const RESULT: usize = 32;
pub(super) const DISPATCHED: usize = 40;
pub(super) const PROCESS: usize = 44;
pub(super) const ARGUMENTS: usize = 48;
/// Of a large record: how long its block is, its path and its second path, each with the 0 at its
/// end, and where they are, one behind the other.
pub(super) const BLOCK_LENGTH: usize = 96;
pub(super) const PATH_LENGTH: usize = 98;
pub(super) const TO_LENGTH: usize = 100;
pub(super) const REST: usize = 104;

const CALL: CallRecord = CallRecord {
    thread: THREAD,
    began: BEGAN,
    ended: ENDED_AT,
    result: RESULT,
    arguments: ARGUMENTS,
    lengths: [BLOCK_LENGTH, PATH_LENGTH, TO_LENGTH],
    rest: REST,
};

/// A record: when, of which thread and process, and what. Times are those of the library's clock.
pub(super) struct Record<'a> {
    pub(super) at: u64,
    pub(super) thread: u32,
    pub(super) process: u32,
    pub(super) what: RecordKind<'a>,
}

pub(super) enum RecordKind<'a> {
    Called(RawCall<'a>),
    /// Another program has begun.
    Began(&'a [u8]),
    /// One is about to begin.
    Executing(&'a [u8]),
    /// It has not begun.
    NotExecuted,
    /// Told by both sides, with one number.
    Forked {
        number: u64,
        child: u32,
        flags: u64,
    },
    /// The thread, or its whole process; with the processor time of either.
    Ended {
        status: i32,
        is_process: bool,
        user_ns: u64,
        system_ns: u64,
    },
    /// A child, as its parent has waited for it.
    Reaped {
        child: u32,
        status: i32,
    },
    /// Something that is not followed any more.
    LeftAlone,
    /// A call of a program that jumped away before it was written down.
    Unfinished,
}

/// A record of the ring; nothing for one that cannot be understood.
pub(super) fn record(bytes: &[u8]) -> Option<Record<'_>> {
    let number = four(bytes, NUMBER)?;
    let (at, thread) = (eight(bytes, BEGAN)?, four(bytes, THREAD)?);
    let argument = |index: usize| eight(bytes, ARGUMENTS + 8 * index);
    let result = eight(bytes, RESULT)?.cast_signed();
    let told = || text(bytes, REST, two(bytes, PATH_LENGTH)?.into());
    let what = match number {
        BEGAN_PROGRAM => RecordKind::Began(told().unwrap_or_default()),
        EXECUTING => RecordKind::Executing(told().unwrap_or_default()),
        NOT_EXECUTED => RecordKind::NotExecuted,
        FORKED => RecordKind::Forked {
            number: result.cast_unsigned(),
            child: argument(0)? as u32,
            flags: argument(1)?,
        },
        ENDED => RecordKind::Ended {
            status: result as i32,
            is_process: argument(0)? != 0,
            user_ns: argument(1)?,
            system_ns: argument(2)?,
        },
        REAPED => RecordKind::Reaped { child: argument(0)? as u32, status: result as i32 },
        LEFT_ALONE => RecordKind::LeftAlone,
        UNFINISHED => RecordKind::Unfinished,
        number if number & EVENT == 0 => RecordKind::Called(call(bytes, number)?),
        _ => return None,
    };
    Some(Record { at, thread, process: four(bytes, PROCESS)?, what })
}

fn call(bytes: &[u8], number: u32) -> Option<RawCall<'_>> {
    let raw_call = CALL.read(bytes, number)?;
    Some(RawCall { dispatched: four(bytes, DISPATCHED)?, ..raw_call })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::call_record::LARGE;

    fn bytes(length: usize, fields: &[(usize, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; length];
        for (at, field) in fields {
            bytes[*at..at + field.len()].copy_from_slice(field);
        }
        bytes
    }

    #[test]
    fn a_large_record_has_its_block_and_paths_in_a_row() {
        let whole = bytes(
            REST + 7,
            &[
                (NUMBER, &(LARGE | 0x52).to_ne_bytes()),
                (DISPATCHED, &3_u32.to_ne_bytes()),
                (BLOCK_LENGTH, &2_u16.to_ne_bytes()),
                (PATH_LENGTH, &2_u16.to_ne_bytes()),
                (TO_LENGTH, &3_u16.to_ne_bytes()),
                (REST, b"xya\0bb\0"),
                (ARGUMENTS + 40, &6_u64.to_ne_bytes()),
            ],
        );
        let RecordKind::Called(raw_call) = record(&whole).unwrap().what else {
            panic!("it is a call")
        };
        assert_eq!((raw_call.number, raw_call.arguments[5], raw_call.block), (0x52, 6, &b"xy"[..]));
        assert_eq!(
            (raw_call.path, raw_call.to, raw_call.dispatched),
            (Some(&b"a"[..]), Some(&b"bb"[..]), 3)
        );
    }

    #[test]
    fn what_is_cut_short_is_no_record() {
        for number in [1, LARGE, FORKED, ENDED, REAPED, LEFT_ALONE] {
            for length in 0..ARGUMENTS {
                let whole = bytes(256, &[(NUMBER, &number.to_ne_bytes())]);
                assert!(record(&whole[..length]).is_none(), "{number} {length}");
            }
        }
        let fields: [(usize, &[u8]); 2] =
            [(NUMBER, &LARGE.to_ne_bytes()), (BLOCK_LENGTH, &[0xff, 0xff])];
        assert!(record(&bytes(104, &fields)).is_none());
    }
}
