//! Makes inputs that nobody would write from inputs that are understood.
//!
//! A tree is parsed, changed as the schema of its type says, and written again: most of these inputs
//! get past the parser. libFuzzer changes bytes by itself.

pub mod schema;
mod text;
mod tree;
pub mod values;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use self::schema::Schema;

/// The form of a target's inputs.
pub enum Form {
    /// JSON of a type.
    Json(Schema),
    /// TOML that a schema describes as if it were JSON.
    Toml(Schema),
    /// Text, with words that its parser knows.
    Text(&'static [&'static str]),
}

impl Form {
    /// Words that the parser knows.
    pub fn words(&self) -> &'static [&'static str] {
        match self {
            Self::Json(schema) | Self::Toml(schema) => schema.words(),
            Self::Text(words) => words,
        }
    }

    /// Whether inputs are parsed as trees.
    pub fn is_tree(&self) -> bool {
        !matches!(self, Self::Text(_))
    }

    /// Changes an input; none if libFuzzer should change its bytes instead.
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

/// Mostly makes one change: of many, one that is refused hides the others.
fn change_tree(value: &mut Value, schema: &Schema, random: &mut ChaCha8Rng) {
    let changes = [1, 1, 1, 2, 4][random.random_range(0..5)];
    (0..changes).for_each(|_| tree::change(value, schema, random));
}
