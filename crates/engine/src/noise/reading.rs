//! What the kernel's text files say of the machine at one moment, to see later
//! what disturbed a run. Takes some milliseconds, mostly for looking at every
//! process.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::param::{clock_ticks_per_second, page_size};

use super::cgroup::{self, Limits};

/// The kernel's mark on its own threads, `PF_KTHREAD` in `linux/sched.h`.
const KERNEL_THREAD: u64 = 0x0020_0000;
/// What `/proc/diskstats` counts in, whatever the device's own sectors are.
const SECTOR_BYTES: u64 = 512;

/// The machine at one moment.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub(super) uptime_s: f64,
    pub(super) own_pid: Option<u32>,
    /// Processors that this process may use.
    pub(super) processors: usize,
    pub(super) cpu: Option<Cpu>,
    pub(super) processes: BTreeMap<u32, Process>,
    pub(super) frequency: Frequency,
    pub(super) memory: Option<Memory>,
    pub(super) disks: Option<Disks>,
    pub(super) limits: Limits,
    pub(super) virtual_machine: Option<bool>,
    pub(super) unread: Vec<String>,
}

/// What all processors did, added up, since the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::struct_field_names, reason = "units stand at the end of names")]
pub(super) struct Cpu {
    pub(super) busy_s: f64,
    pub(super) idle_s: f64,
    pub(super) steal_s: f64,
}

/// One process.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Process {
    pub(super) name: String,
    pub(super) kernel: bool,
    pub(super) cpu_s: f64,
    /// Tells it from a later one with the same number.
    pub(super) started_ticks: u64,
}

/// How fast processors run.
#[derive(Clone, Debug, Default)]
pub(super) struct Frequency {
    pub(super) governors: Vec<String>,
    pub(super) current_khz: Vec<u64>,
    pub(super) turbo: Option<bool>,
}

/// Memory, and what passed between it and swap since the machine started.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "units stand at the end of names")]
pub(super) struct Memory {
    pub(super) total_bytes: u64,
    pub(super) dirty_bytes: u64,
    pub(super) writeback_bytes: u64,
    pub(super) swapped_in_bytes: u64,
    pub(super) swapped_out_bytes: u64,
}

/// What the disks were given to write since the machine started, and how much
/// of that this process caused.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Disks {
    pub(super) written_bytes: u64,
    pub(super) own_bytes: u64,
}

impl Reading {
    /// A reading of this machine.
    pub fn take() -> Self {
        let processors = std::thread::available_parallelism().map_or(0, usize::from);
        Self { processors, ..Self::of(Path::new("/")) }
    }

    /// A reading of the machine whose `/proc` and `/sys` are below `root`.
    pub(super) fn of(root: &Path) -> Self {
        let files = Files { root };
        let mut unread = Vec::new();
        let mut told = |what: Option<()>, otherwise: &str| {
            if what.is_none() {
                unread.push(otherwise.to_owned());
            }
        };
        let cpu = cpu(&files);
        let frequency = frequency(&files);
        let memory = memory(&files);
        let disks = disks(&files);
        let limits = cgroup::limits(&files);
        told(cpu.map(drop), "steal and other load: /proc/stat cannot be read");
        told(
            frequency.current_khz.first().map(drop),
            "the processors' frequency: there is no cpufreq in /sys, as in most virtual machines",
        );
        told(memory.map(drop), "swap and writeback: /proc/vmstat cannot be read");
        told(disks.map(drop), "others' writes: no disk in /proc/diskstats, or no /proc/self/io");
        told(limits.as_ref().map(drop), "a container's limits: no control group is visible");
        Self {
            uptime_s: uptime_s(&files),
            own_pid: files.text("proc/self/stat").and_then(|t| t.split(' ').next()?.parse().ok()),
            processors: 0,
            cpu,
            processes: processes(&files),
            frequency,
            memory,
            disks,
            limits: limits.unwrap_or_default(),
            virtual_machine: virtual_machine(&files),
            unread,
        }
    }
}

/// A machine's text files.
pub(super) struct Files<'a> {
    root: &'a Path,
}

impl Files<'_> {
    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    pub(super) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }
}

fn uptime_s(files: &Files<'_>) -> f64 {
    let text = files.text("proc/uptime").unwrap_or_default();
    text.split(' ').next().and_then(|s| s.parse().ok()).unwrap_or_default()
}

