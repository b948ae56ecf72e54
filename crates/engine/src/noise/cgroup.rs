//! What the control groups above this process allow it, in either version.
//!
//! A limit may be set at any level; the smallest counts. Where a container
//! hides the levels above it, what can be seen is all that can be said.

use std::path::{Path, PathBuf};

use super::reading::{Files, named};

const MOUNT: &str = "sys/fs/cgroup";
/// Version 1 writes "no limit" as a number near the largest of 63 bits.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// Limits in force; `None` where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Limits {
    /// Processors' worth of time.
    pub(super) processors: Option<f64>,
    /// How long that held the group up since it was made.
    pub(super) throttled_s: Option<f64>,
    /// Memory, with page cache and tmpfs.
    pub(super) memory_bytes: Option<u64>,
}

/// The limits, or nothing where no control group can be seen.
pub(super) fn limits(files: &Files<'_>) -> Option<Limits> {
    let memberships = files.text("proc/self/cgroup")?;
    let mut limits = Limits::default();
    let mut seen = false;
    for line in memberships.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let base = Path::new(MOUNT).join(controllers);
        for level in levels(&base, path) {
            if !files.path(&level).exists() {
                continue;
            }
            seen = true;
            if controllers.is_empty() {
                limits.take(version_2(files, &level));
            } else {
                limits.take(version_1(files, &level));
            }
        }
    }
    seen.then_some(limits)
}

/// From the process's own group up to the root.
fn levels(base: &Path, path: &str) -> Vec<PathBuf> {
    let own = base.join(path.trim_start_matches('/'));
    own.ancestors().take_while(|level| level.starts_with(base)).map(Path::to_owned).collect()
}

fn version_2(files: &Files<'_>, level: &Path) -> Limits {
    let max = files.text(level.join("cpu.max")).unwrap_or_default();
    let mut words = max.split_whitespace().map_while(|word| word.parse::<f64>().ok());
    let processors = words.next().zip(words.next()).map(|(quota, period)| quota / period);
    let stat = files.text(level.join("cpu.stat")).unwrap_or_default();
    let throttled_s = named(&stat, "throttled_usec").map(|us| us as f64 / 1e6);
    let memory = files.text(level.join("memory.max")).and_then(|t| t.trim().parse().ok());
    Limits { processors, throttled_s: processors.and(throttled_s), memory_bytes: memory }
}

fn version_1(files: &Files<'_>, level: &Path) -> Limits {
    let number =
        |file: &str| files.text(level.join(file)).and_then(|t| t.trim().parse::<i64>().ok());
    // -1 is no limit.
    let quota_us = number("cpu.cfs_quota_us").filter(|quota| *quota > 0);
    let processors =
        quota_us.zip(number("cpu.cfs_period_us")).map(|(quota, us)| quota as f64 / us as f64);
    let stat = files.text(level.join("cpu.stat")).unwrap_or_default();
    let throttled_s = named(&stat, "throttled_time").map(|ns| ns as f64 / 1e9);
    let memory = number("memory.limit_in_bytes").and_then(|bytes| u64::try_from(bytes).ok());
    Limits {
        processors,
        throttled_s: processors.and(throttled_s),
        memory_bytes: memory.filter(|bytes| *bytes < UNLIMITED_BYTES),
    }
}

impl Limits {
    /// Keeps the tighter of each.
    fn take(&mut self, other: Self) {
        let tighter = match (self.processors, other.processors) {
            (Some(mine), Some(theirs)) => theirs < mine,
            (mine, theirs) => mine.is_none() && theirs.is_some(),
        };
        if tighter {
            (self.processors, self.throttled_s) = (other.processors, other.throttled_s);
        }
        self.memory_bytes = self.memory_bytes.into_iter().chain(other.memory_bytes).min();
    }
}
