//! This process's control groups: what they may have, and when that was the limit.
//!
//! A machine may mount the second version, the first, or both side by side with each
//! controller in one of them; the figures are read wherever they are found. A limit may
//! be set at any level; the tightest counts. Where a container hides the levels above
//! it, what can be seen is all that can be said.

use std::io;
use std::path::{Component, Path, PathBuf};

use model::counters::{Level, sum};
use model::probes::{GroupLimits, Pressure};
use model::watch::{IoLimit, RunLimits};
use procfs_core::{FromRead as _, ProcessCGroups};

use crate::file::{KernelFile, field};
use crate::identity::DeviceNumber;
use crate::mounts::{Mount, Mounts};
use crate::pressure::PressureProbe;
use crate::root::Root;

/// The first version writes a number near 2⁶³ for "no limit".
const UNLIMITED_BYTES: u64 = 1 << 60;

/// A group's limit on memory.
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

/// The names that the two versions give to the same things.
struct MemoryNames {
    limit: &'static str,
    used: &'static str,
    hits: &'static str,
    /// Of lines of `memory.stat`: page cache that can be dropped.
    droppable: [&'static str; 2],
}

const VERSION_1: MemoryNames = MemoryNames {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    hits: "memory.failcnt",
    droppable: ["total_active_file", "total_inactive_file"],
};

const VERSION_2: MemoryNames = MemoryNames {
    limit: "memory.max",
    used: "memory.current",
    hits: "memory.events",
    droppable: ["active_file", "inactive_file"],
};

/// The folders of a process's group in one hierarchy and of those above it, its own first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hierarchy {
    is_version_2: bool,
    levels: Vec<PathBuf>,
}

impl Hierarchy {
    /// Where `group` is, in a hierarchy mounted there. A container's mount may begin at
    /// the group itself, or know it by another path.
    fn at(mount: &Mount, group: &str) -> Self {
        let within = Path::new(group).strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let is_plain = within.components().all(|part| matches!(part, Component::Normal(_)));
        let within = if is_plain { within } else { Path::new("") };
        let at = |level: &Path| {
            let is_top = level.as_os_str().is_empty();
            if is_top { mount.point.clone() } else { mount.point.join(level) }
        };
        let levels = within.ancestors().map(at).collect();
        Self { is_version_2: mount.filesystem == "cgroup2", levels }
    }

    fn own(&self) -> &Path {
        self.levels.first().map_or(Path::new(""), PathBuf::as_path)
    }

    fn memory_names(&self) -> MemoryNames {
        if self.is_version_2 { VERSION_2 } else { VERSION_1 }
    }
}

/// Where this process's groups are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlGroups {
    /// In the second version, which has all controllers that no other hierarchy has.
    unified: Option<Hierarchy>,
    cpu: Option<Hierarchy>,
    memory: Option<Hierarchy>,
    blkio: Option<Hierarchy>,
}

impl ControlGroups {
    /// Those of this process; an error without control groups, or without `/proc`.
    pub fn read(root: &Root) -> io::Result<Self> {
        let own = ProcessCGroups::from_read(root.read("/proc/self/cgroup")?.as_slice());
        let own = own.map_err(|error| io::Error::other(error.to_string()))?;
        let mounts = Mounts::read(root)?;
        let found = |group: &str, controller: Option<&str>| {
            let mount = mounts.iter().find(|mount| is_hierarchy(mount, controller))?;
            Some(Hierarchy::at(mount, group))
        };
        let mut groups = Self::default();
        for group in &own {
            if group.controllers.is_empty() {
                groups.unified = found(&group.pathname, None);
            }
            for controller in &group.controllers {
                match controller.as_str() {
                    "cpu" => groups.cpu = found(&group.pathname, Some(controller)),
                    "memory" => groups.memory = found(&group.pathname, Some(controller)),
                    "blkio" => groups.blkio = found(&group.pathname, Some(controller)),
                    _ => {}
                }
            }
        }
        Ok(groups)
    }

    /// The limits in force at any level; nothing where no group can be seen.
    pub fn limits(&self, root: &Root) -> Option<RunLimits> {
        let all = [&self.unified, &self.cpu, &self.memory, &self.blkio];
        let mut limits = RunLimits::default();
        let mut seen = false;
        for hierarchy in all.into_iter().flatten() {
            for level in hierarchy.levels.iter().filter(|level| root.has(level)) {
                seen = true;
                tighten(&mut limits, limits_at(root, level, hierarchy));
            }
        }
        seen.then_some(limits)
    }

