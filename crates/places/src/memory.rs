//! How much memory files may take: the machine's, and that of the control groups.
//!
//! `/proc/meminfo` speaks of the whole machine even within a container, whose limit is
//! that of its control group or of one above it. What a group uses includes page cache
//! that the kernel drops when it needs to, so that is not counted as taken (files of a
//! tmpfs are: the kernel keeps them with the anonymous pages).

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::machine::{Machine, attribute};
use crate::mounts::Mount;

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

/// A control group's limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// The group's directory.
    pub group: PathBuf,
    /// What its processes may use.
    pub limit_bytes: u64,
    /// What they use, page cache that can be dropped aside.
    pub used_bytes: u64,
}

impl MemoryLimit {
    /// What is left to use.
    pub fn left_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes)
    }
}

impl MemoryFacts {
    /// Of this machine and this process.
    pub fn read() -> Result<Self, MemoryError> {
        Self::on(&Machine::real())
    }

    fn on(machine: &Machine) -> Result<Self, MemoryError> {
        let text = String::from_utf8_lossy(&machine.read("/proc/meminfo")?).into_owned();
        let field = |key: &str| {
            let rest = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
            let kibibytes: u64 = rest.trim().strip_suffix(" kB")?.trim().parse().ok()?;
            Some(kibibytes * 1024)
        };
        let needed = |key: &str| {
            field(key).ok_or_else(|| io::Error::other(format!("it has no line for {key}")))
        };
        let total_bytes = needed("MemTotal")?;
        Ok(Self {
            total_bytes,
            available_bytes: needed("MemAvailable")?,
            swap_total_bytes: field("SwapTotal").unwrap_or(0),
            swap_free_bytes: field("SwapFree").unwrap_or(0),
            limit: tightest_limit(machine, total_bytes),
        })
    }

    /// What may still be taken without swapping and without meeting a limit.
    pub fn usable_bytes(&self) -> u64 {
        let left = self.limit.as_ref().map_or(u64::MAX, MemoryLimit::left_bytes);
        self.available_bytes.min(left)
    }
}

/// The names that the two versions of control groups give to the same things.
struct Names {
    limit: &'static str,
    used: &'static str,
    /// Of lines of `memory.stat`: page cache that can be dropped.
    droppable: [&'static str; 2],
}

const VERSION_1: Names = Names {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    droppable: ["total_active_file ", "total_inactive_file "],
};

const VERSION_2: Names = Names {
    limit: "memory.max",
    used: "memory.current",
    droppable: ["active_file ", "inactive_file "],
};

/// The limit with the least left, of this process's groups and those above them.
fn tightest_limit(machine: &Machine, total_bytes: u64) -> Option<MemoryLimit> {
    let memberships = machine.read("/proc/self/cgroup").ok()?;
    let memberships = String::from_utf8_lossy(&memberships).into_owned();
    let mounts = machine.mounts().ok()?;
    let mut limits = Vec::new();
    for line in memberships.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let is_version_2 = controllers.is_empty();
        if !is_version_2 && !controllers.split(',').any(|name| name == "memory") {
            continue;
        }
        let names = if is_version_2 { VERSION_2 } else { VERSION_1 };
        if let Some(mount) = mounts.iter().find(|mount| is_hierarchy(mount, is_version_2)) {
            let limit = |dir: PathBuf| limit_of(machine, dir, &names);
            limits.extend(groups_up_to(mount, Path::new(group)).into_iter().filter_map(limit));
        }
    }
    // The first version writes a number beyond any memory for "no limit".
    limits.retain(|limit| limit.limit_bytes < total_bytes);
    limits.into_iter().min_by_key(MemoryLimit::left_bytes)
}

fn is_hierarchy(mount: &Mount, is_version_2: bool) -> bool {
    let has_memory = || mount.super_options.iter().any(|option| option == "memory");
    match mount.filesystem.as_str() {
        "cgroup2" => is_version_2,
        "cgroup" => !is_version_2 && has_memory(),
        _ => false,
    }
}

/// The directories of a group and of those above it, as far as they are mounted. A
/// container's mount may begin at the group itself, or know it by another path.
fn groups_up_to(mount: &Mount, group: &Path) -> Vec<PathBuf> {
    let within = group.strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let is_plain = !within.components().any(|part| part.as_os_str() == OsStr::new(".."));
    let within = if is_plain { within } else { Path::new("") };
    within.ancestors().map(|ancestor| mount.point.join(ancestor)).collect()
}

