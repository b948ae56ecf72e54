//! What the programs write to the ring, and how it is read.
//!
//! All records begin alike: two times, a thread and a number. Of calls the number is the system
//! call's, with [`LARGE`] where all arguments and what they point to follow; other events have
//! [`EVENT`] and one of the constants below.

use trace::Entry;

use crate::bytes::{self, text};
use crate::call_record::CallRecord;
use crate::processor_time::share;
use crate::raw_call::{Event, RawCall, RawWaits, Woken};
pub(super) use crate::shared::{IS_EVENT as EVENT, IS_LARGE as LARGE};

/// `u64`: when the call began, or when the event was.
pub(super) const BEGAN: i16 = 0;
/// `u64`: when the call returned.
pub(super) const ENDED: i16 = 8;
/// `u32`: the thread.
pub(super) const THREAD: i16 = 16;
/// `u32`: what it is.
pub(super) const NUMBER: i16 = 20;
/// `i64`: what the call returned.
pub(super) const RESULT: i16 = 24;
/// `u64`: for how long its thread was off the processor meanwhile.
pub(super) const WAITED: i16 = 32;
/// `u64`: for how much of that it was ready to run, waited for a lock within the kernel, and slept
/// until something happened that may never happen.
pub(super) const QUEUED: i16 = 40;
pub(super) const LOCKED: i16 = 48;
pub(super) const SLEPT: i16 = 56;
/// `[u64; 4]`, or `[u64; 6]` of a large record.
pub(super) const ARGUMENTS: i16 = 64;
/// A small record's length.
pub(super) const SMALL_BYTES: i16 = 96;

/// `u16`: how much of the block could be read.
pub(super) const BLOCK_LENGTH: i16 = 112;
/// `u16`: the path's length, with the 0 at its end; 0 where it could not be read.
pub(super) const PATH_LENGTH: i16 = 114;
/// `u16`: the second path's.
pub(super) const TO_LENGTH: i16 = 116;
/// `u16`: nothing.
pub(super) const UNUSED: i16 = 118;
/// Block and paths, one behind the other.
pub(super) const PAYLOAD: i16 = 120;

const CALL: CallRecord = CallRecord {
    thread: THREAD as usize,
    began: BEGAN as usize,
    ended: ENDED as usize,
    result: RESULT as usize,
    arguments: ARGUMENTS as usize,
    lengths: [BLOCK_LENGTH as usize, PATH_LENGTH as usize, TO_LENGTH as usize],
    rest: PAYLOAD as usize,
};

pub(super) const FORKED: u32 = EVENT | 1;
pub(super) const EXECUTED: u32 = EVENT | 2;
pub(super) const ENDED_THREAD: u32 = EVENT | 3;
pub(super) const WOKEN: u32 = EVENT | 0x13;

/// `u32`: the new thread, and its process.
pub(super) const FORK_CHILD: i16 = 24;
pub(super) const FORK_CHILD_PROCESS: i16 = 28;
/// `u32`: the process of the one that made it.
pub(super) const FORK_PARENT_PROCESS: i16 = 32;
/// `u32`: bits.
pub(super) const FORK_SHARES: i16 = 36;
pub(super) const FORK_BYTES: i16 = 40;
pub(super) const SHARES_FILES: i32 = 1;
pub(super) const SHARES_FOLDER: i32 = 2;

/// `u64`: the program's length, and it behind.
pub(super) const EXEC_LENGTH: i16 = 24;
pub(super) const EXEC_PROGRAM: i16 = 32;

/// `u64`: time on a processor; the ticks of it outside and within the kernel.
pub(super) const EXIT_SUM: i16 = 24;
pub(super) const EXIT_USER: i16 = 32;
pub(super) const EXIT_SYSTEM: i16 = 40;
/// `u32`: as wait(2) has it.
pub(super) const EXIT_STATUS: i16 = 48;
pub(super) const EXIT_BYTES: i16 = 56;

/// `u32`: the thread that woke it, and the system call that that one was in.
pub(super) const WOKEN_BY: i16 = 24;
pub(super) const WOKEN_CALL: i16 = 28;
pub(super) const WOKEN_BYTES: i16 = 32;

/// What the programs know of a thread that is followed, in the map of threads.
pub(super) const THREAD_BYTES: u32 = 56;
/// `u64`: when its present call began; 0 outside of those that are recorded.
pub(super) const OF_THREAD_BEGAN: i16 = 0;
/// `u64`: for how long it has been off the processor since.
pub(super) const OF_THREAD_WAITED: i16 = 8;
/// `u64`: when it was taken off the processor, or was woken since; 0 while it is on one.
pub(super) const OF_THREAD_LEFT: i16 = 16;
/// `u64`: the kernel's state of it then; 0 while it is ready to run.
pub(super) const OF_THREAD_STATE: i16 = 24;
/// `u64` each: the parts of what it has been off the processor, as a record of a call has them.
pub(super) const OF_THREAD_QUEUED: i16 = 32;
pub(super) const OF_THREAD_LOCKED: i16 = 40;
pub(super) const OF_THREAD_SLEPT: i16 = 48;

/// `PATH_MAX`.
pub(super) const PATH_BYTES: i32 = crate::shared::PATH_BYTES as i32;
/// What a program has to write a large record to: the head, a vector and two paths.
pub(super) const SCRATCH_BYTES: u32 = 9 << 10;

