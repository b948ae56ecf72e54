//! What reached the devices: those at the bottom of a place, and all of the machine.
//!
//! The kernel counts each device's reads and writes in `/sys/dev/block/M:m/stat`, the
//! same figures as in `/proc/diskstats` (`Documentation/block/stat.rst`) without having
//! to read those of every other device. The files stay open, so that a reading costs one
//! `pread` per device and can be had on both sides of a slice of 40 ms.

use std::io;
use std::path::PathBuf;

use model::counters;
use model::counters::{Counters, Level};
use model::place::PlaceFacts;
use model::spent::DeviceTraffic;
use thiserror::Error;

use crate::file::KernelFile;
use crate::identity::DeviceNumber;
use crate::root::Root;

/// The kernel counts sectors of this size, whatever the device's own.
const SECTOR_BYTES: u64 = 512;

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

counters! {
    /// Counters since the devices appeared, summed over the devices of a place.
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
        /// Flushes of the device's own cache, which kernels before 5.5 do not count.
        pub flushes: Option<u64>,
        /// Requests under way at the time of reading; of several devices, the most.
        pub in_flight: Level,
        /// Time in which a device had requests under way; of several devices, the sum.
        pub busy_ns: u64,
        /// Time that all requests together took, waiting included.
        pub waited_ns: u64,
    }
}

impl DeviceCounters {
    /// From one device's numbers: the whole of `/sys/dev/block/M:m/stat`, and the fields
    /// of a line of `/proc/diskstats` from the fourth on.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        const MS_NS: u64 = 1_000_000;
        // Discards came with Linux 4.18, flushes with 5.5.
        let mut numbers = [0_u64; 16];
        let mut count = 0;
        for (number, word) in numbers.iter_mut().zip(text.split_ascii_whitespace()) {
            *number = word.parse().ok()?;
            count += 1;
        }
        (count >= 11).then(|| Self {
            reads: numbers[0],
            read_bytes: numbers[2].saturating_mul(SECTOR_BYTES),
            writes: numbers[4],
            written_bytes: numbers[6].saturating_mul(SECTOR_BYTES),
            in_flight: Level(numbers[8]),
            busy_ns: numbers[9].saturating_mul(MS_NS),
            waited_ns: numbers[10].saturating_mul(MS_NS),
            discards: numbers[11],
            discarded_bytes: numbers[13].saturating_mul(SECTOR_BYTES),
            flushes: (count == numbers.len()).then_some(numbers[15]),
        })
    }

    /// What of it the record of a run keeps.
    pub fn traffic(&self) -> DeviceTraffic {
        let Self { read_bytes, written_bytes, flushes, discards, .. } = *self;
        DeviceTraffic { read_bytes, written_bytes, flushes, discards: Some(discards) }
    }
}

/// What the machine's disks were given to write, by anyone; nothing where no disk is
/// seen. Disks are those that have hardware, or what stands for it: what is mapped onto
/// them would be counted twice.
pub(crate) fn written_by_all(root: &Root) -> Option<u64> {
    let text = root.text("/proc/diskstats").ok()?;
    let disks = diskstats(&text).filter(|(name, _)| root.has(format!("/sys/block/{name}/device")));
    disks.map(|(_, counters)| counters.written_bytes).reduce(Counters::plus)
}

/// Each device of `/proc/diskstats` with its counters; other lines are passed over.
pub(crate) fn diskstats(text: &str) -> impl Iterator<Item = (&str, DeviceCounters)> {
    text.lines().filter_map(|line| {
        // Blanks pad the numbers before the name, and none is in a name.
        let mut fields = line.trim_start().splitn(2, char::is_whitespace);
        let (_major, rest) = (fields.next()?, fields.next()?);
        let mut fields = rest.trim_start().splitn(3, char::is_whitespace);
        let (_minor, name, numbers) = (fields.next()?, fields.next()?, fields.next()?);
        Some((name, DeviceCounters::parse(numbers)?))
    })
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
    file: KernelFile,
}

impl DeviceReader {
    /// For the devices that an inspection found.
    pub fn new(root: &Root, facts: &PlaceFacts) -> Result<Self, CountersError> {
        let mut stats = Vec::new();
        for layer in facts.bottom_devices() {
            let number = DeviceNumber { major: layer.major, minor: layer.minor };
            let path = root.locate(format!("/sys/dev/block/{number}/stat"));
            let device = layer.name.clone();
            match KernelFile::open(&path) {
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
        let all = self.stats.iter().map(Stat::read).collect::<Result<Vec<_>, _>>()?;
        Ok(counters::sum(all))
    }
}

impl Stat {
    fn read(&self) -> Result<DeviceCounters, CountersError> {
        let counters = self.file.with_bytes(|bytes| {
            let text = str::from_utf8(bytes).unwrap_or_default();
            DeviceCounters::parse(text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
        });
        let counters = counters.and_then(|parsed| parsed);
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
            in_flight: Level(9),
            busy_ns: 10_000_000,
            waited_ns: 11_000_000,
            discards: 12,
            discarded_bytes: 14 * 512,
            flushes: Some(16),
        };
        assert_eq!(counters, expected);
    }

    #[test]
    fn an_old_kernels_line_has_no_flushes_and_a_broken_one_no_counters() {
        let old = DeviceCounters::parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!((old.waited_ns, old.flushes), (11_000_000, None));
        assert_eq!(DeviceCounters::parse("1 2 3"), None);
        assert_eq!(DeviceCounters::parse("1 2 x 4 5 6 7 8 9 10 11"), None);
    }

    #[test]
    fn a_difference_keeps_the_requests_that_are_under_way() {
        let before = DeviceCounters { writes: 10, in_flight: Level(5), ..Default::default() };
        let after = DeviceCounters { writes: 13, in_flight: Level(2), ..Default::default() };
        let since = after.since(before);
        assert_eq!((since.writes, since.in_flight), (3, Level(2)));
    }

    #[test]
    fn the_record_keeps_bytes_flushes_and_discards() {
        let traffic = DeviceCounters::parse(STAT).unwrap().traffic();
        let expected = DeviceTraffic {
            read_bytes: 1536,
            written_bytes: 3584,
            flushes: Some(16),
            discards: Some(12),
        };
        assert_eq!(traffic, expected);
    }

    #[test]
    fn of_the_machines_disks_what_is_mapped_onto_them_is_not_counted_again() {
        let fixture = Fixture::quiet();
        let root = fixture.root();
        assert_eq!(written_by_all(&root), Some(2000 * 512));
        let two = " 254  0 vda 1 0 8 1 10 0 7 1 0 1 1\n   8      16 sdb 1 0 8 1 10 0 5 1 0 1 1 9\n\
                   254 1 vda1 1 0 8 1 10 0 3 1 0 1 1\n253 0 dm-0 1 0 8 1 10 0 7 1 0 1 1\n";
        fixture.write("/proc/diskstats", two);
        fixture.write("/sys/block/sdb/device/model", "x");
        assert_eq!(written_by_all(&root), Some(12 * 512));
        fixture.remove("/sys/block");
        assert_eq!(written_by_all(&root), None);
    }
}
