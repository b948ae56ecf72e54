//! Bills, by traces whose sums are known.

use super::bill;
use crate::flags::{O_RDWR, O_WRONLY};
use crate::planted::{Planted, header};
use crate::{Entry, Header, Kind, NamedOverhead, Op, OverheadNs, RangeNs, Share, Unseen};

const US: u64 = 1000;
const MS: u64 = 1_000_000;

fn exactly(ns: u64) -> RangeNs {
    RangeNs { low: ns, high: ns }
}

fn permille(share: Share) -> [u64; 2] {
    [share.low, share.high].map(|share| (share * 1e3).round() as u64)
}

/// One second, of which 90 ms are fsync in `data`, 20 ms writes there and 10 ms reads elsewhere.
fn a_second(header: &Header) -> Planted {
    let mut planted = Planted::with(header, "/srv/app");
    let began = planted.now_ns;
    planted.call(1, Op::Open, 0, |call| call.result = 9);
    for name in ["data/a.log", "data/b.log", "/etc/app.conf"] {
        let fd = 3 + i32::from(name.contains('b')) + 2 * i32::from(name.contains("etc"));
        let path = Some(planted.path(name));
        planted.call(1, Op::Open, 0, |call| {
            (call.fd, call.path, call.flags) = (crate::WORKING_FOLDER, path, O_RDWR);
            call.result = fd.into();
        });
    }
    for _ in 0..10 {
        planted.moved(Op::Write, 3, 100, 2 * MS);
        planted.on(Op::Fsync, 4, 9 * MS);
        planted.moved(Op::Read, 5, 4096, MS);
    }
    planted.now_ns = began + 1000 * MS;
    planted
}

#[test]
fn a_bill_says_what_files_cost_by_kind_and_by_folder() {
    let bill = bill(&a_second(&header()).finish());
    assert_eq!(bill.wall_ns, 1000 * MS);
    assert_eq!(bill.own_wall_ns, exactly(1000 * MS));
    assert_eq!(permille(bill.files.share), [120, 120]);
    assert_eq!(bill.files.once_ns, exactly(120 * MS));
    assert_eq!((bill.files.read_bytes, bill.files.written_bytes), (40_960, 1000));
    let kinds: Vec<_> =
        bill.kinds.iter().map(|k| (k.kind, k.cost.calls, k.folder.as_deref())).collect();
    assert_eq!(kinds[0], (Kind::Sync, 10, Some("/srv/app/data")));
    assert_eq!(kinds[1], (Kind::Write, 10, Some("/srv/app/data")));
    assert_eq!(kinds[2], (Kind::Read, 10, Some("/etc")));
    let folders: Vec<_> =
        bill.folders.iter().map(|f| (&*f.path, permille(f.cost.share)[1], f.most)).collect();
    assert_eq!(folders, [("/srv/app/data", 110, Kind::Sync), ("/etc", 10, Kind::Read)]);
    assert_eq!(permille(bill.folders[0].most_share), [90, 90]);
    assert_eq!(bill.top_files[0].path, "/srv/app/data/b.log");
    assert_eq!((bill.top_files[0].syncs, bill.top_files[0].summed_ns), (10, 90 * MS));
    assert_eq!((bill.processes, bill.threads, bill.calls), (1, 1, 34));
    assert_eq!(bill.working_folder.as_deref(), Some("/srv/app"));
    assert!(!bill.cut_short && bill.lost == 0);
}

/// Fails where what a session file costs that is emptied before it is written has no name.
#[test]
fn truncating_and_allocating_are_a_kind_of_their_own() {
    let mut planted = a_second(&header());
    planted.on(Op::Truncate, 3, 200 * MS);
    planted.on(Op::Allocate, 3, 100 * MS);
    let bill = bill(&planted.finish());
    assert_eq!((bill.kinds[0].kind, bill.kinds[0].cost.calls), (Kind::Size, 2));
    assert_eq!(Kind::Size.doing(Some(true)), "waiting for changed sizes");
}

