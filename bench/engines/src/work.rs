//! The recorded transactions: the same for every engine, from a seed.

use anyhow::{Result, bail};

const KEY_BYTES: usize = 16;
const VALUE_BYTES: usize = 100;

/// A key with its value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item {
    pub(crate) key: [u8; KEY_BYTES],
    pub(crate) value: [u8; VALUE_BYTES],
}

/// All transactions.
pub(crate) struct Work {
    are_keys_random: bool,
    items: u64,
    /// Items in a transaction.
    in_one: u64,
    seed: u64,
}

impl Work {
    pub(crate) fn new(keys: &str, items: u64, in_one: u64, seed: u64) -> Result<Self> {
        let are_keys_random = match keys {
            "random" => true,
            "sequential" => false,
            _ => bail!("keys are `random` or `sequential`, not `{keys}`"),
        };
        Ok(Self { are_keys_random, items, in_one, seed })
    }

    /// What a transaction puts.
    pub(crate) fn transaction(&self, number: u64) -> Vec<Item> {
        let first = number * self.in_one;
        (first..(first + self.in_one).min(self.items)).map(|item| self.item(item)).collect()
    }

    /// What all transactions before one put, in the order of keys.
    pub(crate) fn items_before(&self, transaction: u64) -> Vec<Item> {
        let mut items: Vec<Item> =
            (0..transaction).flat_map(|number| self.transaction(number)).collect();
        items.sort_unstable();
        items
    }

    fn item(&self, number: u64) -> Item {
        let mut key = [0; KEY_BYTES];
        let (high, low) = key.split_at_mut(KEY_BYTES / 2);
        if self.are_keys_random {
            let first = scrambled(self.seed ^ scrambled(number));
            high.copy_from_slice(&first.to_be_bytes());
            low.copy_from_slice(&scrambled(first).to_be_bytes());
        } else {
            low.copy_from_slice(&number.to_be_bytes());
        }
        Item { key, value: self.value(number) }
    }

    /// A record as applications log them, in JSON.
    fn value(&self, number: u64) -> [u8; VALUE_BYTES] {
        let chance = scrambled(!self.seed ^ scrambled(number));
        let text = format!(
            r#"{{"id":{},"user":"{:08x}","action":"{}","path":"/item/{}","bytes":{},"ms":{},"ok":1}}"#,
            10_000_000 + number % 90_000_000,
            chance >> 32,
            ["view", "edit", "list", "find"][(chance % 4) as usize],
            100_000 + chance / 4 % 900_000,
            10_000 + chance / 5 % 90_000,
            10 + chance / 7 % 90,
        );
        let mut value = [b' '; VALUE_BYTES];
        value[..text.len()].copy_from_slice(text.as_bytes());
        value
    }
}

/// A number that looks like chance, by `SplitMix64`, which gives no two numbers the same.
fn scrambled(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
