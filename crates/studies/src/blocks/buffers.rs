//! What blocks are written from and read into, at addresses that `O_DIRECT` takes, and the
//! marks by which a block is told from every other.

use sys::aligned::Aligned;

use crate::random;

/// Random bytes that no two blocks within it share: more than any file system compresses
/// at a time.
const VARIETY_BYTES: usize = 1 << 20;
/// What a mark takes, at each end of a block.
const MARK_BYTES: usize = 16;

/// What was written to a block: in which slice, and from which buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) generation: u32,
    pub(super) buffer: u32,
}

/// What a block's ends say: which it is, and what was written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    block: u64,
    version: Version,
}

impl Mark {
    pub(super) fn new(block: u64, version: Version) -> Self {
        Self { block, version }
    }

    fn bytes(self) -> [u8; MARK_BYTES] {
        let mut bytes = [0; MARK_BYTES];
        bytes[..8].copy_from_slice(&self.block.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.version.generation.to_le_bytes());
        bytes[12..].copy_from_slice(&self.version.buffer.to_le_bytes());
        bytes
    }
}

/// Whether both ends of what was read say the same, and that it is this block.
#[inline]
pub(super) fn is_block(read: &[u8], block: u64) -> bool {
    let (front, end) = ends(read);
    front == end && front[..8] == block.to_le_bytes()
}

#[inline]
fn ends(block: &[u8]) -> (&[u8], &[u8]) {
    (&block[..MARK_BYTES], &block[block.len() - MARK_BYTES..])
}

/// Buffers of one size, one behind the other.
pub(super) struct Buffers {
    memory: Aligned,
    size: usize,
}

impl Buffers {
    /// So many, of random bytes.
    pub(super) fn new(count: usize, size: usize, seed: u64) -> Self {
        let mut memory = Aligned::zeros(count * size);
        memory.bytes_mut().copy_from_slice(&random::bytes(count * size, seed));
        Self { memory, size }
    }

    /// As many as make blocks that lie together differ, a multiple of so many.
    pub(super) fn various(multiple_of: usize, size: usize) -> Self {
        let count = VARIETY_BYTES.div_ceil(size).next_multiple_of(multiple_of);
        Self::new(count, size, 0)
    }

    pub(super) fn count(&self) -> usize {
        self.memory.bytes().len() / self.size
    }

    /// The size of one.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn get(&self, number: usize) -> &[u8] {
        let from = number * self.size;
        &self.memory.bytes()[from..from + self.size]
    }

    pub(super) fn get_mut(&mut self, number: usize) -> &mut [u8] {
        let from = number * self.size;
        &mut self.memory.bytes_mut()[from..from + self.size]
    }

    /// Puts a mark at both ends of the buffer that it names.
    #[inline]
    pub(super) fn mark(&mut self, mark: Mark) -> &mut [u8] {
        let bytes = mark.bytes();
        let buffer = self.get_mut(mark.version.buffer as usize);
        let end = buffer.len() - MARK_BYTES;
        buffer[..MARK_BYTES].copy_from_slice(&bytes);
        buffer[end..].copy_from_slice(&bytes);
        buffer
    }

    /// What became of a block that was written with this mark.
    pub(super) fn judge(&mut self, read: &[u8], written: Mark) -> BlockState {
        let expected = self.mark(written);
        if read == &*expected {
            return BlockState::Whole;
        }
        let half = read.len() / 2;
        if read[..half] == expected[..half] {
            BlockState::Torn
        } else if is_block(read, written.block) && ends(read) != ends(expected) {
            BlockState::Older
        } else {
            BlockState::Other
        }
    }
}

/// What was found where a block was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockState {
    Whole,
    /// The same block as it was before it was written.
    Older,
    /// The first half at least, and not the whole.
    Torn,
    /// Anything else.
    Other,
}
