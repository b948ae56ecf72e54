//! Every native strategy, alone and in threads, through the study's own trait.
//! Processes and interpreters need the built program: see its tests.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;

use engine::study::StudyError;
use model::integrity::Integrity;

use super::LOG;
use super::spec::SPEC;
use crate::testing::{self, refusal};

/// Sound on every local file system.
const SOUND: [&str; 9] = [
    "reopen",
    "held",
    "flock",
    "flock-nonblocking",
    "ofd-lock",
    "batched",
    "dsync",
    "queued",
    "per-writer",
];

/// Those that may lose records where several write.
const UNSOUND: [&str; 3] = ["buffered", "uring", "seek-end"];

struct Slice {
    inner: testing::Slice,
    operations: u64,
}

impl Slice {
    fn figure(&self, name: &str) -> Option<f64> {
        self.inner.outcome.figures.get(name).copied()
    }

    fn integrity(&self) -> &Integrity {
        self.inner.integrity()
    }

    fn sync_calls(&self) -> u64 {
        self.inner.spent.sync_calls
    }
}

fn slice_in(
    folder: &Path,
    strategy: &str,
    operations: u64,
    given: &[(&str, &str)],
) -> Result<Slice, StudyError> {
    let mut writers = testing::workload(&LOG, strategy, given);
    let operations = writers.about().operations.fit(operations as f64);
    let inner = testing::finish(testing::ready(writers.as_mut(), folder, operations)?)?;
    assert_eq!(inner.laps, operations);
    Ok(Slice { inner, operations })
}

fn slice(strategy: &str, operations: u64, given: &[(&str, &str)]) -> Slice {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    slice_in(folder.path(), strategy, operations, given).unwrap()
}

/// Fails where a strategy was forgotten by the tests below.
#[test]
fn each_strategy_is_sound_or_is_known_not_to_be() {
    let own = SPEC.strategies.iter().filter(|strategy| strategy.facts.needs.is_none());
    for strategy in own {
        let is_tried = SOUND.iter().chain(&UNSOUND).any(|name| *name == strategy.name);
        assert!(is_tried, "{}: add it to SOUND, or to UNSOUND with a test", strategy.name);
    }
}

#[test]
fn every_sound_strategy_keeps_every_record_alone_and_in_company() {
    for strategy in SOUND {
        for (writers, record) in [("1", "70"), ("3", "70"), ("3", "uniform 50..9000"), ("2", "1")] {
            let given = [("writers", writers), ("kind", "threads"), ("record", record)];
            let slice = slice(strategy, 1500, &given);
            assert!(slice.integrity().is_intact(), "{strategy} {given:?}: {:?}", slice.integrity());
            assert_eq!(slice.integrity().records, slice.operations, "{strategy}");
            let in_log = slice.figure("bytes_per_record").unwrap();
            assert!((in_log - slice.inner.requested_bytes() as f64).abs() < 0.5, "{strategy}");
        }
    }
}

#[test]
fn io_uring_keeps_every_record_or_says_why_there_is_none() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    for (writers, batch) in [("1", "64"), ("3", "7"), ("2", "1")] {
        let given = [("writers", writers), ("kind", "threads"), ("batch", batch)];
        let inner = tempfile::tempdir_in(folder.path()).unwrap();
        match slice_in(inner.path(), "uring", 1000, &given) {
            Ok(slice) => assert!(slice.integrity().is_intact(), "{:?}", slice.integrity()),
            Err(error) => assert!(error.to_string().contains("io_uring"), "{error}"),
        }
    }
}

/// Breakage depends on who is scheduled when: it must show within so many slices.
fn breaks_within(slices: u32, strategy: &str, operations: u64, given: &[(&str, &str)]) -> Slice {
    (0..slices)
        .map(|_| slice(strategy, operations, given))
        .find(|slice| !slice.integrity().is_intact())
        .unwrap_or_else(|| panic!("{strategy} {given:?} never broke a record"))
}

#[test]
fn seeking_the_end_is_caught_losing_records() {
    let given = [("writers", "4"), ("kind", "threads"), ("record", "uniform 50..9000")];
    let broken = breaks_within(500, "seek-end", 4000, &given).integrity().clone();
    // A small record that comes to stand within a large one mixes both.
    let overwritten = broken.torn + broken.overwritten + broken.interleaved;
    assert!(broken.lost + overwritten > 0, "{broken:?}");
    assert!(broken.example.is_some());
}

#[test]
fn a_buffer_that_splits_records_is_caught_mixing_them() {
    for (record, buffer) in [("70", "100"), ("200", "8 KiB"), ("20 KiB", "8 KiB")] {
        let given = [("writers", "4"), ("kind", "threads"), ("record", record), ("buffer", buffer)];
        let broken = breaks_within(500, "buffered", 4000, &given).integrity().clone();
        assert!(broken.interleaved > 0, "{given:?}: {broken:?}");
        assert_eq!(broken.lost, 0, "{given:?}: {broken:?}");
    }
    // Alone there is nobody to be mixed with.
    assert!(slice("buffered", 1000, &[("buffer", "100")]).integrity().is_intact());
}

