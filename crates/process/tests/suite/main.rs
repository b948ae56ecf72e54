//! All tests with real processes, in one program.

#![allow(clippy::unwrap_used, missing_docs)]

mod common;
mod installed_servers;
mod programs;
mod servers;
mod syncs;
mod workers;
