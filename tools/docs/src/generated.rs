//! A file that is made from the program.

/// A file and what it should hold.
pub(crate) struct Generated {
    pub(crate) path: &'static str,
    pub(crate) text: String,
}
