//! Arms made up of figures: each cause beside the same figures without what shows it.

use model::analysis::Verdict;
use model::arm::Axis;
use model::cause::{CauseCode, Scope};
use model::counters::Counters as _;
use model::description::CauseDescription;
use model::place::StorageKind;
use model::probes::{CpuTimes, GroupLimits, MemoryTraffic, Pressure, Residency, Surroundings};
use model::run::{MemoryFloor, PlaceFloor};
use model::spent::{Calls, DeviceTraffic, Spent};

use super::*;
use crate::testing;
use crate::totals::OwnTime;

const OPERATIONS: u64 = 1000;
/// Long enough for the kernel to be told from the program.
const ALL_NS: u64 = 100_000_000;

/// An arm at a place of its name, all of whose time was spent in the program.
fn arm(place: &str) -> ArmTotals {
    let facts = testing::place((0, &place.to_owned()));
    ArmTotals {
        operation: "step".to_owned(),
        slices: 10,
        operations: OPERATIONS,
        spent: Spent {
            elapsed_ns: ALL_NS,
            user_ns: ALL_NS,
            run_queue_ns: Some(0),
            calls: Some(Calls::default()),
            device: Some(DeviceTraffic { discards: Some(0), ..DeviceTraffic::default() }),
            ..Spent::default()
        },
        place: Some(facts),
        ..ArmTotals::default()
    }
}

/// The same with so much of the time in the kernel, and so much asleep.
fn with_times(arm: ArmTotals, system_ns: u64, asleep_ns: u64) -> ArmTotals {
    let user_ns = ALL_NS - system_ns - asleep_ns;
    ArmTotals { spent: Spent { user_ns, system_ns, ..arm.spent }, ..arm }
}

fn with_calls(arm: ArmTotals, calls: Calls) -> ArmTotals {
    ArmTotals { spent: Spent { calls: Some(calls), ..arm.spent }, ..arm }
}

fn codes(totals: &ArmTotals) -> Vec<String> {
    of_arm(totals).iter().map(|cause| cause.code.to_string()).collect()
}

fn compared(base: &ArmTotals, other: &ArmTotals, axis: Axis, verdict: Verdict) -> Vec<Cause> {
    let base = Side { label: "on disk", totals: base };
    of_pair(base, Side { label: "on ram", totals: other }, axis, verdict)
}

fn codes_compared(base: &ArmTotals, other: &ArmTotals, verdict: Verdict) -> Vec<String> {
    let causes = compared(base, other, Axis::Place, verdict);
    causes.iter().map(|cause| cause.code.to_string()).collect()
}

/// The same arm, but this long.
fn lasting(arm: ArmTotals, elapsed_ns: u64) -> ArmTotals {
    ArmTotals { spent: Spent { elapsed_ns, ..arm.spent }, ..arm }
}

#[test]
fn shares_add_up_to_no_more_than_the_whole_and_what_differs_has_a_cause() {
    let mut state = 7_u64;
    // The numbers of a linear congruential generator, by Knuth: any will do.
    let mut below = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 33) % most
    };
    for _ in 0..3000 {
        let mut totals = arm("disk");
        totals.spent = Spent {
            elapsed_ns: below(ALL_NS),
            user_ns: below(ALL_NS),
            system_ns: below(ALL_NS),
            run_queue_ns: Some(below(ALL_NS)).filter(|ns| ns % 5 > 0),
            sync_calls: below(2),
            sync_ns: below(ALL_NS),
            lock_calls: 1,
            lock_ns: below(ALL_NS),
            minor_faults: below(10_000),
            major_faults: below(2000),
            voluntary_switches: below(2000),
            involuntary_switches: below(2000),
            name_changes: below(2 * OPERATIONS),
            calls: Some(Calls {
                reads: below(5000),
                read_bytes: below(1 << 28),
                storage_read_bytes: below(1 << 20),
                storage_dirtied_bytes: below(1 << 20),
                ..Calls::default()
            }),
            device: Some(DeviceTraffic {
                written_bytes: below(1 << 20),
                discards: Some(below(2000)),
                ..DeviceTraffic::default()
            }),
            ..totals.spent
        };
        totals.first_touched_bytes = below(1 << 24);
        totals.surroundings.cpus = Some(CpuTimes { idle_ns: ALL_NS, ..CpuTimes::default() });
        totals.own_times = vec![OwnTime { cause: own_cause(), time_ns: below(ALL_NS) as f64 }];
        totals.memory = Some(MemoryFloor {
            fault_ns: 500.0,
            first_touch_ns: 12_500.0,
            again_ns: 1500.0,
            huge_clear_ns: None,
        });
        totals.place_floor = Some(floor(below(500) as f64));
        let other = ArmTotals { operations: 1 + below(OPERATIONS), ..totals.clone() };
        let pair = Parts::of_pair(&totals, &other, Axis::Place);
        for parts in [Parts::of(&totals), pair[0]] {
            let costs = weigh(&totals, &parts).into_iter().filter(|w| w.role == rule::Role::Cost);
            let sum: f64 = costs.map(|weighed| weighed.finding.share).sum();
            assert!(sum <= 1.0 + 1e-9, "{sum} of {totals:?}");
        }
        for verdict in [Verdict::Faster, Verdict::Slower] {
            assert!(!compared(&totals, &other, Axis::Place, verdict).is_empty());
        }
    }
}

