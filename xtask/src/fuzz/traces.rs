//! The targets that read traces, follow their descriptors and print their bills.

use trace::planted::Planted;
use trace::{Bill, Entry, FileFacts, FileKind, Op, TraceReader, Unseen, anonymise, bill_of, fuzz};

use super::target::Target;

/// Of a terminal, from the narrowest to the widest that is written for.
const WIDTHS: [usize; 3] = [40, 80, 100];
/// open(2): written at the end, made if it is missing.
const APPEND: u64 = 0o2101;

pub(super) fn all() -> Vec<Target> {
    let bytes = |name, share, seeds, run| {
        let words =
            &["iotoll trace 1\n\0", "iotoll trace 2\n\0", "\u{2}", "-journal", "-wal", "/proc/"];
        Target { name, share, is_json: false, seeds, words, run }
    };
    vec![bytes("trace", 200, traces, read), bytes("entries", 200, entries, reckon)]
}

/// As a file, of which the checksums keep most changes from going any further.
fn read(bytes: &[u8]) -> bool {
    let Ok(mut reader) = TraceReader::new(bytes) else { return false };
    if let Ok(bill) = bill_of(&mut reader) {
        print(&bill);
    }
    TraceReader::new(bytes).is_ok_and(|mut reader| {
        drop(anonymise(&mut reader, Vec::new()));
        true
    })
}

/// As what is within the checksums.
fn reckon(bytes: &[u8]) -> bool {
    let bill = fuzz::entries(bytes);
    bill.inspect(print).is_some()
}

fn print(bill: &Bill) {
    for (full, width) in [false, true].into_iter().flat_map(|full| WIDTHS.map(|w| (full, w))) {
        let text = anstream::adapter::strip_str(&report::bill(bill, full, width)).to_string();
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
}

fn entries() -> Vec<Vec<u8>> {
    traces().iter().map(|trace| fuzz::entries_of(trace)).collect()
}

fn traces() -> Vec<Vec<u8>> {
    vec![log(), processes(), database()]
}

fn log() -> Vec<u8> {
    let mut planted = Planted::new("/srv/app");
    for _ in 0..25 {
        planted.open("logs/app.log", APPEND, 3);
        planted.moved(Op::Write, 3, 137, 1_000);
        planted.on(Op::Fsync, 3, 500_000);
        planted.on(Op::Close, 3, 400);
    }
    planted.finish()
}

fn processes() -> Vec<u8> {
    let mut planted = Planted::new("/srv");
    planted.open("in", 0, 3);
    planted.begin(1, 2, false);
    planted.begin(1, 3, true);
    let (path, program) = (planted.path("/srv/in"), planted.path("/bin/cat"));
    planted.push(&Entry::Exec { at_ns: 5_000, thread: 2, program: Some(program) });
    planted.push(&Entry::File(FileFacts {
        at_ns: 6_000,
        path,
        kind: FileKind::Regular,
        bytes: 1 << 20,
        device: 8,
        inode: 77,
        mode: 0o644,
        sample_bytes: 4096,
        compressed_bytes: 900,
        target: Some(program),
    }));
    planted.call(2, Op::Pipe, 900, |call| (call.fd, call.other) = (4, 5));
    planted.call(2, Op::Duplicate, 200, |call| (call.fd, call.other, call.result) = (5, 1, 1));
    planted.call(3, Op::Read, 3_000, |call| (call.fd, call.offset, call.result) = (3, 4096, 100));
    planted.call(2, Op::Sendfile, 9_000, |call| (call.fd, call.other, call.result) = (3, 1, 9));
    planted.call(2, Op::CloseRange, 900, |call| (call.fd, call.other) = (3, i32::MAX));
    planted.call(1, Op::Unshare, 900, |call| call.flags = 0x600);
    let (user_ns, system_ns) = (1, 2);
    planted.push(&Entry::Exit { at_ns: 20_000, thread: 2, status: 256, user_ns, system_ns });
    planted.push(&Entry::Unseen { kind: Unseen::IoUring, count: 5 });
    planted.push(&Entry::Lost { count: 1 });
    planted.finish()
}

fn database() -> Vec<u8> {
    let mut planted = Planted::new("/srv");
    planted.open("app.db", 0o102, 3);
    for _ in 0..25 {
        planted.call(1, Op::Lock, 500, |call| {
            (call.fd, call.mode, call.offset, call.length) = (3, 1, 0x4000_0001, 1);
        });
        planted.open("app.db-journal", 0o102, 4);
        planted.moved(Op::Write, 4, 4096, 2_000);
        planted.on(Op::Fdatasync, 4, 100_000);
        planted.on(Op::Close, 4, 500);
        planted.named(Op::Unlink, "app.db-journal", 5_000, 0);
    }
    planted.named(Op::Stat, "missing", 700, -2);
    planted.finish()
}
