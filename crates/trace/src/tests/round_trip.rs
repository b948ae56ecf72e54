//! What is written reads back as the same.

use proptest::prelude::*;

use super::entries;
use crate::planted::header;
use crate::{
    Call, Entry, Error, FileFacts, FileKind, Op, OverheadNs, PathId, Summary, TraceReader,
    TraceWriter, Unseen,
};

const SUMMARY: Summary = Summary { wall_ns: 1, user_ns: 2, system_ns: u64::MAX, status: Some(-1) };

/// A number near 0, or any.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..200, any::<u64>(), Just(u64::MAX)]
}

fn small() -> impl Strategy<Value = u32> {
    prop_oneof![0_u32..5, any::<u32>()]
}

/// A path by its place in what has been told, or none.
fn path() -> impl Strategy<Value = Option<usize>> {
    prop::option::of(any::<usize>())
}

fn call() -> impl Strategy<Value = (Call, [Option<usize>; 2])> {
    let numbers = (number(), number(), number(), number(), number(), number());
    let rest = (small(), small(), small(), small(), path(), path(), number());
    (0..Op::ALL.len(), numbers, rest).prop_map(|(op, numbers, rest)| {
        let (began_ns, took_ns, offset, length, flags, result) = numbers;
        let (thread, fd, other, mode, path, to, waited) = rest;
        let call = Call {
            began_ns,
            took_ns,
            waited_ns: waited.min(took_ns),
            queued_ns: waited.min(took_ns) / 4,
            locked_ns: waited.min(took_ns) / 3,
            piped_ns: waited.min(took_ns) % 3 / 2,
            fd: fd as i32,
            other: other as i32,
            offset: offset as i64,
            length,
            flags,
            mode,
            dispatched: mode / 2,
            result: result as i64,
            ..Call::new(thread, Op::ALL[op])
        };
        (call, [path, to])
    })
}

#[derive(Clone, Debug)]
enum Made {
    Path(Vec<u8>),
    Call(Call, [Option<usize>; 2]),
    Other(usize, [u64; 4], [u32; 4], usize),
}

fn made() -> impl Strategy<Value = Made> {
    let bytes = prop::collection::vec(1_u8..=255, 0..30);
    let numbers = prop::array::uniform4(number());
    prop_oneof![
        2 => bytes.prop_map(Made::Path),
        6 => call().prop_map(|(call, paths)| Made::Call(call, paths)),
        2 => (0_usize..12, numbers, prop::array::uniform4(small()), any::<usize>())
            .prop_map(|(which, a, b, path)| Made::Other(which, a, b, path)),
    ]
}

fn other(which: usize, a: [u64; 4], b: [u32; 4], path: PathId) -> Entry {
    let flag = |bit: u32| b[3] >> bit & 1 == 1;
    match which {
        0 => Entry::Fork {
            at_ns: a[0],
            parent: b[0],
            child: b[1],
            thread: flag(0),
            shares_files: flag(1),
            shares_folder: flag(2),
        },
        1 => Entry::Exec { at_ns: a[0], thread: b[0], program: flag(0).then_some(path) },
        2 => Entry::Exit {
            at_ns: a[0],
            thread: b[0],
            status: b[1] as i32,
            user_ns: a[1],
            system_ns: a[2],
        },
        3 => Entry::Inherited { process: b[0], fd: b[1] as i32, path, flags: a[0], offset: a[1] },
        4 => Entry::File(FileFacts {
            at_ns: a[0],
            path,
            kind: FileKind::ALL[b[0] as usize % FileKind::ALL.len()],
            bytes: a[1],
            device: a[2],
            inode: a[3],
            mode: b[1],
            sample_bytes: b[2],
            compressed_bytes: b[3],
            target: flag(0).then_some(path),
        }),
        5 => Entry::Unseen { kind: Unseen::ALL[b[0] as usize % Unseen::ALL.len()], count: a[0] },
        6 => Entry::Idle { at_ns: a[1], took_ns: a[0] },
        8 => Entry::Overhead {
            overhead_ns: OverheadNs { low: a[0] as i64, high: a[1] as i64 },
            within_ns: OverheadNs { low: a[2] as i64, high: a[3] as i64 },
        },
        9 => Entry::Held { low_ns: a[0], high_ns: a[1] },
        10 => Entry::Outside {
            thread: b[0],
            process: b[1],
            name: path,
            address: flag(0).then_some(path),
        },
        7 => Entry::Woken { at_ns: a[0], thread: b[0], by: b[1], slept_ns: a[1] },
        _ => Entry::Lost { count: a[0] },
    }
}

/// Entries whose paths have been told.
fn entries_of(made: Vec<Made>) -> Vec<Entry> {
    let mut entries = vec![Entry::Path { id: PathId(0), bytes: b"/".as_slice().into() }];
    let mut paths = 1;
    for one in made {
        let told = |at: usize| PathId((at % paths) as u32);
        entries.push(match one {
            Made::Path(bytes) => {
                let entry = Entry::Path { id: PathId(paths as u32), bytes: bytes.into() };
                paths += 1;
                entry
            }
            Made::Call(call, [path, to]) => {
                Entry::Call(Call { path: path.map(told), to: to.map(told), ..call })
            }
            Made::Other(which, a, b, path) => other(which, a, b, told(path)),
        });
    }
    entries
}

