//! Waiting for a lock by asking for it again and again: what happens between two tries is no file
//! call, but would be as short as what the others do who hold it.

use std::collections::HashMap;

use crate::call::Call;
use crate::flags::{EACCES, EAGAIN};
use crate::op::Op;

/// More threads than this do not wait for locks at once.
const THREADS_MAX: usize = 1 << 16;

/// What passed between tries so far.
#[derive(Default)]
pub(crate) struct Retries {
    /// When each thread was refused a lock that it has not asked for again.
    refused: HashMap<u32, u64>,
    ns: u64,
}

impl Retries {
    pub(crate) fn take(&mut self, call: &Call) {
        if !matches!(call.op, Op::Lock | Op::Flock) || call.unlocks() {
            return;
        }
        if let Some(since) = self.refused.remove(&call.thread) {
            self.ns = self.ns.saturating_add(call.began_ns.saturating_sub(since));
        }
        if matches!(call.result, EAGAIN | EACCES) && self.refused.len() < THREADS_MAX {
            self.refused.insert(call.thread, call.ended_ns());
        }
    }

    pub(crate) fn ns(&self) -> u64 {
        self.ns
    }
}
