//! What disturbed a run from outside: named only on evidence, each with a
//! sentence and a remedy.
//!
//! A [`MachineReading`] is taken before the run and one after it; everything here is a
//! pure function of the two, and so of a saved run. Thresholds are set where a disturbance begins to
//! show beside the noise that any machine has. [`neighbours`] finds who used the device of one place
//! alone, and [`effects`] says which comparisons each disturbance may have moved.

mod effects;
mod limits;
mod neighbours;
mod source;
mod unlike_saved;

use model::counters::{Counters as _, sum};
use model::noise::{Noise, NoiseCode, NoiseSource};
use model::probes::CpuTimes;
use model::run::Run;
use model::watch::{DiskWrites, MachineReading, MemoryState, OtherProcess};
use units::{percent, rough_size, three_digits};

pub(crate) use self::effects::of_run;
pub(crate) use self::neighbours::Neighbours;
use self::source::source;

/// Time stolen by the host, as a share of the processors' time.
const STEAL_MIN: f64 = 0.005;
/// Processors kept busy by others.
const LOAD_MIN: f64 = 0.1;
/// A program is named from this many processors on.
const NAMED_LOAD_MIN: f64 = 0.05;
/// At most so many programs are named.
const NAMED_MAX: usize = 3;
/// How far apart frequencies may lie before it counts.
const FREQUENCY_SPREAD_MIN: f64 = 0.05;
/// Others' writes to the disks, in bytes a second.
const WRITES_MIN_PER_S: f64 = 5e6;
/// What waited to be written when the run began, in bytes.
const WAITING_MIN_BYTES: u64 = 64 << 20;
/// What was swapped, in bytes.
const SWAPPED_MIN_BYTES: u64 = 1 << 20;
/// Time in which a control group's quota held the run up, as a share.
const THROTTLED_MIN: f64 = 0.001;
/// With no more processors than this, whatever runs takes time from the run.
const FEW_PROCESSORS: usize = 2;
const HOLD_FREQUENCY: &str =
    "Hold the frequency constant while measuring: cpupower frequency-set -g performance.";

/// What disturbed the machine between two readings.
pub fn between(before: &MachineReading, after: &MachineReading) -> Noise {
    between_those_of(before, after, |_| false)
}

/// What disturbed a run between its two readings. A server of one of its places works for the run.
fn in_run(run: &Run) -> Noise {
    let has_fuse = run.places.iter().any(|place| place.filesystem.starts_with("fuse"));
    let is_own = |process: &OtherProcess| has_fuse && process.serves_fuse;
    between_those_of(&run.watch.before, &run.watch.after, is_own)
}

/// The same, where some processes are the run's own.
fn between_those_of(
    before: &MachineReading,
    after: &MachineReading,
    is_own: impl Fn(&OtherProcess) -> bool,
) -> Noise {
    let seconds = seconds(after.uptime_ns.saturating_sub(before.uptime_ns));
    if seconds <= 0.0 {
        return Noise::default();
    }
    let (own, others): (Vec<_>, _) = after.others.iter().partition(|process| is_own(process));
    let used_ns: u64 = sum(own.into_iter().map(|process| after.used_since(process, before)));
    let servers_s = self::seconds(used_ns);
    let span = Span { before, after, seconds, others, servers_s };
    let found = [
        span.steal(),
        span.other_load(),
        span.throttled(),
        span.swap(),
        span.background_writes(),
        span.memory_limit(),
        span.governor(),
        span.frequency_spread(),
        span.few_processors(),
        span.virtual_machine(),
    ];
    Noise { sources: found.into_iter().flatten().collect(), unread: after.unread.clone() }
}

/// Two readings, and what lies between them.
struct Span<'a> {
    before: &'a MachineReading,
    after: &'a MachineReading,
    seconds: f64,
    /// Processes that are none of the run's.
    others: Vec<&'a OtherProcess>,
    /// Processor time of those that serve the run's places.
    servers_s: f64,
}

