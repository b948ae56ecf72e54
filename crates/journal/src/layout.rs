//! How the headers of segments and transactions are stored.
//!
//! A segment begins with its header, alone in the first block:
//!
//! | bytes | what |
//! | --- | --- |
//! | 0–7 | checksum of the rest, seeded with the segment's number |
//! | 8–15 | `iotollJ1` |
//! | 16–19 | bytes in a block |
//! | 20–23 | 0 |
//! | 24–31 | the number of the segment's first transaction |
//!
//! Each transaction begins at a block, and is followed by zeros to the end of its last one:
//!
//! | bytes | what |
//! | --- | --- |
//! | 0–7 | checksum of the rest, what is stored included, seeded with the transaction's number |
//! | 8–11 | `iotx` |
//! | 12–15 | how it is compressed: 0 not, 1 LZ4, 2 Snappy, 3 zstd |
//! | 16–23 | its number |
//! | 24–27 | bytes before they were compressed |
//! | 28–31 | bytes as they are stored |
//! | 32– | what is stored |
//!
//! Before it is compressed, that is for each page its number in four bytes, a length in two,
//! and as many bytes: the whole page where they are 4096, and else a difference.
//!
//! Checksums are XXH3, of 64 bits, seeded. In a file that is used again, an older transaction
//! may stand whole where the next one is looked for; since its seed is another, its checksum
//! does not hold.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::codec::Codec;
use crate::defect::{Defect, Planted};
use crate::options::{BLOCK_BYTES_MAX, BLOCK_BYTES_MIN};

/// How much the changes of one transaction may come to, before they are compressed.
pub const TRANSACTION_BYTES_MAX: u64 = 32 << 20;

pub(crate) const HEADER_BYTES: usize = 32;
pub(crate) const CHECKSUM_BYTES: usize = 8;
const SEGMENT_MAGIC: [u8; 8] = *b"iotollJ1";
const TRANSACTION_MAGIC: [u8; 4] = *b"iotx";

/// Takes fixed-size fields off the front of what was stored.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl Fields<'_> {
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

/// Writes the checksum of all that follows it to the front of `bytes`.
pub(crate) fn seal(bytes: &mut [u8], number: u64, planted: Planted) {
    let checksum = checksum(&bytes[CHECKSUM_BYTES..], number, planted);
    bytes[..CHECKSUM_BYTES].copy_from_slice(&checksum.to_le_bytes());
}

/// Whether the checksum at the front of `bytes` is that of what follows it.
pub(crate) fn holds(bytes: &[u8], number: u64, planted: Planted) -> bool {
    let mut fields = Fields(bytes);
    let stored = fields.u64();
    planted.has(Defect::NoChecksum) || stored == Some(checksum(fields.0, number, planted))
}

fn checksum(bytes: &[u8], number: u64, planted: Planted) -> u64 {
    let seed = if planted.has(Defect::NoNumberInSeed) { 0 } else { number };
    xxh3_64_with_seed(bytes, seed)
}

/// What stands at the front of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) block_bytes: u32,
    /// The number of its first transaction.
    pub(crate) first: u64,
}

impl SegmentHeader {
    pub(crate) fn encode(self, number: u64, planted: Planted) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[8..16].copy_from_slice(&SEGMENT_MAGIC);
        bytes[16..20].copy_from_slice(&self.block_bytes.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.first.to_le_bytes());
        seal(&mut bytes, number, planted);
        bytes
    }

    /// None where this is no header of the segment with this number.
    pub(crate) fn decode(bytes: &[u8], number: u64, planted: Planted) -> Option<Self> {
        let bytes = bytes.get(..HEADER_BYTES)?;
        let mut fields = Fields(&bytes[CHECKSUM_BYTES..]);
        let magic = fields.take()?;
        let block_bytes = fields.u32()?;
        let _zeros = fields.u32()?;
        let first = fields.u64()?;
        let is_sound = magic == SEGMENT_MAGIC
            && block_bytes.is_power_of_two()
            && (BLOCK_BYTES_MIN..=BLOCK_BYTES_MAX).contains(&block_bytes)
            && first > 0
            && holds(bytes, number, planted);
        is_sound.then_some(Self { block_bytes, first })
    }
}

/// What stands at the front of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransactionHeader {
    pub(crate) codec: Codec,
    pub(crate) number: u64,
    pub(crate) change_bytes: u32,
    pub(crate) stored_bytes: u32,
}

impl TransactionHeader {
    /// Writes it to the front of `bytes`, the whole transaction but for its padding. Then it
    /// lacks its checksum.
    pub(crate) fn write(self, bytes: &mut [u8]) {
        bytes[8..12].copy_from_slice(&TRANSACTION_MAGIC);
        bytes[12..16].copy_from_slice(&[self.codec.id(), 0, 0, 0]);
        bytes[16..24].copy_from_slice(&self.number.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.change_bytes.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.stored_bytes.to_le_bytes());
    }

    /// None where no transaction can begin like this. That there is one is only sure when
    /// its checksum holds.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes.get(CHECKSUM_BYTES..HEADER_BYTES)?);
        if fields.take()? != TRANSACTION_MAGIC {
            return None;
        }
        let [codec, 0, 0, 0] = fields.take()? else { return None };
        let codec = Codec::of_id(codec)?;
        let number = fields.u64()?;
        let (change_bytes, stored_bytes) = (fields.u32()?, fields.u32()?);
        let is_sound = u64::from(change_bytes) <= TRANSACTION_BYTES_MAX
            && match codec {
                Codec::None => stored_bytes == change_bytes,
                _ => stored_bytes < change_bytes,
            };
        is_sound.then_some(Self { codec, number, change_bytes, stored_bytes })
    }

    /// The transaction with its header, but without its padding.
    pub(crate) fn bytes(self) -> usize {
        HEADER_BYTES + self.stored_bytes as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back_and_no_changed_bit_goes_unnoticed() {
        let planted = Planted::default();
        let header = SegmentHeader { block_bytes: 4096, first: 77 };
        let mut bytes = header.encode(5, planted);
        assert_eq!(SegmentHeader::decode(&bytes, 5, planted), Some(header));
        assert_eq!(SegmentHeader::decode(&bytes, 6, planted), None, "another segment's");
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SegmentHeader::decode(&bytes, 5, planted), None, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        let header =
            TransactionHeader { codec: Codec::Lz4, number: 9, change_bytes: 5, stored_bytes: 3 };
        let mut bytes = [1; HEADER_BYTES + 3];
        header.write(&mut bytes);
        seal(&mut bytes, 9, planted);
        assert_eq!(TransactionHeader::decode(&bytes), Some(header));
        assert!(holds(&bytes, 9, planted) && !holds(&bytes, 10, planted));
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!holds(&bytes, 9, planted), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn sizes_are_bounded() {
        let header = |codec, change_bytes, stored_bytes| {
            let mut bytes = [0; HEADER_BYTES];
            TransactionHeader { codec, number: 1, change_bytes, stored_bytes }.write(&mut bytes);
            TransactionHeader::decode(&bytes)
        };
        let max = TRANSACTION_BYTES_MAX as u32;
        assert!(header(Codec::Lz4, max, 1).is_some());
        assert!(header(Codec::Lz4, max + 1, 1).is_none());
        assert!(header(Codec::Lz4, 10, 10).is_none(), "stored as it is, then");
        assert!(header(Codec::None, 10, 11).is_none());
    }
}
