#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use super::*;

/// A quiet machine of four processors, as plain files, at a moment.
struct Made {
    dir: tempfile::TempDir,
}

const MACHINE: &[(&str, &str)] = &[
    ("proc/uptime", "1000.00 3000.00\n"),
    ("proc/stat", "cpu  10000 0 2000 388000 100 0 10 0 0 0\ncpu0 1 2\nintr 7\n"),
    ("proc/self/stat", "77 (iotoll) R 1 1 1 0 -1 4194304 0 0 0 0 50 5 0 0 20 0 1 0 99000 0\n"),
    ("proc/77/stat", "77 (iotoll) R 1 1 1 0 -1 4194304 0 0 0 0 50 5 0 0 20 0 1 0 99000 0\n"),
    ("proc/8/stat", "8 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 0 90 0 0 20 0 1 0 5 0\n"),
    ("proc/42/stat", "42 (a b) c) S 1 1 1 0 -1 4194304 0 0 0 0 400 100 0 0 20 0 1 0 300 0\n"),
    ("proc/vmstat", "nr_dirty 100\nnr_writeback 0\npswpin 5\npswpout 5\n"),
    ("proc/meminfo", "MemTotal:       16384000 kB\n"),
    (
        "proc/diskstats",
        " 254 0 vda 1 0 8 1 10 0 2000 1 0 1 1\n 254 1 vda1 1 0 8 1 10 0 2000 1 0 1 1\n",
    ),
    ("proc/self/io", "rchar: 1\nwrite_bytes: 0\n"),
    ("proc/self/cgroup", "0::/app/web\n"),
    ("proc/cpuinfo", "flags\t\t: fpu vme\n"),
    ("sys/block/vda/device/vendor", "0x1af4\n"),
    ("sys/fs/cgroup/app/web/cpu.max", "max 100000\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3000000\n"),
];

impl Made {
    fn new() -> Self {
        let made = Self { dir: tempfile::tempdir().unwrap() };
        for (file, text) in MACHINE {
            made.write(file, text);
        }
        made
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self) -> Reading {
        Reading { processors: 4, ..Reading::of(self.dir.path()) }
    }
}

/// What is found when these files change over ten seconds, of which the run
/// itself used two on a processor.
fn found(changes: &[(&str, &str)]) -> Noise {
    let machine = Made::new();
    let before = machine.read();
    machine.write("proc/uptime", "1010.00 3030.00\n");
    // Four processors for ten seconds: two busy seconds, all of them the run's.
    machine.write("proc/stat", "cpu  10150 0 2050 391800 100 0 10 0 0 0\n");
    for (file, text) in changes {
        machine.write(file, text);
    }
    between(&before, &machine.read(), Duration::from_secs(2))
}

fn only(changes: &[(&str, &str)]) -> NoiseSource {
    let noise = found(changes);
    assert_eq!(noise.sources.len(), 1, "{noise:?}");
    noise.sources[0].clone()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
}

#[test]
fn a_quiet_machine_has_no_noise() {
    assert_eq!(found(&[]), Noise::default());
}

#[test]
fn steal_is_a_share_of_all_processors_time() {
    let steal = only(&[("proc/stat", "cpu  10150 0 2050 391600 100 0 10 200 0 0\n")]);
    assert_eq!(steal.code, NoiseCode::Steal);
    near(steal.evidence["steal_share"], 0.05);
    assert!(steal.text.contains("5% of"), "{}", steal.text);
}

#[test]
fn other_load_names_programs_and_leaves_out_the_run_and_the_kernel() {
    let load = only(&[
        // Of 17 busy seconds 2 are the run's and 3 a kernel thread's.
        ("proc/stat", "cpu  11600 0 2100 390000 100 0 10 0 0 0\n"),
        ("proc/8/stat", "8 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 0 390 0 0 20 0 1 0 5 0\n"),
        ("proc/42/stat", "42 (a b) c) S 1 1 1 0 -1 4194304 0 0 0 0 1300 100 0 0 20 0 1 0 300 0\n"),
        ("proc/77/stat", "77 (iotoll) R 1 1 1 0 -1 4194304 0 0 0 0 250 5 0 0 20 0 1 0 99000 0\n"),
    ]);
    assert_eq!(load.code, NoiseCode::OtherLoad);
    near(load.evidence["processors_busy"], 1.2);
    assert_eq!(
        load.text,
        "Other programs kept 1.2 of 4 processors busy: above all a b) c (pid 42) 0.90."
    );
}

#[test]
fn a_number_used_again_is_another_process() {
    let load = only(&[
        ("proc/stat", "cpu  10650 0 2050 390000 100 0 10 0 0 0\n"),
        ("proc/42/stat", "42 (new) S 1 1 1 0 -1 4194304 0 0 0 0 420 80 0 0 20 0 1 0 100400 0\n"),
    ]);
    assert!(load.text.ends_with("new (pid 42) 0.50."), "{}", load.text);
}

