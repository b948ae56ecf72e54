//! How long a file was before a recording, as reads, writes and positions give it away.

/// What is known of a file's size before, and what the program has made of it since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Exactly, where that is known.
    exactly: Option<u64>,
    /// At the least.
    at_least: u64,
    /// Where the program's own writes at positions end.
    own_end: u64,
    /// What it appended.
    appended: u64,
    /// Whether it is known how long the file is now by other means than what was there before:
    /// it was made or cut by the program.
    is_own: bool,
}

impl Size {
    /// That of a file that was just made.
    pub(super) fn of_new() -> Self {
        Self { exactly: Some(0), is_own: true, ..Self::default() }
    }

    /// How long it was, as far as is known.
    pub(super) fn before(&self) -> u64 {
        self.exactly.unwrap_or(self.at_least)
    }

    /// How long it is now, as far as is known.
    pub(super) fn now(&self) -> u64 {
        let before = if self.is_own { 0 } else { self.before() };
        (before + self.appended).max(self.own_end)
    }

    /// So many bytes were read at a position, of so many that were asked for.
    pub(super) fn read(&mut self, at: u64, found: u64, asked: u64) {
        let end = at.saturating_add(found);
        if found < asked && (found > 0 || end <= self.now()) {
            self.is(end);
        } else {
            self.has(end);
        }
    }

    /// It reaches at least so far.
    fn has(&mut self, end: u64) {
        if !self.is_own && end > self.own_end {
            self.at_least = self.at_least.max(end.saturating_sub(self.appended));
        }
    }

    /// It is so long now.
    pub(super) fn is(&mut self, bytes: u64) {
        self.has(bytes);
        if !self.is_own && self.exactly.is_none() && self.own_end < bytes {
            self.exactly = Some(bytes.saturating_sub(self.appended).max(self.at_least));
        }
    }

    /// So many bytes were written at a position.
    pub(super) fn written(&mut self, at: u64, bytes: u64) {
        self.own_end = self.own_end.max(at.saturating_add(bytes));
    }

    /// So many bytes were written at the end.
    pub(super) fn appended(&mut self, bytes: u64) {
        self.appended = self.appended.saturating_add(bytes);
    }

    /// It was cut or extended to so many bytes.
    pub(super) fn cut(&mut self, bytes: u64) {
        if bytes > self.now() {
            self.own_end = bytes;
            return;
        }
        self.exactly = Some(self.before());
        (self.is_own, self.own_end, self.appended) = (true, bytes, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_had_what_was_read_and_nobody_wrote() {
        let mut size = Size::default();
        size.read(0, 4096, 4096);
        size.read(8192, 4096, 4096);
        assert_eq!(size.before(), 12288);
        // A short read finds the end.
        size.read(12288, 100, 4096);
        size.read(12388, 0, 4096);
        assert_eq!(size.before(), 12388);
    }

    #[test]
    fn what_the_program_wrote_was_not_there() {
        let mut size = Size::default();
        size.written(0, 1000);
        size.read(0, 1000, 4096);
        assert_eq!(size.before(), 0);
        size.read(0, 2000, 2000);
        assert_eq!(size.before(), 2000);
        let mut made = Size::of_new();
        made.written(0, 50);
        made.read(0, 50, 4096);
        assert_eq!((made.before(), made.now()), (0, 50));
        let mut log = Size::default();
        log.appended(70);
        log.appended(70);
        log.is(1140);
        assert_eq!((log.before(), log.now()), (1000, 1140));
    }

    #[test]
    fn nothing_follows_from_what_is_read_after_a_file_was_cut() {
        let mut size = Size::default();
        size.read(0, 500, 500);
        size.cut(0);
        size.appended(9000);
        size.read(0, 9000, 9000);
        assert_eq!((size.before(), size.now()), (500, 9000));
    }
}