impl Span<'_> {
    fn cpus(&self) -> Option<CpuTimes> {
        self.after.cpus.since(self.before.cpus)
    }

    fn own_cpu_s(&self) -> f64 {
        seconds(self.after.own_cpu_ns.since(self.before.own_cpu_ns)) + self.servers_s
    }

    fn steal_share(&self) -> Option<f64> {
        let cpus = self.cpus()?;
        let all_ns = cpus.busy_ns.plus(cpus.idle_ns).plus(cpus.steal_ns);
        (all_ns > 0).then(|| cpus.steal_ns as f64 / all_ns as f64)
    }

    fn steal(&self) -> Option<NoiseSource> {
        let share = self.steal_share().filter(|share| *share >= STEAL_MIN)?;
        Some(source(
            NoiseCode::Steal,
            &[("steal_share", share)],
            format!(
                "The host gave {} of this virtual machine's processor time to other virtual \
                 machines.",
                percent(share)
            ),
            "Measure on a machine with processors of its own, or at a quieter hour.",
        ))
    }

    /// Kernel threads are left out: in part they work for the run itself.
    fn other_load(&self) -> Option<NoiseSource> {
        let used = self.used_by_processes();
        let kernel_s: f64 = used.iter().filter(|(p, _)| p.kernel_thread).map(|(_, s)| s).sum();
        let busy_s = seconds(self.cpus()?.busy_ns);
        let others = (busy_s - self.own_cpu_s() - kernel_s) / self.seconds;
        if others < LOAD_MIN {
            return None;
        }
        let named: Vec<String> = used
            .iter()
            .map(|(process, cpu_s)| (process, cpu_s / self.seconds))
            .filter(|(process, load)| !process.kernel_thread && *load >= NAMED_LOAD_MIN)
            .take(NAMED_MAX)
            .map(|(of, load)| format!("{} (pid {}) {}", of.name, of.pid, two_digits(load)))
            .collect();
        let named = match named.as_slice() {
            [] => "none for long enough to be named".to_owned(),
            some => format!("above all {}", some.join(", ")),
        };
        let of = self.after.processors;
        Some(source(
            NoiseCode::OtherLoad,
            &[("processors_busy", others), ("processors", of as f64)],
            format!("Other programs kept {} of {of} processors busy: {named}.", two_digits(others)),
            "Stop them while measuring, or measure when they are idle.",
        ))
    }

    /// The processor seconds of other processes that lived to the end of the span, most first.
    fn used_by_processes(&self) -> Vec<(&OtherProcess, f64)> {
        let used = |process| seconds(self.after.used_since(process, self.before));
        let mut all: Vec<_> = self.others.iter().map(|process| (*process, used(process))).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }

    fn throttled(&self) -> Option<NoiseSource> {
        let limits = &self.after.limits;
        let throttled = limits.throttled_ns.since(self.before.limits.throttled_ns);
        let throttled_s = seconds(throttled?);
        let quota = limits.processors?;
        let share = throttled_s / self.seconds;
        (share >= THROTTLED_MIN).then(|| {
            source(
                NoiseCode::CpuQuota,
                &[("throttled_s", throttled_s), ("quota_processors", quota)],
                format!(
                    "A control group's limit of {} processors kept programs from running for {} of \
                     {} s.",
                    two_digits(quota),
                    three_digits(throttled_s),
                    three_digits(self.seconds)
                ),
                "Raise the container's processor limit, or lift it while measuring.",
            )
        })
    }

    fn memory(&self) -> Option<(MemoryState, MemoryState)> {
        self.before.memory.zip(self.after.memory)
    }

    fn swap(&self) -> Option<NoiseSource> {
        let (before, after) = self.memory()?;
        let read = after.swapped_in_bytes.saturating_sub(before.swapped_in_bytes);
        let written = after.swapped_out_bytes.saturating_sub(before.swapped_out_bytes);
        (read.plus(written) >= SWAPPED_MIN_BYTES).then(|| {
            source(
                NoiseCode::Swap,
                &[("swapped_in_bytes", read as f64), ("swapped_out_bytes", written as f64)],
                format!(
                    "Memory ran short: {} were swapped out and {} swapped in.",
                    rough_size(written),
                    rough_size(read)
                ),
                "Free memory before measuring: stop programs that use much of it, or empty a \
                 tmpfs.",
            )
        })
    }

    /// Blames others only for more than the run wrote itself: a file system's
    /// journal and metadata are written for the run, but not counted as its own.
    fn background_writes(&self) -> Option<NoiseSource> {
        let written = |disks: Option<DiskWrites>| disks.map(|d| (d.written_bytes, d.own_bytes));
        let (before, after) = written(self.before.disks).zip(written(self.after.disks))?;
        let own = after.1.saturating_sub(before.1);
        let others = after.0.saturating_sub(before.0).saturating_sub(own);
        let waiting = self.before.memory.map_or(0, |m| m.dirty_bytes.plus(m.writeback_bytes));
        let rate = others as f64 / self.seconds;
        let others_wrote = rate >= WRITES_MIN_PER_S && others > own;
        if !others_wrote && waiting < WAITING_MIN_BYTES {
            return None;
        }
        let mut parts = Vec::new();
        if others_wrote {
            parts.push(format!(
                "other programs wrote {} per second to the disks",
                rough_size(rate as u64)
            ));
        }
        if waiting >= WAITING_MIN_BYTES {
            parts.push(format!(
                "{} were waiting to be written when the run began",
                rough_size(waiting)
            ));
        }
        Some(source(
            NoiseCode::BackgroundWrites,
            &[("others_bytes_per_s", rate), ("waiting_bytes", waiting as f64)],
            format!("Data not from this run went to the disks: {}.", parts.join("; ")),
            "Stop what writes, and run `sync` before measuring.",
        ))
    }

    fn memory_limit(&self) -> Option<NoiseSource> {
        let limits = self.after.limits;
        let limit = limits.memory_bytes.into_iter().chain(limits.memory_high_bytes).min()?;
        let total = self.after.memory?.total_bytes;
        (limit < total).then(|| {
            source(
                NoiseCode::MemoryLimit,
                &[("limit_bytes", limit as f64), ("memory_bytes", total as f64)],
                format!(
                    "A control group lets this process use {} of the machine's {} of memory, the \
                     page cache and files in RAM included.",
                    rough_size(limit),
                    rough_size(total)
                ),
                "Give the measurement the limit that the application will have.",
            )
        })
    }

    fn governor(&self) -> Option<NoiseSource> {
        let governors = &self.after.frequency.governors;
        let governor = governors.iter().find(|g| *g != "performance")?;
        let khz = &self.after.frequency.current_khz;
        let mhz = |khz: Option<&u64>| khz.map_or(0.0, |khz| *khz as f64 / 1e3);
        Some(source(
            NoiseCode::Governor,
            &[
                ("processors", governors.len() as f64),
                ("slowest_mhz", mhz(khz.iter().min())),
                ("fastest_mhz", mhz(khz.iter().max())),
            ],
            format!("The processors' frequency follows the load (governor {governor})."),
            HOLD_FREQUENCY,
        ))
    }

    fn frequency_spread(&self) -> Option<NoiseSource> {
        let seen =
            || [self.before, self.after].into_iter().flat_map(|r| r.frequency.current_khz.iter());
        let (slowest, fastest) = (*seen().min()? as f64, *seen().max()? as f64);
        let spread = fastest / slowest - 1.0;
        if !spread.is_finite() || spread < FREQUENCY_SPREAD_MIN {
            return None;
        }
        let (why, remedy) = if self.after.frequency.turbo == Some(true) {
            let remedy =
                "Switch turbo off while measuring: no_turbo or boost in /sys/devices/system/cpu.";
            ("; turbo is on", remedy)
        } else {
            ("", HOLD_FREQUENCY)
        };
        Some(source(
            NoiseCode::Frequency,
            &[("slowest_mhz", slowest / 1e3), ("fastest_mhz", fastest / 1e3)],
            format!(
                "Processors ran at between {:.0} and {:.0} MHz{why}.",
                slowest / 1e3,
                fastest / 1e3
            ),
            remedy,
        ))
    }

    fn few_processors(&self) -> Option<NoiseSource> {
        let processors = self.after.processors;
        (processors > 0 && processors <= FEW_PROCESSORS).then(|| {
            let have =
                if processors == 1 { "There is 1 processor" } else { "There are 2 processors" };
            source(
                NoiseCode::FewProcessors,
                &[("processors", processors as f64)],
                format!("{have}: whatever else runs takes time from the measurement."),
                "Measure on a machine with more processors, or with nothing else running.",
            )
        })
    }

    fn virtual_machine(&self) -> Option<NoiseSource> {
        (self.after.virtual_machine == Some(true)).then(|| {
            let steal = self.steal_share().unwrap_or_default();
            source(
                NoiseCode::VirtualMachine,
                &[("steal_share", steal)],
                format!(
                    "This is a virtual machine: what its neighbours do to the disk and to memory \
                     cannot be seen from here (steal was {}).",
                    percent(steal)
                ),
                "Measure again at another hour; what holds at both can be trusted.",
            )
        })
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// `0.42`, `1.3`: processors, of which there is no point in telling more.
fn two_digits(value: f64) -> String {
    if value < 0.995 { format!("{value:.2}") } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests;
