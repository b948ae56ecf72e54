//! Whether the page cache holds a file in large pages, where the kernel shows it.
//!
//! `/proc/self/pagemap` tells which page of memory is where a file is mapped, and
//! `/proc/kpageflags` what that page is part of (`Documentation/admin-guide/mm/pagemap.rst`).
//! Both are for root: others read zeros from the first, and cannot open the second.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::Ordering;

use rustix::fs::fstat;
use rustix::mm::MapFlags;
use sys::mapping::Mapping;

/// Of an entry of pagemap: the page is in memory.
const PRESENT: u64 = 1 << 63;
/// Of the same: which it is.
const FRAME: u64 = (1 << 55) - 1;
/// Of an entry of kpageflags: the head or a later page of several that are one.
const COMPOUND: u64 = 1 << 15 | 1 << 16;
const ENTRY_BYTES: usize = 8;

/// The share of a file's cached pages that are part of larger ones; nothing where the
/// kernel does not show it. The file must not shrink meanwhile.
pub fn large_share(file: impl AsFd) -> io::Result<Option<f64>> {
    let pages = fstat(&file)?.st_size as usize / rustix::param::page_size();
    let flags = File::open("/proc/kpageflags")?;
    let frames = frames(file, pages)?;
    let mut large = 0;
    for frame in &frames {
        large += usize::from(entry(&flags, *frame)? & COMPOUND > 0);
    }
    Ok((!frames.is_empty()).then(|| large as f64 / frames.len() as f64))
}

/// Which pages of memory hold the file's first pages.
fn frames(file: impl AsFd, pages: usize) -> io::Result<Vec<u64>> {
    let page_bytes = rustix::param::page_size();
    let mapping = Mapping::of_file(file, 0, pages * page_bytes, MapFlags::SHARED)?;
    for page in 0..pages {
        // Only what was used is mapped.
        black_box(mapping.byte(page * page_bytes).load(Ordering::Relaxed));
    }
    let first = (mapping.address() / page_bytes * ENTRY_BYTES) as u64;
    let mut entries = vec![0; pages * ENTRY_BYTES];
    let read =
        File::open("/proc/self/pagemap").and_then(|map| map.read_exact_at(&mut entries, first));
    mapping.unmap()?;
    read?;
    let entries = entries.as_chunks::<ENTRY_BYTES>().0.iter();
    let present = entries.map(|e| u64::from_ne_bytes(*e)).filter(|e| e & PRESENT > 0);
    Ok(present.map(|entry| entry & FRAME).filter(|frame| *frame > 0).collect())
}

fn entry(file: &File, number: u64) -> io::Result<u64> {
    let mut bytes = [0; ENTRY_BYTES];
    file.read_exact_at(&mut bytes, number * ENTRY_BYTES as u64)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stderr)]

    use std::fs;

    use super::*;

    #[test]
    fn single_pages_are_seen_where_the_kernel_shows_them() {
        // A file of one page is in a page of its own.
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = folder.path().join("file");
        fs::write(&path, vec![1; rustix::param::page_size()]).unwrap();
        match large_share(File::open(&path).unwrap()) {
            Ok(Some(share)) => assert!(share < f64::EPSILON, "{share}"),
            other => eprintln!("SKIPPED: because pages are shown to root alone: {other:?}"),
        }
    }
}
