//! All tests on real places, in one program.

#![allow(clippy::unwrap_used, missing_docs)]

mod clean;
mod output;
mod place_folders;
mod real_places;
mod support;
mod workdir;
