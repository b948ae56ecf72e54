//! A counter of a tracepoint (`perf_event_open(2)`).
//!
//! It is opened here rather than by perf-event2, which is six crates for one system call and a
//! structure of integers.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::FromRawFd as _;

/// Counts for the thread that opened it and all that descend from it.
#[derive(Debug)]
pub struct Counter(File);

/// `struct perf_event_attr` as it was at first (`PERF_ATTR_SIZE_VER0`), which every
/// kernel takes.
#[repr(C)]
#[derive(Default)]
struct EventAttributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_kind: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_kind: u32,
    breakpoint_address: u64,
}

impl Counter {
    /// By the tracepoint's number.
    pub fn open(tracepoint: u64) -> io::Result<Self> {
        const PERF_TYPE_TRACEPOINT: u32 = 2;
        const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;
        const INHERIT: u64 = 1 << 1;
        // Without these two the right to look into the kernel is asked for.
        const EXCLUDE_KERNEL: u64 = 1 << 5;
        const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
        let attributes = EventAttributes {
            kind: PERF_TYPE_TRACEPOINT,
            size: size_of::<EventAttributes>() as u32,
            config: tracepoint,
            flags: INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
            ..EventAttributes::default()
        };
        let (this_thread, any_processor, no_group) = (0, -1, -1);
        // SAFETY: the structure is laid out as the kernel's, says its size and outlives
        // the call, which only reads it; the descriptor that comes back is nobody else's.
        unsafe {
            let fd = libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                this_thread,
                any_processor,
                no_group,
                PERF_FLAG_FD_CLOEXEC,
            );
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(File::from_raw_fd(fd as libc::c_int)))
        }
    }

    /// How often it was passed so far.
    pub fn read(&self) -> io::Result<u64> {
        let mut count = [0; size_of::<u64>()];
        (&self.0).read_exact(&mut count)?;
        Ok(u64::from_ne_bytes(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_structure_is_as_long_as_its_first_version() {
        assert_eq!(size_of::<EventAttributes>(), 64);
    }
}
