#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;

use engine::power::Left;
use engine::slice_timer::SliceTimer;
use engine::study::PowerTrial as _;
use host::page_cache::resident_bytes;
use model::integrity::Integrity;

use super::config::Turn;
use super::power::Overwritten;
use super::*;
use crate::testing::{self, in_memory, on_disk, params, refusal, slice};

fn strategies() -> impl Iterator<Item = &'static str> {
    spec::SPEC.strategies.iter().map(|strategy| strategy.name.as_str())
}

const SMALL: [(&str, &str); 2] = [("file", "1 MiB"), ("depth", "8")];

#[test]
fn every_way_reads_and_writes_whole_blocks_on_disk_and_in_memory() {
    for strategy in strategies() {
        for access in ["read", "write", "mixed"] {
            for order in ["random", "sequential"] {
                for folder in [on_disk(), in_memory()] {
                    let given = [("access", access), ("order", order), SMALL[0], SMALL[1]];
                    let slice = slice(&BLOCKS, strategy, &given, folder.path(), 200).unwrap();
                    assert_eq!((slice.laps, slice.requested_bytes()), (200, 200 * 4096));
                    assert!(slice.integrity().is_intact(), "{strategy} {given:?}: {slice:?}");
                    assert_eq!(slice.integrity().records, 200, "{strategy} {given:?}");
                    assert!(slice.figure(spec::IOPS) > 0.0);
                }
            }
        }
    }
}

#[test]
fn blocks_of_any_size_are_whole_with_more_under_way_than_there_are_kinds_of_contents() {
    for (size, file, depth) in [("512 B", "64 KiB", "1"), ("1 MiB", "16 MiB", "16")] {
        let given = [("size", size), ("file", file), ("depth", depth), ("access", "write")];
        for strategy in strategies() {
            let mut arm = testing::workload(&BLOCKS, strategy, &given);
            let folder = on_disk();
            for _ in 0..3 {
                let ready = testing::ready(arm.as_mut(), folder.path(), 16).unwrap();
                let slice = testing::finish(ready).unwrap();
                assert!(slice.integrity().is_intact(), "{strategy} {given:?}: {slice:?}");
            }
        }
    }
}

#[test]
fn the_page_cache_is_passed_by_where_that_is_promised_and_holds_the_file_else() {
    for (strategy, cache, is_cold) in [
        ("buffered", "warm", false),
        ("buffered", "cold", true),
        ("direct", "warm", true),
        ("uring-direct", "warm", true),
    ] {
        let storage = || {
            let folder = on_disk();
            let given = [("cache", cache), SMALL[0], SMALL[1]];
            let slice = slice(&BLOCKS, strategy, &given, folder.path(), 256).unwrap();
            assert_eq!(
                slice.figure(spec::RESIDENT) < 2.0,
                is_cold,
                "{strategy} {cache}: {slice:?}"
            );
            slice.figure(spec::FROM_STORAGE)
        };
        // The counter is the process's: what other tests read meanwhile is in it, too.
        let is_from_memory = (0..5).any(|_| storage() <= 90.0);
        assert_eq!(is_from_memory, !is_cold, "{strategy} {cache}");
    }
}

#[test]
fn what_was_read_past_the_page_cache_is_not_in_it_afterwards() {
    let left = |strategy| {
        let folder = on_disk();
        let given = [("cache", "cold"), SMALL[0], SMALL[1]];
        slice(&BLOCKS, strategy, &given, folder.path(), 256).unwrap();
        resident_bytes(File::open(folder.path().join("blocks.bin")).unwrap()).unwrap()
    };
    // Memory pressure takes pages away, and nothing makes the kernel let go of each one.
    let mostly = |bytes: u64| bytes > 1 << 19;
    for (strategy, stays) in
        [("direct", false), ("uring-direct", false), ("buffered", true), ("uring", true)]
    {
        let bytes = left(strategy);
        assert_eq!(mostly(bytes), stays, "{strategy}: {bytes} of 1 MiB");
    }
}

fn config(given: &[(&str, &str)]) -> Config {
    Config::new("buffered", &params(&BLOCKS, given)).unwrap()
}

fn blocks_of(turns: &[Turn]) -> Vec<u64> {
    turns.iter().map(|turn| turn.block).collect()
}

#[test]
fn each_block_has_one_turn_at_the_most_in_an_order_that_is_new_in_each_slice() {
    let random = config(&[("access", "read"), ("order", "random"), SMALL[0]]);
    let [first, second] = [1, 2].map(|slice| blocks_of(&random.turns(256, slice, 0)));
    assert_ne!(first, second);
    let all: BTreeSet<u64> = (0..256).collect();
    assert_eq!(first.iter().copied().collect::<BTreeSet<u64>>(), all);
    let sorted = first.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    assert!(sorted < 20, "{first:?}");
    let some: BTreeSet<u64> = blocks_of(&random.turns(100, 1, 0)).into_iter().collect();
    assert!(some.len() == 100 && some.is_subset(&all));
}

