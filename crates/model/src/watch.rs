//! The machine before and after a run: what the rules about disturbances from outside
//! need, so that they can be evaluated from a saved run as well.
//!
//! Counters are since the machine started. What cannot be read is `null`, and
//! `unread` says why.

use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::probes::CpuTimes;

/// The machine at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct MachineReading {
    /// How long the machine has been up.
    pub uptime_ns: u64,
    /// Processors that this process may use; 0 where that could not be told.
    pub processors: usize,
    /// What all processors did.
    pub cpus: Option<CpuTimes>,
    /// Processor time of this process and of the children that it has waited for.
    pub own_cpu_ns: u64,
    /// Other processes. In a saved run those that ran during it.
    #[serde(deserialize_with = "bounded::list")]
    pub others: Vec<OtherProcess>,
    /// How fast processors run.
    pub frequency: Frequency,
    /// Memory and swap.
    pub memory: Option<MemoryState>,
    /// What the disks were given to write.
    pub disks: Option<DiskWrites>,
    /// What the control groups above this process allow it.
    pub limits: RunLimits,
    /// Whether this is a virtual machine.
    pub virtual_machine: Option<bool>,
    /// What could not be read, each with the reason.
    #[serde(deserialize_with = "bounded::list")]
    pub unread: Vec<String>,
}

/// A process other than this one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherProcess {
    /// Its number.
    pub pid: u32,
    /// The program's name.
    pub name: String,
    /// Whether the kernel made it for itself.
    pub kernel_thread: bool,
    /// Processor time that it has used.
    pub cpu_ns: u64,
    /// When it began, from the machine's start: tells it from a later one with the same
    /// number.
    pub started_ns: u64,
    /// Whether it serves a FUSE file system.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub serves_fuse: bool,
}

/// How fast processors run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Frequency {
    /// What decides on each processor's frequency; empty where nothing is told.
    #[serde(deserialize_with = "bounded::list")]
    pub governors: Vec<String>,
    /// Each processor's frequency.
    #[serde(deserialize_with = "bounded::list")]
    pub current_khz: Vec<u64>,
    /// Whether processors may run faster than they can for long.
    pub turbo: Option<bool>,
}

/// Memory at one moment, and what has passed between it and swap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryState {
    /// What the machine has.
    pub total_bytes: u64,
    /// Waiting to be written back.
    pub dirty_bytes: u64,
    /// Being written back.
    pub writeback_bytes: u64,
    /// Came back from swap.
    pub swapped_in_bytes: u64,
    /// Went to swap.
    pub swapped_out_bytes: u64,
}

/// What the disks were given to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiskWrites {
    /// In all, for anyone.
    pub written_bytes: u64,
    /// What this process caused of it, now or later.
    pub own_bytes: u64,
}

/// Limits of control groups in force, the tightest at any level; `null` for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunLimits {
    /// Processors' worth of time.
    pub processors: Option<f64>,
    /// How long that has held the group up.
    pub throttled_ns: Option<u64>,
    /// Memory, with page cache and files in memory.
    pub memory_bytes: Option<u64>,
    /// Memory beyond which a group is slowed down (`memory.high`).
    #[serde(default)]
    pub memory_high_bytes: Option<u64>,
    /// What may be read from a device and written to it.
    #[serde(default)]
    pub io: Option<IoLimit>,
}

/// A control group's limit on the traffic with a device; `null` for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IoLimit {
    /// The device's major number.
    pub major: u32,
    /// Its minor number.
    pub minor: u32,
    /// Bytes read a second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written a second.
    pub written_bytes_per_s: Option<u64>,
}

impl MachineReading {
    /// Processor time that another process used since an earlier reading. One that
    /// began meanwhile used all of it.
    pub fn used_since(&self, other: &OtherProcess, earlier: &Self) -> u64 {
        let same = |e: &&OtherProcess| e.pid == other.pid && e.started_ns == other.started_ns;
        let before = earlier.others.iter().find(same).map_or(0, |e| e.cpu_ns);
        other.cpu_ns.saturating_sub(before)
    }

    /// Drops from two readings the processes that did not run between them, which most
    /// do not: they say nothing of what lies between.
    pub fn keep_those_that_ran(before: &mut Self, after: &mut Self) {
        let ran: Vec<OtherProcess> =
            after.others.iter().filter(|p| after.used_since(p, before) > 0).cloned().collect();
        before.others.retain(|e| ran.iter().any(|p| p.pid == e.pid));
        after.others = ran;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, cpu_ns: u64, started_ns: u64) -> OtherProcess {
        OtherProcess { pid, cpu_ns, started_ns, ..OtherProcess::default() }
    }

    fn with(others: Vec<OtherProcess>) -> MachineReading {
        MachineReading { others, ..MachineReading::default() }
    }

    #[test]
    fn what_did_not_run_is_dropped_and_no_difference_changes() {
        let mut before = with(vec![process(1, 5, 0), process(2, 5, 0), process(3, 9, 0)]);
        let after = [process(1, 5, 0), process(2, 7, 0), process(3, 4, 8), process(4, 1, 9)];
        let mut after = with(after.into());
        let used = |before: &MachineReading, after: &MachineReading| -> Vec<(u32, u64)> {
            let used = after.others.iter().map(|p| (p.pid, after.used_since(p, before)));
            used.filter(|(_, ns)| *ns > 0).collect()
        };
        let whole = used(&before, &after);
        assert_eq!(whole, [(2, 2), (3, 4), (4, 1)]);
        MachineReading::keep_those_that_ran(&mut before, &mut after);
        assert_eq!(used(&before, &after), whole);
        assert_eq!((before.others.len(), after.others.len()), (2, 3));
    }
}
