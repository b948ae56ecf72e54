//! A bill as it is printed.

#![allow(clippy::unwrap_used)]

use trace::planted::{Planted, header};
use trace::{Bill, Entry, Header, Mechanism, Op, OverheadNs, Sees, TraceReader, Unseen, bill_of};

use super::bill as printed;

const MS: u64 = 1_000_000;
const APPEND: u64 = 0o2101;

fn billed(trace: &[u8]) -> Bill {
    bill_of(&mut TraceReader::new(trace).unwrap(), super::command_of).unwrap()
}

fn plain(bill: &Bill, full: bool, width: usize) -> String {
    anstream::adapter::strip_str(&printed(bill, full, width)).to_string()
}

/// One second: records that are appended with a sync each, and reads elsewhere.
fn a_second(header: &Header) -> Planted {
    let mut planted = Planted::with(header, "/srv/app");
    planted.open("/etc/app.conf", 0, 5);
    for _ in 0..50 {
        planted.open("data/app.log", APPEND, 3);
        planted.moved(Op::Write, 3, 137, 100_000);
        planted.on(Op::Fsync, 3, 2 * MS);
        planted.on(Op::Close, 3, 400_000);
        planted.moved(Op::Read, 5, 100, 20_000);
        planted.think(17 * MS);
    }
    planted
}

#[test]
fn a_bill_opens_with_the_whole_of_it_in_a_sentence() {
    let bill = billed(&a_second(&header()).finish());
    let text = plain(&bill, false, 80);
    assert!(text.lines().count() <= 40, "{text}");
    let opening: Vec<&str> = text.lines().take(2).collect();
    assert_eq!(
        opening.join(" "),
        "app spends 13% of its time with files: 10% waiting for fsync in data/. No move of files \
         can save more than 14%."
    );
    for part in [
        "• data/app.log is forced to the device after each write: 50 syncs, 51 a second, of writes",
        "iotoll compare disk=data ram=/dev/shm --study log --strategy reopen",
        "--full has every row and pattern",
    ] {
        assert!(
            text.split_whitespace().collect::<Vec<_>>().join(" ").replace("\\ ", "").contains(part),
            "{text}"
        );
    }
}

#[test]
fn a_share_is_a_range_where_the_recorders_part_is_known_no_better() {
    let overhead_within_ns = OverheadNs { low: 0, high: 300_000 };
    let overhead_ns = OverheadNs { low: 420, high: 480 };
    let bill = billed(
        &a_second(&Header {
            mechanism: Mechanism::Ebpf,
            overhead_ns,
            overhead_within_ns,
            ..header()
        })
        .finish(),
    );
    let text = plain(&bill, false, 80);
    assert!(text.starts_with("app spends 9.2% to 13% of its time with files"), "{text}");
    assert!(text.contains("Recorded by eBPF, each call took 420 ns to 480 ns longer"), "{text}");
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("and for whom, was not seen.") && !said.contains("CPU"), "{text}");
}

#[test]
fn what_calls_by_a_signal_and_programs_cost_more_is_told() {
    let dispatch_ns = Some(OverheadNs { low: 1_200, high: 1_600 });
    let overhead_ns = OverheadNs { low: 190, high: 220 };
    let process_ns = Some(OverheadNs { low: 60_000, high: 80_000 });
    let program_ns = Some(OverheadNs { low: 200_000, high: i64::MAX });
    let costs = Header { overhead_ns, dispatch_ns, process_ns, program_ns, ..header() };
    let header = Header { mechanism: Mechanism::Preload, ..costs };
    let text = plain(&billed(&a_second(&header).finish()), false, 80);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "Recorded by a preloaded library, each call took 190 ns to 220 ns longer, one that the \
                program or its C library makes by itself 1.20 µs to 1.60 µs more, starting a program 260 µs to";
    assert!(said.contains(told), "{text}");
}

