//! How records are read that the library writes to the ring.

use crate::bytes::{eight, four, text, two};
use crate::call_record::CallRecord;
use crate::raw_call::RawCall;
use crate::shared::{
    ARGUMENTS, BEGAN, BEGAN_PROGRAM, BLOCK_LENGTH, DISPATCHED, ENDED, ENDED_AT, EXECUTING, FORKED,
    IS_EVENT, LEFT_ALONE, NOT_EXECUTED, NUMBER, PATH_LENGTH, PROCESS, REAPED, REST, RESULT, THREAD,
    TO_LENGTH, UNFINISHED,
};

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
        number if number & IS_EVENT == 0 => RecordKind::Called(call(bytes, number)?),
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
    use crate::shared::IS_LARGE as LARGE;

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
