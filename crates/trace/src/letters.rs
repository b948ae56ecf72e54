//! Bytes as a text of as many letters, one for each.

use serde::{Deserialize, Deserializer, Serializer};

/// Bytes as letters.
pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&bytes.iter().map(|byte| char::from(*byte)).collect::<String>())
}

/// Letters as bytes; those that are none are lost.
pub fn deserialize<'de, D: Deserializer<'de>, B: From<Vec<u8>>>(from: D) -> Result<B, D::Error> {
    let text = String::deserialize(from)?;
    let bytes: Vec<u8> = text.chars().filter_map(|letter| u8::try_from(letter).ok()).collect();
    Ok(bytes.into())
}
