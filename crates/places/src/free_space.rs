//! In how large pieces a file system gives out its free space, and how old it is.
//!
//! Any user may ask by trying: a file without a name is allocated, not written, and its pieces are
//! counted (FIEMAP). It is gone once it is closed, after kill -9 as well. A new file system gives
//! one piece. One that has been in use gives many, and each is a request of the device more.

use std::os::fd::AsFd;

use model::place::{Detail, FreePieces, PlaceFacts};
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, openat};
use sys::extent_map::pieces;
use units::{counted, rough_size};

/// File systems that place files in extents, and are asked.
const ASKED: [&str; 3] = ["ext4", "xfs", "btrfs"];
/// The file takes this part of what is free …
const PART: u64 = 8;
/// … and no more than this.
const BYTES_MAX: u64 = 256 << 20;
/// Less says nothing.
const BYTES_MIN: u64 = 4 << 20;

/// Notes the pieces that a file gets in a directory of the place, where that can be asked.
pub fn note_free_pieces(facts: &mut PlaceFacts, directory: impl AsFd) {
    facts.free_pieces = free_pieces(directory, &facts.filesystem, facts.free_bytes);
    facts.details.extend(facts.free_pieces.map(detail));
}

fn free_pieces(directory: impl AsFd, filesystem: &str, free_bytes: u64) -> Option<FreePieces> {
    let bytes = (free_bytes / PART).min(BYTES_MAX);
    if !ASKED.contains(&filesystem) || bytes < BYTES_MIN {
        return None;
    }
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(directory, c".", flags, Mode::RUSR | Mode::WUSR).ok()?;
    fallocate(&file, FallocateFlags::empty(), 0, bytes).ok()?;
    let pieces = pieces(&file).ok().filter(|pieces| *pieces > 0)?;
    Some(FreePieces { probe_bytes: bytes, pieces })
}

/// The name of the detail that says how long a file system has been in use.
pub(crate) const AGE: &str = "age";

/// The age of a file system that was there before the run, where that bears on its speed.
pub(crate) fn in_use(filesystem: &str) -> Option<Detail> {
    let source = "it was there before this run";
    ASKED.contains(&filesystem).then(|| Detail::new(AGE, "in use", source))
}

/// The pieces in words.
fn detail(found: FreePieces) -> Detail {
    let mean = rough_size(found.mean_bytes());
    let (probe, pieces) = (rough_size(found.probe_bytes), counted(found.pieces, "piece"));
    let value = format!("given out in pieces of {mean} on average ({probe} in {pieces})");
    Detail::new("free space", value, "a file that was allocated and removed (FIEMAP)")
}