/// Fails where the end of what a header's numbers hold has no other end.
#[test]
fn any_overhead_that_a_header_can_have_is_taken_into_account() {
    for (low, high) in [(i64::MIN, i64::MAX), (i64::MIN, i64::MIN), (i64::MAX, i64::MAX)] {
        let overhead = OverheadNs { low, high };
        let header = Header { overhead_within_ns: overhead, overhead_ns: overhead, ..header() };
        let bill = bill(&a_second(&header).finish());
        assert_eq!(bill.calls, 34);
    }
}

/// Fails where a folder that is forced to the device counts as a file of the folder above.
#[test]
fn a_folder_that_is_synced_is_itself() {
    let mut planted = Planted::new("/srv/app");
    planted.open("data/log", O_RDWR, 3);
    planted.open("data", 0, 4);
    planted.on(Op::Fsync, 4, MS);
    let bill = bill(&planted.finish());
    let folders: Vec<_> = bill.folders.iter().map(|f| (&*f.path, f.cost.calls)).collect();
    assert_eq!(folders, [("/srv/app/data", 3)]);
}

/// Fails where the union is taken for the sum, or the other way round.
#[test]
fn threads_in_parallel_are_counted_once_and_added_up() {
    let mut planted = Planted::new("/srv");
    planted.open("a", O_RDWR, 3);
    planted.open("/var/b", O_RDWR, 4);
    planted.begin(1, 2, true);
    planted.now_ns = 10 * MS;
    for (thread, fd, began_ms, took_ms) in
        [(2, 4, 14, 2), (1, 3, 10, 8), (2, 4, 16, 10), (1, 3, 30, 5)]
    {
        planted.now_ns = began_ms * MS;
        planted.call(thread, Op::Fsync, took_ms * MS, |call| call.fd = fd);
    }
    planted.now_ns = 40 * MS;
    let bill = bill(&planted.finish());
    let sync = &bill.kinds[0];
    assert_eq!(sync.cost.summed_ns, exactly(25 * MS));
    assert_eq!(sync.cost.once_ns, exactly(21 * MS));
    assert_eq!(sync.folder, None);
    let folder = |path: &str| bill.folders.iter().find(|f| f.path == path).unwrap().cost.once_ns;
    assert!(folder("/srv").high - 13 * MS < 5 * US);
    assert!(folder("/var").high - 12 * MS < 5 * US);
    assert_eq!(bill.threads, 2);
}

/// Fails where the recorder's time is charged to the program, or taken out twice.
#[test]
fn the_recorders_own_time_is_taken_out_as_far_as_it_is_known() {
    let overhead = |low, high| OverheadNs { low: low * US as i64, high: high * US as i64 };
    let header = Header {
        overhead_ns: overhead(300, 500),
        overhead_within_ns: overhead(100, 200),
        ..header()
    };
    let bill = bill(&a_second(&header).finish());
    // 30 calls with some time, and 34 in all.
    assert_eq!(bill.files.summed_ns, RangeNs { low: 114 * MS, high: 117 * MS });
    assert_eq!(bill.files.once_ns, bill.files.summed_ns);
    assert_eq!(bill.own_wall_ns, RangeNs { low: 983 * MS, high: 989_800 * US });
    let Share { low, high } = bill.files.share;
    assert!((low - 114.0 / 989.8).abs() < 1e-9 && (high - 117.0 / 983.0).abs() < 1e-9);
}

