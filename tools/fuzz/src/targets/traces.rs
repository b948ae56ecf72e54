//! Traces: read with their checksums and without, summed up as bills, printed, and made anonymous.

use trace::fuzz::Parts;
use trace::planted::Planted;
use trace::{Bill, Entry, FileFacts, FileKind, Op, TraceReader, Unseen, anonymise, bill_of, fuzz};

use super::checks;
use crate::Target;
use crate::mutate::Form;
use crate::mutate::schema::Schema;

/// Of a terminal, from the narrowest to the widest that is written for.
const WIDTHS: [usize; 3] = [40, 80, 100];
/// open(2): written at the end, made if it is missing.
const APPEND: u64 = 0o2101;

const WORDS: &[&str] = &[
    "iotoll trace 1\n\0",
    "iotoll trace 4\n\0",
    "\u{2}",
    "-journal",
    "-wal",
    "/proc/",
    "/tmp",
    "..",
];

pub(super) fn all() -> Vec<Target> {
    let bytes = || Form::Text(WORDS);
    let parts = || Form::Json(Schema::new(schemars::schema_for!(Parts).to_value(), WORDS));
    vec![
        Target::new("trace", 100, parts, all_parts, of_parts).bytes_max(1 << 16),
        Target::new("trace-file", 100, bytes, traces, read).bytes_max(1 << 16),
        Target::new("trace-entries", 100, bytes, entries, within).bytes_max(1 << 16),
    ]
}

/// Reads a trace that is written from its parts.
fn of_parts(bytes: &[u8]) -> bool {
    let parts = serde_json::from_slice::<Parts>(bytes).ok();
    let Some(trace) = parts.and_then(|parts| parts.written()) else { return false };
    reported(&trace);
    read(&trace)
}

/// Reads a file. Its checksums stop most changes early.
fn read(bytes: &[u8]) -> bool {
    reported(bytes);
    TraceReader::new(bytes).is_ok_and(|mut reader| {
        let mut shared = Vec::new();
        if anonymise(&mut reader, &mut shared).is_ok() {
            reported(&shared);
        }
        true
    })
}

/// Reads entries without the checksums around them.
fn within(bytes: &[u8]) -> bool {
    let bill = fuzz::entries(bytes, report::command_of);
    bill.inspect(|bill| print(bill, bytes)).is_some()
}

/// A trace's bill, printed in every form.
pub(super) fn reported(trace: &[u8]) {
    if let Ok(mut reader) = TraceReader::new(trace)
        && let Ok(bill) = bill_of(&mut reader, report::command_of)
    {
        print(&bill, trace);
    }
}

/// In one of the widths, another for each length of inputs.
fn print(bill: &Bill, of: &[u8]) {
    for full in [false, true] {
        checks::printed("a bill", &report::bill(bill, full, WIDTHS[of.len() % WIDTHS.len()]));
    }
    assert!(serde_json::to_vec(bill).is_ok(), "a file: it fails");
}

fn all_parts() -> Vec<Vec<u8>> {
    let parts = traces().iter().filter_map(|trace| Parts::of(trace)).collect::<Vec<_>>();
    parts.iter().filter_map(|parts| serde_json::to_vec(parts).ok()).collect()
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
    planted.push(Entry::Exec { at_ns: 5_000, thread: 2, program: Some(program) });
    planted.push(Entry::File(FileFacts {
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
    planted.push(Entry::Exit { at_ns: 20_000, thread: 2, status: 256, user_ns, system_ns });
    planted.push(Entry::Unseen { kind: Unseen::IoUring, count: 5 });
    planted.push(Entry::Lost { count: 1 });
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
