#![allow(clippy::unwrap_used)]

use host::fixture::{Fixture, MadeProcess};

use super::*;

/// What is read of a quiet machine's files.
fn read(machine: &Fixture) -> MachineReading {
    MachineReading { processors: 4, ..host::machine::read(&machine.root()) }
}

/// Ten seconds later.
fn later(machine: &Fixture) {
    machine.write("/proc/uptime", "1010.00 3030.00\n");
}

/// What is found when something changes over ten seconds, of which the run itself used
/// two on a processor.
fn found_when(change: impl Fn(&Fixture)) -> Noise {
    let machine = Fixture::quiet();
    let before = read(&machine);
    later(&machine);
    // Four processors for ten seconds: two busy seconds, all of them the run's.
    machine.write("/proc/stat", "cpu  10150 0 2050 391800 100 0 10 0 0 0\n");
    change(&machine);
    let after = MachineReading { own_cpu_ns: 2_000_000_000, ..read(&machine) };
    let noise = between(&before, &after);
    assert_eq!(between_saved(before, after), noise);
    noise
}

/// What a saved run tells, in which the processes that did not run are left out.
fn between_saved(mut before: MachineReading, mut after: MachineReading) -> Noise {
    MachineReading::keep_those_that_ran(&mut before, &mut after);
    let saved = serde_json::to_string(&(before, after)).unwrap();
    let (before, after) = serde_json::from_str(&saved).unwrap();
    between(&before, &after)
}

fn found(changes: &[(&str, &str)]) -> Noise {
    found_when(|machine| {
        for (file, text) in changes {
            machine.write(file, text);
        }
    })
}

fn only_when(change: impl Fn(&Fixture)) -> NoiseSource {
    let noise = found_when(change);
    assert_eq!(noise.sources.len(), 1, "{noise:?}");
    noise.sources[0].clone()
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
    let steal = only(&[("/proc/stat", "cpu  10150 0 2050 391600 100 0 10 200 0 0\n")]);
    assert_eq!(steal.code, NoiseCode::Steal);
    near(steal.evidence["steal_share"], 0.05);
    assert!(steal.text.contains("5% of"), "{}", steal.text);
}

#[test]
fn other_load_names_programs_and_leaves_out_the_run_and_the_kernel() {
    let load = only_when(|machine| {
        // Of 17 busy seconds 2 are the run's and 3 a kernel thread's.
        machine.write("/proc/stat", "cpu  11600 0 2100 390000 100 0 10 0 0 0\n");
        machine.process(&MadeProcess { ticks: [0, 390], ..Fixture::KERNEL });
        machine.process(&MadeProcess { ticks: [1300, 100], ..Fixture::OTHER });
        machine.process(&MadeProcess { ticks: [250, 5], ..Fixture::THIS });
    });
    assert_eq!(load.code, NoiseCode::OtherLoad);
    near(load.evidence["processors_busy"], 1.2);
    assert_eq!(
        load.text,
        "Other programs kept 1.2 of 4 processors busy: above all a b) c (pid 42) 0.90."
    );
}

/// A run in which a program uses as much of the processors, on a place of this file system.
fn run_beside(filesystem: &str, serves_fuse: bool) -> Vec<NoiseSource> {
    let machine = Fixture::quiet();
    let mut run = crate::testing::run(2, Vec::new());
    run.places[0].filesystem = filesystem.to_owned();
    run.watch.before = read(&machine);
    later(&machine);
    machine.write("/proc/stat", "cpu  11600 0 2100 390000 100 0 10 0 0 0\n");
    machine.process(&MadeProcess { ticks: [1900, 100], ..Fixture::OTHER });
    run.watch.after = MachineReading { own_cpu_ns: 2_000_000_000, ..read(&machine) };
    run.watch.after.others.iter_mut().for_each(|other| other.serves_fuse = serves_fuse);
    in_run(&run).sources
}

