//! What a run has written so far, and whether the next slice still fits the limit.
//!
//! A slice is counted at what the devices behind its place wrote from its beginning to its end,
//! when all that it left is synced, and while that is put away. So what the file system adds
//! counts, its journal above all. Other programs write meanwhile, and the devices do not
//! count them apart. So a slice counts for no more than its workload may write, and a little
//! for each sync and each name that it changed, which is the file system's part. Beyond that
//! the bytes are others', and must not end the run. Where no device can be read a slice is
//! counted at what its workload may write at the most. Places in memory do not wear, and
//! are not held to the limit.
//!
//! Before an arm's first slice its writes are taken to be what its workload may come to. Later
//! they are taken to be twice what an operation of the arm ever did, but no more than what
//! the workload may come to or twice what a slice ever did: a short slice has costs that do
//! not grow with its operations.

use model::run::{PlaceWrites, Writes};
use units::{exact_size, rough_size};

use crate::study::Footprint;

/// The next slice may write so many times as much as any before.
const SURPRISE: f64 = 2.0;

/// The most that a file system is taken to write for a sync, or for a name that changes: a journal
/// takes some blocks of 4 KiB for it, and a tree that is copied some of 16 KiB.
const SYSTEM_BYTES: u64 = 64 << 10;

pub(crate) struct Ledger {
    writes: Writes,
    /// What the slices of each arm came to, once it had any.
    seen: Vec<Option<LastReading>>,
}

/// The most that an arm's slices came to, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct LastReading {
    per_operation: f64,
    per_slice: u64,
}

impl LastReading {
    /// The most that the next slice is taken to write.
    fn foreseen_bytes(self, entry: &Entry) -> u64 {
        let by_operations = self.per_operation * entry.operations as f64 * SURPRISE;
        let by_slices = (self.per_slice as f64 * SURPRISE) as u64;
        (by_operations as u64).min(by_slices.max(entry.most.written_bytes))
    }
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

/// The most that a file system writes for these files, and for syncs and changes of names.
fn system_bytes(files: u64, changes: u64) -> u64 {
    files.saturating_add(changes).saturating_mul(SYSTEM_BYTES)
}

impl Ledger {
    /// For places, of which each wears or not, and so many arms.
    pub(crate) fn new(limit_bytes: u64, wears: &[bool], arms: usize) -> Self {
        let place = |wears: &bool| PlaceWrites { wears: *wears, written_bytes: 0 };
        let places = wears.iter().map(place).collect();
        Self { writes: Writes { limit_bytes, places }, seen: vec![None; arms] }
    }

    /// Why a slice must not be run, if so.
    pub(crate) fn objection(&self, entry: &Entry) -> Option<String> {
        if !self.writes.places[entry.place].wears {
            return None;
        }
        let seen = self.seen[entry.arm];
        let next_bytes = seen.map_or(entry.most.written_bytes, |seen| seen.foreseen_bytes(entry));
        let written_bytes = self.wearing_bytes();
        (written_bytes.saturating_add(next_bytes) > self.writes.limit_bytes).then(|| {
            format!(
                "of the {} that the run may write, {} have been written, and the next slice could \
                 write {}; to measure for longer, pass a larger --write-limit",
                exact_size(self.writes.limit_bytes),
                rough_size(written_bytes),
                rough_size(next_bytes)
            )
        })
    }

    /// Counts a slice, with what the devices behind its place wrote meanwhile, where they
    /// can be read, and how often it synced or changed a name.
    pub(crate) fn count(&mut self, entry: &Entry, device_bytes: Option<u64>, changes: u64) {
        let Footprint { written_bytes, files, .. } = entry.most;
        let own_max_bytes = written_bytes.saturating_add(system_bytes(files, changes));
        let bytes = device_bytes.map_or(written_bytes, |bytes| bytes.min(own_max_bytes));
        let account = &mut self.writes.places[entry.place];
        account.written_bytes = account.written_bytes.saturating_add(bytes);
        let each = bytes as f64 / entry.operations.max(1) as f64;
        let seen = self.seen[entry.arm].get_or_insert_default();
        seen.per_operation = seen.per_operation.max(each);
        seen.per_slice = seen.per_slice.max(bytes);
    }

