//! The machine at one moment, to see later what disturbed a run; and what it is.
//!
//! A reading takes some milliseconds, mostly for looking at every process.

use std::thread::available_parallelism;

use model::client::Client;
use model::run::Machine;
use model::watch::{DiskWrites, MachineReading, OtherProcess};

use crate::cgroup::ControlGroups;
use crate::cpu::{self, Model};
use crate::memory::MemoryFacts;
use crate::process::Stat;
use crate::root::Root;
use crate::{disks, memory, process, usage};

/// What the machine is.
pub fn describe() -> Machine {
    let root = Root::real();
    let memory = MemoryFacts::read(&root).ok();
    Machine {
        kernel: kernel_release(),
        cpu: processor_name(&root).unwrap_or_else(|| "unknown".to_owned()),
        cpus: processors().unwrap_or(1),
        memory_bytes: memory.as_ref().map_or(0, |m| m.total_bytes),
        memory_limit_bytes: memory.and_then(|m| m.limit).map(|limit| limit.limit_bytes),
    }
}

/// What the machine calls itself.
pub fn name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// What a client of a run on several machines is to tell of this one.
pub fn as_client() -> Client {
    let Machine { kernel, cpu, cpus, memory_bytes, .. } = describe();
    Client { host: name(), kernel, cpu, cpus, memory_bytes, mounts: Vec::new() }
}

/// A reading of this machine and this process.
pub fn read_now() -> MachineReading {
    let used = usage::of_process();
    MachineReading {
        processors: processors().unwrap_or(0),
        own_cpu_ns: used.user_ns + used.system_ns,
        ..read(&Root::real())
    }
}

/// What the text files of a machine say; not in them is how many processors this process
/// may use, and what it used itself.
pub fn read(root: &Root) -> MachineReading {
    let mut unread = Vec::new();
    let mut told = |what: bool, otherwise: &str| {
        if !what {
            unread.push(otherwise.to_owned());
        }
    };
    let cpus = cpu::read_times(root);
    let frequency = cpu::frequency(root);
    let memory = memory::state(root);
    let disks = disk_writes(root);
    let limits = ControlGroups::read(root).ok().and_then(|groups| groups.limits(root));
    told(cpus.is_some(), "steal and the load of other programs: /proc/stat cannot be read");
    told(
        !frequency.current_khz.is_empty(),
        "the processors' frequency: there is no cpufreq in /sys, as in most virtual machines",
    );
    told(memory.is_some(), "swap and writeback: /proc/vmstat cannot be read");
    told(
        disks.is_some(),
        "other programs' writes: no disk in /proc/diskstats, or no /proc/self/io",
    );
    told(limits.is_some(), "a container's limits: no control group is visible");
    MachineReading {
        uptime_ns: uptime_ns(root),
        processors: 0,
        cpus,
        own_cpu_ns: 0,
        others: others(root),
        frequency,
        memory,
        disks,
        limits: limits.unwrap_or_default(),
        virtual_machine: virtual_machine(root),
        unread,
    }
}

fn uptime_ns(root: &Root) -> u64 {
    let text = root.text("/proc/uptime").unwrap_or_default();
    let seconds = text.split(' ').next().and_then(|s| s.parse::<f64>().ok());
    (seconds.unwrap_or_default() * 1e9).round() as u64
}

/// Every process but this one.
fn others(root: &Root) -> Vec<OtherProcess> {
    let own = root.text("/proc/self/stat").unwrap_or_default();
    let own = own.split(' ').next().and_then(|pid| pid.parse::<u32>().ok());
    let pids = root.processes().filter(|pid| Some(*pid) != own);
    pids.filter_map(|pid| {
        let stat = Stat::read(root, pid.cast_signed())?;
        Some(OtherProcess {
            pid,
            kernel_thread: stat.kernel_thread,
            cpu_ns: stat.user_ns.saturating_add(stat.system_ns),
            started_ns: stat.started_ns,
            serves_fuse: !stat.kernel_thread && serves_fuse(root, pid),
            name: stat.name,
        })
    })
    .collect()
}