#[test]
fn a_quota_is_noise_when_it_held_the_run_up_and_wherever_it_is_set() {
    let machine = Made::new();
    machine.write("sys/fs/cgroup/app/cpu.max", "150000 100000\n");
    machine.write("sys/fs/cgroup/app/cpu.stat", "nr_throttled 1\nthrottled_usec 1000000\n");
    let before = machine.read();
    machine.write("proc/uptime", "1010.00 3030.00\n");
    assert_eq!(between(&before, &machine.read(), Duration::ZERO), Noise::default());
    machine.write("sys/fs/cgroup/app/cpu.stat", "nr_throttled 9\nthrottled_usec 3500000\n");
    let noise = between(&before, &machine.read(), Duration::ZERO);
    assert_eq!(noise.sources.len(), 1, "{noise:?}");
    assert_eq!(noise.sources[0].code, NoiseCode::CpuQuota);
    near(noise.sources[0].evidence["throttled_s"], 2.5);
    near(noise.sources[0].evidence["quota_processors"], 1.5);
}

#[test]
fn the_first_version_of_control_groups_is_read_too() {
    let machine = Made::new();
    machine.write("proc/self/cgroup", "4:memory:/a/b\n3:cpu,cpuacct:/\n");
    machine.write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    machine.write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
    machine.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
    machine.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    machine.write("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "throttled_time 2000000000\n");
    let limits = machine.read().limits;
    assert_eq!(limits.memory_bytes, Some(1 << 30));
    assert_eq!(limits.processors, Some(0.5));
    assert_eq!(limits.throttled_s, Some(2.0));
    machine.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    assert_eq!(machine.read().limits.processors, None);
}

#[test]
fn swapping_and_a_memory_limit() {
    let swap = only(&[("proc/vmstat", "nr_dirty 0\nnr_writeback 0\npswpin 5\npswpout 1029\n")]);
    assert_eq!(swap.code, NoiseCode::Swap);
    near(swap.evidence["swapped_out_bytes"], 4_194_304.0);
    let limit = only(&[("sys/fs/cgroup/app/memory.max", "1073741824\n")]);
    assert_eq!(limit.code, NoiseCode::MemoryLimit);
    assert!(limit.text.contains("1.07 GB of the machine's 16.8 GB"), "{}", limit.text);
}

#[test]
fn others_writes_are_what_the_run_did_not_cause_counted_once() {
    // 200 MB on the disk, told again for its partition; the run wrote 50 MB.
    let stats = " 254 0 vda 1 0 8 1 10 0 392625 1 0 1 1\n 254 1 vda1 1 0 8 1 10 0 392625 1 0 1 1\n";
    let writes =
        only(&[("proc/diskstats", stats), ("proc/self/io", "rchar: 1\nwrite_bytes: 50000000\n")]);
    assert_eq!(writes.code, NoiseCode::BackgroundWrites);
    near(writes.evidence["others_bytes_per_s"], 15_000_000.0);
    // As much as the run's own may be the journal's part in it.
    let own = [("proc/diskstats", stats), ("proc/self/io", "write_bytes: 150000000\n")];
    assert_eq!(found(&own), Noise::default());
}

#[test]
fn what_waited_to_be_written_before_the_run_counts_and_afterwards_not() {
    let machine = Made::new();
    machine.write("proc/vmstat", "nr_dirty 20000\nnr_writeback 0\n");
    let before = machine.read();
    machine.write("proc/uptime", "1010.00 3030.00\n");
    let noise = between(&before, &machine.read(), Duration::ZERO);
    assert_eq!(noise.sources.len(), 1, "{noise:?}");
    assert!(noise.sources[0].text.contains("81.9 MB were waiting"), "{noise:?}");
    let after = found(&[("proc/vmstat", "nr_dirty 20000\nnr_writeback 0\n")]);
    assert_eq!(after, Noise::default());
}

#[test]
fn frequencies_that_vary_and_a_governor_that_lets_them() {
    let cpu1 = "sys/devices/system/cpu/cpu1/cpufreq";
    let governor = only(&[(&format!("{cpu1}/scaling_governor"), "ondemand\n")]);
    assert_eq!(governor.code, NoiseCode::Governor);
    let spread = only(&[
        (&format!("{cpu1}/scaling_cur_freq"), "1500000\n"),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
    ]);
    assert_eq!(spread.code, NoiseCode::Frequency);
    assert_eq!(spread.text, "Processors ran at between 1500 and 3000 MHz; turbo is on.");
}

#[test]
fn a_small_virtual_machine() {
    let machine = Made::new();
    machine.write("proc/cpuinfo", "flags\t\t: fpu hypervisor vme\n");
    let two = |reading: Reading| Reading { processors: 2, ..reading };
    let before = two(machine.read());
    machine.write("proc/uptime", "1010.00 3030.00\n");
    let noise = between(&before, &two(machine.read()), Duration::ZERO);
    let codes: Vec<NoiseCode> = noise.sources.iter().map(|s| s.code).collect();
    assert_eq!(codes, [NoiseCode::FewProcessors, NoiseCode::VirtualMachine]);
}

#[test]
fn what_cannot_be_read_is_said() {
    let empty = tempfile::tempdir().unwrap();
    let reading = Reading::of(empty.path());
    assert_eq!(reading.unread.len(), 5, "{:?}", reading.unread);
    let machine = Made::new();
    fs::remove_dir_all(machine.dir.path().join("sys/devices")).unwrap();
    assert_eq!(machine.read().unread.len(), 1, "{:?}", machine.read().unread);
}

#[test]
fn the_real_machine_can_be_read() {
    let before = Reading::take();
    assert!(before.cpu.is_some() && before.uptime_s > 0.0 && before.processors > 0);
    assert_eq!(before.own_pid, Some(std::process::id()));
    assert!(before.processes.contains_key(&std::process::id()));
    assert!(Path::new("/proc").exists());
}
