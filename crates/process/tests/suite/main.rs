//! All tests with real processes, in one program.

mod common;
mod installed_servers;
mod programs;
mod servers;
mod syncs;
mod workers;
