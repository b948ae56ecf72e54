//! Which parts of a file something was done with.

/// With more parts than this, all are forgotten.
const RANGES_MAX: usize = 4096;

/// Parts of a file that do not touch, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds a part; how many bytes of it were there.
    pub(super) fn add(&mut self, at: u64, bytes: u64) -> u64 {
        let Some(end) = at.checked_add(bytes).filter(|end| *end > at) else { return 0 };
        let first = self.0.partition_point(|(_, known)| *known < at);
        let last = self.0.partition_point(|(begin, _)| *begin <= end);
        let touched = &self.0[first..last];
        let inside = |(from, to): &(u64, u64)| (*to).min(end).saturating_sub((*from).max(at));
        let there = touched.iter().map(inside).sum();
        let begin = touched.first().map_or(at, |(from, _)| (*from).min(at));
        let end = touched.last().map_or(end, |(_, to)| (*to).max(end));
        self.0.splice(first..last, [(begin, end)]);
        if self.0.len() > RANGES_MAX {
            self.0.clear();
        }
        there
    }

    /// Takes a part out.
    pub(super) fn remove(&mut self, at: u64, bytes: u64) {
        let end = at.saturating_add(bytes);
        let first = self.0.partition_point(|(_, known)| *known <= at);
        let last = self.0.partition_point(|(begin, _)| *begin < end);
        if first >= last {
            return;
        }
        let (from, to) = (self.0[first].0, self.0[last - 1].1);
        let rest = [(from, at), (end, to)].into_iter().filter(|(from, to)| from < to);
        self.0.splice(first..last, rest);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_and_counted_once() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.add(0, 10), 0);
        assert_eq!(ranges.add(10, 10), 0);
        assert_eq!(ranges.add(100, 10), 0);
        assert_eq!(ranges.0, [(0, 20), (100, 110)]);
        assert_eq!(ranges.add(15, 90), 5 + 5);
        assert_eq!(ranges.0, [(0, 110)]);
        ranges.remove(20, 30);
        assert_eq!(ranges.0, [(0, 20), (50, 110)]);
        ranges.remove(200, 5);
        assert_eq!(ranges.add(0, 110), 80);
        assert_eq!(ranges.add(u64::MAX, 2), 0);
        assert_eq!(ranges.add(5, 0), 0);
    }
}