    /// The limit on memory with the least left, of this process's groups and those above
    /// them. One beyond the machine's memory is none.
    pub fn tightest_memory_limit(&self, root: &Root, total_bytes: u64) -> Option<MemoryLimit> {
        let all = [&self.unified, &self.memory].into_iter().flatten();
        let limits = all.flat_map(|hierarchy| {
            let names = hierarchy.memory_names();
            hierarchy.levels.iter().filter_map(move |level| memory_limit(root, level, &names))
        });
        let in_force = limits.filter(|limit| limit.limit_bytes < total_bytes);
        in_force.min_by_key(MemoryLimit::left_bytes)
    }
}

/// Whether a mount is the hierarchy of a controller of the first version, or the second
/// version's.
fn is_hierarchy(mount: &Mount, controller: Option<&str>) -> bool {
    match controller {
        None => mount.filesystem == "cgroup2",
        Some(name) => {
            mount.filesystem == "cgroup" && mount.super_options.iter().any(|option| option == name)
        }
    }
}

/// The limits of one group.
fn limits_at(root: &Root, level: &Path, hierarchy: &Hierarchy) -> RunLimits {
    let number = |file: &str| root.attribute(level.join(file))?.parse::<i64>().ok();
    let processors = if hierarchy.is_version_2 {
        let max = root.attribute(level.join("cpu.max")).unwrap_or_default();
        let mut words = max.split_whitespace().map_while(|word| word.parse::<f64>().ok());
        words.next().zip(words.next()).map(|(quota, period)| quota / period)
    } else {
        // -1 is no limit.
        let quota_us = number("cpu.cfs_quota_us").filter(|quota| *quota > 0);
        quota_us.zip(number("cpu.cfs_period_us")).map(|(quota, us)| quota as f64 / us as f64)
    };
    let stat = root.text(level.join("cpu.stat")).unwrap_or_default();
    let memory = |file| {
        let bytes = number(file).and_then(|n| u64::try_from(n).ok());
        bytes.filter(|bytes| *bytes < UNLIMITED_BYTES)
    };
    RunLimits {
        processors,
        throttled_ns: processors.and(throttled_ns(&stat)),
        memory_bytes: memory(hierarchy.memory_names().limit),
        memory_high_bytes: memory("memory.high"),
        io: io_limit(root, level, hierarchy.is_version_2),
    }
}

/// The tightest limit on the bytes read from a device and written to it.
fn io_limit(root: &Root, level: &Path, is_version_2: bool) -> Option<IoLimit> {
    let text = |file| root.text(level.join(file)).unwrap_or_default();
    let limits: Vec<IoLimit> = if is_version_2 {
        text("io.max").lines().filter_map(io_max).collect()
    } else {
        let read = text("blkio.throttle.read_bps_device");
        let written = text("blkio.throttle.write_bps_device");
        let read = read.lines().filter_map(throttled_device);
        let read = read.map(|(limit, bytes)| IoLimit { read_bytes_per_s: Some(bytes), ..limit });
        let written = written.lines().filter_map(throttled_device);
        let written =
            written.map(|(limit, bytes)| IoLimit { written_bytes_per_s: Some(bytes), ..limit });
        read.chain(written).collect()
    };
    limits.into_iter().reduce(tighter_io)
}

/// A line of `io.max`: `254:0 rbps=max wbps=8388608 riops=max wiops=max`.
fn io_max(line: &str) -> Option<IoLimit> {
    let mut words = line.split_whitespace();
    let device = numbered_device(words.next()?)?;
    let limit = words.fold(device, |limit, word| match word.split_once('=') {
        Some(("rbps", bytes)) => IoLimit { read_bytes_per_s: bytes.parse().ok(), ..limit },
        Some(("wbps", bytes)) => IoLimit { written_bytes_per_s: bytes.parse().ok(), ..limit },
        _ => limit,
    });
    (limit.read_bytes_per_s.or(limit.written_bytes_per_s)).map(|_| limit)
}

/// A line of the first version: `254:0 8388608`.
fn throttled_device(line: &str) -> Option<(IoLimit, u64)> {
    let (device, bytes) = line.split_once(' ')?;
    Some((numbered_device(device)?, bytes.trim().parse().ok()?))
}

fn numbered_device(text: &str) -> Option<IoLimit> {
    let DeviceNumber { major, minor } = DeviceNumber::parse(text)?;
    Some(IoLimit { major, minor, ..IoLimit::default() })
}

/// Both limits where they are of one device, and else the one that allows less.
fn tighter_io(one: IoLimit, other: IoLimit) -> IoLimit {
    let less = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
    if (one.major, one.minor) == (other.major, other.minor) {
        return IoLimit {
            read_bytes_per_s: less(one.read_bytes_per_s, other.read_bytes_per_s),
            written_bytes_per_s: less(one.written_bytes_per_s, other.written_bytes_per_s),
            ..one
        };
    }
    let least = |limit: IoLimit| less(limit.read_bytes_per_s, limit.written_bytes_per_s);
    if least(other) < least(one) { other } else { one }
}

