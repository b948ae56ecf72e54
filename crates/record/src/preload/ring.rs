//! The memory that all programs of a recording share: they write records into a ring, which this
//! process reads.
//!
//! Whoever is recorded could write anything there: everything is copied before it is looked at,
//! and nothing that is read is an address.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{Stat, ftruncate};
use rustix::mm::MapFlags;
use sys::mapping::Mapping;

use super::memory;
use crate::pace;
use crate::shared::{
    CYCLES, DEVICE, HEAD_BYTES, INODE, LOST, MAGIC, MAGIC_AT, OPEN, READ, RESERVED, RING_BYTES,
    STAMP_SHIFT, UNIT_BYTES, UNITS_MAX, UNITS_MIN, WORDS,
};
use crate::wanted;

const BYTES: usize = pace::RING_BYTES;
/// How long a record is waited for whose place is taken: its thread may have no processor. Where
/// the ring fills up meanwhile, no longer than the second.
const PATIENCE: Duration = Duration::from_secs(1);
const PATIENCE_FULL: Duration = Duration::from_millis(100);

pub(super) struct Ring {
    file: OwnedFd,
    memory: Mapping,
    /// As many units have been read.
    at: u64,
    /// Since when a record has not become complete.
    gap: Option<Instant>,
    /// How many were lost, and how many of those this process has skipped.
    told: u64,
    skipped: u64,
    record: Vec<u8>,
}

impl Ring {
    /// A ring for a library that is in this file.
    pub(super) fn new(library: &Stat, by_cycles: bool) -> io::Result<Self> {
        let file = memory::file("iotoll-ring")?;
        ftruncate(&file, (HEAD_BYTES + BYTES) as u64)?;
        // The kernel clears its pages now, rather than at the program's cost: a fifth of what a
        // call pays.
        let memory = Mapping::shared(&file, HEAD_BYTES + BYTES, MapFlags::POPULATE)?;
        let ring = Self { file, memory, at: 0, gap: None, told: 0, skipped: 0, record: Vec::new() };
        ring.word(MAGIC_AT).store(MAGIC, Ordering::Relaxed);
        ring.word(RING_BYTES).store(BYTES as u64, Ordering::Relaxed);
        ring.memory.half_word(CYCLES).store(by_cycles.into(), Ordering::Relaxed);
        ring.word(DEVICE).store(library.st_dev, Ordering::Relaxed);
        ring.word(INODE).store(library.st_ino, Ordering::Relaxed);
        for (index, words) in wanted::words().chunks_exact(8).enumerate() {
            let words = words.try_into().map_or(0, u64::from_ne_bytes);
            ring.word(WORDS + 8 * index).store(words, Ordering::Relaxed);
        }
        Ok(ring)
    }

