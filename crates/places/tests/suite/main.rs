//! All tests on real places, in one program.

mod clean;
mod output;
mod place_folders;
mod real_places;
mod support;
mod workdir;
