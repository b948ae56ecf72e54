//! Each cause is built for real and must be named; beside it, in the same run,
//! runs what lacks it, where it must not be.
//!
//! What a machine does not allow (no root, no control groups, no disk under the
//! build folder) is skipped, loudly.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

extern crate iotoll_engine as engine;

mod bench;
mod loop_device;
mod study;
mod tmpfs;

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use model::analysis::{Comparison, Verdict};

use crate::bench::{ATTEMPTS, Bench, alone, compare, skipped};
use crate::loop_device::LoopDevice;
use crate::study::{AROUND_READS, REMOVED_FILES};
use crate::tmpfs::Tmpfs;

/// Together three times what the slow device may have unwritten.
const WRITES_HELD_BACK: u64 = 24;
/// A process that slept comes first: a short slice may be over before it has to share.
const APPENDS_THAT_SHARE: u64 = 50_000;

#[test]
fn writes_that_stay_in_memory_are_absorbed_and_forced_ones_are_bound_by_sync() {
    let Some(bench) = Bench::on_disk() else { return };
    let Some(found) = bench.run(&["append", "append-sync"]) else { return };
    found.expect("append", &["absorbed-by-page-cache"], &["bound-by-sync"]);
    found.expect("append-sync", &["bound-by-sync"], &["absorbed-by-page-cache"]);
    let absorbed = found.evidence("append", "absorbed-by-page-cache");
    assert!(absorbed["left_in_cache_bytes_per_slice"] > 0.0, "{absorbed:?}");
    assert!(absorbed["deferred_sync_ns_per_slice"] > 0.0, "{absorbed:?}");
}

#[test]
fn nothing_is_absorbed_where_there_is_no_device() {
    let Some(bench) = Bench::in_memory() else { return };
    let Some(found) = bench.run(&["append", "append-sync"]) else { return };
    found.expect("append", &[], &["absorbed-by-page-cache", "bound-by-sync"]);
}

#[test]
fn a_lock_that_another_holds_is_named_and_a_free_one_is_not() {
    let Some(bench) = Bench::in_memory() else { return };
    let Some(alone) = bench.run(&["locked"]) else { return };
    alone.expect("locked", &[], &["waiting-for-lock"]);

    let lock = bench.lock_file();
    let done = AtomicBool::new(false);
    let contended = thread::scope(|scope| {
        scope.spawn(|| hold_often(&lock, &done));
        let found = bench.run(&["locked"]);
        done.store(true, Ordering::Relaxed);
        found
    });
    if let Some(contended) = contended {
        contended.expect("locked", &["waiting-for-lock"], &[]);
    }
}

fn hold_often(lock: &File, done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        flock(lock, FlockOperation::LockExclusive).unwrap();
        thread::sleep(Duration::from_millis(2));
        flock(lock, FlockOperation::Unlock).unwrap();
        thread::sleep(Duration::from_micros(100));
    }
}

#[test]
fn a_cold_file_is_read_from_the_device_and_a_warm_one_is_not() {
    let Some(bench) = Bench::on_disk() else { return };
    let Some(found) = bench.run(&["read-cold", "read-warm"]) else { return };
    found.expect("read-cold", &["reads-from-device"], &["throttled-writeback"]);
    found.expect("read-warm", &[], &["reads-from-device"]);
}

#[test]
fn small_calls_are_told_from_the_programs_own_work() {
    let Some(bench) = Bench::in_memory() else { return };
    // The kernel separates its time from the program's by looking every few
    // milliseconds, which blurs short slices of both kinds side by side.
    let [Some(calls), Some(hashes)] = ["byte-files", "hash"].map(|strategy| bench.run(&[strategy]))
    else {
        return;
    };
    for (found, strategy) in [(&calls, "byte-files"), (&hashes, "hash")] {
        let cpu = found.cpu(strategy);
        if cpu < Duration::from_millis(80) {
            skipped(&format!("because others left {strategy} {cpu:?} of processor time"));
            return;
        }
    }
    calls.expect("byte-files", &["system-calls"], &["application-cpu"]);
    hashes.expect("hash", &["application-cpu"], &["system-calls"]);
}

#[test]
fn large_copies_are_not_taken_for_system_calls() {
    let Some(bench) = Bench::in_memory() else { return };
    let Some(found) = bench.run(&["write-large"]) else { return };
    found.expect("write-large", &[], &["system-calls"]);
}

#[test]
fn bytes_names_and_faults_are_told_apart_and_from_calls() {
    let Some(bench) = Bench::in_memory() else { return };
    let situations =
        [("read-whole", "copying"), ("make-and-remove", "metadata"), ("use-memory", "page-faults")];
    for (strategy, own) in situations {
        let Some(found) = bench.run(&[strategy]) else { return };
        let cpu = found.cpu(strategy);
        if cpu < Duration::from_millis(80) {
            skipped(&format!("because others left {strategy} {cpu:?} of processor time"));
            return;
        }
        let others = ["copying", "metadata", "page-faults", "system-calls"];
        let others: Vec<&str> = others.into_iter().filter(|code| *code != own).collect();
        found.expect(strategy, &[own], &others);
    }
}

