//! What an arm's operations are done on: the user's own files, copied, or generated ones.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What an arm's operations are done on. No name of a file is in it: a record can be passed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Material {
    /// Whether it was read from the user's own; else it was generated.
    pub own: bool,
    /// What it is: `251 files, 1.2 MB`.
    pub about: String,
    /// How many bytes of the user's own are copied into a place at a time.
    #[serde(default)]
    pub copied_bytes: u64,
    /// The parameter that takes the user's own, where this is generated: `set`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_by: Option<String>,
}

impl Material {
    /// The user's own, of which so many bytes are copied.
    pub fn own(about: String, copied_bytes: u64) -> Self {
        Self { own: true, about, copied_bytes, own_by: None }
    }

    /// Generated, where a parameter takes the user's own.
    pub fn generated(about: String, own_by: &str) -> Self {
        Self { own: false, about, copied_bytes: 0, own_by: Some(own_by.to_owned()) }
    }
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", if self.own { "your files" } else { "generated" }, self.about)
    }
}