fn own_cause() -> CauseDescription {
    CauseDescription {
        code: "own".to_owned(),
        what: "its own".to_owned(),
        figure: String::new(),
        threshold_share: 0.2,
    }
}

fn floor(read_ns_per_page: f64) -> PlaceFloor {
    PlaceFloor {
        read_ns_per_page,
        write_ns_per_page: 2.0 * read_ns_per_page,
        free_ns_per_page: 3.0 * read_ns_per_page,
        large_share: None,
    }
}

#[test]
fn time_in_syncs_is_not_counted_as_the_kernels_again() {
    // Awake in the kernel throughout, all of it in calls that sync.
    let mut totals = with_times(arm("disk"), ALL_NS, 0);
    (totals.spent.sync_calls, totals.spent.sync_ns) = (OPERATIONS, ALL_NS);
    assert_eq!(codes(&totals), ["bound-by-sync"]);
    totals.spent.sync_ns = 0;
    assert_eq!(codes(&totals), ["system-calls"]);
}

#[test]
fn a_slice_that_writes_nothing_absorbs_nothing() {
    let unwritten =
        Residency { file_bytes: 200_000, unwritten_bytes: 200_000, ..Residency::default() };
    let mut totals = arm("disk");
    totals.surroundings.residency = Some(unwritten);
    totals.spent.requested_bytes = 200_000_000;
    let reads = Calls { read_bytes: 200_000_000, written_bytes: 50, ..Calls::default() };
    assert_eq!(codes(&with_calls(totals.clone(), reads)), ["application-cpu"]);
    let writes = Calls {
        written_bytes: 200_000_000,
        storage_dirtied_bytes: 200_000_000,
        ..Calls::default()
    };
    assert!(codes(&with_calls(totals, writes)).contains(&"absorbed-by-page-cache".to_owned()));
}

#[test]
fn the_page_cache_absorbs_what_others_write_meanwhile_or_not_and_nothing_that_is_gone() {
    const WRITTEN: u64 = 200_000_000;
    let absorbs = |unwritten_bytes: u64, device_wrote: u64| {
        let mut totals = arm("disk");
        totals.spent.requested_bytes = WRITTEN;
        let device = totals.spent.device.unwrap_or_default();
        totals.spent.device = Some(DeviceTraffic { written_bytes: device_wrote, ..device });
        totals.surroundings.residency = Some(Residency { unwritten_bytes, ..Residency::default() });
        let calls =
            Calls { written_bytes: WRITTEN, storage_dirtied_bytes: WRITTEN, ..Calls::default() };
        codes(&with_calls(totals, calls)).contains(&"absorbed-by-page-cache".to_owned())
    };
    assert!(absorbs(WRITTEN, 0));
    assert!(absorbs(WRITTEN, 5 * WRITTEN), "what the device wrote was others'");
    assert!(!absorbs(WRITTEN / 2, 5 * WRITTEN), "half of it reached the device");
    assert!(!absorbs(0, 0), "nothing is left in the cache, as of files that were removed");
}

