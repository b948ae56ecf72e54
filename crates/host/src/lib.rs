//! What the kernel says: of this machine, its mounts, devices and control groups, of
//! processes, and of time.
//!
//! The only crate that reads it. Every file of `/proc` and `/sys` is read through a
//! [`Root`](root::Root), which in tests is a folder of plain files (`fixture`); every
//! figure is converted to nanoseconds and bytes where it is read; what the record of a
//! run keeps is returned as the record's own types. Nothing is judged here.
//!
//! # Inside
//!
//! Parsers of procfs-core serve where a reading is rare. Readings around slices have parsers here: a map of
//! owned strings takes 30 µs for `/proc/vmstat`, and a whole reading has 50 µs. `probes` is what is read around
//! each slice. `sync_calls` counts the syncs of a server by tracepoints, because `/proc` does not count them and
//! a tracer would slow the server. `confinement` takes the rights from readers of foreign files.

pub mod cgroup;
pub mod clock;
pub mod confinement;
mod cpu;
pub mod details;
pub mod device;
pub mod disks;
mod file;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod identity;
pub mod input;
pub mod journal;
pub mod machine;
pub mod memory;
pub mod mount_options;
pub mod mounts;
pub mod owner;
pub mod page_cache;
pub mod page_flags;
pub mod ports;
mod pressure;
pub mod probes;
pub mod process;
pub mod root;
pub mod sharing;
pub mod sockets;
pub mod space;
pub mod stored;
pub mod sync_calls;
pub mod touch;
pub mod usage;
pub mod users;
mod vmstat;
mod workers;
pub mod zram;
