//! Planted corruption: whatever happens to what a study wrote, its check finds it.
//!
//! Each kind is planted a thousand times at random, in files that the study itself has
//! written, and what its own check says is looked at. Nothing is planted as often, and
//! nothing may be found then. Damage that changes nothing that was written, as a bit in a
//! part of a database that holds no data, is no corruption and is drawn anew.

#![allow(clippy::unwrap_used)]

mod database;
mod documents;
mod log;
mod serve;

use std::fs;
use std::path::Path;

use engine::study::{Study, StudyError};
use model::integrity::Integrity;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::testing;

/// How often each kind is planted.
const TIMES: u64 = 1000;
/// More draws that changed nothing than this for each that did are a kind that does not
/// do what it says.
const DRAWS_MAX: u64 = 50;

/// What chance is drawn from.
pub(super) type Chance = ChaCha8Rng;

/// What a trial came to.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    /// Something is said to be broken, or could not even be read.
    Found,
    /// Nothing is.
    Unseen,
    /// Nothing is, and nothing that was written has changed.
    Harmless,
}

/// What a check says.
fn said(checked: Result<Integrity, StudyError>) -> Outcome {
    match checked {
        Ok(integrity) if integrity.is_intact() => Outcome::Unseen,
        Ok(integrity) => {
            assert!(integrity.records > 0, "{integrity:?}");
            Outcome::Found
        }
        Err(_) => Outcome::Found,
    }
}

/// Plants a kind until it has done harm a thousand times.
fn all_found(kind: &str, mut trial: impl FnMut(&mut Chance) -> Outcome) {
    let mut chance = Chance::seed_from_u64(kind.bytes().map(u64::from).sum());
    let (mut found, mut draws) = (0, 0);
    while found < TIMES {
        draws += 1;
        assert!(draws <= TIMES * DRAWS_MAX, "{kind}: {found} found in {draws} draws");
        match trial(&mut chance) {
            Outcome::Found => found += 1,
            Outcome::Harmless => {}
            Outcome::Unseen => panic!("{kind}: went unseen in draw {draws}"),
        }
    }
}

/// Plants nothing.
fn none_found(what: &str, mut trial: impl FnMut(&mut Chance) -> Outcome) {
    let mut chance = Chance::seed_from_u64(1);
    for _ in 0..TIMES {
        assert_ne!(trial(&mut chance), Outcome::Found, "{what}: a false alarm");
    }
}

/// A study's slice, whose files are harmed before they are checked.
struct Slice {
    study: &'static dyn Study,
    strategy: &'static str,
    given: &'static [(&'static str, &'static str)],
    operations: u64,
}

impl Slice {
    /// One slice; `harm` says whether it changed anything.
    fn after(&self, harm: impl FnOnce(&Path) -> bool) -> Outcome {
        let folder = testing::in_memory();
        let mut workload = testing::workload(self.study, self.strategy, self.given);
        let ready = testing::ready(workload.as_mut(), folder.path(), self.operations).unwrap();
        let (mut ran, ..) = testing::run(ready).unwrap();
        ran.flush().unwrap();
        let harmed = harm(folder.path());
        match said(ran.finish().map(|outcome| outcome.integrity.unwrap())) {
            Outcome::Unseen if !harmed => Outcome::Harmless,
            outcome => outcome,
        }
    }
}

/// Changes a file's bytes; whether they differ afterwards.
fn rewrite(file: &Path, change: impl FnOnce(&mut Vec<u8>)) -> bool {
    let before = fs::read(file).unwrap();
    let mut after = before.clone();
    change(&mut after);
    fs::write(file, &after).unwrap();
    before != after
}

fn flip_a_bit(bytes: &mut [u8], chance: &mut Chance) {
    let at = chance.random_range(0..bytes.len());
    bytes[at] ^= 1 << chance.random_range(0..8);
}

/// Some bytes become zeros, as where a block was never written.
fn zero_some(bytes: &mut [u8], chance: &mut Chance) {
    let from = chance.random_range(0..bytes.len());
    let to = chance.random_range(from + 1..=bytes.len());
    bytes[from..to].fill(0);
}

fn take_some_out(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let from = chance.random_range(0..bytes.len());
    let to = chance.random_range(from + 1..=bytes.len());
    bytes.drain(from..to);
}

fn put_some_in(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let at = chance.random_range(0..=bytes.len());
    let new: Vec<u8> = (0..chance.random_range(1..200)).map(|_| chance.random()).collect();
    bytes.splice(at..at, new);
}

fn cut_the_end_off(bytes: &mut Vec<u8>, chance: &mut Chance) {
    bytes.truncate(chance.random_range(0..bytes.len()));
}

/// Two parts of one size, of several, change places.
fn swap_two(bytes: &mut [u8], size: usize, chance: &mut Chance) {
    let parts = bytes.len() / size;
    let one = chance.random_range(0..parts);
    let other = (one + chance.random_range(1..parts)) % parts;
    let (one, other) = (one.min(other) * size, one.max(other) * size);
    let (head, tail) = bytes.split_at_mut(other);
    head[one..one + size].swap_with_slice(&mut tail[..size]);
}
