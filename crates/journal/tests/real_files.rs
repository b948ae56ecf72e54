//! The store and the journal on files of the operating system.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use iotoll_journal::{
    Change, Compression, EMPTY_PAGE, Error, File, Files as _, Journal, Observer, Options, OsFiles,
    PAGE_BYTES, Part, Snapshot, Space, Store, TRANSACTION_BYTES_MAX, Writing, recover,
};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rustix::fs::{FallocateFlags, fallocate};

const SEGMENT: &str = "journal-0000000000000001";

const SMALL: Options = Options {
    differences: false,
    compression: Compression::None,
    threshold_bytes: 0,
    block_bytes: 4096,
    writing: Writing::Buffered,
    space: Space::Growing,
    segment_bytes: 256 << 10,
};

fn open(path: &Path, options: &Options) -> Store<OsFiles> {
    Store::open(OsFiles::open(path).unwrap(), options).unwrap()
}

/// Puts so many random items in transactions, with a checkpoint now and then.
fn fill(store: &mut Store<OsFiles>, expected: &mut BTreeMap<Vec<u8>, Vec<u8>>, rounds: u32) {
    let rng = &mut ChaCha8Rng::seed_from_u64(rounds.into());
    for round in 0..rounds {
        let mut transaction = store.begin(()).unwrap();
        for _ in 0..30 {
            let key = rng.random_range(0..2000_u32).to_be_bytes().to_vec();
            let value = vec![rng.random(); rng.random_range(0..200)];
            transaction.put(&key, &value).unwrap();
            expected.insert(key, value);
        }
        let commit = transaction.commit().unwrap();
        assert_eq!(commit.journaled.number, store.last());
        if round % 7 == 3 {
            store.checkpoint(()).unwrap();
        }
    }
}

#[test]
fn a_transaction_behind_space_that_nothing_was_written_to_is_found() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let options = Options { space: Space::Preallocated, segment_bytes: 1 << 20, ..SMALL };
    let mut store = open(folder.path(), &options);
    let mut ends = vec![u64::from(options.block_bytes)];
    for number in 0..3_u32 {
        let mut transaction = store.begin(()).unwrap();
        transaction.put(&number.to_be_bytes(), b"value").unwrap();
        let written = transaction.commit().unwrap().journaled.written_bytes;
        ends.push(ends[number as usize] + written);
    }
    drop(store);

    let files = OsFiles::open(folder.path()).unwrap();
    let file = files.open(SEGMENT, Writing::Buffered).unwrap();
    assert_eq!(file.metadata().unwrap().len(), options.segment_bytes);
    let whole: Vec<_> = std::iter::once(0..ends[3]).collect();
    assert_eq!(File::written(&file).unwrap(), whole, "the rest was only allocated");
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&file, flags, ends[1], ends[2] - ends[1]).unwrap();
    assert_eq!(File::written(&file).unwrap(), [0..ends[1], ends[2]..ends[3]]);
    let damaged = Store::open(files, &options).map(drop).unwrap_err();
    let damaged = damaged.to_string();
    assert!(damaged.contains("transaction 2 at byte") && damaged.contains("transaction 3 follows"));
}

#[test]
fn every_option_brings_everything_back() {
    let compressions = [
        Compression::None,
        Compression::Lz4,
        Compression::Snappy,
        Compression::Zstd { level: 1 },
        Compression::Zstd { level: 9 },
    ];
    let spaces = [Space::Growing, Space::Preallocated, Space::ZeroFilled, Space::Recycled];
    for (number, space) in spaces.into_iter().enumerate() {
        for writing in [Writing::Buffered, Writing::Dsync, Writing::Direct] {
            // On a disk, where there is one: memory may have no O_DIRECT.
            let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let mut expected = BTreeMap::new();
            for (round, compression) in (1..).zip(compressions) {
                let differences = (number + round as usize).is_multiple_of(2);
                let options = Options { differences, compression, space, writing, ..SMALL };
                let files = OsFiles::open(folder.path()).unwrap();
                let mut store = match Store::open(files, &options) {
                    Err(Error::Io { source, .. })
                        if source.kind() == io::ErrorKind::InvalidInput
                            && writing == Writing::Direct =>
                    {
                        println!("SKIPPED: there is no O_DIRECT on this file system");
                        break;
                    }
                    opened => opened.unwrap(),
                };
                let found: BTreeMap<Vec<u8>, Vec<u8>> =
                    store.iter().map(|(key, value)| (key.into(), value.into())).collect();
                assert!(found == expected, "{options:?}");
                fill(&mut store, &mut expected, 10 + round);
            }
        }
    }
}

