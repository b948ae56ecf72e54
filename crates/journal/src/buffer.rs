//! Bytes in memory that a device can be given as they are.

/// What `O_DIRECT` wants memory to be aligned to, on any device.
const ALIGNMENT: usize = 4096;

/// Bytes that begin at a multiple of 4096 in memory, and keep their memory when cleared.
#[derive(Default)]
pub(crate) struct Buffer {
    /// Longer than what is in use, by as much as aligning it takes.
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Buffer {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }

    /// Makes it so long. What is new holds anything.
    pub(crate) fn set_len(&mut self, len: usize) {
        if self.start + len > self.memory.len() {
            self.grow(len);
        }
        self.len = len;
    }

    /// Makes it longer, to a multiple of `block`, with zeros.
    pub(crate) fn pad(&mut self, block: usize) {
        let before = self.len;
        self.set_len(before.next_multiple_of(block));
        self.bytes_mut()[before..].fill(0);
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let before = self.len;
        self.set_len(before + bytes.len());
        self.bytes_mut()[before..].copy_from_slice(bytes);
    }

    fn grow(&mut self, len: usize) {
        let mut memory = vec![0; len.next_power_of_two() + ALIGNMENT];
        let start = memory.as_ptr().addr().wrapping_neg() % ALIGNMENT;
        memory[start..start + self.len].copy_from_slice(self.bytes());
        (self.memory, self.start) = (memory, start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_aligned_and_keeps_what_is_in_it() {
        let mut buffer = Buffer::default();
        let mut expected = Vec::new();
        for round in 0..2000_u32 {
            buffer.push(&round.to_le_bytes());
            expected.extend(round.to_le_bytes());
            assert_eq!(buffer.bytes().as_ptr().addr() % ALIGNMENT, 0);
        }
        assert_eq!(buffer.bytes(), expected);
        buffer.pad(4096);
        assert_eq!(buffer.len(), 8192);
        assert!(buffer.bytes()[8000..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn padding_is_zeros_also_where_something_stood_before() {
        let mut buffer = Buffer::default();
        buffer.push(&[7; 1000]);
        buffer.set_len(0);
        buffer.push(&[8]);
        buffer.pad(512);
        assert_eq!(buffer.bytes()[..2], [8, 0]);
        assert!(buffer.bytes()[1..].iter().all(|byte| *byte == 0));
    }
}
