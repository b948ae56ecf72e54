//! What the programs beside those for calls write to the ring: page faults, what `io_uring` has
//! done, and when no thread was on a processor. All begin as records of calls do.

use rustix::param::page_size;
use trace::{Call, Entry, NO_FD, Op};

use super::layout::{BEGAN, ENDED, NUMBER, THREAD};
use crate::bytes;
use crate::kernel_work::{Fault, FileNumber, RingDone, op_of_ring};
use crate::raw_call::Event;
use crate::shared::IS_EVENT as EVENT;

pub(super) const FAULTED: u32 = EVENT | 0x10;
pub(super) const RING_DONE: u32 = EVENT | 0x11;
pub(super) const IDLE: u32 = EVENT | 0x12;

/// A record of idle time ends here.
pub(super) const IDLE_BYTES: i16 = 24;

/// `u64`: the inode. `u32`: its file system.
pub(super) const INODE: i16 = 24;
pub(super) const DEVICE: i16 = 32;
/// `u32`, of a fault: 1 for a write. Of a ring's operation: the mode of the inode.
pub(super) const FLAGS: i16 = 36;
/// Of a fault, `u64`: the address, or 0 where the file is known; the number of the page in the file;
/// for how long the thread slept.
pub(super) const ADDRESS: i16 = 40;
pub(super) const PAGE: i16 = 48;
pub(super) const WAITED: i16 = 56;
pub(super) const FAULT_BYTES: i16 = 64;
/// Of a ring's, `u32`: the descriptor, or the index of a registered file; the operation; the flags
/// of the request, of which the first says which of both it is; `i32`: what came of it.
pub(super) const DESCRIPTOR: i16 = 40;
pub(super) const OPERATION: i16 = 44;
pub(super) const REQUEST_FLAGS: i16 = 48;
pub(super) const RESULT: i16 = 52;
pub(super) const RING_BYTES: i16 = 56;

/// A record of one of these; nothing for any other, and for what is of no file.
pub(super) fn event(record: &[u8]) -> Option<Event<'_>> {
    const FIXED_FILE: u32 = 1;
    let eight = |at: i16| bytes::eight(record, at as usize);
    let four = |at: i16| bytes::four(record, at as usize);
    let (began_ns, thread) = (eight(BEGAN)?, four(THREAD)?);
    let took_ns = eight(ENDED)?.saturating_sub(began_ns);
    let file = || Some(FileNumber { device: four(DEVICE)?, inode: eight(INODE)? });
    let call = |op| Call { began_ns, took_ns, ..Call::new(thread, op) };
    Some(match four(NUMBER)? {
        IDLE => Event::Entry(Entry::Idle { at_ns: began_ns, took_ns }),
        FAULTED => {
            let length = page_size() as u64;
            let call = Call {
                waited_ns: eight(WAITED)?.min(took_ns),
                offset: eight(PAGE)?.saturating_mul(length).cast_signed(),
                length,
                flags: (four(FLAGS)? == 1).into(),
                ..call(Op::Fault)
            };
            let file = Some(file()?).filter(|file| file.inode > 0);
            Event::Faulted(Fault { call, file, address: eight(ADDRESS)? })
        }
        RING_DONE => {
            let op = op_of_ring(four(OPERATION)?, four(FLAGS)? & 0xffff)?;
            let is_registered = four(REQUEST_FLAGS)? & FIXED_FILE != 0;
            // The descriptor of what opens, renames or removes is a folder's.
            let has_none = is_registered || op == Op::RingOther;
            let fd = if has_none { NO_FD } else { four(DESCRIPTOR)?.cast_signed() };
            let result = four(RESULT)?.cast_signed().into();
            let length = u64::try_from(result).unwrap_or(0);
            let call = Call { fd, length, result, ..call(op) };
            Event::RingDone(RingDone { call, file: file()? })
        }
        _ => return None,
    })
}
