//! Reads a file in large pieces, and lends parts of them without copying.

use std::io;

use crate::files::File;

/// Small enough to stay in a processor's cache until it is used.
const WINDOW_BYTES: usize = 1 << 20;

/// What was read of a file.
pub(crate) struct Window {
    /// How much is read at once.
    step: usize,
    memory: Vec<u8>,
    /// Where in the file it begins.
    start: u64,
    /// How much of the memory is filled.
    filled: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self::of(WINDOW_BYTES)
    }
}

impl Window {
    /// One that reads so much at once, or what is asked for.
    pub(crate) fn of(step: usize) -> Self {
        Self { step, memory: Vec::new(), start: 0, filled: 0 }
    }

    /// Forgets what was read: another file follows.
    pub(crate) fn clear(&mut self) {
        (self.start, self.filled) = (0, 0);
    }

    /// So many bytes of a file of so many; none where it ends before. What is asked for is
    /// never more than the file has, and so is the memory that this takes.
    pub(crate) fn get(
        &mut self,
        file: &impl File,
        file_bytes: u64,
        offset: u64,
        len: usize,
    ) -> io::Result<Option<&[u8]>> {
        if offset.checked_add(len as u64).is_none_or(|end| end > file_bytes) {
            return Ok(None);
        }
        let is_within = offset >= self.start && offset - self.start <= self.filled as u64;
        if !is_within || (offset - self.start) as usize + len > self.filled {
            self.move_to(is_within, offset);
            self.fill(file, len, file_bytes)?;
        }
        let from = (offset - self.start) as usize;
        Ok((from + len <= self.filled).then(|| &self.memory[from..from + len]))
    }

    fn move_to(&mut self, is_within: bool, offset: u64) {
        let kept = if is_within { (offset - self.start) as usize } else { self.filled };
        self.memory.copy_within(kept..self.filled, 0);
        self.filled -= kept;
        self.start = offset;
    }

    /// Reads on until there are so many bytes, and more where they come at once.
    fn fill(&mut self, file: &impl File, len: usize, file_bytes: u64) -> io::Result<()> {
        let rest = usize::try_from(file_bytes - self.start).unwrap_or(usize::MAX);
        let want = rest.min(len.max(self.step));
        if self.memory.len() < want {
            self.memory.resize(want, 0);
        }
        while self.filled < len {
            let at = self.start + self.filled as u64;
            match file.read_at(&mut self.memory[self.filled..want], at)? {
                0 => break,
                read => self.filled += read,
            }
        }
        Ok(())
    }
}