/// See `proc_stat(5)`. Guests' time is part of user time, and counted once.
fn cpu(files: &Files<'_>) -> Option<Cpu> {
    let text = files.text("proc/stat")?;
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let seconds: Vec<f64> = line.split_whitespace().map_while(ticks_s).collect();
    let &[user, nice, system, idle, iowait, irq, softirq, steal, ..] = seconds.as_slice() else {
        return None;
    };
    Some(Cpu {
        busy_s: user + nice + system + irq + softirq,
        idle_s: idle + iowait,
        steal_s: steal,
    })
}

fn ticks_s(ticks: &str) -> Option<f64> {
    Some(ticks.parse::<u64>().ok()? as f64 / clock_ticks_per_second() as f64)
}

fn processes(files: &Files<'_>) -> BTreeMap<u32, Process> {
    let pids = files.names("proc").into_iter().filter_map(|name| name.parse().ok());
    pids.filter_map(|pid: u32| Some((pid, process(&files.text(format!("proc/{pid}/stat"))?)?)))
        .collect()
}

/// See `proc_pid_stat(5)`. The name is in parentheses and may hold any character.
fn process(stat: &str) -> Option<Process> {
    let (head, rest) = stat.rsplit_once(") ")?;
    let (_, name) = head.split_once('(')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // Fields count from 3 behind the name.
    let field = |number: usize| fields.get(number - 3).copied();
    Some(Process {
        name: name.to_owned(),
        kernel: field(9)?.parse::<u64>().ok()? & KERNEL_THREAD != 0,
        cpu_s: ticks_s(field(14)?)? + ticks_s(field(15)?)?,
        started_ticks: field(22)?.parse().ok()?,
    })
}

fn frequency(files: &Files<'_>) -> Frequency {
    let mut frequency = Frequency { turbo: turbo(files), ..Frequency::default() };
    for name in files.names("sys/devices/system/cpu") {
        let of = |file: &str| {
            let text = files.text(format!("sys/devices/system/cpu/{name}/cpufreq/{file}"))?;
            Some(text.trim().to_owned())
        };
        frequency.governors.extend(of("scaling_governor"));
        frequency
            .current_khz
            .extend(of("scaling_cur_freq").and_then(|khz| khz.parse::<u64>().ok()));
    }
    frequency
}

fn turbo(files: &Files<'_>) -> Option<bool> {
    let flag =
        |file: &str| Some(files.text(format!("sys/devices/system/cpu/{file}"))?.trim() == "1");
    flag("intel_pstate/no_turbo").map(|off| !off).or_else(|| flag("cpufreq/boost"))
}

fn memory(files: &Files<'_>) -> Option<Memory> {
    let (vmstat, meminfo) = (files.text("proc/vmstat")?, files.text("proc/meminfo")?);
    let bytes = |name: &str| named(&vmstat, name).map(|pages| pages * page_size() as u64);
    Some(Memory {
        total_bytes: named(&meminfo, "MemTotal:")? * 1024,
        dirty_bytes: bytes("nr_dirty")?,
        writeback_bytes: bytes("nr_writeback")?,
        // A kernel without swap does not count it.
        swapped_in_bytes: bytes("pswpin").unwrap_or_default(),
        swapped_out_bytes: bytes("pswpout").unwrap_or_default(),
    })
}

/// The number behind a name in a file with one of each to a line.
pub(super) fn named(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(name)).then(|| words.next()?.parse().ok())?
    })
}

/// Disks that have hardware, or what stands for it: what is mapped onto them
/// would be counted twice.
fn disks(files: &Files<'_>) -> Option<Disks> {
    let text = files.text("proc/diskstats")?;
    let written: Vec<u64> = text
        .lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let name = fields.get(2)?;
            let real = files.path(format!("sys/block/{name}/device")).exists();
            real.then(|| fields.get(9)?.parse().ok()).flatten()
        })
        .map(|sectors: u64| sectors * SECTOR_BYTES)
        .collect();
    let own_bytes = named(&files.text("proc/self/io")?, "write_bytes:")?;
    (!written.is_empty()).then(|| Disks { written_bytes: written.iter().sum(), own_bytes })
}

fn virtual_machine(files: &Files<'_>) -> Option<bool> {
    let text = files.text("proc/cpuinfo")?;
    let flags = text.lines().find(|line| line.starts_with("flags"));
    let flagged = flags.is_some_and(|line| line.split_whitespace().any(|f| f == "hypervisor"));
    Some(flagged || files.path("sys/hypervisor/type").exists())
}
