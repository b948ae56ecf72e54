//! Files that nobody would write: opening them may fail, and nothing else.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::defect::Planted;
use crate::error::Error;
use crate::layout::{self, HEADER_BYTES, TransactionHeader};
use crate::options::{Compression, Options, Space, Writing};
use crate::segment;
use crate::simulated::disk::Disk;
use crate::simulated::machine::{Faults, Machine};
use crate::simulated::model::items;
use crate::store::Store;

const OPTIONS: Options = Options {
    differences: true,
    compression: Compression::None,
    threshold_bytes: 0,
    block_bytes: 512,
    writing: Writing::Buffered,
    space: Space::Growing,
    segment_bytes: 16 << 10,
};

/// Segments, to be damaged for [`replays_segment`]: of each compression, as whole pages and as
/// differences.
pub fn segments() -> Vec<Vec<u8>> {
    let compressions =
        [Compression::None, Compression::Lz4, Compression::Snappy, Compression::Zstd { level: 1 }];
    let mut segments = Vec::new();
    for compression in compressions {
        for differences in [false, true] {
            let options = Options { differences, compression, ..OPTIONS };
            let disk = with_transactions(&options, 3, None).unwrap_or_default();
            let inode = disk.find(&segment::name(1));
            segments.extend(inode.map(|inode| disk.inode(inode).bytes().to_vec()));
        }
    }
    segments
}

/// Recovers a store from a segment that may hold anything, but for its checksums, and uses
/// it. Whether it could be recovered.
pub fn replays_segment(bytes: &[u8]) -> bool {
    let mut bytes = bytes.to_vec();
    seal(&mut bytes, 1);
    let mut disk = with_transactions(&OPTIONS, 0, None).unwrap_or_default();
    disk.put(&segment::name(1), bytes);
    is_usable(disk).unwrap_or(false)
}

fn machine(disk: Disk) -> Machine {
    Machine::new(disk, Faults::default(), ChaCha8Rng::seed_from_u64(1))
}

/// A store with so many transactions, and a checkpoint after one of them.
fn with_transactions(
    options: &Options,
    transactions: u32,
    checkpoint: Option<u32>,
) -> Result<Disk, Error> {
    let machine = machine(Disk::default());
    let rng = &mut ChaCha8Rng::seed_from_u64(2);
    let mut store = Store::open(machine.clone(), options)?;
    for number in 0..transactions {
        let mut transaction = store.begin(())?;
        for (key, value) in items(rng, 100, 10) {
            transaction.put(&key, &value)?;
        }
        transaction.commit()?;
        if checkpoint == Some(number) {
            store.checkpoint(())?;
        }
    }
    Ok(machine.now().disk)
}

/// Makes the checksums of a segment hold, whatever is under them.
fn seal(bytes: &mut [u8], number: u64) {
    let planted = Planted::default();
    if let Some(header) = bytes.get_mut(..HEADER_BYTES) {
        layout::seal(header, number, planted);
    }
    for at in (0..bytes.len()).step_by(512) {
        let header = bytes.get(at..at + HEADER_BYTES).and_then(TransactionHeader::decode);
        let Some(header) = header else { continue };
        if let Some(whole) = bytes.get_mut(at..at + header.bytes()) {
            layout::seal(whole, header.number, planted);
        }
    }
}

