//! What time asleep was for, where neither a sync nor a lock accounts for it.

use crate::totals::ArmTotals;

/// Reads beyond this share of the writes may be what was waited for instead.
const READS_MAX: f64 = 0.1;
/// The kernel's pressure figures must bear out this share of the sleep as storage's.
/// They weigh each processor by how busy it is, so that one waiter on a machine
/// of n busy processors shows as 1/n (`Documentation/accounting/psi.rst`).
const BORNE_OUT: f64 = 0.5;
/// So many of the sleeps must have had a discard of the device's beside them.
const DISCARDS_MIN: f64 = 0.5;

/// Writes of which no more than this share is left in the cache went past it.
const LEFT_MAX: f64 = 0.1;
/// The device must have written this share of them meanwhile.
const WROTE_MIN: f64 = 0.5;

/// What was waited for, by what the slices did meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Waiting {
    /// Reads from the device.
    Reads,
    /// The device to free blocks.
    Discards,
    /// The device to catch up with what was written.
    Writeback,
    /// The device to take what was written past the page cache.
    Writes,
    /// Nothing that the readings show.
    #[default]
    Unknown,
}

/// What so much sleep was for.
pub(super) fn waited_for(totals: &ArmTotals, asleep_ns: f64) -> Waiting {
    if totals.asleep_ns().is_none() {
        return Waiting::Unknown;
    }
    if reads(totals) {
        Waiting::Reads
    } else if discards(totals) {
        Waiting::Discards
    } else if writes_back(totals, asleep_ns) {
        Waiting::Writeback
    } else if writes_past_cache(totals, asleep_ns) {
        Waiting::Writes
    } else {
        Waiting::Unknown
    }
}

/// Whether storage read for this very process, which the kernel counts process by
/// process, and more than it was given to write: a slice that mostly writes reads a
/// block of the file system's own now and then.
fn reads(totals: &ArmTotals) -> bool {
    totals.spent.calls.is_some_and(|c| c.storage_read_bytes > c.storage_dirtied_bytes)
}

/// Whether the device discarded blocks about as often as the workers slept, for a file
/// system that does so when it frees them. The device's figure includes others' discards.
fn discards(totals: &ArmTotals) -> bool {
    let mounted = totals.place.as_ref().is_some_and(|place| {
        place
            .mount_options
            .iter()
            .any(|option| matches!(option.as_str(), "discard" | "discard=sync"))
    });
    let sleeps = totals.spent.voluntary_switches.saturating_sub(totals.spent.sync_calls) as f64;
    let discards = totals.spent.device.and_then(|device| device.discards);
    mounted
        && sleeps > 0.0
        && discards.is_some_and(|discards| discards as f64 >= sleeps * DISCARDS_MIN)
}

/// Whether data in the cache was on its way to a device that was writing: neither a
/// file system in memory nor direct or synchronous writes, which wait by design.
fn writes_back(totals: &ArmTotals, asleep_ns: f64) -> bool {
    let Some(calls) = totals.spent.calls else { return false };
    let dirtied_bytes = calls.storage_dirtied_bytes as f64;
    let (left_bytes, written_bytes) = (totals.unwritten_bytes(), totals.device_written_bytes());
    let reads = calls.storage_read_bytes as f64 > dirtied_bytes * READS_MAX;
    dirtied_bytes > 0.0
        && left_bytes.or(written_bytes).is_some_and(|bytes| bytes > 0.0)
        && written_bytes.is_none_or(|bytes| bytes > 0.0)
        && !reads
        && is_borne_out(totals, asleep_ns)
}

/// Whether what was given to storage to write was not left in the cache, and a device wrote
/// about as much meanwhile: the writes went past the cache, or waited for it to be written.
fn writes_past_cache(totals: &ArmTotals, asleep_ns: f64) -> bool {
    let Some(calls) = totals.spent.calls else { return false };
    let given_bytes = calls.storage_dirtied_bytes as f64;
    let left = totals.unwritten_bytes().is_some_and(|bytes| bytes <= given_bytes * LEFT_MAX);
    let wrote = totals.device_written_bytes().is_some_and(|bytes| bytes >= given_bytes * WROTE_MIN);
    given_bytes > 0.0 && left && wrote && is_borne_out(totals, asleep_ns)
}

/// Whether the kernel's pressure figures, where there are any, say that storage was waited for.
fn is_borne_out(totals: &ArmTotals, asleep_ns: f64) -> bool {
    let is_enough = |waited_ns: f64| waited_ns * totals.processors() >= asleep_ns * BORNE_OUT;
    totals.pressure().is_none_or(|pressure| is_enough(pressure.io_some_ns as f64))
}
