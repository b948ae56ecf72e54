#![allow(clippy::unwrap_used)]

use super::*;
use crate::fixture::Fixture;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A machine with this mount table, whose process is in these groups.
fn machine(mounts: &str, own: &str) -> Fixture {
    let fixture = Fixture::with_mounts(mounts);
    fixture.write("/proc/self/cgroup", own);
    fixture
}

fn groups(fixture: &Fixture) -> ControlGroups {
    ControlGroups::read(&fixture.root()).unwrap()
}

fn own(hierarchy: Option<&Hierarchy>) -> Option<&Path> {
    hierarchy.map(Hierarchy::own)
}

#[test]
fn groups_of_both_versions_are_found_side_by_side() {
    let mounts = "30 25 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                  33 25 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                  36 25 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    let found = groups(&machine(mounts, "4:memory:/app/one\n2:cpuacct:/\n1:cpu:/\n0::/\n"));
    assert_eq!(own(found.unified.as_ref()), Some(Path::new("/sys/fs/cgroup/unified")));
    assert_eq!(own(found.cpu.as_ref()), Some(Path::new("/sys/fs/cgroup/cpu")));
    let levels = ["memory/app/one", "memory/app", "memory"];
    let levels = levels.map(|level| Path::new("/sys/fs/cgroup").join(level));
    assert_eq!(found.memory.unwrap().levels, levels);
}

#[test]
fn a_container_that_sees_its_own_group_as_the_root_finds_it() {
    let mounts = "36 25 0:32 /docker/f00 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    for group in ["0::/docker/f00\n", "0::/../elsewhere\n"] {
        let found = groups(&machine(mounts, group)).unified.unwrap();
        assert_eq!(found.levels, [Path::new("/sys/fs/cgroup")], "{group}");
    }
}

#[test]
fn figures_of_both_versions_are_understood() {
    assert_eq!(throttled_ns("nr_throttled 1\nthrottled_time 5\n"), Some(5));
    assert_eq!(throttled_ns("usage_usec 9\nthrottled_usec 5\n"), Some(5000));
    assert_eq!(limit_hits("17\n"), Some(17));
    assert_eq!(limit_hits("low 1\nhigh 2\nmax 3\noom 0\n"), Some(5));
}

#[test]
fn limits_of_io_are_those_of_either_version_the_tightest_at_any_level() {
    let limits = |fixture: &Fixture| groups(fixture).limits(&fixture.root()).unwrap();
    let second = machine("36 25 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/app/web\n");
    second
        .write("/sys/fs/cgroup/app/web/io.max", "254:0 rbps=max wbps=8388608 riops=max wiops=9\n");
    second.write("/sys/fs/cgroup/app/io.max", "254:0 rbps=1048576 wbps=max riops=max wiops=max\n");
    second.write("/sys/fs/cgroup/app/memory.high", "1073741824\n");
    let limit = IoLimit {
        major: 254,
        minor: 0,
        read_bytes_per_s: Some(1 << 20),
        written_bytes_per_s: Some(8 << 20),
    };
    assert_eq!(limits(&second).io, Some(limit));
    assert_eq!(limits(&second).memory_high_bytes, Some(GIB));
    let mounts = "33 25 0:29 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n";
    let first = machine(mounts, "7:blkio:/app\n");
    first.write("/sys/fs/cgroup/blkio/app/blkio.throttle.read_bps_device", "");
    first.write("/sys/fs/cgroup/blkio/app/blkio.throttle.write_bps_device", "254:0 8388608\n");
    assert_eq!(limits(&first).io, Some(IoLimit { read_bytes_per_s: None, ..limit }));
    first.write("/sys/fs/cgroup/blkio/app/blkio.throttle.write_bps_device", "");
    assert_eq!(limits(&first).io, None);
}