/// A record of the ring; nothing for one that cannot be understood.
pub(super) fn event(record: &[u8]) -> Option<Event<'_>> {
    let (at_ns, thread) = (eight(record, BEGAN)?, four(record, THREAD)?);
    match four(record, NUMBER)? {
        FORKED => {
            let shares = four(record, FORK_SHARES)? as i32;
            Some(Event::Entry(Entry::Fork {
                at_ns,
                parent: thread,
                child: four(record, FORK_CHILD)?,
                thread: four(record, FORK_CHILD_PROCESS)? == four(record, FORK_PARENT_PROCESS)?,
                shares_files: shares & SHARES_FILES != 0,
                shares_folder: shares & SHARES_FOLDER != 0,
            }))
        }
        EXECUTED => {
            let from = EXEC_PROGRAM as usize;
            let program = text(record, from, eight(record, EXEC_LENGTH)? as usize);
            Some(Event::Executed { at_ns, thread, program: program.unwrap_or_default() })
        }
        ENDED_THREAD => {
            let word = |at| eight(record, at);
            let (user_ns, system_ns) = share(word(EXIT_SUM)?, word(EXIT_USER)?, word(EXIT_SYSTEM)?);
            let status = four(record, EXIT_STATUS)? as i32;
            Some(Event::Entry(Entry::Exit { at_ns, thread, status, user_ns, system_ns }))
        }
        WOKEN => Some(Event::Woken(Woken {
            at_ns: eight(record, ENDED)?,
            since_ns: at_ns,
            thread,
            by: four(record, WOKEN_BY)?,
            call: four(record, WOKEN_CALL)?,
        })),
        number if number & EVENT == 0 => call(record, number).map(Event::Called),
        _ => None,
    }
}

fn call(record: &[u8], number: u32) -> Option<RawCall<'_>> {
    let raw_call = CALL.read(record, number)?;
    let waits = RawWaits {
        all_ns: eight(record, WAITED)?,
        queued_ns: eight(record, QUEUED)?,
        locked_ns: eight(record, LOCKED)?,
        slept_ns: eight(record, SLEPT)?,
    };
    Some(RawCall { waits, ..raw_call })
}

fn eight(record: &[u8], at: i16) -> Option<u64> {
    bytes::eight(record, at as usize)
}

fn four(record: &[u8], at: i16) -> Option<u32> {
    bytes::four(record, at as usize)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn record(bytes: usize, fields: &[(i16, &[u8])]) -> Vec<u8> {
        let mut record = vec![0; bytes];
        for (at, field) in fields {
            record[*at as usize..*at as usize + field.len()].copy_from_slice(field);
        }
        record
    }

    #[test]
    fn a_large_record_has_its_block_and_paths_in_a_row() {
        let fields: [(i16, &[u8]); 8] = [
            (NUMBER, &(LARGE | 0x52).to_ne_bytes()),
            (WAITED, &8_u64.to_ne_bytes()),
            (LOCKED, &3_u64.to_ne_bytes()),
            (BLOCK_LENGTH, &2_u16.to_ne_bytes()),
            (PATH_LENGTH, &2_u16.to_ne_bytes()),
            (TO_LENGTH, &3_u16.to_ne_bytes()),
            (PAYLOAD, b"xya\0bb\0"),
            (ARGUMENTS + 40, &6_u64.to_ne_bytes()),
        ];
        let record = record(PAYLOAD as usize + 7, &fields);
        let Some(Event::Called(raw_call)) = event(&record) else { panic!("it is a call") };
        assert_eq!((raw_call.number, raw_call.arguments[5], raw_call.block), (0x52, 6, &b"xy"[..]));
        let waits = raw_call.waits;
        assert_eq!((waits.all_ns, waits.queued_ns, waits.locked_ns, waits.slept_ns), (8, 0, 3, 0));
        assert_eq!((raw_call.path, raw_call.to), (Some(&b"a"[..]), Some(&b"bb"[..])));
    }

    #[test]
    fn a_thread_is_told_from_a_process_by_whose_it_is() {
        let forked = |process: u32| {
            let fields: [(i16, &[u8]); 6] = [
                (NUMBER, &FORKED.to_ne_bytes()),
                (THREAD, &7_u32.to_ne_bytes()),
                (FORK_CHILD, &9_u32.to_ne_bytes()),
                (FORK_CHILD_PROCESS, &process.to_ne_bytes()),
                (FORK_PARENT_PROCESS, &6_u32.to_ne_bytes()),
                (FORK_SHARES, &SHARES_FOLDER.to_ne_bytes()),
            ];
            let record = record(FORK_BYTES as usize, &fields);
            let Some(Event::Entry(Entry::Fork {
                parent,
                child,
                thread,
                shares_files,
                shares_folder,
                ..
            })) = event(&record)
            else {
                panic!("one was made")
            };
            assert_eq!((parent, child), (7, 9));
            assert!(shares_folder && !shares_files);
            thread
        };
        assert!(forked(6) && !forked(9));
    }

    #[test]
    fn what_is_cut_short_is_no_record() {
        for number in [1, LARGE | 1, FORKED, EXECUTED, ENDED_THREAD, WOKEN, EVENT | 9] {
            for length in 0..24 {
                let whole = record(256, &[(NUMBER, &number.to_ne_bytes())]);
                assert!(event(&whole[..length]).is_none(), "{number} {length}");
            }
        }
        let far = record(
            PAYLOAD as usize,
            &[(NUMBER, &LARGE.to_ne_bytes()), (BLOCK_LENGTH, &[0xff, 0xff])],
        );
        assert!(event(&far).is_none());
    }
}
