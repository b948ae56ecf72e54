//! Memory that begins at a page, as direct I/O asks for. To memory just behind where a page begins, some
//! processors copy several times slower, and where the allocator puts a buffer is chance.

/// Where memory begins is a multiple of this.
pub const ALIGNMENT: usize = 4096;

/// Memory that begins at a page.
pub struct Aligned {
    bytes: Vec<u8>,
    begins: usize,
    length: usize,
}

impl Aligned {
    /// So many zeros.
    pub fn zeros(length: usize) -> Self {
        let bytes = vec![0; length + ALIGNMENT];
        let begins = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self { bytes, begins, length }
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
