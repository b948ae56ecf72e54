//! What users have of their own for a study to work on: folders of files, logs, and
//! databases, for which `sqlite/user_data` has the rest.
//!
//! Each is read once, before anything is made, and kept in memory. All arms of a run work
//! on copies of that one state, whatever becomes of the original meanwhile, and a place
//! within the folder that is copied is no part of it. Nothing of the user's is opened
//! for writing, locked, or opened again while slices run.

pub(crate) mod files;
pub(crate) mod inherited;
pub(crate) mod lines;
pub(crate) mod source;

#[cfg(test)]
mod tests;