/// Keeps the tighter of each.
fn tighten(limits: &mut RunLimits, other: RunLimits) {
    let tighter = match (limits.processors, other.processors) {
        (Some(mine), Some(theirs)) => theirs < mine,
        (mine, theirs) => mine.is_none() && theirs.is_some(),
    };
    if tighter {
        (limits.processors, limits.throttled_ns) = (other.processors, other.throttled_ns);
    }
    let less = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
    limits.memory_bytes = less(limits.memory_bytes, other.memory_bytes);
    limits.memory_high_bytes = less(limits.memory_high_bytes, other.memory_high_bytes);
    limits.io = limits.io.into_iter().chain(other.io).reduce(tighter_io);
}

fn memory_limit(root: &Root, level: &Path, names: &MemoryNames) -> Option<MemoryLimit> {
    let number = |file: &str| root.attribute(level.join(file))?.parse::<u64>().ok();
    // `max`, for none, is no number.
    let (limit_bytes, used_bytes) = (number(names.limit)?, number(names.used)?);
    let stat = root.text(level.join("memory.stat")).unwrap_or_default();
    let droppable_bytes: u64 = sum(names.droppable.iter().filter_map(|key| field(&stat, key)));
    let used_bytes = used_bytes.saturating_sub(droppable_bytes);
    Some(MemoryLimit { group: level.to_owned(), limit_bytes, used_bytes })
}

/// `throttled_time` in nanoseconds, or `throttled_usec` in the second version.
pub(crate) fn throttled_ns(text: &str) -> Option<u64> {
    field(text, "throttled_time")
        .or_else(|| field(text, "throttled_usec").map(|us| us.saturating_mul(1000)))
}

/// The number of `memory.failcnt`, or of the events `high` and `max`.
pub(crate) fn limit_hits(text: &str) -> Option<u64> {
    let events = || Some(field(text, "high")?.saturating_add(field(text, "max")?));
    text.trim().parse().ok().or_else(events)
}

/// The files of this process's own groups, held open to be read around each slice.
#[derive(Debug, Default)]
pub(crate) struct GroupProbe {
    pressure: Option<PressureProbe>,
    cpu: Option<KernelFile>,
    memory: Option<MemoryFiles>,
}

#[derive(Debug)]
struct MemoryFiles {
    used: KernelFile,
    limit: Option<KernelFile>,
    hits: Option<KernelFile>,
}

impl GroupProbe {
    /// Opens what there is. Without control groups there are no limits to miss.
    pub(crate) fn open(root: &Root, unread: &mut Vec<String>) -> Self {
        match ControlGroups::read(root) {
            Ok(groups) => Self::of(root, &groups),
            Err(e) => {
                unread
                    .push(format!("a container's limits: /proc/self/cgroup cannot be read ({e})"));
                Self::default()
            }
        }
    }

    fn of(root: &Root, groups: &ControlGroups) -> Self {
        let ControlGroups { unified, cpu, memory, .. } = groups;
        let cpu_stat = |h: &Hierarchy| root.open_if_there(h.own().join("cpu.stat"));
        Self {
            pressure: unified.as_ref().and_then(|h| PressureProbe::group(root, h.own())),
            cpu: cpu.iter().chain(unified).find_map(cpu_stat),
            memory: memory.iter().chain(unified).find_map(|h| MemoryFiles::open(root, h)),
        }
    }

    pub(crate) fn pressure(&self) -> Option<Pressure> {
        self.pressure.as_ref().and_then(PressureProbe::read)
    }

    pub(crate) fn limits(&self) -> Option<GroupLimits> {
        if self.cpu.is_none() && self.memory.is_none() {
            return None;
        }
        let memory = self.memory.as_ref();
        Some(GroupLimits {
            throttled_ns: self.cpu.as_ref().and_then(|file| file.with_text(throttled_ns)),
            memory_bytes: memory.and_then(|m| m.used.number()).map(Level),
            memory_limit_bytes: memory
                .and_then(|m| m.limit.as_ref()?.number())
                .filter(|limit| *limit < UNLIMITED_BYTES)
                .map(Level),
            memory_limit_hits: memory.and_then(|m| m.hits.as_ref()?.with_text(limit_hits)),
        })
    }
}

impl MemoryFiles {
    fn open(root: &Root, hierarchy: &Hierarchy) -> Option<Self> {
        let open = |name| root.open_if_there(hierarchy.own().join(name));
        let names = hierarchy.memory_names();
        Some(Self { used: open(names.used)?, limit: open(names.limit), hits: open(names.hits) })
    }
}

#[cfg(test)]
mod tests;
