//! Something that reads what others wrote, and what its inputs are made of.

use rand::Rng as _;
use rand::SeedableRng as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;

use super::{change, json};

/// One parser, or a few that are given the same.
pub(super) struct Target {
    pub(super) name: &'static str,
    /// How many of the inputs it gets, of what all get; a millisecond each is dear.
    pub(super) share: u64,
    /// Whether inputs stay JSON, so that they get beyond its parser.
    pub(super) is_json: bool,
    /// Inputs that are read without complaint.
    pub(super) seeds: fn() -> Vec<Vec<u8>>,
    /// Words that mean something to it.
    pub(super) words: &'static [&'static str],
    /// Reads an input; whether it was understood.
    pub(super) run: fn(&[u8]) -> bool,
}

impl Target {
    pub(super) fn prepare(&self) -> Inputs<'_> {
        Inputs { target: self, seeds: (self.seeds)() }
    }
}

/// A target's inputs, by their numbers.
pub(super) struct Inputs<'a> {
    target: &'a Target,
    seeds: Vec<Vec<u8>>,
}

impl Inputs<'_> {
    /// The input of that number: the seeds as they are, and then changed.
    pub(super) fn input(&self, seed: u64, number: u64) -> Vec<u8> {
        if let Some(plain) = self.seeds.get(number as usize) {
            return plain.clone();
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // A stream of its own for each.
        random.set_stream(number);
        let Some(mut input) = self.seeds.choose(&mut random).cloned() else { return Vec::new() };
        let is_json = self.target.is_json && random.random_ratio(9, 10);
        // What is read as a whole is refused for one change of many.
        let changes = 1 << random.random_range(0..if is_json { 3 } else { 5 });
        for _ in 0..random.random_range(1..=changes) {
            if is_json {
                json::change(&mut input, self.target.words, &mut random);
            } else {
                let other = self.seeds.choose(&mut random).map_or(&[][..], Vec::as_slice);
                change::change(&mut input, other, self.target.words, &mut random);
            }
        }
        input
    }
}
