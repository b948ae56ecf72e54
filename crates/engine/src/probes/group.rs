//! This process's control group: what it may have, and when that was the limit.
//!
//! A machine may mount the second version, the first, or both side by side with
//! each controller in one of them; the figures are read wherever they are found.

use std::fs;
use std::path::{Component, Path, PathBuf};

use model::counters::Level;
use model::probes::{GroupLimits, Pressure};

use crate::probes::file::{KernelFile, field};
use crate::probes::pressure::PressureProbe;

/// The first version writes a number near 2⁶³ for "no limit".
const UNLIMITED_BYTES: u64 = 1 << 60;

#[derive(Default)]
pub(crate) struct GroupProbe {
    pressure: Option<PressureProbe>,
    cpu: Option<KernelFile>,
    memory: Option<MemoryFiles>,
}

struct MemoryFiles {
    used: KernelFile,
    limit: Option<KernelFile>,
    hits: Option<KernelFile>,
}

impl GroupProbe {
    /// Opens what there is. Without control groups there are no limits to miss.
    pub(crate) fn open(unread: &mut Vec<String>) -> Self {
        let read = |path: &str| fs::read_to_string(path);
        match read("/proc/self/cgroup").and_then(|own| Ok((own, read("/proc/self/mountinfo")?))) {
            Ok((own, mounts)) => Self::in_folders(&folders(&own, &mounts)),
            Err(e) => {
                unread
                    .push(format!("a container's limits: /proc/self/cgroup cannot be read ({e})"));
                Self::default()
            }
        }
    }

    fn in_folders(folders: &Folders) -> Self {
        let unified = folders.unified.as_deref();
        let first_of = |own: &Option<PathBuf>, open: fn(&Path) -> Option<KernelFile>| {
            own.as_deref().and_then(open).or_else(|| unified.and_then(open))
        };
        let memory = folders.memory.as_deref().and_then(MemoryFiles::version_1);
        Self {
            pressure: unified.and_then(PressureProbe::group),
            cpu: first_of(&folders.cpu, |f| KernelFile::open_if_there(&f.join("cpu.stat"))),
            memory: memory.or_else(|| unified.and_then(MemoryFiles::version_2)),
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
    fn version_1(folder: &Path) -> Option<Self> {
        Self::named(folder, ["memory.usage_in_bytes", "memory.limit_in_bytes", "memory.failcnt"])
    }

    fn version_2(folder: &Path) -> Option<Self> {
        Self::named(folder, ["memory.current", "memory.max", "memory.events"])
    }

    fn named(folder: &Path, [used, limit, hits]: [&str; 3]) -> Option<Self> {
        let open = |name| KernelFile::open_if_there(&folder.join(name));
        Some(Self { used: open(used)?, limit: open(limit), hits: open(hits) })
    }
}

/// `throttled_time` in nanoseconds, or `throttled_usec` in the second version.
fn throttled_ns(text: &str) -> Option<u64> {
    field(text, "throttled_time").or_else(|| field(text, "throttled_usec").map(|us| us * 1000))
}

/// The number of `memory.failcnt`, or of the events `high` and `max`.
fn limit_hits(text: &str) -> Option<u64> {
    let events = || Some(field(text, "high")? + field(text, "max")?);
    text.trim().parse().ok().or_else(events)
}

/// Where this process's groups are.
#[derive(Debug, Default, PartialEq, Eq)]
struct Folders {
    unified: Option<PathBuf>,
    cpu: Option<PathBuf>,
    memory: Option<PathBuf>,
}

fn folders(own: &str, mounts: &str) -> Folders {
    let mut folders = Folders::default();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        if controllers.is_empty() {
            folders.unified = folder(mounts, "cgroup2", None, group);
        }
        for controller in controllers.split(',') {
            let slot = match controller {
                "cpu" => &mut folders.cpu,
                "memory" => &mut folders.memory,
                _ => continue,
            };
            *slot = folder(mounts, "cgroup", Some(controller), group);
        }
    }
    folders
}

/// The folder of `group` in the hierarchy of that kind. In a container the mount
/// may begin at the group itself, or know it by another path.
fn folder(mounts: &str, kind: &str, controller: Option<&str>, group: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, point) = (mount.next()?, mount.next()?);
        let mut file_system = file_system.split(' ');
        let is_kind = file_system.next()? == kind;
        let options = file_system.nth(1)?;
        let has = controller.is_none_or(|c| options.split(',').any(|option| option == c));
        (is_kind && has).then(|| Path::new(point).join(within(group, root)))
    })
}

fn within<'a>(group: &'a str, root: &str) -> &'a Path {
    let within = Path::new(group).strip_prefix(root).unwrap_or(Path::new(""));
    let is_plain = within.components().all(|part| matches!(part, Component::Normal(_)));
    if is_plain { within } else { Path::new("") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_both_versions_are_found_side_by_side() {
        let mounts = "30 25 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      33 25 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      36 25 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let own = "4:memory:/app/one\n2:cpuacct:/\n1:cpu:/\n0::/\n";
        let expected = Folders {
            unified: Some("/sys/fs/cgroup/unified".into()),
            cpu: Some("/sys/fs/cgroup/cpu".into()),
            memory: Some("/sys/fs/cgroup/memory/app/one".into()),
        };
        assert_eq!(folders(own, mounts), expected);
    }

    #[test]
    fn a_container_that_sees_its_own_group_as_the_root_finds_it() {
        let mounts = "36 25 0:32 /docker/f00 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let found = |own| folders(own, mounts).unified;
        assert_eq!(found("0::/docker/f00\n"), Some("/sys/fs/cgroup/".into()));
        assert_eq!(found("0::/../elsewhere\n"), Some("/sys/fs/cgroup/".into()));
    }

    #[test]
    fn figures_of_both_versions_are_understood() {
        assert_eq!(throttled_ns("nr_throttled 1\nthrottled_time 5\n"), Some(5));
        assert_eq!(throttled_ns("usage_usec 9\nthrottled_usec 5\n"), Some(5000));
        assert_eq!(limit_hits("17\n"), Some(17));
        assert_eq!(limit_hits("low 1\nhigh 2\nmax 3\noom 0\n"), Some(5));
    }
}
