//! The ring that programs write to and this process reads (`BPF_MAP_TYPE_RINGBUF`).

use std::io;
use std::os::fd::AsFd as _;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

use super::kernel::{Kind, Map};

/// What the kernel puts before each record: its length, of which two bits have a meaning.
const HEAD_BYTES: u64 = 8;
const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;

/// The ring's memory: where we are, where the programs are, and the records, which are mapped
/// twice in a row, so that one which goes around the end is in one piece.
pub(super) struct Ring {
    map: Map,
    ours: NonNull<libc::c_void>,
    theirs: NonNull<libc::c_void>,
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
        let map_at = |offset: u64, length, protection| {
            // SAFETY: at an address of the kernel's choice, nothing else is there.
            let at = unsafe {
                let (anywhere, fd) = (std::ptr::null_mut(), map.descriptor().as_fd());
                mmap(anywhere, length, protection, MapFlags::SHARED, fd, offset)
            }?;
            NonNull::new(at).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))
        };
        let ours = map_at(0, page, ProtFlags::READ | ProtFlags::WRITE)?;
        let theirs = map_at(page as u64, page + 2 * bytes, ProtFlags::READ)?;
        Ok(Self { map, ours, theirs, bytes })
    }

    pub(super) fn number(&self) -> i32 {
        self.map.number()
    }

    /// Gives each record that is complete to `see`, and its place back; how many bytes these
    /// were. An error ends it.
    pub(super) fn drain(
        &mut self,
        mut see: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<u64> {
        // SAFETY: both are the first words of pages that stay mapped, and that the kernel
        // changes atomically.
        let (ours, theirs) = unsafe {
            (self.ours.cast::<AtomicU64>().as_ref(), self.theirs.cast::<AtomicU64>().as_ref())
        };
        let begin = ours.load(Ordering::Relaxed);
        let mut at = begin;
        while at < theirs.load(Ordering::Acquire) {
            let place = at as usize & (self.bytes - 1);
            // SAFETY: within the records, behind the page of `theirs`; they begin at multiples
            // of eight bytes.
            let head = unsafe { self.theirs.byte_add(page_size() + place) };
            // SAFETY: the kernel writes the length atomically, when the record is complete.
            let length = unsafe { head.cast::<AtomicU32>().as_ref() }.load(Ordering::Acquire);
            if length & BUSY != 0 {
                break;
            }
            let bytes = u64::from(length & !(BUSY | DISCARDED));
            if length & DISCARDED == 0 {
                // SAFETY: the record is complete, and in one piece for the records are mapped
                // twice; its place is not used again before it is given back.
                let record = unsafe {
                    let first = head.byte_add(HEAD_BYTES as usize).cast::<u8>();
                    slice::from_raw_parts(first.as_ptr(), bytes as usize)
                };
                see(record)?;
            }
            at += (bytes + HEAD_BYTES).next_multiple_of(8);
            ours.store(at, Ordering::Release);
        }
        Ok(at - begin)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: both were mapped with these lengths, and nothing refers to them any more.
        unsafe {
            let _ = munmap(self.ours.as_ptr(), page_size());
            let _ = munmap(self.theirs.as_ptr(), page_size() + 2 * self.bytes);
        }
    }
}