#[test]
fn a_snapshot_is_what_opening_the_store_would_find_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { differences: true, compression: Compression::Lz4, ..SMALL };
    let mut expected = BTreeMap::new();
    fill(&mut open(folder.path(), &options), &mut expected, 20);
    let files = OsFiles::open(folder.path()).unwrap();
    let contents = || -> BTreeMap<_, _> {
        let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
    };
    let before = contents();
    let mut parts = Parts::default();
    let snapshot = Snapshot::read(&files, &mut parts).unwrap();
    assert_eq!(parts.0, [Part::Load, Part::Recovery, Part::Load, Part::Outside]);
    let found: BTreeMap<Vec<u8>, Vec<u8>> =
        snapshot.iter().map(|(key, value)| (key.into(), value.into())).collect();
    assert!(found == expected && contents() == before);
    let (key, value) = expected.first_key_value().unwrap();
    assert_eq!(snapshot.get(key), Some(&value[..]));
    drop(files);
    assert_eq!(open(folder.path(), &options).recovered(), snapshot.recovered());
}

#[test]
fn a_directory_is_opened_once_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let files = OsFiles::open(folder.path()).unwrap();
    let error = OsFiles::open(folder.path()).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    drop(files);
    OsFiles::open(folder.path()).unwrap();
}

#[test]
fn a_journal_without_a_store_is_replayed_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { differences: true, compression: Compression::Lz4, ..SMALL };
    let files = OsFiles::open(folder.path()).unwrap();
    let mut journal = Journal::start(files, &options, 0).unwrap();
    let mut before = *EMPTY_PAGE;
    for number in 1..=300_u32 {
        let mut after = before;
        after[number as usize * 8..][..4].copy_from_slice(&number.to_le_bytes());
        let change = Change { page: 7, before: &before, after: &after };
        let receipt = journal.append([change], &mut ()).unwrap();
        assert_eq!((receipt.number, receipt.pages), (number.into(), 1));
        assert_eq!(receipt.page_bytes, PAGE_BYTES as u64);
        assert!(receipt.change_bytes < 20 && receipt.written_bytes == 4096, "{receipt:?}");
        before = after;
    }
    let mut page = *EMPTY_PAGE;
    let recovered = recover(journal.files(), 0, |version| {
        assert_eq!(version.page, 7);
        if version.apply(&mut page) { Ok(()) } else { Err("not a page") }
    });
    let recovered = recovered.unwrap();
    assert_eq!((recovered.last, recovered.transactions, recovered.pages), (300, 300, 300));
    assert!(page == before);
}

#[test]
fn a_transaction_may_be_longer_than_a_segment_but_not_than_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let files = OsFiles::open(folder.path()).unwrap();
    let mut journal = Journal::start(files, &SMALL, 0).unwrap();
    let pages =
        |count| (0..count).map(|page| Change { page, before: EMPTY_PAGE, after: EMPTY_PAGE });
    let many = (TRANSACTION_BYTES_MAX / PAGE_BYTES as u64) as u32;
    let error = journal.append(pages(many), &mut ()).unwrap_err();
    assert!(matches!(error, Error::TransactionTooLarge { .. }), "{error}");
    // Nothing of it is there, and the next one is taken.
    assert_eq!(journal.append(pages(100), &mut ()).unwrap().number, 1);
    let mut seen = 0;
    let recovered = recover(journal.files(), 0, |_| {
        seen += 1;
        Ok(())
    });
    assert_eq!(recovered.unwrap().last, 1);
    assert_eq!(seen, 100);
}

