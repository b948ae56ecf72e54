//! The ring that a preloaded library shares with its recorder. The recorded program can write
//! anything there.

use record::fuzz::{Record, Step, recorded};

use super::traces::reported;
use crate::Target;
use crate::mutate::Form;
use crate::mutate::schema::Schema;

/// Paths, and the ends of what eight bytes hold.
const WORDS: &[&str] = &[
    "/srv/app/log\0",
    "a\0",
    "/\0",
    "../x\0",
    "\0\0",
    "\0\0\0\0\0\0\0\0",
    "\0\0\0\0\0\0\0\u{80}",
    "\u{ff}\u{ff}\u{ff}\u{ff}\u{ff}\u{ff}\u{ff}\u{7f}",
    "\u{ff}\u{ff}\u{ff}\u{ff}\u{ff}\u{ff}\u{ff}\u{ff}",
];
/// The command that a recording begins with.
const FIRST: u32 = 0x7fff_fff0;
const EVENT: u32 = 1 << 31;
const LARGE: u32 = 1 << 30;
/// System calls, as x86-64 has their numbers.
const WRITE: u32 = 1;
const SENDFILE: u32 = 40;
const FCNTL: u32 = 72;
const FSYNC: u32 = 74;
const RENAME: u32 = 82;
const OPENAT: u32 = 257;

pub(super) fn all() -> Vec<Target> {
    let form = || Form::Json(Schema::new(schemars::schema_for!(Vec<Step>).to_value(), WORDS));
    vec![Target::new("ring", 100, form, seeds, run).bytes_max(1 << 16)]
}

fn run(bytes: &[u8]) -> bool {
    let Ok(steps) = serde_json::from_slice::<Vec<Step>>(bytes) else { return false };
    let Some(trace) = recorded(&steps) else { return false };
    reported(&trace);
    true
}

fn seeds() -> Vec<Vec<u8>> {
    let steps = [calls(), processes(), losses()];
    steps.iter().filter_map(|steps| serde_json::to_vec(steps).ok()).collect()
}

/// A record of the command.
fn of(number: u32, began: u64) -> Record {
    let (thread, process) = (FIRST, FIRST);
    Record { number, thread, process, began, ended: began + 100, ..Record::default() }
}

fn began() -> Step {
    Step::Record(Record { path: b"/bin/app\0".to_vec(), ..of(EVENT | 1, 10) })
}

fn calls() -> Vec<Step> {
    let path = b"/srv/app/log\0".to_vec();
    vec![
        began(),
        Step::Record(Record {
            result: 3,
            arguments: [u64::MAX - 99, 1, 0x241, 0o644, 0, 0],
            path,
            ..of(LARGE | OPENAT, 1000)
        }),
        Step::Record(Record { result: 70, arguments: [3, 1, 70, 0, 0, 0], ..of(WRITE, 2000) }),
        Step::Drain,
        Step::Record(Record { arguments: [3, 0, 0, 0, 0, 0], ..of(FSYNC, 3000) }),
        Step::Record(Record {
            result: 9,
            arguments: [1, 3, 1, 9, 0, 0],
            block: 9_u64.to_ne_bytes().to_vec(),
            ..of(LARGE | SENDFILE, 4000)
        }),
        Step::Record(Record {
            arguments: [3, 6, 1, 0, 0, 0],
            block: [1_u64.to_ne_bytes(), [0; 8], [9; 8], [0; 8]].concat(),
            ..of(LARGE | FCNTL, 5000)
        }),
        Step::Record(Record {
            path: b"/srv/a\0".to_vec(),
            to: b"/srv/b\0".to_vec(),
            ..of(LARGE | RENAME, 6000)
        }),
        Step::Drain,
        Step::Record(Record { arguments: [1, 5, 6, 0, 0, 0], ..of(EVENT | 5, 9000) }),
    ]
}

/// A child, a program that does not begin, one that does, and their ends.
fn processes() -> Vec<Step> {
    let child = FIRST + 1;
    let of_child = |number, began| Record { thread: child, process: child, ..of(number, began) };
    vec![
        began(),
        Step::Record(Record {
            result: 7,
            arguments: [child.into(), 0x11, 0, 0, 0, 0],
            ..of(EVENT | 4, 100)
        }),
        Step::Record(Record { path: b"/bin/no\0".to_vec(), ..of_child(EVENT | 2, 200) }),
        Step::Record(of_child(EVENT | 3, 210)),
        Step::Record(Record { path: b"/bin/yes\0".to_vec(), ..of_child(EVENT | 2, 220) }),
        Step::Drain,
        Step::Record(Record { path: b"yes\0".to_vec(), ..of_child(EVENT | 1, 230) }),
        Step::Record(Record { arguments: [1, 3, 4, 0, 0, 0], ..of_child(EVENT | 5, 300) }),
        Step::Record(Record { arguments: [child.into(), 0, 0, 0, 0, 0], ..of(EVENT | 6, 310) }),
        Step::Record(of(EVENT | 7, 320)),
        Step::Record(of(EVENT | 8, 330)),
        Step::Drain,
    ]
}

/// Records for which there was no room, an incomplete one, and stray words.
fn losses() -> Vec<Step> {
    vec![
        began(),
        Step::Lost(2),
        Step::Drain,
        Step::Lost(5),
        Step::Record(Record { stamp: Some(0), ..of(WRITE, 100) }),
        Step::Record(of(WRITE, 200)),
        Step::Drain,
        Step::Lost(9),
        Step::Word { at: 8192, value: 7 },
        Step::Word { at: 128, value: 3 },
        Step::Drain,
        Step::Reserved(400),
    ]
}

#[cfg(test)]
mod tests {
    use trace::TraceReader;

    use super::*;

    #[test]
    fn what_the_library_writes_becomes_entries() {
        let trace = recorded(&calls()).expect("there is memory");
        let mut reader = TraceReader::new(&trace[..]).expect("it is a trace");
        let mut entries = 0;
        while let Ok(Some(_)) = reader.next_entry() {
            entries += 1;
        }
        assert!(entries > 8, "{entries}");
        let trace = recorded(&losses()).expect("there is memory");
        let mut reader = TraceReader::new(&trace[..]).expect("it is a trace");
        while let Ok(Some(_)) = reader.next_entry() {}
        assert!(reader.lost() >= 9, "{}", reader.lost());
    }
}
