//! Memory that is mapped: of a file, which others may share, or without one.
//!
//! Others may change what is shared at any time. So nothing here lends it as plain bytes, but for
//! [`Mapping::bytes`]: it is read and written atomically.

use std::ffi::c_void;
use std::io;
use std::os::fd::AsFd;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use rustix::param::page_size;

/// Memory that is mapped until this is dropped.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory belongs to the process, and what is lent of it is atomic or not changed.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// So much of a file from an offset on, to be read alone.
    pub fn of_file(file: impl AsFd, offset: u64, bytes: usize, how: MapFlags) -> io::Result<Self> {
        Self::of(file, offset, bytes, how, ProtFlags::READ)
    }

    /// The same to be written as well, and shared with all who map it.
    pub fn shared(file: impl AsFd, bytes: usize, how: MapFlags) -> io::Result<Self> {
        Self::of(file, 0, bytes, how | MapFlags::SHARED, ProtFlags::READ | ProtFlags::WRITE)
    }

    fn of(
        file: impl AsFd,
        offset: u64,
        bytes: usize,
        how: MapFlags,
        protection: ProtFlags,
    ) -> io::Result<Self> {
        // Elsewhere than the kernel likes, it could replace what is mapped there.
        let how = how.difference(MapFlags::FIXED);
        // SAFETY: a new mapping where the kernel likes.
        let start = unsafe { mmap(ptr::null_mut(), bytes, protection, how, file, offset) };
        Self::at(start?, bytes)
    }

    /// Memory of this process alone.
    pub fn anonymous(bytes: usize) -> io::Result<Self> {
        Self::without_file(bytes, MapFlags::PRIVATE)
    }

    /// Memory that is shared with the processes that this one forks.
    pub fn shared_with_children(bytes: usize) -> io::Result<Self> {
        Self::without_file(bytes, MapFlags::SHARED)
    }

    fn without_file(bytes: usize, how: MapFlags) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping where the kernel likes.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, protection, how) };
        Self::at(start?, bytes)
    }

    fn at(start: *mut c_void, bytes: usize) -> io::Result<Self> {
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, bytes })
    }

    /// Where it is.
    pub fn address(&self) -> usize {
        self.start.as_ptr() as usize
    }

    /// The byte there, as all who share it change it.
    #[inline]
    pub fn byte(&self, at: usize) -> &AtomicU8 {
        // SAFETY: it is within the mapping, and is only used atomically. To store where the
        // mapping is for reading, or to load where its file has become shorter, ends the process
        // and does no other harm.
        unsafe { AtomicU8::from_ptr(self.place(at, 1)) }
    }

    /// The eight bytes there, as all who share them change them.
    #[inline]
    pub fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8));
        // SAFETY: as in `byte`; they are aligned.
        unsafe { AtomicU64::from_ptr(self.place(at, 8).cast()) }
    }

    /// The four bytes there.
    #[inline]
    pub fn half_word(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(4));
        // SAFETY: as in `byte`; they are aligned.
        unsafe { AtomicU32::from_ptr(self.place(at, 4).cast()) }
    }

    /// Lends bytes as they are.
    ///
    /// # Safety
    /// Nobody changes them while they are lent, in this process or in another.
    pub unsafe fn bytes(&self, at: usize, length: usize) -> &[u8] {
        // SAFETY: they are within the mapping; the rest is the caller's promise.
        unsafe { slice::from_raw_parts(self.place(at, length), length) }
    }

    #[inline]
    fn place(&self, at: usize, length: usize) -> *mut u8 {
        let is_within = at.checked_add(length).is_some_and(|end| end <= self.bytes);
        assert!(is_within, "it is not within the mapping");
        self.start.as_ptr().wrapping_add(at)
    }

    /// Has the kernel treat all of it so. Nothing of its contents may be needed any more where
    /// that is to give them back.
    pub fn advise(&mut self, advice: Advice) -> io::Result<()> {
        // SAFETY: the whole of a mapping of which nothing is lent.
        unsafe { madvise(self.start.as_ptr().cast(), self.bytes, advice)? };
        Ok(())
    }

    /// A bit for each of its pages: whether it is in memory (mincore(2)).
    pub fn resident(&self) -> io::Result<Vec<bool>> {
        let mut pages = vec![0_u8; self.bytes.div_ceil(page_size())];
        // SAFETY: the mapping lives, and the vector has a byte for each of its pages.
        let returned =
            unsafe { libc::mincore(self.start.as_ptr().cast(), self.bytes, pages.as_mut_ptr()) };
        crate::done(returned)?;
        Ok(pages.iter().map(|page| page & 1 == 1).collect())
    }

    /// Ends it, and says so where the kernel refuses.
    pub fn unmap(self) -> io::Result<()> {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: it was mapped with this length, nothing of it is lent, and it is not dropped.
        Ok(unsafe { munmap(this.start.as_ptr().cast(), this.bytes) }?)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing of it is lent any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn two_who_map_a_file_see_the_same() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(page_size() as u64).unwrap();
        let [one, other] =
            [(); 2].map(|()| Mapping::shared(&file, page_size(), MapFlags::empty()).unwrap());
        one.word(64).store(0x0807_0605_0403_0201, Ordering::Relaxed);
        assert_eq!(other.half_word(68).load(Ordering::Relaxed).to_ne_bytes()[0], 5);
        let byte = |at| other.byte(at).load(Ordering::Relaxed);
        assert_eq!((byte(64), byte(72)), (1, 0));
        let read = Mapping::of_file(&file, 0, page_size(), MapFlags::SHARED).unwrap();
        assert_eq!(read.resident().unwrap(), [true]);
        read.unmap().unwrap();
    }

    #[test]
    fn nothing_outside_is_reached() {
        let mapping = Mapping::anonymous(page_size()).unwrap();
        let end = page_size();
        mapping.byte(end - 1).store(7, Ordering::Relaxed);
        let panics = |reach: &dyn Fn()| catch_unwind(AssertUnwindSafe(reach)).is_err();
        assert!(panics(&|| _ = mapping.byte(end)));
        assert!(panics(&|| _ = mapping.byte(usize::MAX)));
        assert!(panics(&|| _ = mapping.word(end - 4)));
        assert!(panics(&|| _ = mapping.word(4)));
        assert!(panics(&|| _ = mapping.half_word(2)));
    }
}
