//! What a run has written so far, held against what it may.
//!
//! A slice is counted at what the devices behind its place wrote from its beginning to
//! when it was put away: by then all that it left is synced. So what the file system adds
//! counts, its journal above all, and what a server of the user's writes; and what others
//! wrote meanwhile, which wears a disk as well. Where no device can be read a slice is
//! counted at what its workload may write at the most. Places in memory do not wear, and
//! are not held to the limit.
//!
//! Before a slice its writes are taken to be what its workload may come to, and twice what
//! an operation of its arm ever did.

use model::run::{PlaceWrites, Writes};
use model::units::{exact_size, rough_size};

use crate::study::Footprint;

/// The next slice may write so many times as much as any before.
const SURPRISE: f64 = 2.0;

pub(crate) struct Ledger {
    limit_bytes: u64,
    places: Vec<Account>,
    /// The most that an operation of each arm came to, in bytes, once it had a slice.
    per_operation: Vec<Option<f64>>,
}

#[derive(Clone, Copy, Debug)]
struct Account {
    wears: bool,
    written_bytes: u64,
}

/// A slice, as far as its writes go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) arm: usize,
    pub(crate) place: usize,
    pub(crate) operations: u64,
    /// What it comes to by what its workload says, and what the arm keeps where that is
    /// made anew.
    pub(crate) most: Footprint,
}

impl Ledger {
    /// For places, of which each wears or not, and so many arms.
    pub(crate) fn new(limit_bytes: u64, wears: &[bool], arms: usize) -> Self {
        let account = |wears: &bool| Account { wears: *wears, written_bytes: 0 };
        let places = wears.iter().map(account).collect();
        Self { limit_bytes, places, per_operation: vec![None; arms] }
    }

    /// Why a slice must not be run, if so.
    pub(crate) fn objection(&self, entry: &Entry) -> Option<String> {
        if !self.places[entry.place].wears {
            return None;
        }
        let next_bytes = match self.per_operation[entry.arm] {
            Some(each) => (each * entry.operations as f64 * SURPRISE) as u64,
            None => entry.most.written_bytes,
        };
        let written_bytes = self.wearing_bytes();
        (written_bytes.saturating_add(next_bytes) > self.limit_bytes).then(|| {
            format!(
                "of the {} that may be written, {} were, and the next slice may write {}; to \
                 measure for longer, pass a larger --write-limit",
                exact_size(self.limit_bytes),
                rough_size(written_bytes),
                rough_size(next_bytes)
            )
        })
    }

    /// Counts a slice, with what the devices behind its place wrote meanwhile, where they
    /// can be read.
    pub(crate) fn count(&mut self, entry: &Entry, device_bytes: Option<u64>) {
        let bytes = device_bytes.unwrap_or(entry.most.written_bytes);
        let account = &mut self.places[entry.place];
        account.written_bytes = account.written_bytes.saturating_add(bytes);
        let each = bytes as f64 / entry.operations.max(1) as f64;
        let most = self.per_operation[entry.arm].get_or_insert(0.0);
        *most = most.max(each);
    }

    fn wearing_bytes(&self) -> u64 {
        let wearing = self.places.iter().filter(|account| account.wears);
        wearing.fold(0, |sum, account| sum.saturating_add(account.written_bytes))
    }

    /// For the record.
    pub(crate) fn writes(&self) -> Writes {
        let place = |account: &Account| PlaceWrites {
            wears: account.wears,
            written_bytes: account.written_bytes,
        };
        let places = self.places.iter().map(place).collect();
        Writes { limit_bytes: self.limit_bytes, places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(place: usize, operations: u64, written_bytes: u64) -> Entry {
        let most = Footprint { written_bytes, ..Footprint::NOTHING };
        Entry { arm: place, place, operations, most }
    }

    #[test]
    fn a_slice_that_might_pass_the_limit_is_not_run() {
        let mut ledger = Ledger::new(1000, &[true, true], 2);
        assert_eq!(ledger.objection(&entry(0, 1, 1000)), None);
        ledger.count(&entry(0, 1, 600), None);
        assert_eq!(ledger.objection(&entry(1, 1, 400)), None);
        let why = ledger.objection(&entry(1, 1, 401)).unwrap_or_default();
        assert!(why.contains("--write-limit"), "{why}");
        assert_eq!(ledger.writes().places[0].written_bytes, 600);
    }

    #[test]
    fn what_the_device_wrote_counts_and_twice_as_much_is_expected_again() {
        let mut ledger = Ledger::new(1000, &[true], 1);
        ledger.count(&entry(0, 10, 5000), Some(300));
        assert_eq!(ledger.wearing_bytes(), 300);
        assert_eq!(ledger.objection(&entry(0, 11, 5000)), None);
        assert!(ledger.objection(&entry(0, 12, 12)).is_some(), "12 times 60 are too many");
        ledger.count(&entry(0, 1000, 500), Some(100));
        assert!(ledger.objection(&entry(0, 11, 11)).is_some(), "the most counts, not the last");
    }

    #[test]
    fn what_is_in_memory_is_counted_and_not_limited() {
        let mut ledger = Ledger::new(1000, &[true, false], 2);
        ledger.count(&entry(1, 1, 5000), None);
        assert_eq!(ledger.objection(&entry(1, 1, 5000)), None);
        assert_eq!(ledger.objection(&entry(0, 1, 1000)), None);
        assert_eq!(ledger.writes().places[1].written_bytes, 5000);
    }
}