    /// Counts what the devices behind a place wrote while that many files and folders of finished
    /// slices were put away; nothing where the devices cannot be read.
    pub(crate) fn count_removal(&mut self, place: usize, device_bytes: Option<u64>, files: u64) {
        let bytes = device_bytes.unwrap_or(0).min(system_bytes(files, 0));
        let account = &mut self.writes.places[place];
        account.written_bytes = account.written_bytes.saturating_add(bytes);
    }

    fn wearing_bytes(&self) -> u64 {
        let wearing = self.writes.places.iter().filter(|place| place.wears);
        wearing.fold(0, |sum, place| sum.saturating_add(place.written_bytes))
    }

    /// For the record.
    pub(crate) fn writes(&self) -> Writes {
        self.writes.clone()
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
        ledger.count(&entry(0, 1, 600), None, 0);
        assert_eq!(ledger.objection(&entry(1, 1, 400)), None);
        let why = ledger.objection(&entry(1, 1, 401)).unwrap_or_default();
        assert!(why.contains("--write-limit"), "{why}");
        assert_eq!(ledger.writes().places[0].written_bytes, 600);
    }

    #[test]
    fn what_the_device_wrote_counts_and_twice_as_much_is_expected_again() {
        let mut ledger = Ledger::new(1000, &[true], 1);
        ledger.count(&entry(0, 10, 5000), Some(300), 0);
        assert_eq!(ledger.wearing_bytes(), 300);
        assert_eq!(ledger.objection(&entry(0, 11, 5000)), None);
        assert!(ledger.objection(&entry(0, 12, 5000)).is_some(), "12 times 60 are too many");
        ledger.count(&entry(0, 1000, 500), Some(100), 0);
        assert!(ledger.objection(&entry(0, 11, 5000)).is_some(), "the most counts, not the last");
    }

    #[test]
    fn what_others_write_is_not_counted_as_the_runs() {
        let mut ledger = Ledger::new(10_000_000, &[true], 1);
        // Another program writes 3 GB during each slice.
        for _ in 0..9 {
            assert_eq!(ledger.objection(&entry(0, 10, 500_000)), None);
            ledger.count(&entry(0, 10, 500_000), Some(3_000_000_000), 0);
        }
        assert_eq!(ledger.writes().places[0].written_bytes, 4_500_000);
        // The file system's part is the run's.
        let mut ledger = Ledger::new(10_000_000, &[true], 1);
        ledger.count(&entry(0, 10, 700), Some(120_000), 10);
        assert_eq!(ledger.writes().places[0].written_bytes, 120_000);
    }

    #[test]
    fn putting_files_away_counts_for_what_a_file_system_may_write_for_it() {
        let mut ledger = Ledger::new(1_000_000, &[true], 1);
        ledger.count_removal(0, Some(100_000), 2);
        ledger.count_removal(0, Some(3_000_000_000), 2);
        ledger.count_removal(0, None, 2);
        assert_eq!(ledger.writes().places[0].written_bytes, 100_000 + 2 * 65_536);
    }

    #[test]
    fn what_a_short_slice_costs_besides_is_not_taken_to_grow_with_operations() {
        let mut ledger = Ledger::new(1000, &[true], 1);
        // A file of 300 bytes was made for one operation that wrote next to nothing.
        ledger.count(&entry(0, 1, 310), None, 0);
        assert_eq!(ledger.objection(&entry(0, 1000, 400)), None);
        assert!(ledger.objection(&entry(0, 1000, 800)).is_some());
    }

    #[test]
    fn what_is_in_memory_is_counted_and_not_limited() {
        let mut ledger = Ledger::new(1000, &[true, false], 2);
        ledger.count(&entry(1, 1, 5000), None, 0);
        assert_eq!(ledger.objection(&entry(1, 1, 5000)), None);
        assert_eq!(ledger.objection(&entry(0, 1, 1000)), None);
        assert_eq!(ledger.writes().places[1].written_bytes, 5000);
    }
}