#[test]
fn writes_are_waited_for_where_they_go_past_the_cache_and_reach_the_device() {
    let given = Calls { storage_dirtied_bytes: 1 << 20, ..Calls::default() };
    let residency = |unwritten_bytes| Residency { unwritten_bytes, ..Residency::default() };
    let mut direct = with_calls(with_times(arm("disk"), 0, ALL_NS / 2), given);
    direct.surroundings.residency = Some(residency(0));
    let traffic = direct.spent.device.unwrap_or_default();
    direct.spent.device = Some(DeviceTraffic { written_bytes: 1 << 20, ..traffic });
    let waits = |totals: &ArmTotals| codes(totals).contains(&"writes-to-device".to_owned());
    assert!(waits(&direct));

    let mut cached = direct.clone();
    cached.surroundings.residency = Some(residency(1 << 20));
    assert!(!waits(&cached), "they are still in the cache");
    // With this many reads, data in the cache does not show that the slice waited for writeback.
    let mixed = Calls { storage_read_bytes: 1 << 18, ..given };
    assert!(waits(&with_calls(direct.clone(), mixed)));
    assert!(!waits(&with_calls(cached, mixed)), "nobody knows what was waited for");
    let mut absent = direct.clone();
    absent.spent.device = Some(DeviceTraffic { written_bytes: 1 << 10, ..traffic });
    assert!(!waits(&absent), "the device did not write");
    let mut idle = direct.clone();
    idle.surroundings.pressure = Some(Pressure::default());
    assert!(!waits(&idle), "nobody waited for storage");
    assert!(!waits(&with_times(direct.clone(), 0, ALL_NS / 10)), "too short to matter");
    let reads = Calls { storage_read_bytes: 1 << 21, ..given };
    assert_eq!(codes(&with_calls(direct, reads)), ["reads-from-device", "application-cpu"]);
}

#[test]
fn memory_is_short_only_where_something_waited_for_it() {
    let swaps = MemoryTraffic {
        swapped_in_bytes: 1 << 20,
        refaulted_bytes: 1 << 20,
        scanned_bytes: 1 << 20,
        ..MemoryTraffic::default()
    };
    let reads = Calls { storage_read_bytes: 1 << 20, ..Calls::default() };
    let mut quick = with_calls(arm("disk"), reads);
    quick.spent.major_faults = 5;
    quick.surroundings = Surroundings {
        memory: Some(swaps),
        pressure: Some(Pressure::default()),
        ..quick.surroundings
    };
    assert_eq!(codes(&quick), ["application-cpu"]);

    let waits = |totals: ArmTotals| codes(&totals).contains(&"memory-pressure".to_owned());
    assert!(waits(with_times(quick.clone(), 0, ALL_NS / 4)), "for pages that were read again");
    let mut stalled = quick.clone();
    let memory_some_ns = ALL_NS / 10;
    stalled.surroundings.pressure = Some(Pressure { memory_some_ns, ..Pressure::default() });
    assert!(waits(stalled), "as the kernel counts it");

    // Nothing was looked for to be freed: what was read again had been dropped on purpose.
    let mut plenty = with_times(quick, 0, ALL_NS / 4);
    plenty.surroundings.memory = Some(MemoryTraffic { scanned_bytes: 0, ..swaps });
    assert!(!waits(plenty.clone()));
    let memory_limit_hits = Some(3);
    plenty.surroundings.group = Some(GroupLimits { memory_limit_hits, ..GroupLimits::default() });
    assert!(waits(plenty), "the group's own limit");
}