/// Whether a process holds a connection to a FUSE file system. Of other users' processes only
/// root can see that.
fn serves_fuse(root: &Root, pid: u32) -> bool {
    let folder = format!("/proc/{pid}/fd");
    root.names(&folder).any(|fd| root.leads_to(format!("{folder}/{fd}"), "/dev/fuse"))
}

fn disk_writes(root: &Root) -> Option<DiskWrites> {
    let own_bytes = process::own_calls(root)?.storage_dirtied_bytes;
    Some(DiskWrites { written_bytes: disks::written_by_all(root)?, own_bytes })
}

fn virtual_machine(root: &Root) -> Option<bool> {
    let flagged = Model::read(root)?.has_hypervisor();
    Some(flagged || root.has("/sys/hypervisor/type"))
}

/// Processors that this process may use; nothing where that cannot be told.
pub fn processors() -> Option<usize> {
    available_parallelism().ok().map(usize::from)
}

/// The release of the kernel.
pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// The processors' own name; nothing where it is not told.
pub fn processor_name(root: &Root) -> Option<String> {
    Some(Model::read(root)?.name()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Fixture, MadeProcess};

    #[test]
    fn a_machine_is_read_whole() {
        let reading = read(&Fixture::quiet().root());
        assert_eq!(reading.uptime_ns, 1_000_000_000_000);
        assert_eq!(reading.unread, [""; 0]);
        let mut others = reading.others;
        others.sort_by_key(|other| other.pid);
        let told: Vec<(u32, &str, bool, u64)> =
            others.iter().map(|o| (o.pid, o.name.as_str(), o.kernel_thread, o.cpu_ns)).collect();
        let expected =
            [(8, "kworker/0:1", true, 900_000_000), (42, "a b) c", false, 5_000_000_000)];
        assert_eq!(told, expected);
        assert_eq!(reading.virtual_machine, Some(false));
        let disks = DiskWrites { written_bytes: 2000 * 512, own_bytes: 0 };
        assert_eq!(reading.disks, Some(disks));
        assert_eq!(reading.memory.map(|memory| memory.total_bytes), Some(16_384_000 << 10));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let unread = |fixture: &Fixture| read(&fixture.root()).unread;
        assert_eq!(unread(&Fixture::empty()).len(), 5, "{:?}", unread(&Fixture::empty()));
        let fixture = Fixture::quiet();
        fixture.remove("/sys/devices");
        assert_eq!(unread(&fixture).len(), 1, "{:?}", unread(&fixture));
    }

    #[test]
    fn a_hypervisor_may_show_itself_in_sys_alone() {
        let fixture = Fixture::quiet();
        fixture.write("/sys/hypervisor/type", "xen\n");
        assert_eq!(read(&fixture.root()).virtual_machine, Some(true));
    }

    #[test]
    fn this_process_is_none_of_the_others() {
        let fixture = Fixture::quiet();
        fixture.process(&MadeProcess { pid: 78, ..Fixture::THIS });
        let pids = |root: &Root| read(root).others.iter().map(|o| o.pid).collect::<Vec<u32>>();
        let made = pids(&fixture.root());
        assert!(made.contains(&78) && !made.contains(&77), "{made:?}");
        let here = pids(&Root::real());
        assert!(!here.contains(&std::process::id()), "{here:?}");
        assert!(here.contains(&1), "{here:?}");
    }

    #[test]
    fn a_server_of_fuse_is_known_by_what_it_holds_open() {
        let fixture = Fixture::quiet();
        fixture.link_to("/proc/42/fd/3", "/dev/null");
        let serving = || {
            let others = read(&fixture.root()).others;
            others.iter().filter(|other| other.serves_fuse).map(|o| o.pid).collect::<Vec<u32>>()
        };
        assert_eq!(serving(), [0; 0]);
        fixture.link_to("/proc/42/fd/5", "/dev/fuse");
        assert_eq!(serving(), [42]);
    }

    #[test]
    fn the_real_machine_can_be_read() {
        let reading = read_now();
        assert!(reading.cpus.is_some() && reading.uptime_ns > 0 && reading.processors > 0);
        assert!(reading.own_cpu_ns > 0);
        assert!(!kernel_release().is_empty());
    }
}