#[test]
fn small_pages_explain_why_a_tmpfs_is_slower_and_equal_ones_do_not() {
    let alone = alone();
    let (Some(small), Some(large), Some(also_large)) =
        (Tmpfs::with("huge=never"), Tmpfs::with("huge=always"), Tmpfs::with("huge=always"))
    else {
        return;
    };
    let measured = || compare(&alone, "read-whole", [large.path(), small.path()]);
    let (mut run, mut compared) = measured();
    for _ in 1..ATTEMPTS {
        if compared.verdict != Verdict::Slower {
            (run, compared) = measured();
        }
    }
    let shares: Vec<_> = run.floor.places.iter().map(|floor| floor.unwrap().large_share).collect();
    if shares.contains(&None) {
        skipped("the kernel's word on pages, because it is not shown here");
    } else {
        assert_eq!(shares, [Some(1.0), Some(0.0)]);
    }
    if compared.verdict == Verdict::Slower {
        assert_eq!(compared.causes[0].code.as_str(), "small-pages", "{compared:?}");
        let command = compared.next.and_then(|next| next.command).unwrap();
        assert!(command.contains("huge=within_size"), "{command}");
    } else {
        let Comparison { verdict, why, .. } = compared;
        skipped(&format!("what explains it, because the verdict is {verdict:?}: {why:?}"));
    }
    let (_, alike) = compare(&alone, "read-whole", [large.path(), also_large.path()]);
    assert!(alike.causes.iter().all(|cause| cause.code.as_str() != "small-pages"), "{alike:?}");
}

#[test]
fn removing_a_file_waits_for_its_discard_and_without_discards_for_none() {
    let alone = alone();
    let below = places::inspect("below", &std::env::temp_dir()).unwrap();
    if !below.mount_options.iter().any(|option| option == "discard") {
        skipped("because what would hold the image discards nothing itself");
        return;
    }
    let removed = |options: &str| {
        let device = LoopDevice::with_ext4("^has_journal", options)?;
        let facts = places::inspect("loop", device.mount_point()).unwrap();
        assert_eq!(facts.journal, Some(false));
        let bench = Bench::under(&alone, device.mount_point());
        bench.run_exactly(REMOVED_FILES, &["remove-synced"])
    };
    let (Some(discards), Some(none)) = (removed("discard"), removed("nodiscard")) else { return };
    discards.expect("remove-synced", &["device-discards"], &[]);
    none.expect("remove-synced", &[], &["device-discards"]);
}

#[test]
fn a_journal_is_seen_where_there_is_one() {
    let _alone = alone();
    let Some(device) = LoopDevice::with_ext4("has_journal", "relatime") else { return };
    let facts = places::inspect("loop", device.mount_point()).unwrap();
    assert_eq!(facts.journal, Some(true));
}

#[test]
fn writers_that_a_slow_device_holds_back_are_throttled() {
    let alone = alone();
    let Some(device) = LoopDevice::with_small_dirty_limit() else { return };
    let slow = Bench::under(&alone, device.mount_point());
    let held_back = slow.run_exactly(WRITES_HELD_BACK, &["write-large"]);
    let Some(held_back) = held_back else { return };
    held_back.expect("write-large", &["throttled-writeback"], &["reads-from-device"]);
    drop(slow);

    let program = std::env::current_exe().unwrap();
    let usual = Bench::under(&alone, program.parent().unwrap());
    let Some(free) = usual.run_exactly(WRITES_HELD_BACK, &["write-large"]) else { return };
    free.expect("write-large", &[], &["throttled-writeback"]);
}

#[test]
fn other_programs_on_every_processor_are_noticed() {
    let Some(bench) = Bench::in_memory() else { return };
    let processors = thread::available_parallelism().unwrap().get();
    let burners: Vec<Burner> = (0..2 * processors).map(|_| Burner::start()).collect();
    let beside = bench.run_exactly(APPENDS_THAT_SHARE, &["append"]);
    drop(burners);
    if let Some(beside) = beside {
        beside.expect("append", &["outside-noise"], &[]);
    }

    let Some(quiet) = bench.run(&["append"]) else { return };
    let busy = quiet.others_busy_share();
    if busy > 0.04 {
        skipped(&format!(
            "a quiet run cannot be seen, because others kept {:.0}% of the processors busy",
            busy * 100.0
        ));
        return;
    }
    quiet.expect("append", &[], &["outside-noise"]);
}

/// A process that burns a processor until it is dropped.
struct Burner(std::process::Child);

impl Burner {
    fn start() -> Self {
        let mut burn = Command::new("sh");
        burn.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
        Self(burn.spawn().unwrap())
    }
}

impl Drop for Burner {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_working_set_beyond_the_groups_memory_is_memory_pressure() {
    if let Some(test) = std::env::var_os(bench::CHILD) {
        let bench = Bench::at(Path::new(&test));
        if let Some(found) = bench.run_exactly(AROUND_READS, &["read-around"]) {
            println!("{}", found.codes("read-around").join(" "));
        }
        return;
    }
    let Some(bench) = Bench::on_disk() else { return };
    let this = "a_working_set_beyond_the_groups_memory_is_memory_pressure";
    let Some(found) = bench.run_exactly(AROUND_READS, &["read-around"]) else { return };
    found.expect("read-around", &[], &["memory-pressure"]);
    if let Some(codes) = bench.in_small_memory_group(this) {
        assert!(codes.contains("memory-pressure"), "{codes}");
    }
}
