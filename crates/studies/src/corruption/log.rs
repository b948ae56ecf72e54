//! Of a log's records.

use std::io::Cursor;

use model::study::Sizes;

use super::*;
use crate::records::{Expected, Format, Name, account};

const WRITERS: u32 = 3;
const EACH: u64 = 15;
/// One run's number, and another's.
const RUNS: [u32; 2] = [0xabad_1dea, 0xabad_cafe];

fn format(run: u32, size: u64) -> Format {
    Format::new(run, Sizes { min: size, max: size })
}

/// The writers' records taking turns.
fn records(run: u32, size: u64) -> Vec<Vec<u8>> {
    let names =
        (0..EACH).flat_map(|sequence| (0..WRITERS).map(move |writer| Name { writer, sequence }));
    let record = |name| {
        let mut record = Vec::new();
        format(run, size).write(name, &mut record);
        record
    };
    names.map(record).collect()
}

fn check(size: u64, log: Vec<u8>) -> Outcome {
    let expected = [Expected::all(EACH); WRITERS as usize];
    let checked = account(Cursor::new(log), format(RUNS[0], size), &expected).unwrap();
    said(Ok(checked.integrity))
}

/// Harms the records as a list.
fn found_among(kind: &str, mut harm: impl FnMut(&mut Vec<Vec<u8>>, &mut Chance)) {
    all_found(kind, |chance| {
        let size = chance.random_range(38..300);
        let whole = records(RUNS[0], size);
        let mut harmed = whole.clone();
        harm(&mut harmed, chance);
        let harmless = harmed.concat() == whole.concat();
        match check(size, harmed.concat()) {
            Outcome::Unseen if harmless => Outcome::Harmless,
            outcome => outcome,
        }
    });
}

/// Harms the log's bytes.
fn found_within(kind: &str, mut harm: impl FnMut(&mut Vec<u8>, &mut Chance)) {
    found_among(kind, |records, chance| {
        let mut bytes = records.concat();
        harm(&mut bytes, chance);
        *records = vec![bytes];
    });
}

fn one(records: &[Vec<u8>], chance: &mut Chance) -> usize {
    chance.random_range(0..records.len())
}

#[test]
fn whole_logs_are_whole() {
    none_found("log", |chance| {
        let size = chance.random_range(1..300);
        check(size, records(RUNS[0], size).concat())
    });
}

#[test]
fn what_happens_to_bytes_is_found() {
    found_within("a bit flipped", |bytes, chance| flip_a_bit(bytes, chance));
    found_within("zeros", |bytes, chance| zero_some(bytes, chance));
    found_within("some bytes missing", take_some_out);
    found_within("some bytes more", put_some_in);
    found_within("the end cut off", cut_the_end_off);
    found_within("a line end of another system", |bytes, chance| {
        let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
        bytes.insert(ends[chance.random_range(0..ends.len())], b'\r');
    });
}

#[test]
fn what_happens_to_records_is_found() {
    found_among("lost", |records, chance| drop(records.remove(one(records, chance))));
    found_among("twice", |records, chance| {
        let again = records[one(records, chance)].clone();
        records.insert(one(records, chance), again);
    });
    found_among("out of order", |records, chance| {
        // Of one writer: those of several come in any order.
        let at = chance.random_range(0..records.len() - WRITERS as usize);
        records.swap(at, at + WRITERS as usize);
    });
    found_among("torn", |records, chance| {
        let at = one(records, chance);
        let length = records[at].len();
        records[at].truncate(chance.random_range(1..length));
    });
    found_among("interleaved", |records, chance| {
        let at = chance.random_range(1..records.len());
        let (inner, split) = (records.remove(at), chance.random_range(1..37));
        records[at - 1].splice(split..split, inner);
    });
    found_among("a line that nobody wrote", |records, chance| {
        let mut line = vec![chance.random_range(b' '..b'~'); chance.random_range(0..100)];
        line.push(b'\n');
        records.insert(one(records, chance), line);
    });
    found_among("another slice's", |records, chance| {
        let at = one(records, chance);
        let size = records[at].len() as u64;
        records[at] = self::records(RUNS[1], size)[at].clone();
    });
}
