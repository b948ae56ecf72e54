//! System calls that neither std nor rustix has in a safe form, and memory that is shared.
//!
//! Unsafe code of the project is here, unless it is the very subject of another file, which then
//! says so. Nothing here knows what it is used for, reads a configuration or prints.
#![allow(unsafe_code, reason = "to have it in one place is what this crate is for")]

pub mod aligned;
pub mod call_filter;
pub mod clock;
pub mod descriptors;
pub mod extent_map;
pub mod extent_tree;
pub mod file_locks;
pub mod fork;
pub mod limits;
pub mod loop_device;
pub mod mapping;
pub mod mount_namespace;
pub mod mount_tree;
pub mod page_cache;
pub mod priority;
pub mod ptrace;
pub mod scheduling;
pub mod signals;
pub mod sockets;
pub mod start;
pub mod tracepoint;
pub mod usage;
pub mod wait;

use std::io;

/// What a call means that returns 0, or -1 and leaves the reason in `errno`.
fn done(returned: impl Into<i64>) -> io::Result<()> {
    if returned.into() == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