/// Fails where the threads that a recorder stops at once are each taken for the whole program, or
/// where what it costs is known so badly that the program's own time is anything.
#[test]
fn a_program_that_is_held_up_for_most_of_its_time_has_no_bill() {
    let own_and_coarse = |low_ms, high_ms| {
        let mut planted = a_second(&header());
        planted.push(Entry::Held { low_ns: low_ms * MS, high_ns: high_ms * MS });
        let bill = bill(&planted.finish());
        (bill.own_wall_ns, bill.too_coarse)
    };
    let (own, is_too_coarse) = own_and_coarse(100, 200);
    assert_eq!((own.low, own.high, is_too_coarse), (800 * MS, 900 * MS, false));
    assert!(own_and_coarse(100, 300).1);
    assert!(own_and_coarse(10, 600).1);
    // More than there is, and the wrong way round.
    assert_eq!(own_and_coarse(5_000, 5_000).0, exactly(120 * MS));
    assert_eq!(own_and_coarse(200, 100), own_and_coarse(100, 200));
    // A thread that is held up within calls seems to be in them for all of the time.
    let mut planted = a_second(&header());
    planted.now_ns -= 800 * MS;
    planted.on(Op::Fsync, 4, 800 * MS);
    planted.push(Entry::Held { low_ns: 50 * MS, high_ns: 800 * MS });
    let bill = bill(&planted.finish());
    assert_eq!((bill.own_wall_ns.low, bill.too_coarse), (920 * MS, true));
}

/// Of one second, 40 ms are fsync that computes for 10 of them, 10 ms writes that compute for 9,
/// and 10 ms a lock that is waited for in another folder.
fn divided(header: &Header) -> Planted {
    let mut planted = Planted::with(header, "/srv/app");
    planted.open("data/log", O_RDWR, 3);
    planted.open("/run/lock", O_RDWR, 4);
    for (op, fd, took_ms, waited_ms) in
        [(Op::Fsync, 3, 40, 30), (Op::Write, 3, 10, 1), (Op::Flock, 4, 10, 10)]
    {
        planted.call(1, op, took_ms * MS, |call| (call.fd, call.waited_ns) = (fd, waited_ms * MS));
    }
    planted.now_ns = 1000 * MS;
    planted
}

/// Fails where waiting is taken for processor time, or either of one kind or folder for another's.
#[test]
fn the_time_of_calls_is_divided_into_processor_time_and_waiting() {
    let header = Header { sees_waiting: true, ..header() };
    let bill = bill(&divided(&header).finish());
    let of = |cost: &crate::Cost| {
        let divided = cost.divided.unwrap();
        let RangeNs { low, high } = divided.processor_ns;
        assert_eq!(low, high);
        (low / MS, divided.waited_ns / MS)
    };
    let kinds: Vec<_> = bill
        .kinds
        .iter()
        .filter(|kind| kind.kind != Kind::Open)
        .map(|kind| (kind.kind, of(&kind.cost), kind.cost.mostly_waits().unwrap()))
        .collect();
    let expected =
        [(Kind::Sync, (10, 30), true), (Kind::Write, (9, 1), false), (Kind::Lock, (0, 10), true)];
    assert_eq!(kinds, expected);
    let folders: Vec<_> =
        bill.folders.iter().map(|f| (&*f.path, of(&f.cost), f.most_waits)).collect();
    let expected = [("/srv/app/data", (19, 31), Some(true)), ("/run", (0, 10), Some(true))];
    assert_eq!(folders, expected);
    assert_eq!(of(&bill.files), (19, 41));
    // All processor time is 750 ms, by the summary.
    let share = bill.files.divided.unwrap().processor_share.unwrap();
    assert_eq!(permille(share), [25, 25]);
}

/// Fails where calls that name a file are taken for others, or where time that the recorder did
/// not see within a call is not counted.
#[test]
fn calls_that_name_a_file_have_a_toll_of_their_own() {
    let exactly = |ns| OverheadNs { low: ns, high: ns };
    let (overhead_ns, overhead_within_ns) = (exactly(400), exactly(-100));
    let named = NamedOverhead { overhead_ns: exactly(700), overhead_within_ns: exactly(-300) };
    let header = Header { overhead_ns, overhead_within_ns, named: Some(named), ..header() };
    let mut planted = Planted::with(&header, "/srv");
    planted.open("log", O_WRONLY, 3);
    planted.on(Op::Fsync, 3, 20_000);
    planted.now_ns = MS;
    let bill = bill(&planted.finish());
    let of = |kind| bill.kinds.iter().find(|cost| cost.kind == kind).unwrap().cost.summed_ns.high;
    assert_eq!((of(Kind::Open), of(Kind::Sync)), (2_300, 20_100));
    assert_eq!(bill.wall_ns - bill.own_wall_ns.high, 400 + 700);
}

