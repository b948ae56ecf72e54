//! What articles were measured with: programs of theirs, and programs that must be installed.

pub(crate) mod originals;
pub(crate) mod programs;
