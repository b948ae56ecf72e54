//! Whether slices keep to what their workloads say that they come to.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use engine::study::{Footprint, Study};
use rustix::fs::SeekFrom;

use crate::cache::CACHE;
use crate::files::FILES;
use crate::log::LOG;
use crate::page::PAGE;
use crate::replay::REPLAY;
use crate::sqlite::SQLITE;
use crate::testing::{finish, on_disk, own_folder, ready_in, workload};

#[test]
fn no_slice_leaves_or_writes_more_than_its_workload_says() {
    for study in crate::ALL {
        for case in study.cases() {
            if let Some(operations) = case.footprint {
                check(study, case.strategy, case.set, operations);
            }
        }
    }
}

#[test]
fn no_slice_on_the_users_own_does_either() {
    let own = own_folder();
    let set = ("set", own.path().to_str().unwrap());
    check(&PAGE, "read", &[set, ("cache", "cold")], 5);
    check(&CACHE, "rename", &[set, ("operation", "rebuild")], 2);
    check(&CACHE, "rename", &[set, ("operation", "load")], 2);
    for operation in ["write", "read", "create", "unlink", "rename"] {
        check(&FILES, "rename", &[set, ("operation", operation)], 300);
    }
    let log = own.path().join("deep/er/b.html");
    check(&LOG, "held", &[("sample", log.to_str().unwrap())], 500);
    let [database, statements] = ["shop.db", "request.sql"].map(|name| own.path().join(name));
    let shop = rusqlite::Connection::open(&database).unwrap();
    shop.execute_batch("CREATE TABLE item (name TEXT, data BLOB)").unwrap();
    fs::write(&statements, "INSERT INTO item VALUES (hex(randomblob(9)), zeroblob(3000))").unwrap();
    let [database, statements] = [&database, &statements].map(|path| path.to_str().unwrap());
    for strategy in ["delete-full", "wal-normal"] {
        check(&SQLITE, strategy, &[("database", database), ("statements", statements)], 200);
    }
}

/// Fails where what a real program made, found and removed again is counted too low.
#[test]
fn no_slice_of_a_recorded_program_does_either() {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/replay.trace");
    check(&REPLAY, "recorded", &[("trace", trace)], 1);
}

fn check(study: &dyn Study, strategy: &str, given: &[(&str, &str)], operations: u64) {
    let name = format!("{}/{strategy} {given:?}", study.spec().name);
    let mut workload = workload(study, strategy, given);
    let operations = workload.about().operations.fit(operations as f64);
    let (own, keeps) = (workload.footprint(operations), workload.about().kept);
    let (fresh, kept) = (on_disk(), on_disk());
    let folders = [fresh.path(), kept.path()];
    let slice = finish(ready_in(workload.as_mut(), folders, operations).unwrap()).unwrap();
    for (folder, most) in [(&fresh, own), (&kept, keeps)] {
        let found = found(folder.path());
        assert!(is_within(found, most), "{name}: {found:?}, at most {most:?}");
    }
    let reads = strategy.starts_with("read")
        || given.iter().any(|(_, value)| ["read", "load", "warm", "cold"].contains(value));
    assert!(reads || slice.requested_bytes() <= own.written_bytes, "{name} {slice:?}");
}

fn is_within(found: Footprint, most: Footprint) -> bool {
    found.files <= most.files
        && found.space_bytes <= most.space_bytes
        && most.written_bytes >= found.written_bytes
}

/// What there is below a folder, each file written once at the least.
fn found(folder: &Path) -> Footprint {
    let mut sum = Footprint::NOTHING;
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let facts = entry.metadata().unwrap();
        if facts.is_dir() {
            let folder = Footprint { files: 1, ..Footprint::NOTHING };
            sum = sum.and(folder).and(found(&entry.path()));
        } else {
            let bytes = facts.len();
            // Space that was only reserved counts as a hole.
            let file = fs::File::open(entry.path()).unwrap();
            let is_whole = rustix::fs::seek(file, SeekFrom::Hole(0)) == Ok(bytes);
            let written_bytes = if is_whole { bytes } else { 0 };
            sum = sum.and(Footprint { files: 1, space_bytes: bytes, written_bytes });
        }
    }
    sum
}