    pub(super) fn number(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Whether anyone reads. Programs that go on beyond the recording leave the ring alone.
    pub(super) fn open(&self, is_open: bool) {
        self.memory.half_word(OPEN).store(is_open.into(), Ordering::Release);
    }

    /// How many records were lost since the last call.
    pub(super) fn lost(&mut self) -> u64 {
        let lost = self.word(LOST).load(Ordering::Relaxed).saturating_add(self.skipped);
        let new = lost.saturating_sub(self.told);
        // A program that scribbles may set the counter back: what was told stays told.
        self.told = self.told.max(lost);
        new
    }

    /// Gives each record that is complete to `see`, and its place back; how many bytes these
    /// were. An error ends it. What is not complete at the end will not be.
    pub(super) fn drain(
        &mut self,
        is_end: bool,
        mut see: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<u64> {
        let begin = self.at;
        let reserved = self.word(RESERVED).load(Ordering::Acquire).min(self.at + Self::units());
        while self.at < reserved {
            let Some(units) = self.complete(self.at, reserved) else {
                if !is_end && !self.waited_enough(reserved) {
                    break;
                }
                self.skip(reserved);
                continue;
            };
            self.gap = None;
            self.take(units);
            self.at += units;
            // It is a copy by now.
            self.word(READ).store(self.at, Ordering::Release);
            let record = std::mem::take(&mut self.record);
            let raw_call = see(&record);
            self.record = record;
            raw_call?;
        }
        Ok((self.at - begin) * UNIT_BYTES as u64)
    }

    /// How many units the record has that is there; nothing where it is not complete.
    fn complete(&self, at: u64, reserved: u64) -> Option<u64> {
        let stamp = self.word(Self::place(at)).load(Ordering::Acquire);
        let units = stamp & ((1 << STAMP_SHIFT) - 1);
        let is_whole = (UNITS_MIN..=UNITS_MAX).contains(&units) && at + units <= reserved;
        (stamp >> STAMP_SHIFT == at + 1 && is_whole).then_some(units)
    }

    fn waited_enough(&mut self, reserved: u64) -> bool {
        let since = *self.gap.get_or_insert_with(Instant::now);
        let is_filling = reserved - self.at > Self::units() / 2;
        since.elapsed() > if is_filling { PATIENCE_FULL } else { PATIENCE }
    }

    /// Goes on behind a record that whoever wrote it has not finished.
    fn skip(&mut self, reserved: u64) {
        let next = (self.at + 1..reserved).find(|at| self.complete(*at, reserved).is_some());
        self.at = next.unwrap_or(reserved);
        self.word(READ).store(self.at, Ordering::Release);
        self.skipped = self.skipped.saturating_add(1);
        self.gap = None;
    }

    fn take(&mut self, units: u64) {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        for unit in self.at..self.at + units {
            let place = Self::place(unit);
            for half in [place, place + 8] {
                record.extend(self.word(half).load(Ordering::Relaxed).to_ne_bytes());
            }
        }
        self.record = record;
    }

    fn units() -> u64 {
        (BYTES / UNIT_BYTES) as u64
    }

    pub(super) fn place(unit: u64) -> usize {
        HEAD_BYTES + (unit % Self::units()) as usize * UNIT_BYTES
    }

    /// The eight bytes there. Nobody here or in the library changes them but atomically or before
    /// their record's stamp is there.
    fn word(&self, at: usize) -> &AtomicU64 {
        self.memory.word(at)
    }
}

#[cfg(feature = "fuzz")]
impl Ring {
    /// Writes eight bytes near a place, as a recorded program could; returns the place.
    pub(super) fn scribble(&self, at: usize, value: u64) -> usize {
        let at = at % (HEAD_BYTES + BYTES) / 8 * 8;
        self.word(at).store(value, Ordering::Relaxed);
        at
    }

    /// Empties the ring.
    pub(super) fn begin_again(&mut self, written: &[usize]) {
        for at in written.iter().chain(&[RESERVED, READ, LOST]) {
            self.scribble(*at, 0);
        }
        (self.at, self.gap, self.told, self.skipped) = (0, None, 0, 0);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.open(false);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rustix::fs::{AtFlags, CWD, statat};

    use super::*;

    fn ring() -> Ring {
        Ring::new(&statat(CWD, "/", AtFlags::empty()).unwrap(), true).unwrap()
    }

    /// As the library does it; a record that is not finished has no stamp.
    fn write(ring: &Ring, units: u64, mark: u64, is_finished: bool) {
        let at = ring.word(RESERVED).fetch_add(units, Ordering::Relaxed);
        ring.word(Ring::place(at) + 8).store(mark, Ordering::Relaxed);
        if is_finished {
            ring.word(Ring::place(at)).store((at + 1) << STAMP_SHIFT | units, Ordering::Release);
        }
    }

    fn marks(ring: &mut Ring, is_end: bool) -> Vec<u64> {
        let mut marks = Vec::new();
        let mark = |record: &[u8]| {
            marks.push(u64::from_ne_bytes(record[8..16].try_into().unwrap()));
            Ok(())
        };
        ring.drain(is_end, mark).unwrap();
        marks
    }

    #[test]
    fn records_are_read_once_and_around_the_end() {
        let mut ring = ring();
        for round in 0..3 * Ring::units() / 500 {
            for number in 0..100 {
                write(&ring, 5, round * 100 + number, true);
            }
            assert!(marks(&mut ring, false).into_iter().eq(round * 100..round * 100 + 100));
        }
        assert_eq!((marks(&mut ring, true).len(), ring.lost()), (0, 0));
    }

    /// Fails where one program that was killed while it wrote stops the recording of all others.
    #[test]
    fn a_gap_is_waited_for_then_skipped_and_counted() {
        let mut ring = ring();
        write(&ring, 5, 1, true);
        write(&ring, 9, 2, false);
        write(&ring, 5, 3, true);
        assert_eq!(marks(&mut ring, false), [1]);
        assert_eq!((marks(&mut ring, false).len(), ring.lost()), (0, 0));
        ring.gap = Instant::now().checked_sub(2 * PATIENCE);
        assert_eq!((marks(&mut ring, false), ring.lost()), (vec![3], 1));
        write(&ring, 5, 4, false);
        assert_eq!((marks(&mut ring, true).len(), ring.lost(), ring.lost()), (0, 1, 0));
    }

    #[test]
    fn a_counter_that_is_set_back_is_told_once() {
        let mut ring = ring();
        let mut told = |count| {
            ring.word(LOST).store(count, Ordering::Relaxed);
            ring.lost()
        };
        let all = [9, 3, u64::MAX, 0, u64::MAX, 10].map(&mut told);
        assert_eq!(all, [9, 0, u64::MAX - 9, 0, 0, 0]);
    }

    #[test]
    fn nonsense_is_skipped() {
        let mut ring = ring();
        ring.word(RESERVED).store(u64::MAX, Ordering::Relaxed);
        ring.word(Ring::place(0)).store(1 << STAMP_SHIFT | 0xffff, Ordering::Relaxed);
        assert!(marks(&mut ring, true).is_empty());
        assert_eq!(ring.lost(), 1);
    }
}
