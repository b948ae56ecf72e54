//! What disturbed a run from outside, as far as it could be seen.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Noise {
    /// What was seen to disturb, each only on evidence.
    pub sources: Vec<NoiseSource>,
    /// What could not be looked at, each with what that hides.
    pub unread: Vec<String>,
}

/// One thing that makes measurements differ from one another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoiseSource {
    /// A stable name: `steal`, `other_load`, `governor`.
    pub code: String,
    /// The figures, each with its unit in its name.
    pub evidence: BTreeMap<String, f64>,
    /// The same in a sentence.
    pub text: String,
    /// What to do about it, in a sentence.
    pub remedy: String,
}
