//! What moving a cached page costs at a place, measured before the run.
//!
//! Many pages of a file and a single one are written, read and cut off by one call each: the
//! difference is the pages', and what calling and returning cost drops out.
//! The shortest of several rounds counts, for a disturbance can only add to it. The memory is
//! aligned: copies to memory that is not may take several times as long.

use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use host::clock::Clock;
use host::page_flags::large_share;
use model::run::PlaceFloor;
use rustix::fs::{Mode, OFlags, ftruncate, openat};
use rustix::io::{pread, pwrite};
use sys::aligned::Aligned;

const FILE: &CStr = c"floor";
/// So many pages are 256 KiB: within the caches of today's processors together with the
/// buffer, as the files are that a page is made of.
const PAGES: usize = 64;
const PAGE_BYTES: usize = 4096;
const ROUNDS: usize = 24;
/// Where a call takes long, fewer rounds tell as much.
const TIME_MAX: Duration = Duration::from_millis(10);

/// Measures in an empty folder, and leaves one file there.
pub(crate) fn measure(clock: &Clock, folder: BorrowedFd<'_>) -> io::Result<PlaceFloor> {
    let mut memory = Aligned::zeros(PAGES * PAGE_BYTES);
    let buffer = memory.bytes_mut();
    buffer.fill(7);
    let file = create(folder)?;
    let write_ns_per_page = slope(|pages| {
        ftruncate(&file, 0)?;
        timed(clock, || pwrite(&file, &buffer[..pages * PAGE_BYTES], 0))
    })?;
    let free_ns_per_page = slope(|pages| {
        pwrite(&file, &buffer[..pages * PAGE_BYTES], 0)?;
        timed(clock, || ftruncate(&file, 0))
    })?;
    pwrite(&file, buffer, 0)?;
    let read_ns_per_page =
        slope(|pages| timed(clock, || pread(&file, &mut buffer[..pages * PAGE_BYTES], 0)))?;
    let large_share = large_share(&file).unwrap_or_default();
    Ok(PlaceFloor { read_ns_per_page, write_ns_per_page, free_ns_per_page, large_share })
}

fn create(folder: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(openat(folder, FILE, flags, Mode::RUSR | Mode::WUSR)?)
}

fn timed<T>(clock: &Clock, call: impl FnOnce() -> rustix::io::Result<T>) -> io::Result<f64> {
    let began = clock.ticks();
    call()?;
    Ok(clock.between(began, clock.ticks()).as_nanos() as f64)
}

/// What one page more adds to a call, given what calls of so many pages take.
fn slope(mut took_ns: impl FnMut(usize) -> io::Result<f64>) -> io::Result<f64> {
    let began = Instant::now();
    let (mut one, mut many) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        one = took_ns(1)?.min(one);
        many = took_ns(PAGES)?.min(many);
        if began.elapsed() > TIME_MAX {
            break;
        }
    }
    Ok((many - one).max(0.0) / (PAGES - 1) as f64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::File;
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn a_page_costs_something_and_one_file_is_all_that_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let handle = File::open(folder.path()).unwrap();
        let floor = measure(&Clock::new(), handle.as_fd()).unwrap();
        assert!(floor.read_ns_per_page > 0.0 && floor.write_ns_per_page > 0.0, "{floor:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_call_costs_by_itself_is_no_pages() {
        let calls = |pages: usize| Ok(5000.0 + 100.0 * pages as f64);
        assert!((slope(calls).unwrap() - 100.0).abs() < 1e-9);
    }
}