#[test]
fn a_queue_that_drops_says_so_and_loses_nothing_that_it_took() {
    let dropping = slice("queued", 20_000, &[("queue", "1"), ("full", "drop")]);
    let dropped = dropping.figure("dropped_per_record").unwrap();
    assert!(dropped > 0.0);
    assert!(dropping.integrity().is_intact(), "{:?}", dropping.integrity());
    assert_eq!(dropping.integrity().records + dropped as u64, dropping.operations);
}

#[test]
fn syncs_come_as_often_as_they_should() {
    for strategy in ["held", "reopen", "batched", "per-writer"] {
        assert_eq!(slice(strategy, 300, &[("sync", "every 100")]).sync_calls(), 3, "{strategy}");
        assert_eq!(slice(strategy, 30, &[("sync", "each")]).sync_calls(), 30, "{strategy}");
    }
    let paced = [("sync", "every 10ms"), ("rate", "1000")];
    let began = std::time::Instant::now();
    let syncs = u128::from(slice("held", 50, &paced).sync_calls());
    let most = began.elapsed().as_millis() / 10 + 1;
    assert!((1..=most).contains(&syncs), "{syncs} syncs, at most {most}");
}

#[test]
fn at_a_rate_records_keep_their_pace_and_service_is_told_beside_latency() {
    for (writers, kind) in [("1", "threads"), ("2", "threads")] {
        let given = [("rate", "1000"), ("writers", writers), ("kind", kind)];
        let began = std::time::Instant::now();
        let slice = slice("held", 40, &given);
        assert!(began.elapsed().as_millis() >= 38, "nobody kept the pace");
        // Latency counts from the intended time, so that it is never less.
        let service_ns = slice.figure("service_mean_ns").unwrap();
        assert!(slice.inner.spent.elapsed_ns as f64 / slice.operations as f64 >= service_ns * 0.99);
    }
}

#[test]
fn calls_fairness_and_the_time_in_locks_are_told() {
    let company = [("writers", "2"), ("kind", "threads")];
    let locked = slice("flock", 2000, &company);
    assert_eq!(locked.figure("calls_per_record"), Some(6000.0));
    assert!((0.5..=1.0).contains(&locked.figure("fairness_jain").unwrap()));
    assert!((0.0..1.0).contains(&locked.figure("lock_wait_share").unwrap()));
    assert_eq!(slice("batched", 640, &[("batch", "64")]).figure("calls_per_record"), Some(10.0));
    assert!(slice("per-writer", 100, &company).figure("merge_ns_per_record").unwrap() > 0.0);
}

#[test]
fn threads_are_not_killed() {
    let error = refusal(&LOG, "held", &[("kill", "1"), ("kind", "threads")]);
    assert!(error.contains("kind=processes"), "{error}");
}

#[test]
fn what_must_sync_within_a_slice_has_to_fit_one() {
    let given = [("sync", "every 1000"), ("record", "1 MiB")];
    assert!(refusal(&LOG, "held", &given).contains("sync more often"));
}