#[test]
fn the_figures_around_a_slice_are_those_of_the_own_group() {
    let fixture = machine(
        "33 25 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
         36 25 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
        "4:memory:/app\n0::/web\n",
    );
    let memory = "/sys/fs/cgroup/memory/app";
    fixture.write(&format!("{memory}/memory.usage_in_bytes"), "4096\n");
    fixture.write(&format!("{memory}/memory.limit_in_bytes"), "9223372036854771712\n");
    fixture.write(&format!("{memory}/memory.failcnt"), "3\n");
    let unified = "/sys/fs/cgroup/unified/web";
    fixture.write(&format!("{unified}/cpu.stat"), "throttled_usec 5\n");
    fixture.write(&format!("{unified}/memory.current"), "1\n");
    for resource in ["cpu", "io", "memory"] {
        let file = format!("{unified}/{resource}.pressure");
        fixture.write(&file, "some avg10=0.00 avg60=0.00 avg300=0.00 total=2\n");
    }
    let mut unread = Vec::new();
    let probe = GroupProbe::open(&fixture.root(), &mut unread);
    let expected = GroupLimits {
        throttled_ns: Some(5000),
        memory_bytes: Some(Level(4096)),
        memory_limit_bytes: None,
        memory_limit_hits: Some(3),
    };
    assert_eq!(probe.limits(), Some(expected));
    assert_eq!(probe.pressure().map(|pressure| pressure.io_some_ns), Some(2000));
    assert_eq!(unread, [""; 0]);
}

#[test]
fn without_control_groups_that_is_said_and_no_limit_made_up() {
    let mut unread = Vec::new();
    let probe = GroupProbe::open(&Fixture::empty().root(), &mut unread);
    assert_eq!((probe.limits(), probe.pressure()), (None, None));
    assert!(unread[0].contains("/proc/self/cgroup cannot be read"), "{unread:?}");
}

#[test]
fn the_tightest_of_a_runs_limits_counts_in_the_first_version_too() {
    let fixture = machine(
        "33 25 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
         34 25 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n",
        "4:memory:/a/b\n3:cpu,cpuacct:/\n",
    );
    let write = |file: &str, text: &str| fixture.write(&format!("/sys/fs/cgroup/{file}"), text);
    write("memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    write("memory/a/memory.limit_in_bytes", "1073741824\n");
    write("cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
    write("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    write("cpu,cpuacct/cpu.stat", "throttled_time 2000000000\n");
    let limits = groups(&fixture).limits(&fixture.root()).unwrap();
    assert_eq!(limits.memory_bytes, Some(GIB));
    assert_eq!(limits.processors, Some(0.5));
    assert_eq!(limits.throttled_ns, Some(2_000_000_000));
    write("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    assert_eq!(groups(&fixture).limits(&fixture.root()).unwrap().processors, None);
}

#[test]
fn a_runs_limit_may_be_set_above_its_own_group() {
    let fixture = machine("5 1 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/user/app\n");
    let write = |file: &str, text: &str| fixture.write(&format!("/sys/fs/cgroup/{file}"), text);
    assert_eq!(groups(&fixture).limits(&fixture.root()), None);
    write("user/app/cpu.max", "max 100000\n");
    write("user/cpu.max", "150000 100000\n");
    write("user/cpu.stat", "throttled_usec 1000\n");
    let limits = groups(&fixture).limits(&fixture.root()).unwrap();
    assert_eq!((limits.processors, limits.throttled_ns), (Some(1.5), Some(1_000_000)));
}

fn with_v2_group(fixture: &Fixture, group: &str, limit: &str, used_mib: u64) {
    let dir = format!("/sys/fs/cgroup{group}");
    fixture.write(&format!("{dir}/memory.max"), limit);
    fixture.write(&format!("{dir}/memory.current"), &(used_mib * MIB).to_string());
    fixture.write(
        &format!("{dir}/memory.stat"),
        &format!("anon 1\nfile 9\ninactive_file {}\nactive_file {}\n", 30 * MIB, 10 * MIB),
    );
}

#[test]
fn the_tightest_memory_limit_counts_and_droppable_cache_is_not_taken() {
    let fixture = machine("5 1 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/user/app\n");
    with_v2_group(&fixture, "/user/app", "max\n", 100);
    with_v2_group(&fixture, "/user", &(512 * MIB).to_string(), 200);
    let limit = groups(&fixture).tightest_memory_limit(&fixture.root(), 8 * GIB).unwrap();
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
    let limit = groups(&fixture).tightest_memory_limit(&fixture.root(), 8 * GIB).unwrap();
    assert_eq!(limit.left_bytes(), 54 * MIB);
}

#[test]
fn the_first_versions_number_for_no_limit_is_none() {
    let mounts = "5 1 0:9 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
    let fixture = machine(mounts, "4:memory:/\n");
    fixture.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    fixture.write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
    assert_eq!(groups(&fixture).tightest_memory_limit(&fixture.root(), 8 * GIB), None);
}