#[test]
fn blocks_in_order_go_on_where_the_slice_before_ended() {
    let given = [("access", "write"), ("order", "sequential"), SMALL[0]];
    let from_200 = blocks_of(&config(&given).turns(100, 1, 200));
    assert_eq!(from_200, (200..256).chain(0..44).collect::<Vec<u64>>());

    let folder = in_memory();
    let mut arm = Arm::new(config(&given));
    for (operations, next) in [(200, 200), (100, 44), (212, 256), (1, 1)] {
        testing::finish(testing::ready(&mut arm, folder.path(), operations).unwrap()).unwrap();
        assert_eq!(arm.next, next);
    }
}

#[test]
fn as_many_are_read_as_the_mix_says() {
    let reads = |given: &[(&str, &str)]| {
        let given = [given, &[("file", "64 MiB")]].concat();
        config(&given).turns(16_384, 1, 0).iter().filter(|turn| turn.reads).count()
    };
    assert_eq!((reads(&[("access", "read")]), reads(&[("access", "write")])), (16_384, 0));
    for (mix, share) in [("70", 0.7), ("10", 0.1), ("0", 0.0), ("100", 1.0)] {
        let read = reads(&[("access", "mixed"), ("mix", mix)]) as f64 / 16_384.0;
        assert!((read - share).abs() < 0.02, "{read} of {mix}%");
    }
}

/// What one slice of 64 blocks finds after someone changed the file under it.
fn found(access: &str, change: impl FnOnce(&File, &mut dyn FnMut(u64) -> Vec<u8>)) -> Integrity {
    let folder = in_memory();
    let given = [("file", "256 KiB"), ("order", "sequential"), ("access", access)];
    let mut arm = testing::workload(&BLOCKS, "buffered", &given);
    let ready = testing::ready(arm.as_mut(), folder.path(), 64).unwrap();
    let path = folder.path().join("blocks.bin");
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let before = fs::read(&path).unwrap();
    let mut old = |block: u64| before[block as usize * 4096..][..4096].to_vec();
    if access == "read" {
        change(&file, &mut old);
        return testing::finish(ready).unwrap().outcome.integrity.unwrap();
    }
    let (mut ran, ..) = testing::run(ready).unwrap();
    change(&file, &mut old);
    ran.flush().unwrap();
    ran.finish().unwrap().integrity.unwrap()
}

fn block(file: &File, number: u64) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    file.read_exact_at(&mut bytes, number * 4096).unwrap();
    bytes
}

#[test]
fn whatever_a_block_is_instead_of_what_was_written_is_found() {
    let intact = found("write", |_, _| ());
    assert!(intact.is_intact() && intact.records == 64, "{intact:?}");

    let flipped = found("write", |file, _| {
        let byte = block(file, 9)[2000] ^ 1;
        file.write_all_at(&[byte], 9 * 4096 + 2000).unwrap();
    });
    assert_eq!(flipped.broken(), 1, "{flipped:?}");
    let lost = found("write", |file, old| file.write_all_at(&old(3), 3 * 4096).unwrap());
    assert_eq!((lost.lost, lost.broken()), (1, 1), "{lost:?}");
    let torn = found("write", |file, old| {
        file.write_all_at(&old(3)[2048..], 3 * 4096 + 2048).unwrap();
    });
    assert_eq!((torn.torn, torn.broken()), (1, 1), "{torn:?}");
    let swapped = found("write", |file, _| {
        let (one, other) = (block(file, 5), block(file, 6));
        file.write_all_at(&other, 5 * 4096).unwrap();
        file.write_all_at(&one, 6 * 4096).unwrap();
    });
    assert_eq!((swapped.overwritten, swapped.broken()), (2, 2), "{swapped:?}");
    let zeros = found("write", |file, _| file.write_all_at(&[0; 4096], 7 * 4096).unwrap());
    assert_eq!((zeros.overwritten, zeros.broken()), (1, 1), "{zeros:?}");
}

