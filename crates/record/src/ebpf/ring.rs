//! The ring that programs write to and this process reads (`BPF_MAP_TYPE_RINGBUF`).
#![expect(unsafe_code, reason = "the kernel alone says when a record stays as it is")]

use std::io;
use std::sync::atomic::Ordering;

use rustix::mm::MapFlags;
use rustix::param::page_size;
use sys::mapping::Mapping;

use super::kernel::{Kind, Map};

/// What the kernel puts before each record: its length, of which two bits have a meaning.
const HEAD_BYTES: u64 = 8;
const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;

/// The ring's memory: where we are, where the programs are, and the records, which are mapped
/// twice in a row, so that one which goes around the end is in one piece.
pub(super) struct Ring {
    map: Map,
    ours: Mapping,
    theirs: Mapping,
    bytes: usize,
}

impl Ring {
    /// One of so many bytes, a power of two; of fewer where there is not the memory.
    pub(super) fn new(bytes: usize, least: usize) -> io::Result<Self> {
        let map = match Map::new(Kind::Ring, 0, 0, bytes as u32) {
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory && bytes > least => {
                return Self::new(bytes / 2, least);
            }
            map => map?,
        };
        let page = page_size();
        let ours = Mapping::shared(map.descriptor(), page, MapFlags::empty())?;
        let theirs =
            Mapping::of_file(map.descriptor(), page as u64, page + 2 * bytes, MapFlags::SHARED)?;
        Ok(Self { map, ours, theirs, bytes })
    }

    pub(super) fn number(&self) -> i32 {
        self.map.number()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Gives each record that is complete to `see`, and its place back; how many bytes these
    /// were. An error ends it.
    pub(super) fn drain(
        &mut self,
        mut see: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<u64> {
        // The kernel changes both atomically.
        let (ours, theirs) = (self.ours.word(0), self.theirs.word(0));
        let begin = ours.load(Ordering::Relaxed);
        let mut at = begin;
        while at < theirs.load(Ordering::Acquire) {
            let place = at as usize & (self.bytes - 1);
            // The records are behind the page of `theirs`. The kernel writes a record's length
            // when it is complete.
            let head = page_size() + place;
            let length = self.theirs.half_word(head).load(Ordering::Acquire);
            if length & BUSY != 0 {
                break;
            }
            let bytes = u64::from(length & !(BUSY | DISCARDED));
            if length & DISCARDED == 0 {
                // SAFETY: the record is complete, and in one piece for the records are mapped
                // twice; its place is not used again before it is given back.
                let record =
                    unsafe { self.theirs.bytes(head + HEAD_BYTES as usize, bytes as usize) };
                see(record)?;
            }
            at += (bytes + HEAD_BYTES).next_multiple_of(8);
            ours.store(at, Ordering::Release);
        }
        Ok(at - begin)
    }
}