#[test]
fn an_interpreter_that_cannot_do_what_it_is_asked_says_so() {
    for (strategy, given, says) in [
        ("php-error-log", ("sync", "each"), "php-error-log has no file handle"),
        ("python-file-handler", ("kill", "1"), "no shared memory"),
    ] {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let error = slice_in(folder.path(), strategy, 10, &[given]).err().unwrap().to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// A file system of one megabyte that is unmounted when it goes.
struct Full(tempfile::TempDir);

impl Full {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1M", "iotoll-test"])
            .arg(folder.path())
            .output();
        mount.is_ok_and(|output| output.status.success()).then_some(Self(folder))
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
#[allow(clippy::print_stderr)]
fn a_full_disk_ends_a_slice_with_a_finding() {
    let Some(full) = Full::mount() else {
        eprintln!("SKIPPED: mounting a small file system takes root");
        return;
    };
    for strategy in SOUND.into_iter().chain(UNSOUND) {
        for writers in ["1", "2"] {
            let inner = tempfile::tempdir_in(full.0.path()).unwrap();
            let given = [("writers", writers), ("kind", "threads"), ("record", "8193")];
            let Err(error) = slice_in(inner.path(), strategy, 1000, &given) else {
                panic!("{strategy} wrote 8 MB to a disk of 1 MB")
            };
            let text = error.to_string();
            let told = ["No space left on device", "may be full", "io_uring"];
            assert!(told.iter().any(|part| text.contains(part)), "{strategy}: {text}");
        }
    }
}

/// What is said of a slice to whose folder something happened before it was looked at.
fn said_after(strategy: &str, harm: impl FnOnce(&Path)) -> String {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let folder = place.path().join("slice");
    fs::create_dir(&folder).unwrap();
    let mut writers = testing::workload(&LOG, strategy, &[]);
    let ready = testing::ready(writers.as_mut(), &folder, 100).unwrap();
    let (mut ran, ..) = testing::run(ready).unwrap();
    ran.flush().unwrap();
    harm(&folder);
    ran.finish().err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn a_log_that_was_replaced_is_told_from_the_one_that_was_made() {
    let replace = |folder: &Path| {
        let log = folder.join("app.log");
        fs::copy(&log, folder.join("copy")).unwrap();
        fs::rename(folder.join("copy"), log).unwrap();
    };
    let said = said_after("held", replace);
    assert!(said.contains("something replaced it"), "{said}");
    let link = |folder: &Path| {
        let [log, moved] = ["app.log", "moved"].map(|name| folder.join(name));
        fs::rename(&log, &moved).unwrap();
        std::os::unix::fs::symlink(moved, log).unwrap();
    };
    let said = said_after("held", link);
    assert!(said.contains("Too many levels of symbolic links"), "{said}");
    assert_eq!(said_after("held", |_| ()), "");
}

/// PHP opens files by an absolute path, whatever it is given.
#[test]
#[allow(clippy::print_stderr)]
fn a_folder_that_was_exchanged_under_php_fails_the_slice() {
    if Command::new("php").arg("-v").output().is_err() {
        eprintln!("SKIPPED: php is not installed");
        return;
    }
    let exchange = |folder: &Path| {
        fs::rename(folder, folder.with_extension("moved")).unwrap();
        fs::create_dir(folder).unwrap();
    };
    let said = said_after("php-held", exchange);
    assert!(said.contains("something moved or replaced it"), "{said}");
    assert_eq!(said_after("php-held", |_| ()), "");
    // Others are in the folder, wherever it is.
    assert_eq!(said_after("held", exchange), "");
}

#[test]
fn records_have_the_sizes_of_a_log_of_the_users_own_and_are_all_accounted_for() {
    let own = testing::on_disk();
    let log = own.path().join("access.log");
    let line = |bytes: usize| [vec![b'x'; bytes - 1], b"\n".to_vec()].concat();
    fs::write(&log, [line(5), line(60), line(60), line(400)].concat()).unwrap();
    let sample = log.to_str().unwrap();
    for strategy in ["held", "buffered", "per-writer", "queued"] {
        for writers in ["1", "3"] {
            let folder = testing::in_memory();
            let given = [("sample", sample), ("writers", writers), ("kind", "threads")];
            let outcome = testing::slice(&LOG, strategy, &given, folder.path(), 300).unwrap();
            // What several writers split by a buffer is mixed, as ever.
            if !(strategy == "buffered" && writers == "3") {
                assert!(outcome.integrity().is_intact(), "{strategy}: {outcome:?}");
            }
            assert_eq!((outcome.laps, outcome.integrity().records), (300, 300));
        }
    }
    let folder = testing::in_memory();
    testing::slice(&LOG, "held", &[("sample", sample)], folder.path(), 400).unwrap();
    let mut sizes: Vec<usize> = fs::read(folder.path().join("app.log"))
        .unwrap()
        .split_inclusive(|b| *b == b'\n')
        .map(<[u8]>::len)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes, [11, 60, 400]);
    let says = testing::workload(&LOG, "held", &[("sample", sample)]).about().material.unwrap();
    assert_eq!(
        says.to_string(),
        "your files: record sizes of 4 lines, 5 B to 400 B, 131 B on average; contents are \
         generated; 1 line of less than 11 B written as 11 B"
    );
    for (wrong, says) in [("/dev/null", "is a device"), ("/no/such", "cannot be read")] {
        let refused = refusal(&LOG, "held", &[("sample", wrong)]);
        assert!(refused.contains(says), "{refused}");
    }
}

#[test]
fn what_happens_to_a_log_between_writing_and_reading_is_found_in_logs_of_one_writer_too() {
    let lines = |count: usize| move |log: &[u8]| log[..70 * count].to_vec();
    let swapped = |log: &[u8]| [&log[70..140], &log[..70], &log[140..]].concat();
    let changed = |log: &[u8]| [&log[..100], b"!", &log[101..]].concat();
    let more = |log: &[u8]| [log, b"a line of nobody's\n"].concat();
    let found = |change: &dyn Fn(&[u8]) -> Vec<u8>| {
        let folder = testing::in_memory();
        let mut writer = testing::workload(&LOG, "held", &[("record", "70")]);
        let (ran, ..) =
            testing::run(testing::ready(writer.as_mut(), folder.path(), 9).unwrap()).unwrap();
        let log = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let bytes = change(&fs::read(&log).unwrap());
        fs::write(&log, bytes).unwrap();
        ran.finish().unwrap().integrity.unwrap()
    };
    let intact = found(&lines(9));
    assert!(intact.is_intact() && intact.records == 9, "{intact:?}");
    let counts = |of: Integrity| [of.lost, of.interleaved, of.reordered, of.foreign];
    assert_eq!(counts(found(&lines(7))), [2, 0, 0, 0]);
    assert_eq!(counts(found(&changed)), [0, 1, 0, 0]);
    assert_eq!(counts(found(&swapped)), [0, 0, 1, 0]);
    assert_eq!(counts(found(&more)), [0, 0, 0, 1]);
}