#[test]
fn kernel_threads_that_write_for_the_slices_are_not_others() {
    let mut totals = arm("disk");
    totals.spent.user_ns = ALL_NS * 3 / 4;
    totals.spent.run_queue_ns = Some(ALL_NS / 4);
    let busy_ns = ALL_NS * 5 / 4;
    let cpus =
        CpuTimes { busy_ns, user_ns: Some(totals.spent.user_ns), idle_ns: ALL_NS, steal_ns: 0 };
    totals.surroundings.cpus = Some(cpus);
    let noise = |totals: &ArmTotals| codes(totals).contains(&"outside-noise".to_owned());
    assert!(noise(&totals), "a slice that gives no device any work");
    let dirties = Calls { storage_dirtied_bytes: 4096, ..Calls::default() };
    let writing = with_calls(totals, dirties);
    assert!(!noise(&writing));
    let mut beside_programs = writing;
    beside_programs.surroundings.cpus = Some(CpuTimes { user_ns: Some(busy_ns), ..cpus });
    assert!(noise(&beside_programs));
}

#[test]
fn waiting_for_a_processor_is_told_where_it_makes_the_difference() {
    let quick = arm("ram");
    let mut slow = lasting(arm("disk"), 3 * ALL_NS);
    slow.spent.run_queue_ns = Some(2 * ALL_NS);
    let cpus = CpuTimes { busy_ns: 4 * ALL_NS, idle_ns: 0, steal_ns: 0, user_ns: None };
    slow.surroundings.cpus = Some(cpus);
    let causes = compared(&slow, &quick, Axis::Place, Verdict::Faster);
    assert_eq!((&causes[0].code, causes[0].scope), (&CauseCode::OutsideNoise, Scope::Arm));
    let text = &causes[0].text;
    assert!(text.contains("accounts for 200 µs of the difference of 200 µs"), "{text}");
    assert_eq!(causes.len(), 1, "{causes:?}");
    // Where it makes less than half of it, it is told of the run alone.
    slow.spent.user_ns = 3 * ALL_NS;
    slow.spent.elapsed_ns = 6 * ALL_NS;
    let causes = compared(&slow, &quick, Axis::Strategy, Verdict::Faster);
    let noise = causes.iter().find(|cause| cause.code == CauseCode::OutsideNoise);
    assert_eq!(noise.map(|noise| noise.scope), Some(Scope::Run), "{causes:?}");
}

#[test]
fn a_difference_that_nothing_explains_says_so() {
    let (short, long) = (arm("disk"), lasting(arm("ram"), 2 * ALL_NS));
    let causes = compared(&short, &long, Axis::Place, Verdict::Slower);
    assert_eq!(causes.len(), 1);
    assert_eq!(causes[0].code, CauseCode::NoneFound);
    let text = &causes[0].text;
    assert!(text.contains("the difference of 100 µs per step"), "{text}");
    assert!(text.contains("100 µs of it was spent sleeping"), "{text}");
    // Where the operations themselves differ the other way, no size is given.
    let against = compared(&short, &long, Axis::Place, Verdict::Faster);
    assert!(against[0].text.contains("not in the total time"), "{}", against[0].text);
    for verdict in [Verdict::Same, Verdict::Unclear, Verdict::Invalid] {
        assert!(!codes_compared(&short, &long, verdict).contains(&"none-found".to_owned()));
    }
}

#[test]
fn the_programs_own_time_explains_no_place() {
    let slow = arm("ram");
    let quick = ArmTotals {
        spent: Spent { elapsed_ns: ALL_NS / 2, user_ns: ALL_NS / 2, ..slow.spent },
        ..arm("disk")
    };
    // The same program did the same: what more time it took was not its own.
    assert_eq!(codes_compared(&quick, &slow, Verdict::Slower), ["system-calls"]);
    let causes = compared(&quick, &slow, Axis::Place, Verdict::Slower);
    assert!(causes[0].text.contains("differs by place"), "{}", causes[0].text);
    assert!(!causes[0].text.contains("with the program's own"), "{}", causes[0].text);
    // Where neither can tell the kernel's part, that is said.
    let short = |arm: &ArmTotals| ArmTotals { slices: 1000, ..arm.clone() };
    let causes = compared(&short(&quick), &short(&slow), Axis::Place, Verdict::Slower);
    assert!(causes[0].text.contains("with the program's own"), "{}", causes[0].text);
    let by_strategy = compared(&quick, &slow, Axis::Strategy, Verdict::Slower);
    assert_eq!(by_strategy[0].code, CauseCode::ApplicationCpu);
}