fn limit_of(machine: &Machine, group: PathBuf, names: &Names) -> Option<MemoryLimit> {
    let text = |file: &str| attribute(&machine.locate(group.join(file)));
    // `max`, for none, is no number.
    let limit_bytes = text(names.limit)?.parse().ok()?;
    let used_bytes: u64 = text(names.used)?.parse().ok()?;
    let stat = text("memory.stat").unwrap_or_default();
    let droppable = |key: &&str| {
        stat.lines().find_map(|line| line.strip_prefix(*key)?.trim().parse::<u64>().ok())
    };
    let droppable_bytes: u64 = names.droppable.iter().filter_map(droppable).sum();
    Some(MemoryLimit { group, limit_bytes, used_bytes: used_bytes.saturating_sub(droppable_bytes) })
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
        let facts = MemoryFacts::on(&fixture.machine()).unwrap();
        assert_eq!((facts.total_bytes, facts.usable_bytes()), (8192 * MIB, 4096 * MIB));
        assert_eq!((facts.swap_total_bytes, facts.swap_free_bytes), (2 * MIB, MIB));
        assert_eq!(facts.limit, None);
    }

    #[test]
    fn the_tightest_limit_above_counts_and_droppable_cache_is_not_taken() {
        let mounts = "5 1 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let fixture = machine(mounts, "0::/user/app\n");
        let group = |group: &str, limit: &str, used_mib: u64| {
            let dir = format!("/sys/fs/cgroup{group}");
            fixture.write(&format!("{dir}/memory.max"), limit);
            fixture.write(&format!("{dir}/memory.current"), &(used_mib * MIB).to_string());
            fixture.write(
                &format!("{dir}/memory.stat"),
                &format!("anon 1\nfile 9\ninactive_file {}\nactive_file {}\n", 30 * MIB, 10 * MIB),
            );
        };
        group("/user/app", "max\n", 100);
        group("/user", &(512 * MIB).to_string(), 200);
        let limit = MemoryFacts::on(&fixture.machine()).unwrap().limit.unwrap();
        assert_eq!(limit.group, Path::new("/sys/fs/cgroup/user"));
        assert_eq!((limit.limit_bytes, limit.used_bytes), (512 * MIB, 160 * MIB));
    }

    #[test]
    fn in_a_container_of_the_first_version_the_mount_begins_at_its_group() {
        let mounts = "4 1 0:8 /docker/f00 /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      5 1 0:9 /docker/f00 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let fixture = machine(mounts, "9:cpu:/docker/f00\n4:memory:/docker/f00/app\n0::/\n");
        let write = |file: &str, text: &str| {
            fixture.write(&format!("/sys/fs/cgroup/memory/app/{file}"), text);
        };
        write("memory.limit_in_bytes", &(64 * MIB).to_string());
        write("memory.usage_in_bytes", &(60 * MIB).to_string());
        write("memory.stat", &format!("inactive_file 1\ntotal_inactive_file {}\n", 50 * MIB));
        let facts = MemoryFacts::on(&fixture.machine()).unwrap();
        assert_eq!(facts.usable_bytes(), 54 * MIB);
    }

    #[test]
    fn the_first_versions_number_for_no_limit_is_none() {
        let mounts = "5 1 0:9 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let fixture = machine(mounts, "4:memory:/\n");
        fixture.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        fixture.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
        assert_eq!(MemoryFacts::on(&fixture.machine()).unwrap().limit, None);
    }

    #[test]
    fn a_meminfo_without_its_lines_is_an_error_that_says_so() {
        let fixture = Fixture::with_mounts("");
        fixture.write("/proc/meminfo", "MemTotal: 5 kB\n");
        let error = MemoryFacts::on(&fixture.machine()).unwrap_err();
        assert!(error.to_string().contains("no line for MemAvailable"), "{error}");
    }

    #[test]
    fn this_machine_has_memory() {
        let facts = MemoryFacts::read().unwrap();
        assert!(facts.usable_bytes() > 0 && facts.usable_bytes() <= facts.total_bytes);
    }
}
