//! Benches in a small form, for what they find that is no figure.

mod kills;
mod promises;