/// Arms that read 64 cached pages a step, the second at twice the cost.
fn readers() -> [ArmTotals; 2] {
    let bytes = OPERATIONS * 64 * 4096;
    let calls = Calls { reads: OPERATIONS, read_bytes: bytes, ..Calls::default() };
    let arm = |label, system_ns| {
        let elapsed_ns = ALL_NS / 2 + system_ns;
        let arm = with_calls(arm(label), calls);
        let spent = Spent { elapsed_ns, user_ns: ALL_NS / 2, system_ns, ..arm.spent };
        ArmTotals { spent, ..arm }
    };
    let mut pair = [arm("disk", 10_000_000), arm("ram", 20_000_000)];
    pair[0].place_floor = Some(floor(100.0));
    pair[1].place_floor = Some(floor(220.0));
    let facts = pair[1].place.as_mut();
    if let Some(facts) = facts {
        (facts.kind, facts.filesystem) = (StorageKind::Memory, "tmpfs".to_owned());
    }
    pair
}

fn mount(arm: &mut ArmTotals, option: &str) {
    if let Some(place) = arm.place.as_mut() {
        place.mount_options = vec![option.to_owned()];
    }
}

#[test]
fn small_pages_are_named_where_they_are_small_and_cost_more() {
    let [disk, ram] = readers();
    assert_eq!(codes_compared(&disk, &ram, Verdict::Slower), ["small-pages"]);
    let causes = compared(&disk, &ram, Axis::Place, Verdict::Slower);
    let text = "On ram, files are held in pages of 4 KiB (tmpfs, mounted without huge=), on \
                disk, it seems, in larger ones: reading a cached page takes 220 ns instead of \
                100 ns, which accounts for up to 7.68 µs per step.";
    assert_eq!(causes[0].text, text);
    // However few of the blocks one of them has.
    let mut fewer = disk.clone();
    fewer.operations *= 3;
    fewer.spent = fewer.spent.plus(fewer.spent).plus(fewer.spent);
    assert_eq!(codes_compared(&fewer, &ram, Verdict::Slower), ["small-pages"]);
    // The same the other way round.
    assert_eq!(codes_compared(&ram, &disk, Verdict::Faster), ["small-pages"]);

    let mut huge = ram.clone();
    mount(&mut huge, "huge=always");
    assert_eq!(codes_compared(&disk, &huge, Verdict::Slower), ["copying"]);
    mount(&mut huge, "huge=never");
    assert_eq!(codes_compared(&disk, &huge, Verdict::Slower), ["small-pages"]);
    // The kernel's own word counts more than the option.
    let seen = |arm: &ArmTotals, large| ArmTotals {
        place_floor: arm.place_floor.map(|f| PlaceFloor { large_share: Some(large), ..f }),
        ..arm.clone()
    };
    assert_eq!(codes_compared(&disk, &seen(&ram, 1.0), Verdict::Slower), ["copying"]);
    assert_eq!(codes_compared(&seen(&disk, 0.0), &ram, Verdict::Slower), ["copying"]);
    // What another file system does for each page it writes need not be the pages' size.
    let writes = |arm: &ArmTotals| {
        let Calls { reads, read_bytes, .. } = arm.spent.calls.unwrap_or_default();
        let calls = Calls { writes: reads, written_bytes: read_bytes, ..Calls::default() };
        with_calls(arm.clone(), calls)
    };
    assert_eq!(codes_compared(&writes(&disk), &writes(&ram), Verdict::Slower), ["small-pages"]);
    let mut other = seen(&writes(&ram), 0.0);
    if let Some(place) = other.place.as_mut() {
        place.filesystem = "btrfs".to_owned();
    }
    assert_eq!(codes_compared(&writes(&disk), &other, Verdict::Slower), ["copying"]);
    // Pages that cost the same explain nothing, however small they are.
    let same = ArmTotals { place_floor: disk.place_floor, ..ram };
    assert_eq!(codes_compared(&disk, &same, Verdict::Slower), ["copying"]);
}

