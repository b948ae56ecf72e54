//! What reached the devices at the bottom of a place.
//!
//! The kernel counts each device's reads and writes in `/sys/dev/block/M:m/stat`, the
//! same figures as in `/proc/diskstats` (`Documentation/block/stat.rst`) without having
//! to read those of every other device. The files stay open, so that a reading costs one
//! `pread` per device and can be had on both sides of a slice of 40 ms.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use model::place::PlaceFacts;
use thiserror::Error;

use crate::machine::{DeviceNumber, Machine};

/// The kernel counts sectors of this size, whatever the device's own.
const SECTOR_BYTES: u64 = 512;

/// Seventeen numbers of at most twenty digits, and what is between them.
const STAT_BYTES_MAX: usize = 512;

/// Why a place's counters cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CountersError {
    /// In memory, on the network, or not resolved.
    #[error(
        "{label}={}: no block device is known behind this place, so what reaches a device there \
         cannot be counted", path.display()
    )]
    NoDevices {
        /// The place's label.
        label: String,
        /// The place's directory.
        path: PathBuf,
    },
    /// The device is gone, or its counters are hidden.
    #[error(
        "{path}: the counters of {device} cannot be read: {source}; check that the device is \
         still there"
    )]
    Unreadable {
        /// The counters' file.
        path: PathBuf,
        /// The device's name.
        device: String,
        /// What the system said.
        source: io::Error,
    },
}

/// Counters since the devices appeared, summed over the devices of a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Reads completed.
    pub reads: u64,
    /// What they read.
    pub read_bytes: u64,
    /// Writes completed.
    pub writes: u64,
    /// What they wrote.
    pub written_bytes: u64,
    /// Discards completed.
    pub discards: u64,
    /// What they discarded.
    pub discarded_bytes: u64,
    /// Flushes of the device's own cache. Those of the kernel before 5.5 count as none.
    pub flushes: u64,
    /// Requests under way at the time of reading.
    pub in_flight: u64,
    /// Time in which a device had requests under way; of several devices, the sum.
    pub busy_ms: u64,
    /// Time that all requests together took, waiting included.
    pub waited_ms: u64,
}

impl DeviceCounters {
    /// From one device's line.
    fn parse(text: &str) -> Option<Self> {
        let numbers: Option<Vec<u64>> =
            text.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        let numbers = numbers.filter(|numbers| numbers.len() >= 11)?;
        // Discards came with Linux 4.18, flushes with 5.5.
        let at = |index: usize| numbers.get(index).copied().unwrap_or(0);
        Some(Self {
            reads: at(0),
            read_bytes: at(2).saturating_mul(SECTOR_BYTES),
            writes: at(4),
            written_bytes: at(6).saturating_mul(SECTOR_BYTES),
            in_flight: at(8),
            busy_ms: at(9),
            waited_ms: at(10),
            discards: at(11),
            discarded_bytes: at(13).saturating_mul(SECTOR_BYTES),
            flushes: at(15),
        })
    }

    /// What was counted since an earlier reading; `in_flight` stays that of this one.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let in_flight = self.in_flight;
        Self { in_flight, ..self.with(earlier, u64::saturating_sub) }
    }

    fn with(self, other: Self, combine: fn(u64, u64) -> u64) -> Self {
        Self {
            reads: combine(self.reads, other.reads),
            read_bytes: combine(self.read_bytes, other.read_bytes),
            writes: combine(self.writes, other.writes),
            written_bytes: combine(self.written_bytes, other.written_bytes),
            discards: combine(self.discards, other.discards),
            discarded_bytes: combine(self.discarded_bytes, other.discarded_bytes),
            flushes: combine(self.flushes, other.flushes),
            in_flight: combine(self.in_flight, other.in_flight),
            busy_ms: combine(self.busy_ms, other.busy_ms),
            waited_ms: combine(self.waited_ms, other.waited_ms),
        }
    }
}

/// Reads the counters of the devices at the bottom of a place.
#[derive(Debug)]
pub struct DeviceReader {
    stats: Vec<Stat>,
}

