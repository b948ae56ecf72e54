//! How a source of noise is written down.

use model::noise::{NoiseCode, NoiseSource};

/// A source, with figures whose names have their units.
pub(super) fn source(
    code: NoiseCode,
    evidence: &[(&str, f64)],
    text: String,
    remedy: &str,
) -> NoiseSource {
    NoiseSource {
        code,
        evidence: evidence.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        text,
        remedy: remedy.to_owned(),
        effect: None,
        touched: Vec::new(),
    }
}