#[test]
fn the_server_of_a_place_is_no_noise() {
    assert_eq!(run_beside("ext4", true).len(), 1);
    assert_eq!(run_beside("fuse.sshfs", false).len(), 1);
    assert_eq!(run_beside("fuse.sshfs", true), []);
}

/// Ten rounds of two arms on a machine that steals so much, in which the arms wait for a processor
/// for such shares of their time.
fn disturbed(steal: &str, queued: [f64; 2]) -> Noise {
    let slices = (0..10).flat_map(|block| {
        [0, 1].map(|arm| {
            let mut slice = crate::testing::slice(arm, block);
            slice.spent.elapsed_ns = 1_000_000;
            slice.spent.run_queue_ns = Some((1e6 * queued[arm]) as u64);
            let cpus = CpuTimes { busy_ns: 980_000, steal_ns: 20_000, ..CpuTimes::default() };
            slice.surroundings.cpus = Some(cpus);
            slice
        })
    });
    let mut run = crate::testing::run(2, slices.collect());
    let machine = Fixture::quiet();
    run.watch.before = read(&machine);
    later(&machine);
    machine.write("/proc/stat", &format!("cpu  11600 0 2100 390000 100 0 10 {steal} 0 0\n"));
    machine.process(&MadeProcess { ticks: [1900, 100], ..Fixture::OTHER });
    run.watch.after = read(&machine);
    crate::analyse(&run).noise
}

#[test]
fn the_largest_disturbance_comes_first_with_what_it_moved() {
    let codes = |noise: &Noise| noise.sources.iter().map(|s| s.code).collect::<Vec<NoiseCode>>();
    let noise = disturbed("200", [0.5, 0.01]);
    assert_eq!(codes(&noise), [NoiseCode::OtherLoad, NoiseCode::Steal]);
    let load = &noise.sources[0];
    assert_eq!(load.touched, ["b"]);
    assert!(load.text.ends_with("It may have moved b by up to 98%."), "{}", load.text);
    let steal = &noise.sources[1];
    assert!(steal.touched.is_empty());
    assert!(steal.text.ends_with("It moved no comparison by 5% or more."), "{}", steal.text);
    // Both sides lost as much to it.
    let alike = disturbed("200", [0.5, 0.5]);
    assert!(alike.sources.iter().all(|source| source.touched.is_empty()), "{alike:?}");
    let quiet = disturbed("200", [0.01, 0.01]);
    assert_eq!(codes(&quiet), [NoiseCode::Steal, NoiseCode::OtherLoad]);
}

#[test]
fn a_number_used_again_is_another_process() {
    let load = only_when(|machine| {
        machine.write("/proc/stat", "cpu  10650 0 2050 390000 100 0 10 0 0 0\n");
        let new = MadeProcess { name: "new", started_ticks: 100_400, ..Fixture::OTHER };
        machine.process(&MadeProcess { ticks: [420, 80], ..new });
    });
    assert!(load.text.ends_with("new (pid 42) 0.50."), "{}", load.text);
}

#[test]
fn a_quota_is_noise_when_it_held_the_run_up_and_wherever_it_is_set() {
    let machine = Fixture::quiet();
    machine.write("/sys/fs/cgroup/app/cpu.max", "150000 100000\n");
    machine.write("/sys/fs/cgroup/app/cpu.stat", "nr_throttled 1\nthrottled_usec 1000000\n");
    let before = read(&machine);
    later(&machine);
    assert_eq!(between(&before, &read(&machine)), Noise::default());
    machine.write("/sys/fs/cgroup/app/cpu.stat", "nr_throttled 9\nthrottled_usec 3500000\n");
    let noise = between(&before, &read(&machine));
    assert_eq!(noise.sources.len(), 1, "{noise:?}");
    assert_eq!(noise.sources[0].code, NoiseCode::CpuQuota);
    near(noise.sources[0].evidence["throttled_s"], 2.5);
    near(noise.sources[0].evidence["quota_processors"], 1.5);
}

