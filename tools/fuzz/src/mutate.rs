//! Inputs that nobody would write, of inputs that are understood.
//!
//! An input that is a tree is read as one, changed where the schema of its type says what there may
//! be, and written again: most of what is made so gets beyond the parser. Bytes are libFuzzer's
//! business, which knows from comparisons that were made what would have fitted.

pub mod schema;
mod text;
mod tree;
pub mod values;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use self::schema::Schema;

/// What inputs are.
pub enum Form {
    /// JSON of a type.
    Json(Schema),
    /// TOML, which such JSON would become.
    Toml(Schema),
    /// Text, with words that mean something.
    Text(&'static [&'static str]),
}

impl Form {
    /// Words that mean something.
    pub fn words(&self) -> &'static [&'static str] {
        match self {
            Self::Json(schema) | Self::Toml(schema) => schema.words(),
            Self::Text(words) => words,
        }
    }

    /// Whether what is wrong with one is so in one place.
    pub fn is_tree(&self) -> bool {
        !matches!(self, Self::Text(_))
    }

    /// Another input; nothing where its bytes are to be changed instead.
    pub fn change(&self, input: &[u8], seed: u64) -> Option<Vec<u8>> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        match self {
            Self::Text(words) => {
                let mut input = input.to_vec();
                random.random::<bool>().then(|| {
                    text::change(&mut input, words, &mut random);
                    input
                })
            }
            _ if random.random_ratio(1, 16) => None,
            Self::Json(schema) => {
                let mut value = serde_json::from_slice(input).ok()?;
                change_tree(&mut value, schema, &mut random);
                serde_json::to_vec(&value).ok()
            }
            Self::Toml(schema) => {
                let table: toml::Table = toml::from_str(str::from_utf8(input).ok()?).ok()?;
                let mut value = serde_json::to_value(table).ok()?;
                change_tree(&mut value, schema, &mut random);
                toml::to_string(&value).ok().map(String::into_bytes)
            }
        }
    }
}

/// Mostly one change: what is refused for one of many says nothing of the others.
fn change_tree(value: &mut Value, schema: &Schema, random: &mut ChaCha8Rng) {
    let changes = [1, 1, 1, 2, 4][random.random_range(0..5)];
    (0..changes).for_each(|_| tree::change(value, schema, random));
}
