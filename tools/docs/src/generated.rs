//! A file that is made from the program.

/// A file and what it should hold.
pub(crate) struct Generated {
    /// From the repository's root.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Generated {
    pub(crate) fn new(path: impl Into<String>, text: String) -> Self {
        Self { path: path.into(), text }
    }
}
