//! The parsers of what the kernel says, given any bytes. Each tells whether it found what
//! it looks for.

use std::path::Path;

use model::counters::Counters as _;
use procfs_core::FromRead as _;

use crate::identity::{DeviceNumber, Identity};
use crate::mounts::Mounts;
use crate::{cgroup, cpu, disks, file, mount_options, ports, pressure, process, sockets, vmstat};

/// `/proc/PID/mountinfo`, and a look for the mount of some paths.
pub fn mountinfo(bytes: &[u8]) -> bool {
    let mounts = Mounts::parse(bytes);
    let device = Some(DeviceNumber { major: 8, minor: 1 });
    for path in ["/", "/dev/shm/x", "/srv/a/x", "relative"] {
        for identity in [Identity::default(), Identity { device, ..Identity::default() }] {
            if let Some(mount) = mounts.of(Path::new(path), &identity) {
                mount_options::telling(mount.options.iter().chain(&mount.super_options));
                mount.super_option("upperdir");
            }
        }
    }
    mounts.iter().next().is_some()
}

/// `/proc/diskstats`.
pub fn diskstats(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let devices = disks::diskstats(&text).map(|(_, counters)| counters);
    // As the traffic of a slice is had from them.
    let sum: disks::DeviceCounters = model::counters::sum(devices);
    sum.since(disks::DeviceCounters::default()).traffic();
    sum != disks::DeviceCounters::default()
}

fn used(stat: &process::Stat) -> process::ProcessUse {
    process::ProcessUse::of(stat, model::spent::Calls::default(), None)
}

/// Any other file of `/proc` or `/sys`, by each parser that there is.
pub fn kernel_file(bytes: &[u8]) -> bool {
    let text = &String::from_utf8_lossy(bytes);
    let found = [
        process::Stat::parse(bytes).map(|stat| used(&stat)).is_some(),
        process::calls(text).is_some(),
        process::run_queue_ns(text).is_some(),
        cpu::times(bytes).is_some(),
        procfs_core::ProcessCGroups::from_read(bytes).is_ok_and(|groups| groups.0.len() > 1),
        cpu::Model::parse(bytes).is_some_and(|model| model.name().is_some()),
        disks::DeviceCounters::parse(text).map(|counters| counters.traffic()).is_some(),
        pressure::totals(text).is_some(),
        cgroup::throttled_ns(text).is_some(),
        cgroup::limit_hits(text).is_some(),
        ports::ports_in_range(text).is_some(),
        ports::parse_time_wait(text).is_some(),
        DeviceNumber::parse(text).is_some(),
        file::field(text, "MemTotal").is_some(),
        text.lines().any(|line| sockets::tcp_listener(line).is_some()),
        text.lines().any(|line| sockets::unix_listener(line).is_some()),
        vmstat::parse(text, 4096) != model::probes::MemoryTraffic::default(),
    ];
    found.contains(&true)
}
