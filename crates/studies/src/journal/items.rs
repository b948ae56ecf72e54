//! The items that transactions put: the same ones for every arm with the same keys and values,
//! in every slice.

use std::ops::Range;

use rand::{Rng as _, RngCore as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::spec::{Keys, Values};
use crate::random::{GOLDEN, mixed};

/// How many a transaction puts.
pub(super) const PER_TRANSACTION: u64 = 100;
const KEY_BYTES: usize = 8;

const FIRST_NAMES: [&str; 8] =
    ["Anna", "Bilal", "Chiara", "David", "Emeka", "Fatima", "Grete", "Hiroshi"];
const LAST_NAMES: [&str; 8] =
    ["Ahmed", "Bauer", "Costa", "Dubois", "Eriksen", "Ferrari", "Garcia", "Haas"];
const CITIES: [&str; 8] =
    ["Aarhus", "Berlin", "Cadiz", "Dakar", "Essen", "Fukuoka", "Ghent", "Hanoi"];
const STATES: [&str; 4] = ["open", "paid", "sent", "closed"];
const WORDS: [&str; 8] = ["call", "deliver", "early", "gift", "invoice", "leave", "ring", "second"];

/// What items are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) keys: Keys,
    pub(super) values: Values,
    pub(super) value_bytes: usize,
}

/// Those of some transactions that follow one another.
pub(super) struct Items {
    kind: Kind,
    /// One behind the other, each a key and a value.
    bytes: Vec<u8>,
}

impl Kind {
    pub(super) fn item_bytes(self) -> usize {
        KEY_BYTES + self.value_bytes
    }

    /// The items of transactions, which count from 0.
    pub(super) fn items(self, transactions: Range<u64>) -> Items {
        let size = self.item_bytes();
        let count = (transactions.end - transactions.start) * PER_TRANSACTION;
        let mut bytes = vec![0; count as usize * size];
        let all = bytes.chunks_exact_mut(size * PER_TRANSACTION as usize);
        for (transaction, items) in transactions.zip(all) {
            let mut random = ChaCha8Rng::seed_from_u64(transaction);
            let numbers = transaction * PER_TRANSACTION..;
            for (number, item) in numbers.zip(items.chunks_exact_mut(size)) {
                let (key, value) = item.split_at_mut(KEY_BYTES);
                key.copy_from_slice(&self.key(number).to_be_bytes());
                match self.values {
                    Values::Json => json(value, number, &mut random),
                    Values::Zeros => {}
                    Values::Incompressible => random.fill_bytes(value),
                }
            }
        }
        Items { kind: self, bytes }
    }

    /// No two items have the same.
    fn key(self, number: u64) -> u64 {
        match self.keys {
            Keys::Sequential => number,
            Keys::Random => mixed(number.wrapping_add(GOLDEN)),
        }
    }
}

impl Items {
    /// How many transactions they are of.
    pub(super) fn transactions(&self) -> usize {
        self.bytes.len() / self.transaction_bytes()
    }

    /// The keys and values of one of the transactions, in the order in which they are put.
    pub(super) fn of(&self, transaction: usize) -> impl Iterator<Item = (&[u8], &[u8])> {
        let size = self.transaction_bytes();
        let items = &self.bytes[transaction * size..][..size];
        items.chunks_exact(self.kind.item_bytes()).map(|item| item.split_at(KEY_BYTES))
    }

    fn transaction_bytes(&self) -> usize {
        self.kind.item_bytes() * PER_TRANSACTION as usize
    }
}

/// Fills a value with a record of an application, whose last field is as long as there is room.
fn json(value: &mut [u8], number: u64, random: &mut ChaCha8Rng) {
    let mut any = |names: &[&'static str]| names[random.random_range(0..names.len())];
    let (first, last) = (any(&FIRST_NAMES), any(&LAST_NAMES));
    let (city, state) = (any(&CITIES), any(&STATES));
    let cents: u32 = random.random_range(0..100_000);
    let who = format!(r#""name":"{first} {last}","city":"{city}""#);
    let mut text = format!(
        r#"{{"id":{number},{who},"total":{}.{:02},"state":"{state}","note":""#,
        cents / 100,
        cents % 100
    );
    let room = value.len().saturating_sub(2);
    while text.len() < room {
        text.push_str(WORDS[random.random_range(0..WORDS.len())]);
        text.push(' ');
    }
    text.truncate(room);
    text.push_str("\"}");
    let fits = value.len().min(text.len());
    value[..fits].copy_from_slice(&text.as_bytes()[..fits]);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn kind(keys: Keys, values: Values, value_bytes: usize) -> Kind {
        Kind { keys, values, value_bytes }
    }

    #[test]
    fn items_are_the_same_however_many_are_made_at_once_and_no_key_comes_twice() {
        for keys in [Keys::Random, Keys::Sequential] {
            for values in [Values::Json, Values::Zeros, Values::Incompressible] {
                let kind = kind(keys, values, 100);
                let (all, some) = (kind.items(0..20), kind.items(7..9));
                assert_eq!((all.transactions(), some.transactions()), (20, 2));
                assert!(all.of(8).eq(some.of(1)), "{kind:?}");
                let keys: BTreeSet<&[u8]> =
                    (0..20).flat_map(|t| all.of(t).map(|(key, _)| key)).collect();
                assert_eq!(keys.len(), 2000);
                let in_order = all.of(0).is_sorted();
                assert_eq!(in_order, kind.keys == Keys::Sequential);
            }
        }
    }

    #[test]
    fn values_are_what_they_are_called() {
        let value = |values, bytes| {
            kind(Keys::Random, values, bytes)
                .items(3..4)
                .of(0)
                .map(|(_, value)| value.to_vec())
                .next()
                .unwrap_or_default()
        };
        for bytes in [100, 300, 900] {
            let json = value(Values::Json, bytes);
            let parsed: serde_json::Value = serde_json::from_slice(&json).unwrap_or_default();
            assert_eq!((json.len(), parsed["id"].as_u64()), (bytes, Some(300)), "{json:?}");
        }
        assert_eq!(value(Values::Json, 1), b"\"");
        assert_eq!(value(Values::Zeros, 7), [0; 7]);
    }
}
