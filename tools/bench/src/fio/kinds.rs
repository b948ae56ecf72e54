//! The kinds of I/O that both programs do.

/// How many blocks are under way at a time by `io_uring`.
pub(super) const DEPTH: u32 = 16;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "each is one of two ways to do it")]
pub(super) struct Kind {
    pub(super) direct: bool,
    pub(super) queued: bool,
    pub(super) writes: bool,
    pub(super) random: bool,
}

impl Kind {
    /// All.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..16_u8).map(|bits| Self {
            direct: bits & 8 != 0,
            queued: bits & 4 != 0,
            writes: bits & 2 != 0,
            random: bits & 1 != 0,
        })
    }

    pub(super) fn is_wanted(self, part: Option<&str>) -> bool {
        part.is_none_or(|part| self.name().contains(part))
    }

    /// As `random reads, direct, 16 at a time`.
    pub(super) fn name(self) -> String {
        let order = if self.random { "random" } else { "sequential" };
        let access = if self.writes { "writes" } else { "reads" };
        let cache = if self.direct { "direct" } else { "buffered" };
        let depth = if self.queued { format!(", {DEPTH} at a time") } else { String::new() };
        format!("{order} {access}, {cache}{depth}")
    }

    /// The strategy of the study `blocks`.
    pub(super) fn strategy(self) -> &'static str {
        match (self.queued, self.direct) {
            (false, false) => "buffered",
            (false, true) => "direct",
            (true, false) => "uring",
            (true, true) => "uring-direct",
        }
    }

    /// What fio calls it.
    pub(super) fn rw(self) -> &'static str {
        match (self.random, self.writes) {
            (true, true) => "randwrite",
            (true, false) => "randread",
            (false, true) => "write",
            (false, false) => "read",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_kind_is_there_once_and_told_by_its_name() {
        let names: BTreeSet<String> = Kind::all().map(Kind::name).collect();
        assert_eq!(names.len(), 16);
        assert!(names.contains("random reads, direct, 16 at a time"));
        let wanted = |part| Kind::all().filter(|kind| kind.is_wanted(part)).count();
        assert_eq!((wanted(None), wanted(Some("writes, buffered"))), (16, 4));
    }
}