#[test]
fn options_and_items_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for wrong in [
        Options { block_bytes: 1000, ..SMALL },
        Options { block_bytes: 256, ..SMALL },
        Options { segment_bytes: 4096, ..SMALL },
        Options { compression: Compression::Zstd { level: 23 }, ..SMALL },
    ] {
        let files = OsFiles::open(folder.path()).unwrap();
        assert!(matches!(Store::open(files, &wrong), Err(Error::Options(_))), "{wrong:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let mut store = open(folder.path(), &SMALL);
    let mut transaction = store.begin(()).unwrap();
    assert!(matches!(transaction.put(&[1; 300], b""), Err(Error::ItemTooLong { .. })));
    assert!(matches!(transaction.put(&[1; 10], &[1; 991]), Err(Error::ItemTooLong { .. })));
    transaction.put(&[], &[1; 1000]).unwrap();
    transaction.commit().unwrap();
    assert_eq!(store.get(&[]), Some(&[1; 1000][..]));
}

/// The parts in the order in which they were entered.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Observer for Parts {
    fn enter(&mut self, part: Part) {
        self.0.push(part);
    }
}

#[test]
fn an_observer_is_told_each_part_of_a_commit() {
    use Part::{
        Checksum, Compression as Compressing, Copy, Difference, Outside, Sync, Tree, Write,
    };
    let lz4 = Compression::Lz4;
    let cases: [(Options, &[Part]); 4] = [
        (SMALL, &[Tree, Copy, Checksum, Write, Sync, Tree, Outside]),
        (
            Options { differences: true, compression: lz4, ..SMALL },
            &[Tree, Difference, Compressing, Checksum, Write, Sync, Tree, Outside],
        ),
        (
            Options { compression: lz4, threshold_bytes: 10_000, ..SMALL },
            &[Tree, Copy, Checksum, Write, Sync, Tree, Outside],
        ),
        (
            Options { compression: lz4, writing: Writing::Dsync, ..SMALL },
            &[Tree, Copy, Compressing, Checksum, Write, Tree, Outside],
        ),
    ];
    for (options, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path(), &options);
        let mut parts = Parts::default();
        let mut transaction = store.begin(&mut parts).unwrap();
        transaction.put(b"key", b"value").unwrap();
        transaction.commit().unwrap();
        assert_eq!(parts.0, expected, "{options:?}");
        let mut parts = Parts::default();
        store.checkpoint(&mut parts).unwrap();
        assert_eq!(parts.0, [Part::Checkpoint, Outside]);
    }
}

/// Bytes of pages, of changes and written, for so many items, 100 to a transaction.
fn journaled(options: &Options, items: u32, key: impl Fn(u32) -> u32) -> [u64; 3] {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path(), options);
    let mut sums = [0; 3];
    for first in (0..items).step_by(100) {
        let mut transaction = store.begin(()).unwrap();
        for number in first..first + 100 {
            let value =
                format!("{{\"id\":{number},\"name\":\"item {number}\",\"tags\":[\"a\",\"b\"]}}");
            transaction.put(&key(number).to_be_bytes(), value.as_bytes()).unwrap();
        }
        let journaled = transaction.commit().unwrap().journaled;
        sums[0] += journaled.page_bytes;
        sums[1] += journaled.change_bytes;
        sums[2] += journaled.written_bytes;
    }
    sums
}

#[test]
fn random_keys_cost_more_pages_and_differences_and_compression_less_bytes() {
    let random = |number: u32| number.wrapping_mul(0x9E37_79B1);
    let none = Options { segment_bytes: 64 << 20, ..SMALL };
    let [sequential, ..] = journaled(&none, 20_000, |number| number);
    let [pages, changes, written] = journaled(&none, 20_000, random);
    assert!(pages > 7 * sequential, "{pages} against {sequential}");
    assert!(changes > pages && written > changes);
    let differences = Options { differences: true, ..none };
    let [_, of_differences, _] = journaled(&differences, 20_000, random);
    assert!(of_differences < pages / 5, "{of_differences} of {pages}");
    let both = Options { compression: Compression::Zstd { level: 1 }, ..differences };
    let [same, _, written] = journaled(&both, 20_000, random);
    assert!(same == pages && written < pages / 10, "{written} of {pages}");
}
