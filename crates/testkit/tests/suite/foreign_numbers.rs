//! Each number of a result at its extremes: a result is refused in a sentence, or everything
//! can be made of it. A sum that does not fit would end the test, as it would the program.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::foreign;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use foreign::{Other, Which, of_bill, outputs, places_of, planted, records};
use serde_json::{Value, json};
use trace::{Call, Entry, Op, Summary, TraceReader, TraceWriter, Unseen, bill_of};

/// What whole numbers are set to, and what others are.
fn extremes(is_whole: bool) -> Vec<Value> {
    let whole =
        [0, 1, u64::from(u32::MAX), 1 << 53, (1 << 62) - 1, (1 << 63) - 1, 1 << 63, u64::MAX];
    let fractions = [-0.0, 5e-324, 1e308, -1e308];
    let [largest, smallest] = [json!(u64::MAX), json!(-1)];
    if is_whole {
        whole.map(|number| json!(number)).into_iter().chain([smallest, json!(null)]).collect()
    } else {
        fractions.map(|number| json!(number)).into_iter().chain([largest, json!(null)]).collect()
    }
}

/// What became of the documents.
#[derive(Default)]
struct Tally {
    read: usize,
    refused: usize,
    panicked: Vec<String>,
}

impl Tally {
    fn take(&mut self, document: &Value, other: &Other, what: &str) {
        let text = document.to_string();
        match catch_unwind(AssertUnwindSafe(|| outputs(&text, other, Which::OfNumbers))) {
            Ok(Ok(_)) => self.read += 1,
            Ok(Err(why)) => {
                assert!(!why.is_empty() && !why.contains("Some("), "{what}: {why}");
                self.refused += 1;
            }
            Err(_) => self.panicked.push(what.to_owned()),
        }
    }
}

/// Plants each extreme in each kind of number, and in all below each part of the document at
/// once. Numbers that are 0 become 1 first: beside them a sum would be too small.
fn check(document: &Value) {
    let other = Other::measured();
    let zeros = places_of(document, |value| value.as_u64() == Some(0));
    let zeros: Vec<String> = zeros.into_iter().flat_map(|(_, places)| places).collect();
    let indexes = |place: &String| ["/arm", "/base", "/place"].iter().any(|of| place.ends_with(of));
    let counts: Vec<String> = zeros.into_iter().filter(|place| !indexes(place)).collect();
    let document = planted(document, &counts, &json!(1));
    let mut tally = Tally::default();
    for (is_whole, wanted) in [(true, Value::is_u64 as fn(&Value) -> bool), (false, Value::is_f64)]
    {
        for (part, places) in parts(places_of(&document, wanted)) {
            for extreme in extremes(is_whole) {
                let what = format!("{extreme} as {part}");
                tally.take(&planted(&document, &places, &extreme), &other, &what);
            }
        }
    }
    let Tally { read, refused, panicked } = tally;
    assert!(panicked.is_empty(), "{} panicked: {panicked:#?}", panicked.len());
    assert!(read > 20 && refused > 20, "{read} read, {refused} refused");
}

/// Each kind by itself, and each object or list with all that it has.
fn parts(kinds: Vec<(String, Vec<String>)>) -> BTreeMap<String, Vec<String>> {
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (kind, places) in kinds {
        let ends = kind.match_indices('/').map(|(at, _)| at).chain([kind.len()]);
        for end in ends {
            parts.entry(kind[..end].to_owned()).or_default().extend(places.iter().cloned());
        }
    }
    let mut seen = BTreeSet::new();
    parts.retain(|_, places| seen.insert(places.clone()));
    parts
}

#[test]
fn each_number_of_a_comparison_is_refused_or_shown() {
    check(&records::comparison());
}

#[test]
fn each_number_of_a_repeated_article_is_refused_or_shown() {
    check(&records::article());
}

#[test]
fn each_number_of_a_load_and_of_a_selftest_is_refused_or_shown() {
    for document in [records::load(), records::search(), records::selftest()] {
        check(&document);
    }
}

/// A trace with a number in each field of a call, and in each entry that counts something.
fn trace_of(number: u64, field: usize) -> Option<Vec<u8>> {
    let header = trace::planted::header();
    let mut writer = TraceWriter::new(Vec::new(), &header).ok()?;
    let process = (number as u32).max(1);
    let (thread, shares_files, shares_folder) = (false, false, false);
    let begun =
        Entry::Fork { at_ns: 0, parent: 0, child: process, thread, shares_files, shares_folder };
    writer.push(begun).ok()?;
    let path = writer.path(b"/srv/app/log").ok()?;
    for op in [Op::Open, Op::Write, Op::Read, Op::Fsync, Op::Seek, Op::Truncate, Op::Close] {
        for round in 0..60 {
            let mut call =
                Call { path: (op == Op::Open).then_some(path), ..Call::new(process, op) };
            (call.began_ns, call.took_ns, call.result) = (round * 1000, 900, 3);
            (call.fd, call.length, call.offset) = (3, 100, 0);
            match field {
                0 => call.began_ns = number,
                1 => call.took_ns = number,
                2 => (call.took_ns, call.waited_ns) = (number, number),
                3 => call.result = number as i64,
                4 => call.length = number,
                5 => call.offset = number as i64,
                6 => call.fd = number as i32,
                7 => call.flags = number,
                _ => (call.began_ns, call.took_ns, call.length) = (number, number, number),
            }
            writer.push(Entry::Call(call)).ok()?;
        }
    }
    for _ in 0..3 {
        writer.push(Entry::Lost { count: number }).ok()?;
        for kind in Unseen::ALL {
            writer.push(Entry::Unseen { kind, count: number }).ok()?;
        }
    }
    let (user_ns, system_ns) = (number, number);
    let ended = Entry::Exit { at_ns: number, thread: process, status: 0, user_ns, system_ns };
    writer.push(ended).ok()?;
    writer.finish(&Summary { wall_ns: number, user_ns, system_ns, status: Some(0) }).ok()
}

#[test]
fn each_number_of_a_trace_is_refused_or_billed() {
    let mut billed = 0;
    for number in extremes(true).iter().filter_map(Value::as_u64) {
        for field in 0..9 {
            let Some(trace) = trace_of(number, field) else { continue };
            let bill = TraceReader::new(trace.as_slice())
                .and_then(|mut reader| bill_of(&mut reader, report::command_of));
            if let Ok(bill) = bill {
                billed += usize::from(!of_bill(&bill).is_empty());
            }
        }
    }
    assert!(billed > 20, "only {billed} have a bill");
}