#[test]
fn swapping_and_a_memory_limit() {
    let swap = only(&[("/proc/vmstat", "nr_dirty 0\nnr_writeback 0\npswpin 5\npswpout 1029\n")]);
    assert_eq!(swap.code, NoiseCode::Swap);
    near(swap.evidence["swapped_out_bytes"], 4_194_304.0);
    let limit = only(&[("/sys/fs/cgroup/app/memory.max", "1073741824\n")]);
    assert_eq!(limit.code, NoiseCode::MemoryLimit);
    assert!(limit.text.contains("1.07 GB of the machine's 16.8 GB"), "{}", limit.text);
}

#[test]
fn others_writes_are_what_the_run_did_not_cause_counted_once() {
    // 200 MB on the disk, told again for its partition; the run wrote 50 MB.
    let stats = " 254 0 vda 1 0 8 1 10 0 392625 1 0 1 1\n 254 1 vda1 1 0 8 1 10 0 392625 1 0 1 1\n";
    let write = |own_bytes| {
        move |machine: &Fixture| {
            machine.write("/proc/diskstats", stats);
            machine.wrote(own_bytes);
        }
    };
    let writes = only_when(write(50_000_000));
    assert_eq!(writes.code, NoiseCode::BackgroundWrites);
    near(writes.evidence["others_bytes_per_s"], 15_000_000.0);
    // As much as the run's own may be the journal's part in it.
    assert_eq!(found_when(write(150_000_000)), Noise::default());
}

#[test]
fn what_waited_to_be_written_before_the_run_counts_and_afterwards_not() {
    let machine = Fixture::quiet();
    machine.write("/proc/vmstat", "nr_dirty 20000\nnr_writeback 0\n");
    let before = read(&machine);
    later(&machine);
    let noise = between(&before, &read(&machine));
    assert_eq!(noise.sources.len(), 1, "{noise:?}");
    assert!(noise.sources[0].text.contains("81.9 MB were waiting"), "{noise:?}");
    let after = found(&[("/proc/vmstat", "nr_dirty 20000\nnr_writeback 0\n")]);
    assert_eq!(after, Noise::default());
}

#[test]
fn frequencies_that_vary_and_a_governor_that_lets_them() {
    let cpu1 = "/sys/devices/system/cpu/cpu1/cpufreq";
    let governor = only(&[(&format!("{cpu1}/scaling_governor"), "ondemand\n")]);
    assert_eq!(governor.code, NoiseCode::Governor);
    let spread = only(&[
        (&format!("{cpu1}/scaling_cur_freq"), "1500000\n"),
        ("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
    ]);
    assert_eq!(spread.code, NoiseCode::Frequency);
    assert_eq!(spread.text, "Processors ran at between 1500 and 3000 MHz; turbo is on.");
}

#[test]
fn a_small_virtual_machine() {
    let machine = Fixture::quiet();
    machine.write("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor vme\n\n");
    let two = |reading: MachineReading| MachineReading { processors: 2, ..reading };
    let before = two(read(&machine));
    later(&machine);
    let noise = between(&before, &two(read(&machine)));
    let codes: Vec<NoiseCode> = noise.sources.iter().map(|s| s.code).collect();
    assert_eq!(codes, [NoiseCode::FewProcessors, NoiseCode::VirtualMachine]);
}

#[test]
fn what_cannot_be_read_is_passed_on() {
    let noise = found_when(|machine| machine.remove("/sys/devices"));
    assert_eq!(noise.unread.len(), 1, "{noise:?}");
    assert!(noise.unread[0].starts_with("the processors' frequency"), "{noise:?}");
}

#[test]
fn the_real_machine_can_be_judged() {
    let before = host::machine::read_now();
    let after =
        MachineReading { uptime_ns: before.uptime_ns + 1_000_000_000, ..host::machine::read_now() };
    let noise = between(&before, &after);
    assert_eq!(noise.unread, after.unread);
    assert_eq!(between_saved(before, after), noise);
}