/// Fails where what the program paid for calls that came by a signal is taken for its own time, or
/// out of that of its calls.
#[test]
fn calls_that_came_by_a_signal_have_its_toll_beside_their_own() {
    let exactly = |ns| OverheadNs { low: ns, high: ns };
    let header = Header {
        overhead_ns: exactly(100),
        overhead_within_ns: exactly(20),
        dispatch_ns: Some(exactly(1_500)),
        ..header()
    };
    let mut planted = Planted::with(&header, "/srv");
    planted.open("log", O_WRONLY, 3);
    planted.call(1, Op::Fsync, 20_000, |call| (call.fd, call.dispatched) = (3, 4));
    planted.now_ns = MS;
    let bill = bill(&planted.finish());
    let sync = bill.kinds.iter().find(|cost| cost.kind == Kind::Sync).unwrap();
    assert_eq!(sync.cost.summed_ns.high, 20_000 - 20);
    assert_eq!(bill.wall_ns - bill.own_wall_ns.high, 2 * 100 + 4 * 1_500);
}

/// Fails where what it costs to start processes is taken for the program's own time, or what starting
/// those cost that ran before is taken out.
#[test]
fn started_processes_and_programs_have_a_toll() {
    let exactly = |ns| Some(OverheadNs { low: ns, high: ns });
    let (process_ns, program_ns) = (exactly(50_000), exactly(200_000));
    let mut planted = Planted::with(&Header { process_ns, program_ns, ..header() }, "/srv");
    let fork = |at_ns, child, thread| Entry::Fork {
        at_ns,
        parent: 1,
        child,
        thread,
        shares_files: thread,
        shares_folder: thread,
    };
    for (at_ns, child, thread) in [(0, 2, false), (10, 3, true), (20, 4, false), (30, 5, false)] {
        planted.push(fork(at_ns, child, thread));
    }
    planted.push(Entry::Exec { at_ns: 40, thread: 4, program: None });
    planted.now_ns = 2 * MS;
    let bill = bill(&planted.finish());
    // One starts both, and may have waited for what the other one paid.
    let RangeNs { low, high } = bill.own_wall_ns;
    assert_eq!((bill.wall_ns - high, bill.wall_ns - low), (200_000, 300_000));
}

/// Fails where the recorder's part, which is on the processor, is taken from what was waited, or
/// left in.
#[test]
fn the_recorders_part_is_processor_time() {
    let overhead = OverheadNs { low: MS as i64, high: 2 * MS as i64 };
    let header = Header {
        sees_waiting: true,
        overhead_ns: overhead,
        overhead_within_ns: overhead,
        ..header()
    };
    let bill = bill(&divided(&header).finish());
    let divided = bill.files.divided.unwrap();
    assert_eq!(divided.waited_ns, 41 * MS);
    // Of the lock, nothing is left on the processor; an open takes 2 µs.
    assert_eq!(divided.processor_ns, RangeNs { low: 15 * MS, high: 17 * MS });
    // Five calls' overhead of 750 ms.
    let Share { low, high } = divided.processor_share.unwrap();
    assert!((low - 15.0 / 745.0).abs() < 1e-9 && (high - 17.0 / 740.0).abs() < 1e-9);
}

#[test]
fn what_nobody_saw_is_not_divided() {
    let bill = bill(&divided(&header()).finish());
    assert!(bill.files.divided.is_none() && bill.kinds[0].cost.divided.is_none());
    assert_eq!(bill.folders[0].most_waits, None);
    let cut = super::bill(&divided(&Header { sees_waiting: true, ..header() }).cut());
    assert_eq!(cut.files.divided.unwrap().processor_share, None);
}