/// Whether the store can be opened. If so, it must be as good as any: an error is wrong.
fn is_usable(disk: Disk) -> Result<bool, Error> {
    let Ok(mut store) = Store::open(machine(disk), &OPTIONS) else { return Ok(false) };
    let rng = &mut ChaCha8Rng::seed_from_u64(3);
    for (key, value) in store.iter() {
        assert!(key.len() + value.len() <= crate::ITEM_BYTES_MAX);
    }
    for _ in 0..3 {
        let mut transaction = store.begin(())?;
        for (key, value) in items(rng, 200, 20) {
            transaction.put(&key, &value)?;
        }
        transaction.commit()?;
    }
    store.checkpoint(())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::*;
    use crate::codec::Codec;

    const INPUTS: u64 = 6000;

    fn sound(compression: Compression, differences: bool) -> Disk {
        let options = Options { differences, compression, ..OPTIONS };
        with_transactions(&options, 20, Some(8)).unwrap()
    }

    fn opens(disk: Disk) -> bool {
        is_usable(disk).unwrap()
    }

    /// Damages a file in any way, the structure of its bytes aside.
    fn damage(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
        for _ in 0..rng.random_range(1..6) {
            let at = rng.random_range(0..bytes.len().max(1)).min(bytes.len());
            let len = rng.random_range(0..64).min(bytes.len() - at);
            let stretch = &mut bytes[at..at + len];
            match (rng.random_range(0..6), stretch) {
                (0, stretch) => rng.fill(stretch),
                (1, stretch) => stretch.fill(0),
                (2, stretch) => stretch.fill(255),
                (3, [first, ..]) => *first ^= 1 << rng.random_range(0..8),
                (4, [first, ..]) => *first = first.wrapping_add(1),
                _ if rng.random_bool(0.1) => bytes.truncate(at),
                (_, stretch) => stretch.reverse(),
            }
        }
    }

    #[test]
    fn damaged_files_are_refused_or_recovered_from() {
        let sounds = [
            sound(Compression::None, false),
            sound(Compression::None, true),
            sound(Compression::Lz4, true),
            sound(Compression::Snappy, false),
            sound(Compression::Zstd { level: 1 }, false),
        ];
        assert!(sounds.iter().all(|disk| opens(disk.clone())));
        let mut opened = 0;
        for input in 0..INPUTS {
            let rng = &mut ChaCha8Rng::seed_from_u64(input);
            let mut disk = sounds[rng.random_range(0..sounds.len())].clone();
            let names: Vec<String> = disk.names().cloned().collect();
            let name = &names[rng.random_range(0..names.len())];
            let mut bytes =
                disk.find(name).map(|inode| disk.inode(inode).bytes().to_vec()).unwrap();
            damage(&mut bytes, rng);
            let number = name.strip_prefix("journal-").and_then(|number| number.parse().ok());
            if let Some(number) = number.filter(|_| rng.random_bool(0.8)) {
                seal(&mut bytes, number);
            }
            disk.put(name, bytes);
            opened += u64::from(opens(disk));
        }
        println!("{opened} of {INPUTS} were recovered from");
        assert!(opened > INPUTS / 100 && opened < INPUTS / 2 + INPUTS / 4);
    }

    #[test]
    fn any_bytes_are_refused() {
        for input in 0..INPUTS {
            let rng = &mut ChaCha8Rng::seed_from_u64(input);
            let mut disk = Disk::default();
            for name in ["data", "journal-0000000000000001", "journal-0000000000000002"] {
                let mut bytes = vec![0; rng.random_range(0..9000)];
                rng.fill(&mut bytes[..]);
                if rng.random() {
                    disk.put(name, bytes);
                }
            }
            let has_data = disk.find("data").is_some();
            // Without pages and transactions it is a store that was never begun.
            assert_eq!(opens(disk), !has_data, "input {input}");
        }
    }

    #[test]
    fn what_looks_like_transactions_everywhere_takes_no_longer_than_a_few_readings() {
        let mut disk = sound(Compression::None, false);
        let name = "journal-0000000000000009";
        let mut bytes = vec![0; 4 << 20];
        let len = bytes.len() as u32;
        for at in (0..bytes.len()).step_by(512) {
            let rest = len - at as u32 - HEADER_BYTES as u32;
            let header = TransactionHeader {
                codec: Codec::None,
                number: 1000,
                change_bytes: rest,
                stored_bytes: rest,
            };
            header.write(&mut bytes[at..]);
        }
        disk.put(name, bytes);
        let error = Store::open(machine(disk), &OPTIONS).err().unwrap().to_string();
        assert!(error.contains("is damaged"), "{error}");
    }

    #[test]
    fn segments_replay_as_they_are() {
        assert!(segments().iter().all(|segment| replays_segment(segment)));
        assert!(!replays_segment(&[]));
    }
}