#[test]
fn small_pages_explain_why_removing_a_file_takes_longer() {
    let removers = readers().map(|arm| {
        let mut arm = with_calls(arm, Calls::default());
        arm.spent.name_changes = OPERATIONS;
        let cached_before_bytes = OPERATIONS * 30 * 4096;
        arm.surroundings.residency =
            Some(Residency { cached_before_bytes, ..Residency::default() });
        arm
    });
    let [disk, ram] = &removers;
    let causes = compared(disk, ram, Axis::Place, Verdict::Slower);
    assert_eq!(causes[0].code, CauseCode::SmallPages, "{causes:?}");
    assert!(causes[0].text.contains("freeing a cached page takes 660 ns"), "{}", causes[0].text);
    // Files that stay free nothing.
    let stay = removers.clone().map(|mut arm| {
        arm.surroundings.residency = None;
        arm
    });
    assert_eq!(codes_compared(&stay[0], &stay[1], Verdict::Slower), ["metadata"]);
}

#[test]
fn names_are_told_from_calls_and_a_missing_journal_is_told() {
    let mut totals = with_times(arm("disk"), ALL_NS, 0);
    assert_eq!(codes(&totals), ["system-calls"]);
    totals.spent.name_changes = OPERATIONS;
    assert_eq!(codes(&totals), ["metadata"]);
    assert!(!of_arm(&totals)[0].text.contains("journal"));
    if let Some(place) = totals.place.as_mut() {
        (place.filesystem, place.journal) = ("ext4".to_owned(), Some(false));
    }
    assert!(of_arm(&totals)[0].text.contains("without a journal"));
}

#[test]
fn large_calls_are_copying_and_mapped_pages_are_faults() {
    let totals = with_times(arm("disk"), ALL_NS, 0);
    let large = Calls { reads: OPERATIONS, read_bytes: OPERATIONS << 18, ..Calls::default() };
    assert_eq!(codes(&with_calls(totals.clone(), large)), ["copying"]);
    let mut mapped = totals;
    mapped.memory = Some(MemoryFloor { fault_ns: 300.0, ..MemoryFloor::default() });
    mapped.spent.minor_faults = 50 * OPERATIONS;
    assert_eq!(codes(&mapped), ["page-faults"]);
}

#[test]
fn sleeps_that_go_with_discards_are_theirs() {
    let mut totals = with_times(arm("disk"), 0, ALL_NS / 2);
    totals.spent.voluntary_switches = OPERATIONS;
    let discards = |totals: &ArmTotals| codes(totals).contains(&"device-discards".to_owned());
    assert!(!discards(&totals));
    let device = DeviceTraffic { discards: Some(OPERATIONS), ..DeviceTraffic::default() };
    totals.spent.device = Some(device);
    // Another file system's on the same device.
    assert!(!discards(&totals));
    mount(&mut totals, "discard");
    assert!(discards(&totals));
}

#[test]
fn memory_used_for_the_first_time_is_named_where_that_costs_more() {
    let mut totals = with_times(arm("ram"), ALL_NS / 2, 0);
    totals.first_touched_bytes = 4096 * 40_000;
    let quiet = CpuTimes { busy_ns: ALL_NS, idle_ns: ALL_NS, ..CpuTimes::default() };
    totals.surroundings.cpus = Some(quiet);
    let virtual_machine = MemoryFloor {
        fault_ns: 300.0,
        first_touch_ns: 12_500.0,
        again_ns: 1500.0,
        huge_clear_ns: None,
    };
    let named = |totals: &ArmTotals| codes(totals).contains(&"first-touch".to_owned());
    totals.memory = Some(MemoryFloor { first_touch_ns: 2900.0, ..virtual_machine });
    assert!(!named(&totals));
    totals.memory = Some(virtual_machine);
    assert!(named(&totals));
    // Others were busy, and it may have been them.
    let busy = CpuTimes { busy_ns: 2 * ALL_NS, ..CpuTimes::default() };
    let beside_others = |cpus| {
        let surroundings = Surroundings { cpus, ..totals.surroundings };
        ArmTotals { surroundings, ..totals.clone() }
    };
    assert!(!named(&beside_others(Some(busy))));
    assert!(!named(&beside_others(None)));
    totals.first_touched_bytes = 0;
    assert!(!named(&totals));
}

mod memory;
mod threads;