/// Fails where fsync is said to wait that computes, or the other way round.
#[test]
fn what_waits_is_told_apart_from_what_computes() {
    let header = Header { sees_waiting: true, ..header() };
    let told = |waited_ns: u64| {
        let mut planted = Planted::with(&header, "/srv/app");
        planted.open("data/app.log", APPEND, 3);
        for _ in 0..50 {
            planted.moved(Op::Write, 3, 137, 100_000);
            planted.call(1, Op::Fsync, 2 * MS, |call| (call.fd, call.waited_ns) = (3, waited_ns));
            planted.think(17 * MS);
        }
        let text = plain(&billed(&planted.finish()), false, 80);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let waits = told(19 * MS / 10);
    for says in [
        "10% waiting for fsync in data/",
        "; file calls take 1.4% of both",
        "Of the time in file calls, 9.5% is processor time and 90% is waiting",
        "time spent calls time share CPU waiting where waiting for fsync 50 100 ms 10% 5.00 ms 95.0 ms",
        "folder calls time share CPU waiting mostly data/ 101 105 ms 11% 10.0 ms 95.0 ms waiting for",
        "Waiting for that takes 10% of the time",
    ] {
        assert!(waits.contains(says), "{says}: {waits}");
    }
    let computes = told(MS / 10);
    for says in ["10% running fsync in data/", "That takes 10% of the time", "data/ 101"] {
        assert!(computes.contains(says), "{says}: {computes}");
    }
    assert!(!computes.contains("aiting for fsync"), "{computes}");
}

/// Fails where something is printed at any length.
#[test]
fn the_longest_bill_fits_a_screen_and_its_width() {
    let overhead_within_ns = OverheadNs { low: 0, high: 30_000 };
    let sees = Sees::default();
    let header = Header { sees_waiting: true, sees, overhead_within_ns, ..header() };
    let mut planted = a_second(&header);
    for number in 0..40 {
        let folder = format!(
            "/a/very/long/path/of/a/folder/with/the/number/{number}/in/its/name/{}",
            "x".repeat(90)
        );
        for _ in 0..30 {
            planted.open(&format!("{folder}/file\u{1b}[2J.log"), APPEND, 3);
            planted.moved(Op::Write, 3, 137, 100_000);
            planted.on(Op::Fsync, 3, 2 * MS);
            planted.on(Op::Close, 3, 400_000);
        }
    }
    for kind in Unseen::ALL {
        planted.push(Entry::Unseen { kind, count: 1_234_567 });
    }
    planted.push(Entry::Lost { count: 12 });
    planted.moved(Op::Write, 99, 1, 10 * MS);
    let bill = billed(&planted.cut());
    for width in [60, 80, 120] {
        let text = plain(&bill, false, width);
        let lines = text.lines().count();
        // With everything that can go wrong at once.
        assert!(width < 80 || lines <= 45, "{lines} lines:\n{text}");
        let is_text = |line: &&str| !line.contains("iotoll compare") && !line.contains("disk=");
        for line in text.lines().filter(is_text) {
            assert!(line.chars().count() <= width, "{line}");
        }
        assert!(!text.contains('\u{1b}'));
    }
    let full = plain(&bill, true, 80);
    assert!(full.lines().count() > plain(&bill, false, 80).lines().count());
    let said = full.split_whitespace().collect::<Vec<_>>().join(" ");
    for says in ["12 entries could not be kept", "cut short", "(1,234,567 pages)"] {
        assert!(said.contains(says), "{says}: {full}");
    }
    assert!(said.contains("(1,234,567 operations)"), "{full}");
}

#[test]
fn a_command_that_failed_says_so() {
    let mut bill = billed(&a_second(&header()).finish());
    assert!(!plain(&bill, false, 80).contains("Broken"));
    bill.status = Some(3 << 8);
    assert!(plain(&bill, false, 80).contains("The command ended with exit status 3."));
    bill.status = Some(9);
    assert!(plain(&bill, false, 80).contains("The command was ended by signal 9."));
}

/// Fails where a bill of which something is missing says that nothing more can be saved.
#[test]
fn what_was_not_seen_is_no_bound() {
    let said =
        |bill: &Bill| plain(bill, false, 80).split_whitespace().collect::<Vec<_>>().join(" ");
    let sees = Sees { faults: false, ..header().sees };
    let mut planted = a_second(&Header { sees, ..header() });
    planted.push(Entry::Unseen { kind: Unseen::Programs, count: 1 });
    let mut bill = billed(&planted.finish());
    assert!(!bill.bound.complete);
    let text = said(&bill);
    let opening = "app spends at least 13% of its time with files: 10% waiting for fsync in data/. How \
                   much more is not known, because programs that it started and page faults of mapped \
                   files could not be seen.";
    assert!(text.starts_with(opening) && !text.contains("No move"), "{text}");
    // Nor is it counted.
    bill.too_coarse = true;
    let text = said(&bill);
    assert!(text.contains("are exact") && text.contains("1 program could not be"), "{text}");
}

/// Fails where the answer depends on for how long an idle program is watched.
#[test]
fn a_share_is_of_the_time_in_which_the_program_was_busy() {
    let sees = Sees { idle: true, ..header().sees };
    let told = |idle_ms: u64| {
        let mut planted = Planted::with(&Header { sees, attached: true, ..header() }, "/srv/app");
        planted.open("data/app.log", APPEND, 3);
        for _ in 0..100 {
            planted.on(Op::Fsync, 3, 2 * MS);
            planted.think(MS);
            let (at_ns, took_ns) = (planted.now_ns, idle_ms * MS);
            planted.think(took_ns);
            planted.push(Entry::Idle { at_ns, took_ns });
        }
        billed(&planted.finish())
    };
    let [short, long] = [7, 70].map(told);
    assert!(
        (short.bound.share - long.bound.share).abs() < 0.001,
        "{:?} {:?}",
        short.bound,
        long.bound
    );
    let text = plain(&long, false, 100).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.starts_with("app was busy for 300 ms of 7.30 s, and spent 67% of that with files"),
        "{text}"
    );
}

/// Fails where a change is printed without its price, its loss or how to undo it.
#[test]
fn a_known_program_has_its_settings_with_their_price() {
    let mut planted =
        Planted::with(&Header { program: "redis-server".to_owned(), ..header() }, "/srv");
    planted.open("data/appendonly.aof", APPEND, 3);
    for _ in 0..50 {
        planted.moved(Op::Write, 3, 137, 100_000);
        planted.on(Op::Fsync, 3, 2 * MS);
        planted.think(18 * MS);
    }
    let text = plain(&billed(&planted.finish()), false, 80);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "Redis, fsync of its append-only file: 50 calls on 1 file in data/, 100 ms, 10% of the time.",
        "- CONFIG SET appendfsync everysec. Gain: ",
        " Loss: a power failure loses the writes of the last one or two seconds. Undo: CONFIG SET \
         appendfsync always.",
    ] {
        assert!(said.contains(part), "{text}");
    }
    assert!(text.lines().count() <= 40);
}
