//! How much memory files may take: the machine's, and that of the control groups.
//!
//! `/proc/meminfo` speaks of the whole machine even within a container, whose limit is
//! that of its control group or of one above it. What a group uses includes page cache
//! that the kernel drops when it needs to, so that is not counted as taken (files of a
//! tmpfs are: the kernel keeps them with the anonymous pages).

use std::io;

use model::watch::MemoryState;
use thiserror::Error;

use crate::cgroup::{ControlGroups, MemoryLimit};
use crate::file::field;
use crate::root::Root;
use crate::vmstat;

/// Why the machine's memory could not be told.
#[derive(Debug, Error)]
#[error("/proc/meminfo: could not be read: {0}; check that /proc is mounted")]
pub struct MemoryError(#[from] io::Error);

/// The memory that is there. Sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFacts {
    /// What the machine has.
    pub total_bytes: u64,
    /// What could be had without swapping, as the kernel estimates it.
    pub available_bytes: u64,
    /// The swap space.
    pub swap_total_bytes: u64,
    /// What is unused of it.
    pub swap_free_bytes: u64,
    /// The tightest limit of the control groups that this process is in.
    pub limit: Option<MemoryLimit>,
}

impl MemoryFacts {
    /// Of this process on a machine.
    pub fn read(root: &Root) -> Result<Self, MemoryError> {
        let text = root.text("/proc/meminfo")?;
        let bytes = |key: &str| field(&text, key).map(|kibibytes| kibibytes.saturating_mul(1024));
        let needed = |key: &str| {
            bytes(key).ok_or_else(|| io::Error::other(format!("it has no line for {key}")))
        };
        let total_bytes = needed("MemTotal")?;
        let groups = ControlGroups::read(root).ok();
        Ok(Self {
            total_bytes,
            available_bytes: needed("MemAvailable")?,
            swap_total_bytes: bytes("SwapTotal").unwrap_or(0),
            swap_free_bytes: bytes("SwapFree").unwrap_or(0),
            limit: groups.and_then(|groups| groups.tightest_memory_limit(root, total_bytes)),
        })
    }

    /// What may still be taken without swapping and without meeting a limit.
    pub fn usable_bytes(&self) -> u64 {
        let left = self.limit.as_ref().map_or(u64::MAX, MemoryLimit::left_bytes);
        self.available_bytes.min(left)
    }
}

/// Memory and swap of the machine.
pub(crate) fn state(root: &Root) -> Option<MemoryState> {
    let traffic = vmstat::read(root)?;
    Some(MemoryState {
        total_bytes: field(&root.text("/proc/meminfo").ok()?, "MemTotal")?.saturating_mul(1024),
        dirty_bytes: traffic.dirty_bytes.0,
        writeback_bytes: traffic.writeback_bytes.0,
        swapped_in_bytes: traffic.swapped_in_bytes,
        swapped_out_bytes: traffic.swapped_out_bytes,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::Fixture;

    const MIB: u64 = 1024 * 1024;

    fn machine(mounts: &str, membership: &str) -> Fixture {
        let fixture = Fixture::with_mounts(mounts);
        fixture.write("/proc/self/cgroup", membership);
        let meminfo = "MemTotal:       8388608 kB\nMemFree:  1024 kB\nMemAvailable:   4194304 kB\n\
                       SwapTotal:       2048 kB\nSwapFree:        1024 kB\n";
        fixture.write("/proc/meminfo", meminfo);
        fixture
    }

    #[test]
    fn without_a_limit_the_machines_own_memory_counts() {
        let fixture = machine("", "0::/\n");
        let facts = MemoryFacts::read(&fixture.root()).unwrap();
        assert_eq!((facts.total_bytes, facts.usable_bytes()), (8192 * MIB, 4096 * MIB));
        assert_eq!((facts.swap_total_bytes, facts.swap_free_bytes), (2 * MIB, MIB));
        assert_eq!(facts.limit, None);
    }

    #[test]
    fn a_control_groups_limit_counts_where_less_is_left() {
        let fixture = machine("5 1 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/app\n");
        fixture.write("/sys/fs/cgroup/app/memory.current", &(10 * MIB).to_string());
        fixture.write("/sys/fs/cgroup/app/memory.max", &(64 * MIB).to_string());
        let facts = || MemoryFacts::read(&fixture.root()).unwrap();
        assert_eq!(facts().usable_bytes(), 54 * MIB);
        fixture.write("/sys/fs/cgroup/app/memory.max", &(8000 * MIB).to_string());
        assert_eq!(facts().usable_bytes(), 4096 * MIB);
    }

    #[test]
    fn a_meminfo_without_its_lines_is_an_error_that_says_so() {
        let fixture = Fixture::with_mounts("");
        fixture.write("/proc/meminfo", "MemTotal: 5 kB\n");
        let error = MemoryFacts::read(&fixture.root()).unwrap_err();
        assert!(error.to_string().contains("no line for MemAvailable"), "{error}");
    }

    #[test]
    fn this_machine_has_memory() {
        let facts = MemoryFacts::read(&Root::real()).unwrap();
        assert!(facts.usable_bytes() > 0 && facts.usable_bytes() <= facts.total_bytes);
    }
}