proptest! {
    /// Fails where a field is not kept, a prediction differs between the sides, or a number does
    /// not fit where it is put.
    #[test]
    fn any_entries_read_back(made in prop::collection::vec(made(), 0..60), flush in any::<u8>()) {
        let written = entries_of(made);
        let mut writer = TraceWriter::new(Vec::new(), &header()).unwrap();
        for (number, entry) in written.iter().enumerate() {
            writer.push(entry.clone()).unwrap();
            if number % (usize::from(flush) + 1) == 0 {
                writer.flush().unwrap();
            }
        }
        let trace = writer.finish(&SUMMARY).unwrap();
        let mut reader = TraceReader::new(&trace[..]).unwrap();
        prop_assert_eq!(reader.header(), &header());
        for entry in &written {
            let read = reader.next_entry().unwrap();
            prop_assert_eq!(read.as_ref(), Some(entry));
        }
        prop_assert_eq!(reader.next_entry().unwrap(), None);
        prop_assert_eq!(reader.summary(), Some(&SUMMARY));
        prop_assert!(!reader.cut_short());
    }
}

#[test]
fn every_number_of_an_operation_and_of_a_kind_is_its_own() {
    for op in Op::ALL {
        assert!((*op as usize) < Op::NUMBERS, "the table of calls goes by it");
        assert_eq!(Op::of_number(*op as u8), Some(*op));
    }
    assert!(Op::ALL.is_sorted());
    assert_eq!(Op::of_number(Op::NUMBERS as u8), None);
    assert!(FileKind::ALL.iter().enumerate().all(|(place, kind)| *kind as usize == place));
    assert!(Unseen::ALL.iter().enumerate().all(|(place, kind)| *kind as usize == place));
}

#[test]
fn a_path_is_told_once_and_again_when_it_is_forgotten() {
    let mut writer = TraceWriter::new(Vec::new(), &header()).unwrap();
    let first = writer.path(b"/a").unwrap();
    assert_eq!(writer.path(b"/a").unwrap(), first);
    for number in 0..20_000 {
        writer.path(format!("/many/{number}").as_bytes()).unwrap();
    }
    let call = |path| Entry::Call(Call { path: Some(path), ..Call::new(1, Op::Stat) });
    let refused = writer.push(call(first)).unwrap_err();
    assert!(matches!(refused, Error::Entry(_)), "{refused}");
    let again = writer.path(b"/a").unwrap();
    assert!(again > first);
    writer.push(call(again)).unwrap();
    let told = entries(&writer.finish(&SUMMARY).unwrap()).unwrap();
    let of_a = told.iter().filter(|e| matches!(e, Entry::Path { bytes, .. } if **bytes == *b"/a"));
    assert_eq!(of_a.count(), 2);
}

#[test]
fn what_no_kernel_gives_is_refused_before_it_is_written() {
    let mut writer = TraceWriter::new(Vec::new(), &header()).unwrap();
    let entry = |refused: Result<PathId, Error>| matches!(refused, Err(Error::Entry(_)));
    assert!(entry(writer.path(b"a\0b")));
    assert!(entry(writer.path(&[b'a'; 4097])));
    let wrong = Entry::Path { id: PathId(7), bytes: b"/".as_slice().into() };
    assert!(matches!(writer.push(wrong), Err(Error::Entry(_))));
    let waits = |waited_ns| Entry::Call(Call { took_ns: 5, waited_ns, ..Call::new(1, Op::Fsync) });
    assert!(matches!(writer.push(waits(6)), Err(Error::Entry(_))));
    assert!(writer.push(waits(5)).is_ok());
    assert!(writer.path(&[b'a'; 4096]).is_ok());
    assert_eq!(entries(&writer.finish(&SUMMARY).unwrap()).unwrap().len(), 2);
}

#[test]
fn a_chunk_is_written_each_second_and_each_64_kib() {
    let mut writer = TraceWriter::new(Vec::new(), &header()).unwrap();
    let began = writer.written_bytes();
    let call = |began_ns| Entry::Call(Call { began_ns, ..Call::new(1, Op::Fsync) });
    writer.push(call(5)).unwrap();
    writer.push(call(900_000_000)).unwrap();
    assert_eq!(writer.written_bytes(), began);
    writer.push(call(1_000_000_005)).unwrap();
    let second = writer.written_bytes();
    assert!(second > began);
    for number in 0..60 {
        writer.path(format!("{number:01000}").as_bytes()).unwrap();
    }
    assert_eq!(writer.written_bytes(), second);
    for number in 60..70 {
        writer.path(format!("{number:01000}").as_bytes()).unwrap();
    }
    assert!(writer.written_bytes() > second);
}