/// One device's open counters.
#[derive(Debug)]
struct Stat {
    device: String,
    path: PathBuf,
    file: File,
}

impl DeviceReader {
    /// For the devices that an inspection found.
    pub fn new(facts: &PlaceFacts) -> Result<Self, CountersError> {
        Self::on(&Machine::real(), facts)
    }

    fn on(machine: &Machine, facts: &PlaceFacts) -> Result<Self, CountersError> {
        let mut stats = Vec::new();
        for layer in facts.bottom_devices() {
            let number = DeviceNumber { major: layer.major, minor: layer.minor };
            let path = machine.locate(format!("/sys/dev/block/{number}/stat"));
            let device = layer.name.clone();
            match File::open(&path) {
                Ok(file) => stats.push(Stat { device, path, file }),
                Err(source) => return Err(CountersError::Unreadable { path, device, source }),
            }
        }
        if stats.is_empty() {
            let (label, path) = (facts.label.clone(), facts.path.clone());
            return Err(CountersError::NoDevices { label, path });
        }
        Ok(Self { stats })
    }

    /// The counters as they are now.
    pub fn read(&self) -> Result<DeviceCounters, CountersError> {
        self.stats.iter().try_fold(DeviceCounters::default(), |sum, stat| {
            Ok(sum.with(stat.read()?, u64::saturating_add))
        })
    }
}

impl Stat {
    fn read(&self) -> Result<DeviceCounters, CountersError> {
        let mut text = [0_u8; STAT_BYTES_MAX];
        let counters = self.file.read_at(&mut text, 0).and_then(|length| {
            let text = str::from_utf8(&text[..length]).unwrap_or_default();
            DeviceCounters::parse(text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
        });
        counters.map_err(|source| CountersError::Unreadable {
            path: self.path.clone(),
            device: self.device.clone(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::Fixture;

    /// Each field another number, so that a wrong position shows.
    const STAT: &str = "  1  2  3  4  5  6  7  8  9  10  11  12  13  14  15  16  17\n";

    #[test]
    fn each_counter_is_read_from_its_position() {
        let counters = DeviceCounters::parse(STAT).unwrap();
        let expected = DeviceCounters {
            reads: 1,
            read_bytes: 3 * 512,
            writes: 5,
            written_bytes: 7 * 512,
            in_flight: 9,
            busy_ms: 10,
            waited_ms: 11,
            discards: 12,
            discarded_bytes: 14 * 512,
            flushes: 16,
        };
        assert_eq!(counters, expected);
    }

    #[test]
    fn an_old_kernels_line_has_no_flushes_and_a_broken_one_no_counters() {
        let old = DeviceCounters::parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!((old.waited_ms, old.flushes), (11, 0));
        assert_eq!(DeviceCounters::parse("1 2 3"), None);
        assert_eq!(DeviceCounters::parse("1 2 x 4 5 6 7 8 9 10 11"), None);
    }

    #[test]
    fn a_difference_keeps_the_requests_that_are_under_way() {
        let before = DeviceCounters { writes: 10, in_flight: 5, ..Default::default() };
        let after = DeviceCounters { writes: 13, in_flight: 2, ..Default::default() };
        let since = after.since(before);
        assert_eq!((since.writes, since.in_flight), (3, 2));
    }

    #[test]
    fn several_bottom_devices_are_summed_and_the_layers_above_are_not() {
        let fixture = Fixture::luks_on_two_disks();
        for device in ["sda", "sdb", "dm-0", "dm-1"] {
            fixture.write(&format!("/sys/class/block/{device}/stat"), STAT);
        }
        let facts = fixture.facts("/srv/data");
        let counters = DeviceReader::on(&fixture.machine(), &facts).unwrap().read().unwrap();
        assert_eq!((counters.writes, counters.flushes), (10, 32));
    }

    #[test]
    fn a_place_without_devices_says_so() {
        let fixture = Fixture::with_mounts("1 0 0:30 / / rw - tmpfs tmpfs rw\n");
        let error = DeviceReader::on(&fixture.machine(), &fixture.facts("/x")).unwrap_err();
        assert!(error.to_string().starts_with("place=/x: no block device"), "{error}");
    }
}
