//! What no move of files can beat, and whether that is known.

use serde::Serialize;

use super::cost::Cost;
use super::range::RangeNs;
use crate::call::Call;
use crate::entry::Unseen;
use crate::header::Header;
use crate::op::Op;

/// A program computes faster where it does not sleep, for its processor's caches keep what it
/// needs. After an fsync(2) of ext4, 300 µs of SQLite's work in memory take 80 µs longer, and the
/// sqlite3 shell, which computes less between waits, 13 µs for each. So each is taken for this …
const COLD_NS: u64 = 80_000;
/// Of a page fault, the recorder sees neither the way into the kernel and out of it nor, on a virtual
/// machine, what its host does for each page that was mapped: on ext4 with large folios, first writes
/// to 16,384 pages are 2,744 faults, which take 4 µs longer than is seen …
const FAULT_NS: u64 = 4_000;
/// … and no more than this part of what is computed is ever saved.
const COLD_PART_MAX: u64 = 2;
/// Where waiting is not seen, a call that takes longer has waited.
const WAITED_NS: u64 = 20_000;
/// Calls on files that nobody knows matter from this share of the time on.
const UNKNOWN: f64 = 0.001;

/// And what passes between tries for locks, of the time in which the program was busy.
const RETRIES: f64 = 0.01;

/// What no move of files can beat.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bound {
    /// The most that could be saved of the time in which the program was busy, were all that was
    /// seen of its files to take no time. It has a margin for what the program computes faster
    /// where it does not wait.
    pub share: f64,
    /// Whether all that it does with files was seen. If not, more than `share` may be saved.
    pub complete: bool,
    /// What was not seen.
    pub missing: Vec<Missing>,
}

/// What a bound does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Missing {
    /// Programs that were not followed.
    Programs,
    /// What `io_uring` does.
    IoUring,
    /// Page faults of mapped files.
    MappedPages,
    /// Calls on files that the recorder does not know.
    Calls,
    /// Calls on descriptors of which the trace does not say what they stand for.
    UnknownFiles,
    /// What passed between two tries for a lock that others held.
    Locks,
    /// Entries that could not be kept.
    Lost,
}

/// What file calls and page faults cost a program beyond the time that they were seen to take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Beyond {
    waits: u64,
    faults: u64,
}

impl Beyond {
    pub(crate) fn count(&mut self, call: &Call, took: RangeNs, sees_waiting: bool) {
        let waited = if sees_waiting { call.waited_ns > 0 } else { took.high > WAITED_NS }
            && call.op.is_call();
        self.waits += u64::from(waited);
        self.faults += u64::from(call.op == Op::Fault);
    }

    fn ns(self) -> u64 {
        self.waits.saturating_mul(COLD_NS).saturating_add(self.faults.saturating_mul(FAULT_NS))
    }
}

/// What a bound is made of beside what files cost.
pub(crate) struct Sight<'a> {
    pub(crate) header: &'a Header,
    pub(crate) busy_ns: RangeNs,
    pub(crate) beyond: Beyond,
    pub(crate) unknown: &'a Cost,
    /// What passed between tries for locks.
    pub(crate) retries_ns: u64,
    pub(crate) lost: u64,
    /// How often something was met that could not be seen.
    pub(crate) met: &'a dyn Fn(Unseen) -> u64,
}

impl Bound {
    pub(crate) fn of(files: &Cost, sight: &Sight<'_>) -> Self {
        let computed_ns = sight.busy_ns.low.saturating_sub(files.once_ns.high);
        let beyond_ns = sight.beyond.ns().min(computed_ns / COLD_PART_MAX);
        let most_ns = files.once_ns.high.saturating_add(beyond_ns);
        let share = (most_ns as f64 / sight.busy_ns.low.max(1) as f64).min(1.0);
        let missing = missing(sight);
        Self { share, complete: missing.is_empty(), missing }
    }
}

fn missing(sight: &Sight<'_>) -> Vec<Missing> {
    let sees = sight.header.sees;
    let met = |kind| (sight.met)(kind) > 0;
    [
        (met(Unseen::Programs), Missing::Programs),
        (met(Unseen::IoUring) && !sees.rings, Missing::IoUring),
        (!sees.faults, Missing::MappedPages),
        (met(Unseen::Calls), Missing::Calls),
        (sight.unknown.busy_share.high >= UNKNOWN, Missing::UnknownFiles),
        (sight.retries_ns as f64 >= sight.busy_ns.low as f64 * RETRIES, Missing::Locks),
        (sight.lost > 0, Missing::Lost),
    ]
    .into_iter()
    .filter_map(|(is_missing, what)| is_missing.then_some(what))
    .collect()
}
