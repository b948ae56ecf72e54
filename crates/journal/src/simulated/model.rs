//! What a store must hold after each transaction, in a few bytes.

use std::collections::BTreeMap;

use rand::Rng as _;
use rand_chacha::ChaCha8Rng;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::files::Files;
use crate::simulated::machine::Mark;
use crate::store::Store;

/// A key and its value.
pub(crate) type Item = (Vec<u8>, Vec<u8>);

/// The contents that transactions lead to.
#[derive(Clone)]
pub(crate) struct Model {
    /// Of the contents after each transaction, from none at all on. They do not depend on
    /// the order in which it came about.
    fingerprints: Vec<u64>,
    contents: BTreeMap<Vec<u8>, Vec<u8>>,
    acknowledged: u64,
}

impl Model {
    pub(crate) fn new() -> Self {
        Self { fingerprints: vec![0], contents: BTreeMap::new(), acknowledged: 0 }
    }

    pub(crate) fn mark(&self) -> Mark {
        let attempted = self.fingerprints.len() as u64 - 1;
        Mark { acknowledged: self.acknowledged, attempted }
    }

    /// A transaction is about to be committed.
    pub(crate) fn attempt(&mut self, items: Vec<Item>) {
        let mut sum = self.fingerprints.last().copied().unwrap_or(0);
        for (key, value) in items {
            sum = sum.wrapping_add(fingerprint(&key, &value));
            if let Some(before) = self.contents.insert(key.clone(), value) {
                sum = sum.wrapping_sub(fingerprint(&key, &before));
            }
        }
        self.fingerprints.push(sum);
    }

    /// The last one was.
    pub(crate) fn acknowledge(&mut self) {
        self.acknowledged = self.mark().attempted;
    }

    /// The transaction at whose state a store is. An error where it is at none that may be.
    pub(crate) fn state_of<F: Files>(&self, store: &Store<F>, mark: Mark) -> Result<u64, String> {
        let last = store.last();
        if !(mark.acknowledged..=mark.attempted).contains(&last) {
            return Err(format!(
                "the store is at transaction {last}, of which {} to {} were possible",
                mark.acknowledged, mark.attempted
            ));
        }
        let mut sum = 0_u64;
        let mut before: Option<&[u8]> = None;
        for (key, value) in store.iter() {
            if before.is_some_and(|before| before >= key) {
                return Err("keys are not in order".to_owned());
            }
            if store.get(key) != Some(value) {
                return Err("a key is there, but is not found".to_owned());
            }
            before = Some(key);
            sum = sum.wrapping_add(fingerprint(key, value));
        }
        if self.fingerprints.get(last as usize) != Some(&sum) {
            return Err(format!("the store has not what transaction {last} led to"));
        }
        Ok(last)
    }

    /// Goes on from what a store was found to hold.
    pub(crate) fn return_to<F: Files>(&mut self, store: &Store<F>) {
        self.acknowledged = store.last();
        self.fingerprints.truncate(store.last() as usize + 1);
        self.contents = store.iter().map(|(key, value)| (key.into(), value.into())).collect();
    }
}

fn fingerprint(key: &[u8], value: &[u8]) -> u64 {
    xxh3_64_with_seed(value, xxh3_64_with_seed(key, 1))
}

/// What one transaction puts.
pub(crate) fn items(rng: &mut ChaCha8Rng, keys: u32, items_max: usize) -> Vec<Item> {
    let one = |rng: &mut ChaCha8Rng| {
        let mut key = rng.random_range(0..keys).to_be_bytes().to_vec();
        // Some keys are longer, but always the same ones.
        if key[3] % 8 == 7 {
            key.resize(150, b'k');
        }
        let mut value = vec![rng.random(); rng.random_range(0..400)];
        if rng.random() {
            rng.fill(&mut value[..]);
        }
        (key, value)
    };
    (0..rng.random_range(1..=items_max)).map(|_| one(rng)).collect()
}
