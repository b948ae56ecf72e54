//! Traces that are not as they were written.

use super::entries;
use crate::flags::{O_APPEND, O_WRONLY};
use crate::planted::Planted;
use crate::{Entry, Error, Op, TraceReader, is_trace};

/// A trace of several chunks.
fn trace() -> Vec<u8> {
    planted().finish()
}

fn planted() -> Planted {
    let mut planted = Planted::new("/srv");
    for number in 0..4 {
        planted.open("app.log", O_WRONLY | O_APPEND, 3);
        planted.moved(Op::Write, 3, 70 + number, 900);
        planted.on(Op::Close, 3, 400);
        planted.think(600_000_000);
    }
    planted
}

/// What can be read of it, and whether it says that it is whole.
fn read(trace: &[u8]) -> Result<(Vec<Entry>, bool), Error> {
    let mut reader = TraceReader::new(trace)?;
    let mut entries = Vec::new();
    loop {
        match reader.next_entry() {
            Ok(Some(entry)) => entries.push(entry),
            Ok(None) => return Ok((entries, !reader.cut_short())),
            Err(_) => return Ok((entries, false)),
        }
    }
}

/// Fails where something is read that no checksum stands for, as a length that is believed.
#[test]
fn with_any_byte_changed_nothing_wrong_is_taken_for_right() {
    let whole = trace();
    let written = entries(&whole).unwrap();
    for at in 0..whole.len() {
        for change in [1, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] ^= change;
            if let Ok((read, says_whole)) = read(&damaged) {
                // The number of a version may become another one, which is read alike.
                let is_version = at == b"iotoll trace ".len() && change == 1;
                assert!(!says_whole || is_version, "byte {at}");
                assert_eq!(read[..], written[..read.len()], "byte {at}");
            }
        }
    }
}

#[test]
fn with_any_end_cut_off_the_beginning_can_be_read() {
    let whole = trace();
    let written = entries(&whole).unwrap();
    let mut lengths = Vec::new();
    for length in 0..whole.len() {
        match read(&whole[..length]) {
            Ok((read, says_whole)) => {
                assert!(!says_whole, "{length} bytes");
                assert_eq!(read[..], written[..read.len()]);
                lengths.push(read.len());
            }
            Err(error) => assert!(matches!(error, Error::Empty | Error::NotATrace), "{error}"),
        }
    }
    assert!(lengths.is_sorted());
    lengths.dedup();
    // With what comes at the end, all is there.
    assert!(lengths.len() >= 3 && lengths.last() == Some(&written.len()), "{lengths:?}");
}

#[test]
fn a_killed_recording_says_that_it_was_cut_short() {
    let cut = planted().cut();
    let mut reader = TraceReader::new(&cut[..]).unwrap();
    while reader.next_entry().unwrap().is_some() {}
    assert!(reader.cut_short() && reader.summary().is_none());
    assert_eq!(entries(&cut).unwrap(), entries(&trace()).unwrap());
}

#[test]
fn parts_in_another_order_and_parts_too_many_are_found() {
    let whole = trace();
    // Where each chunk begins.
    let mut starts = vec![16];
    while let Some(start) = starts.last().filter(|start| **start < whole.len()) {
        let length = u32::from_le_bytes(whole[start + 5..start + 9].try_into().unwrap());
        starts.push(start + 17 + length as usize);
    }
    let chunks: Vec<&[u8]> = starts.windows(2).map(|ends| &whole[ends[0]..ends[1]]).collect();
    assert!(chunks.len() >= 4, "{}", chunks.len());
    let of = |order: &[usize]| {
        let chunks = order.iter().flat_map(|number| chunks[*number]).copied();
        whole[..16].iter().copied().chain(chunks).collect::<Vec<u8>>()
    };
    let order: Vec<usize> = (0..chunks.len()).collect();
    assert_eq!(of(&order), whole);
    let swapped: Vec<usize> = [&[0, 2, 1], &order[3..]].concat();
    let twice: Vec<usize> = [&[0, 1, 1], &order[2..]].concat();
    let missing: Vec<usize> = [&[0], &order[2..]].concat();
    let after: Vec<usize> = [&order[..], &[1]].concat();
    for order in [swapped, twice, missing, after, vec![1]] {
        let error = entries(&of(&order)).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{order:?}: {error}");
    }
}

#[test]
fn what_is_no_trace_or_another_version_says_so() {
    assert!(is_trace(&trace()) && !is_trace(b"{\"schema\":"));
    let error = |bytes: &[u8]| TraceReader::new(bytes).err().unwrap().to_string();
    assert_eq!(error(b""), "it is not a trace of iotoll");
    assert_eq!(error(b"#!/bin/sh\necho something longer"), "it is not a trace of iotoll");
    assert!(error(b"iotoll trace 12\nsomething").contains("version 12"));
    assert!(error(b"iotoll trace 5\n\0something").contains("reads versions 1 to 4"));
    assert_eq!(error(b"iotoll trace x\nsomething"), "it is not a trace of iotoll");
    for whole in [b"iotoll trace 1\n\0", b"iotoll trace 3\n\0", b"iotoll trace 4\n\0"] {
        for length in 1..=whole.len() {
            let said = error(&whole[..length]);
            assert_eq!(said, "it was cut short before anything was recorded", "{length}");
        }
    }
}

#[test]
fn losses_are_counted() {
    let mut planted = planted();
    planted.push(Entry::Lost { count: 3 });
    planted.push(Entry::Lost { count: 4 });
    let trace = planted.finish();
    let mut reader = TraceReader::new(&trace[..]).unwrap();
    while reader.next_entry().unwrap().is_some() {}
    assert_eq!(reader.lost(), 7);
}

/// Whoever writes fails: what came before can be read.
#[test]
fn a_full_disk_ends_the_trace_and_leaves_what_was_written() {
    struct Full<'a>(&'a mut Vec<u8>);

    impl std::io::Write for Full<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let room = 2000 - self.0.len();
            if room == 0 {
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            let taken = room.min(bytes.len());
            self.0.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut file = Vec::new();
    let mut writer = crate::TraceWriter::new(Full(&mut file), &crate::planted::header()).unwrap();
    let failed = (0..1000).find_map(|number| {
        let path = writer.path(format!("/srv/{number}").as_bytes());
        path.and_then(|_| writer.flush()).err()
    });
    assert!(matches!(failed, Some(Error::Write(_))), "{failed:?}");
    drop(writer);
    let (entries, says_whole) = read(&file).unwrap();
    assert!(entries.len() > 10 && !says_whole);
}
