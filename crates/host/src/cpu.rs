//! The processors: what they did, how fast they run, and what they are.
//!
//! `/proc/stat` is parsed here, for it is read around each slice and its first line is
//! all that is wanted: procfs-core reads it whole, with a line for each processor and one
//! for all interrupts. `/proc/cpuinfo` is parsed by procfs-core.

use model::counters::sum;
use model::probes::CpuTimes;
use model::watch::Frequency;
use procfs_core::{CpuInfo, FromRead as _};

use crate::clock::ticks_ns;
use crate::file::KernelFile;
use crate::root::Root;

/// The processors' time, held open to be read around each slice.
#[derive(Debug)]
pub(crate) struct CpuProbe(KernelFile);

impl CpuProbe {
    pub(crate) fn open(root: &Root, unread: &mut Vec<String>) -> Option<Self> {
        root.open("/proc/stat", "steal and the load of other programs", unread).map(Self)
    }

    pub(crate) fn read(&self) -> Option<CpuTimes> {
        // Not text as a whole: with many processors it may end within a character.
        self.0.with_bytes(times).ok()?
    }
}

/// What all processors have done so far.
pub(crate) fn read_times(root: &Root) -> Option<CpuTimes> {
    times(&root.read("/proc/stat").ok()?)
}

/// The first line: `cpu user nice system idle iowait irq softirq steal …`
/// (`proc_stat(5)`). Guests' time is part of user time, and counted once.
pub(crate) fn times(bytes: &[u8]) -> Option<CpuTimes> {
    let line = str::from_utf8(bytes.split(|&byte| byte == b'\n').next()?).ok()?;
    let mut words = line.strip_prefix("cpu ")?.split_ascii_whitespace();
    let mut ticks = [0_u64; 8];
    for tick in &mut ticks {
        *tick = words.next()?.parse().ok()?;
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
    Some(CpuTimes {
        busy_ns: sum([user, nice, system, irq, softirq].map(ticks_ns)),
        user_ns: Some(sum([user, nice].map(ticks_ns))),
        idle_ns: sum([idle, iowait].map(ticks_ns)),
        steal_ns: ticks_ns(steal),
    })
}

/// How fast processors run; empty where the kernel does not say.
pub(crate) fn frequency(root: &Root) -> Frequency {
    const FOLDER: &str = "/sys/devices/system/cpu";
    let flag = |file: &str| Some(root.attribute(format!("{FOLDER}/{file}"))? == "1");
    let turbo = flag("intel_pstate/no_turbo").map(|off| !off).or_else(|| flag("cpufreq/boost"));
    let mut frequency = Frequency { turbo, ..Frequency::default() };
    for name in root.names(FOLDER) {
        let of = |file: &str| root.attribute(format!("{FOLDER}/{name}/cpufreq/{file}"));
        frequency.governors.extend(of("scaling_governor"));
        let khz = of("scaling_cur_freq").and_then(|khz| khz.parse::<u64>().ok());
        frequency.current_khz.extend(khz);
    }
    frequency
}

/// What `/proc/cpuinfo` says.
pub(crate) struct Model {
    info: CpuInfo,
}

impl Model {
    pub(crate) fn read(root: &Root) -> Option<Self> {
        Self::parse(&root.read("/proc/cpuinfo").ok()?)
    }

    /// From the file's bytes.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        Some(Self { info: CpuInfo::from_read(bytes).ok()? })
    }

    /// The processors' own name; not every architecture tells it.
    pub(crate) fn name(&self) -> Option<&str> {
        self.info.model_name(0)
    }

    /// Whether a hypervisor shows itself.
    pub(crate) fn has_hypervisor(&self) -> bool {
        self.info.flags(0).is_some_and(|flags| flags.contains(&"hypervisor"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn each_kind_of_time_is_read_from_its_position() {
        let read = times(b"cpu  1 2 4 8 16 32 64 128 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
        let expected = CpuTimes {
            busy_ns: ticks_ns(103),
            user_ns: Some(ticks_ns(3)),
            idle_ns: ticks_ns(24),
            steal_ns: ticks_ns(128),
        };
        assert_eq!(read, Some(expected));
        assert_eq!(times(b"cpu  1 2 3"), None);
        assert_eq!(times(b""), None);
    }

    #[test]
    fn the_processors_name_and_a_hypervisor_are_found() {
        let fixture = Fixture::quiet();
        let model = || Model::read(&fixture.root());
        assert_eq!(model().as_ref().and_then(Model::name), Some("Made 1"));
        assert!(model().is_some_and(|model| !model.has_hypervisor()));
        let text = "processor : 0\nflags\t\t: fpu hypervisor vme\n\nprocessor : 1\n\n";
        fixture.write("/proc/cpuinfo", text);
        assert!(model().is_some_and(|model| model.has_hypervisor()));
        assert_eq!(model().as_ref().and_then(Model::name), None);
    }

    #[test]
    fn frequencies_are_those_of_each_processor() {
        let fixture = Fixture::quiet();
        let folder = "/sys/devices/system/cpu";
        fixture.write(&format!("{folder}/cpu1/cpufreq/scaling_governor"), "ondemand\n");
        fixture.write(&format!("{folder}/cpu1/cpufreq/scaling_cur_freq"), "1500000\n");
        let mut frequency = frequency(&fixture.root());
        frequency.governors.sort();
        frequency.current_khz.sort_unstable();
        assert_eq!(frequency.governors, ["ondemand", "performance"]);
        assert_eq!(frequency.current_khz, [1_500_000, 3_000_000]);
        assert_eq!(frequency.turbo, None);
        fixture.write(&format!("{folder}/cpufreq/boost"), "1\n");
        assert_eq!(super::frequency(&fixture.root()).turbo, Some(true));
        fixture.write(&format!("{folder}/intel_pstate/no_turbo"), "1\n");
        assert_eq!(super::frequency(&fixture.root()).turbo, Some(false));
    }
}
