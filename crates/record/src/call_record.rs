//! A call as a mechanism that writes to a ring has it there: fields at places of its own, and
//! behind those of a large record what its arguments point to.

use crate::bytes::{eight, four, text, two};
use crate::raw_call::{RawCall, RawWaits};
use crate::shared::IS_LARGE;

/// So many arguments a record has that is not large.
pub(crate) const ARGUMENTS_MIN: usize = 4;

/// Where the fields of a record are.
pub(crate) struct CallRecord {
    /// `u32`: the thread.
    pub(crate) thread: usize,
    /// `u64`: when the call began and when it returned.
    pub(crate) began: usize,
    pub(crate) ended: usize,
    /// `i64`: what it returned.
    pub(crate) result: usize,
    /// `[u64; 4]`, or `[u64; 6]` of a large record.
    pub(crate) arguments: usize,
    /// `u16`, of a large record: how long the block is, the path and the second path.
    pub(crate) lengths: [usize; 3],
    /// Block and paths, one behind the other.
    pub(crate) rest: usize,
}

impl CallRecord {
    /// The call of that number; nothing of bytes that cannot be understood.
    pub(crate) fn read<'a>(&self, bytes: &'a [u8], number: u32) -> Option<RawCall<'a>> {
        let is_large = number & IS_LARGE != 0;
        let mut raw_call = RawCall {
            thread: four(bytes, self.thread)?,
            number: number & !IS_LARGE,
            began_ns: eight(bytes, self.began)?,
            ended_ns: eight(bytes, self.ended)?,
            waits: RawWaits::default(),
            arguments: [0; 6],
            result: eight(bytes, self.result)?.cast_signed(),
            path: None,
            to: None,
            block: &[],
            dispatched: 0,
        };
        let count = if is_large { raw_call.arguments.len() } else { ARGUMENTS_MIN };
        for (at, argument) in raw_call.arguments.iter_mut().take(count).enumerate() {
            *argument = eight(bytes, self.arguments + 8 * at)?;
        }
        if is_large {
            let [block, path, to] = self.lengths.map(|at| two(bytes, at).map_or(0, usize::from));
            raw_call.block = bytes.get(self.rest..self.rest + block)?;
            raw_call.path = text(bytes, self.rest + block, path);
            raw_call.to = text(bytes, self.rest + block + path, to);
        }
        Some(raw_call)
    }
}
