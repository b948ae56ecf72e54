//! Runs each target's seeds, some inputs made from them, and past findings, on an ordinary build
//! without libFuzzer.

#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::Path;

use iotoll_fuzz::allocations::Counting;
use iotoll_fuzz::{Target, all, outcome};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Past findings, by target.
const FOUND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/found");
/// So many inputs are made for a target with a hundredth of all; others get their share.
const MADE: u64 = 60;

/// Whether it was understood. A defect is a panic.
fn understood(target: &Target, input: &[u8], what: &str) -> bool {
    match outcome::of(target.run, input).result {
        Ok(understood) => understood,
        Err(defect) => panic!("{}: {what}: {defect:?}", target.name),
    }
}

#[test]
fn seeds_are_understood() {
    for target in all() {
        let seeds = (target.seeds)();
        let understood = seeds.iter().filter(|seed| understood(&target, seed, "a seed")).count();
        assert!(understood * 2 > seeds.len(), "{}: {understood} of {}", target.name, seeds.len());
        assert!(seeds.iter().all(|seed| seed.len() <= target.bytes_max), "{}", target.name);
    }
}

#[test]
fn what_found_a_defect_finds_none() {
    let targets = all();
    let folders = fs::read_dir(FOUND).unwrap().map(|folder| folder.unwrap().path());
    let mut inputs = 0;
    for folder in folders.filter(|folder| folder.is_dir()) {
        let is_of = |target: &&Target| Path::new(target.name) == folder.file_name().unwrap();
        let target = targets.iter().find(is_of).unwrap();
        for file in fs::read_dir(&folder).unwrap() {
            let file = file.unwrap().path();
            understood(target, &fs::read(&file).unwrap(), &file.display().to_string());
            inputs += 1;
        }
    }
    assert!(inputs > 0);
}

#[test]
fn the_first_inputs_that_are_made_are_withstood() {
    for target in all() {
        let (form, seeds) = ((target.form)(), (target.seeds)());
        let mut inputs = 0;
        for number in 0..MADE * target.share.div_ceil(100) {
            let seed = &seeds[number as usize % seeds.len()];
            let changed = form.change(seed, number).filter(|input| input.len() < target.bytes_max);
            let Some(changed) = changed else { continue };
            understood(&target, &changed, &format!("the input made by {number}"));
            inputs += 1;
        }
        assert!(inputs > MADE / 4, "{}: {inputs}", target.name);
    }
}