/// A trace of version 1, as its recorder wrote it. Fails where one cannot be read any more, or
/// where it is taken to say what it does not.
#[test]
fn a_trace_of_the_first_version_has_its_bill() {
    let trace: &[u8] = include_bytes!("version-1.trace");
    assert!(trace.starts_with(b"iotoll trace 1\n"));
    let bill = bill(trace);
    assert!(!bill.cut_short && bill.lost == 0 && bill.status == Some(0));
    assert_eq!((bill.header.mechanism, bill.header.sees_waiting), (crate::Mechanism::Ebpf, false));
    assert!(bill.files.calls > 20 && bill.files.divided.is_none());
}

#[test]
fn what_cannot_be_moved_is_no_part_of_the_bound() {
    let mut planted = Planted::new("/srv");
    planted.open("/proc/stat", 0, 3);
    planted.moved(Op::Read, 3, 1000, 5 * MS);
    planted.open("/dev/shm/x", 0, 4);
    planted.moved(Op::Read, 4, 1000, 7 * MS);
    planted.call(1, Op::Pipe, US, |call| (call.fd, call.other) = (5, 6));
    planted.moved(Op::Read, 5, 1000, 11 * MS);
    // From a descriptor that nobody saw being made.
    planted.moved(Op::Write, 77, 1000, 13 * MS);
    let bill = bill(&planted.finish());
    assert_eq!(bill.kernel_files.once_ns, exactly(5 * MS + 2 * US));
    assert_eq!(bill.files.once_ns, exactly(7 * MS + 2 * US));
    assert_eq!((bill.unknown.calls, bill.unknown.once_ns), (1, exactly(13 * MS)));
}

#[test]
fn a_trace_that_was_cut_short_has_a_bill_of_what_there_is() {
    let bill = bill(&a_second(&header()).cut());
    assert!(bill.cut_short);
    assert_eq!((bill.wall_ns, bill.user_ns, bill.status), (120 * MS, None, None));
    assert_eq!(permille(bill.files.share), [1000, 1000]);
}

/// Fails where file calls are said to take all of a processor time that nobody has counted.
#[test]
fn processor_time_that_is_not_known_is_not_told() {
    let header = Header { sees_waiting: true, ..header() };
    let bill = bill(&divided(&header).finish_having_used(0, 0));
    assert_eq!((bill.user_ns, bill.system_ns), (None, None));
    assert_eq!(bill.files.divided.unwrap().processor_share, None);
}

#[test]
fn what_was_not_seen_is_counted() {
    let mut planted = Planted::new("/srv");
    for (kind, count) in [(Unseen::MappedPages, 7), (Unseen::IoUring, 1), (Unseen::MappedPages, 3)]
    {
        planted.push(Entry::Unseen { kind, count });
    }
    planted.push(Entry::Lost { count: 2 });
    let bill = bill(&planted.finish());
    let unseen: Vec<_> = bill.unseen.iter().map(|unseen| (unseen.kind, unseen.count)).collect();
    assert_eq!(unseen, [(Unseen::MappedPages, 10), (Unseen::IoUring, 1)]);
    assert_eq!(bill.lost, 2);
}

#[test]
fn an_empty_trace_has_a_bill() {
    let bill = bill(&Planted::new("/srv").cut());
    assert_eq!((bill.calls, bill.wall_ns), (0, 0));
    assert_eq!(permille(bill.files.share), [0, 0]);
    assert!(bill.kinds.is_empty() && bill.folders.is_empty() && bill.patterns.is_empty());
}

/// Fails where something grows with the files, folders or threads that a program has.
#[test]
fn what_a_bill_remembers_is_bounded() {
    let mut planted = Planted::new("/srv");
    for number in 0..20_000_u64 {
        planted.begin(1, number as u32 + 2, number % 2 == 0);
        planted.open(&format!("folder{number}/file"), O_WRONLY, 3);
        planted.moved(Op::Write, 3, 1, number);
        planted.on(Op::Close, 3, US);
    }
    let bill = bill(&planted.finish());
    assert!(bill.files_forgotten >= 8000, "{}", bill.files_forgotten);
    // The files with the most time are among those that are kept.
    assert_eq!(bill.top_files[0].path, "/srv/folder19999/file");
    assert_eq!(bill.top_files.len(), 20);
}