#[test]
fn a_read_that_brings_another_block_is_found() {
    let misread = found("read", |file, _| {
        let (one, other) = (block(file, 5), block(file, 6));
        file.write_all_at(&other, 5 * 4096).unwrap();
        file.write_all_at(&one, 6 * 4096).unwrap();
    });
    assert_eq!((misread.records, misread.overwritten), (64, 2), "{misread:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let says = |strategy, given: &[(&str, &str)]| refusal(&BLOCKS, strategy, given);
    let told = says("buffered", &[("file", "10 kB")]);
    assert!(told.contains("not a whole number of blocks of 4 KiB"), "{told}");
    let told = says("direct", &[("size", "1000 B"), ("file", "1 MB")]);
    assert!(told.contains("whole sectors"), "{told}");
    let told = says("uring", &[("size", "16 MiB"), ("depth", "17")]);
    assert!(told.contains("17 blocks of 16 MiB at a time take more than 256 MiB"), "{told}");
    let told = says("buffered", &[("size", "512 B"), ("file", "64 GiB")]);
    assert!(told.contains("134,217,728 blocks"), "{told}");
}

#[test]
fn a_file_serves_all_slices_of_an_arm() {
    let mut arm = testing::workload(&BLOCKS, "buffered", &SMALL);
    let slices = testing::kept_and_fresh(arm.as_mut(), &[20, 40, 10]);
    assert!(slices.iter().all(|(kept, fresh)| kept.len() == 1 && *fresh == 0), "{slices:?}");
}

/// A slice's latencies by themselves and its whole time, in ticks.
fn timed(strategy: &str, given: &[(&str, &str)], operations: u64) -> (u64, u64, u64) {
    let folder = in_memory();
    let mut arm = testing::workload(&BLOCKS, strategy, given);
    let ready = testing::ready(arm.as_mut(), folder.path(), operations).unwrap();
    let mut timer: SliceTimer = testing::timer();
    timer.start();
    let began = timer.last_ticks();
    let ran = ready.run(&mut timer).unwrap();
    timer.finish();
    drop(ran);
    let latencies = timer.latencies();
    assert_eq!(latencies.count(), operations);
    (latencies.sum(), latencies.max(), timer.last_ticks() - began)
}

#[test]
fn a_latency_is_of_its_own_block_however_many_are_under_way() {
    let given = [("file", "8 MiB"), ("depth", "8")];
    let (sum, longest, whole) = timed("buffered", &given, 2000);
    assert!(sum == whole && longest < whole, "one at a time: {sum} of {whole}");
    let (sum, longest, whole) = timed("uring", &given, 2000);
    // Eight at a time, none for longer than it was under way: neither from one answer to
    // the next nor from when the first of all was submitted.
    assert!(sum > 4 * whole && sum <= 8 * whole, "{sum} of {whole}");
    assert!(longest < whole, "{longest} of {whole}");
}

/// What is left of a slice of which so many blocks were acknowledged, once the file is as a
/// power failure leaves it.
fn left(sync: &str, done: u64, change: impl FnOnce(&File, &[u8], &[Turn])) -> Left {
    let given = [("file", "256 KiB"), ("access", "write"), ("sync", sync), ("depth", "1")];
    let mut trial = Overwritten::new("buffered", &params(&BLOCKS, &given)).unwrap();
    let folder = in_memory();
    let open = File::open(folder.path()).unwrap();
    let folders = |kept_is_new| SliceFolders::alone(open.as_fd(), open.as_fd(), kept_is_new);
    let ready = trial.ready(folders(true), 40, &testing::timer()).unwrap();
    let path = folder.path().join("blocks.bin");
    let before = fs::read(&path).unwrap();
    drop(testing::run(ready).unwrap());
    let file = File::options().read(true).write(true).open(&path).unwrap();
    change(
        &file,
        &before,
        &Config::new("buffered", &params(&BLOCKS, &given)).unwrap().turns(40, 1, 0),
    );
    trial.look(folders(false), done).unwrap()
}

#[test]
fn a_power_failure_may_take_what_was_promised_and_no_more() {
    let undone = |from: usize, to: usize| {
        move |file: &File, before: &[u8], turns: &[Turn]| {
            for Turn { block, .. } in &turns[from..to] {
                let at = *block as usize * 4096;
                file.write_all_at(&before[at..at + 4096], at as u64).unwrap();
            }
        }
    };
    assert_eq!(left("each", 40, |_, _, _| ()), Left::default());
    assert_eq!(left("each", 30, undone(30, 40)), Left::default());
    let lost = left("each", 30, undone(28, 40));
    assert!(lost.lost == 2 && lost.against.is_some(), "{lost:?}");
    let allowed = left("never", 30, undone(0, 40));
    assert_eq!((allowed.lost, allowed.against), (30, None));

    let torn = |turn: usize| {
        move |file: &File, before: &[u8], turns: &[Turn]| {
            let at = turns[turn].block as usize * 4096;
            file.write_all_at(&before[at + 2048..at + 4096], at as u64 + 2048).unwrap();
        }
    };
    let half = left("each", 30, torn(30));
    assert!(half.damage.is_some() && half.against.is_none(), "{half:?}");
    assert!(left("each", 30, torn(29)).against.is_some());
    assert!(left("never", 30, torn(29)).against.is_none());
    let untouched = left("never", 30, |file, _, turns| {
        let free = (0..64).find(|block| turns.iter().all(|turn| turn.block != *block)).unwrap();
        file.write_all_at(b"something", free * 4096 + 100).unwrap();
    });
    assert!(untouched.against.is_some(), "{untouched:?}");
}
