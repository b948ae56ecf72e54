//! Memory that begins at a page, as direct I/O asks for. To memory just behind where a page begins, some
//! processors copy several times slower, and where the allocator puts a buffer is chance.

use std::hint::black_box;

/// The address of its first byte is a multiple of this.
pub const ALIGNMENT: usize = 4096;

/// Memory that begins at a page.
pub struct Aligned {
    bytes: Vec<u8>,
    begins: usize,
    length: usize,
}

impl Aligned {
    /// Has `length` zeros. Each page is written to, so that no later use of it is a page fault.
    pub fn zeros(length: usize) -> Self {
        let mut bytes = vec![0; length + ALIGNMENT];
        bytes.iter_mut().step_by(ALIGNMENT).for_each(|byte| *byte = black_box(0));
        let begins = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self { bytes, begins, length }
    }

    /// The first `length` bytes. If there are fewer, new memory takes the place of the old.
    pub fn at_least(&mut self, length: usize) -> &mut [u8] {
        if self.length < length {
            *self = Self::zeros(length);
        }
        &mut self.bytes_mut()[..length]
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.begins..self.begins + self.length]
    }

    /// The same, to be written to.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.begins..self.begins + self.length]
    }
}
