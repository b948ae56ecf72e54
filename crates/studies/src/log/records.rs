//! Records that describe themselves, so that afterwards each can be accounted for.
//!
//! A record is a line of text. With room for it (38 bytes) it carries the run,
//! its writer, its sequence, its length, a payload and a checksum:
//!
//! ```text
//! 5f3a90c1 02 0000a1b3 000046 <payload> 9e107d9d\n
//! ```
//!
//! From 11 to 37 bytes there is room for writer, sequence, a payload and a
//! checksum of 12 bits, and below that for a letter by writer, of which only
//! lines can be counted. What could be checked is part of every account.
//!
//! Payloads are cut from one text of random letters at a place that follows
//! from run, writer and sequence: they cost a copy to make and a comparison to
//! check, and compress as badly as they should.

use std::sync::OnceLock;

use model::integrity::Checks;
use model::study::Sizes;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The smallest record with all fields.
pub(crate) const FULL_MIN: u64 = 38;
/// The smallest record with a sequence and a checksum.
pub(crate) const SHORT_MIN: u64 = 11;
/// Where a full record's header names its writer and sequence up to.
pub(super) const FULL_NAME: usize = 20;
/// Where a short one's does.
const SHORT_NAME: usize = 8;
/// The header of a full record, before its payload.
const FULL_HEADER: usize = 28;
/// The space, the checksum and the newline of a full record.
const FULL_TRAILER: usize = 10;
/// The checksum and the newline of a short record.
const SHORT_TRAILER: usize = 3;
/// Sequences of short records are in six digits of six bits.
const SHORT_DIGITS: usize = 6;
const TEXT_BYTES: usize = 1 << 16;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const HEX: &[u8; 16] = b"0123456789abcdef";

/// Which record of a run: its writer, and its number among that writer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The writer's number.
    pub writer: u32,
    /// From 0.
    pub sequence: u64,
}

/// How the records of one file look.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    run: u32,
    sizes: Sizes,
    checks: Checks,
}

impl Format {
    /// Records of a run, told from another run's by its number.
    pub fn new(run: u32, sizes: Sizes) -> Self {
        let checks = match sizes.min {
            FULL_MIN.. => Checks::Full,
            SHORT_MIN.. => Checks::Short,
            _ => Checks::Count,
        };
        Self { run, sizes, checks }
    }

    /// What these records have room to show.
    pub(crate) fn checks(self) -> Checks {
        self.checks
    }

    /// The size of every record where it is fixed.
    pub(crate) fn sizes(self) -> Sizes {
        self.sizes
    }

    /// The size of a record.
    pub(crate) fn size_of(self, name: Name) -> usize {
        let Sizes { min, max } = self.sizes;
        if min == max {
            return min as usize;
        }
        let spread = u128::from(max - min) + 1;
        min as usize + ((u128::from(self.hash(name)) * spread) >> 64) as usize
    }

    /// Puts a record behind what is in `out`.
    pub fn write(self, name: Name, out: &mut Vec<u8>) {
        let size = self.size_of(name);
        let start = out.len();
        match self.checks {
            Checks::Full => {
                push_hex(out, self.run.into(), 8, b' ');
                push_hex(out, name.writer.into(), 2, b' ');
                push_hex(out, name.sequence, 8, b' ');
                push_hex(out, size as u64, 6, b' ');
                self.push_payload(name, size - FULL_HEADER - FULL_TRAILER, out);
                out.push(b' ');
                let sum = self.checksum(&out[start..]);
                push_hex(out, u64::from(sum), 8, b'\n');
            }
            Checks::Short => {
                push_hex_digits(out, name.writer.into(), 2);
                push_letters(out, name.sequence, SHORT_DIGITS);
                self.push_payload(name, size - SHORT_NAME - SHORT_TRAILER, out);
                let sum = self.checksum(&out[start..]);
                push_letters(out, u64::from(sum), 2);
                out.push(b'\n');
            }
            Checks::Count => {
                out.resize(start + size - 1, letter_of(name.writer));
                out.push(b'\n');
            }
        }
        debug_assert_eq!(out.len() - start, size);
    }

    /// Which record a line, with its newline, is, if it is one and whole.
    /// Records that can only be counted have no names.
    pub(crate) fn name_of_line(self, line: &[u8]) -> Option<Name> {
        let name = self.name_at(line)?;
        if line.len() != self.size_of(name) || line.last() != Some(&b'\n') {
            return None;
        }
        let (payload, trailer) = match self.checks {
            Checks::Full => {
                let length = hex(line.get(FULL_NAME + 1..FULL_HEADER - 1)?)?;
                let spaced =
                    line[FULL_HEADER - 1] == b' ' && line[line.len() - FULL_TRAILER] == b' ';
                if length != line.len() as u64 || !spaced {
                    return None;
                }
                (&line[FULL_HEADER..line.len() - FULL_TRAILER], FULL_TRAILER - 1)
            }
            Checks::Short => (&line[SHORT_NAME..line.len() - SHORT_TRAILER], SHORT_TRAILER),
            Checks::Count => return None,
        };
        let (summed, sum) = line.split_at(line.len() - trailer);
        let expected = self.checksum(summed);
        let found = match self.checks {
            Checks::Full => hex(&sum[..8])?,
            _ => letters(&sum[..2])? | u64::from(expected & !0xfff),
        };
        (found == u64::from(expected) && self.is_payload(name, payload)).then_some(name)
    }

    /// Which record begins here, going by its header alone.
    pub(crate) fn name_at(self, bytes: &[u8]) -> Option<Name> {
        match self.checks {
            Checks::Full => {
                let header = bytes.get(..=FULL_NAME)?;
                let spaced = header[8] == b' ' && header[11] == b' ' && header[FULL_NAME] == b' ';
                (spaced && hex(&header[..8])? == u64::from(self.run)).then_some(())?;
                let writer = hex(&header[9..11])? as u32;
                Some(Name { writer, sequence: hex(&header[12..FULL_NAME])? })
            }
            Checks::Short => {
                let header = bytes.get(..SHORT_NAME)?;
                let writer = hex(&header[..2])? as u32;
                Some(Name { writer, sequence: letters(&header[2..])? })
            }
            Checks::Count => None,
        }
    }

    /// What every full record of the run begins with.
    pub(crate) fn run_tag(self) -> Option<[u8; 9]> {
        let mut tag = Vec::with_capacity(9);
        push_hex(&mut tag, self.run.into(), 8, b' ');
        (self.checks == Checks::Full).then(|| tag.try_into().ok()).flatten()
    }

    fn checksum(self, bytes: &[u8]) -> u32 {
        xxh3_64_with_seed(bytes, u64::from(self.run)) as u32
    }

    fn push_payload(self, name: Name, bytes: usize, out: &mut Vec<u8>) {
        for piece in self.payload(name, bytes) {
            out.extend_from_slice(piece);
        }
    }

    fn is_payload(self, name: Name, mut found: &[u8]) -> bool {
        self.payload(name, found.len()).all(|piece| {
            let (start, rest) = found.split_at(piece.len());
            found = rest;
            start == piece
        })
    }

    /// A payload, as the pieces of the text that it is made of.
    fn payload(self, name: Name, bytes: usize) -> impl Iterator<Item = &'static [u8]> {
        let text = text();
        let mut from = self.hash(name) as usize % TEXT_BYTES;
        let mut left = bytes;
        std::iter::from_fn(move || {
            let piece = &text[from..(from + left).min(TEXT_BYTES)];
            from = 0;
            left -= piece.len();
            (!piece.is_empty()).then_some(piece)
        })
    }

    /// The finaliser of `SplitMix64` (Steele, Lea, Flood: OOPSLA 2014).
    fn hash(self, name: Name) -> u64 {
        let seed = u64::from(self.run) << 32 | u64::from(name.writer) << 24;
        let mut z = (seed ^ name.sequence).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// The letter that stands for a writer in records that can only be counted.
pub(crate) fn letter_of(writer: u32) -> u8 {
    LETTERS[writer as usize % LETTERS.len()]
}

/// One writer's records, made outside the clock.
pub(crate) struct Records {
    bytes: Vec<u8>,
    layout: Layout,
}

enum Layout {
    Fixed { size: usize },
    Varying { ends: Vec<usize> },
}

impl Records {
    /// A writer's first so many records.
    pub(crate) fn make(format: Format, writer: u32, count: u64) -> Self {
        let sizes = format.sizes();
        let mut bytes = Vec::with_capacity((sizes.mean() * count as f64) as usize);
        let mut ends = Vec::new();
        for sequence in 0..count {
            format.write(Name { writer, sequence }, &mut bytes);
            if sizes.min != sizes.max {
                ends.push(bytes.len());
            }
        }
        let fixed = Layout::Fixed { size: sizes.min as usize };
        let layout = if ends.is_empty() { fixed } else { Layout::Varying { ends } };
        Self { bytes, layout }
    }

    /// All of them, one behind the other.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// One of them.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &[u8] {
        match &self.layout {
            Layout::Fixed { size } => &self.bytes[index * size..(index + 1) * size],
            Layout::Varying { ends } => {
                let start = if index == 0 { 0 } else { ends[index - 1] };
                &self.bytes[start..ends[index]]
            }
        }
    }
}

fn text() -> &'static [u8] {
    static TEXT: OnceLock<Vec<u8>> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut text = vec![0; TEXT_BYTES];
        ChaCha8Rng::seed_from_u64(0).fill_bytes(&mut text);
        for byte in &mut text {
            *byte = LETTERS[usize::from(*byte % 64)];
        }
        text
    })
}

fn push_hex(out: &mut Vec<u8>, value: u64, digits: u32, then: u8) {
    push_hex_digits(out, value, digits);
    out.push(then);
}

fn push_hex_digits(out: &mut Vec<u8>, value: u64, digits: u32) {
    let mut text = [0; 16];
    let text = &mut text[..digits as usize];
    for (digit, place) in text.iter_mut().zip((0..digits).rev()) {
        *digit = HEX[(value >> (4 * place)) as usize & 15];
    }
    out.extend_from_slice(text);
}

fn push_letters(out: &mut Vec<u8>, value: u64, digits: usize) {
    out.extend((0..digits).rev().map(|digit| LETTERS[(value >> (6 * digit)) as usize & 63]));
}

const NO_DIGIT: u8 = 0xff;

const fn values_of(digits: &[u8]) -> [u8; 256] {
    let mut values = [NO_DIGIT; 256];
    let mut index = 0;
    while index < digits.len() {
        values[digits[index] as usize] = index as u8;
        index += 1;
    }
    values
}

fn hex(digits: &[u8]) -> Option<u64> {
    static VALUES: [u8; 256] = values_of(HEX);
    read_digits(digits, &VALUES, 4)
}

fn letters(digits: &[u8]) -> Option<u64> {
    static VALUES: [u8; 256] = values_of(LETTERS);
    read_digits(digits, &VALUES, 6)
}

fn read_digits(digits: &[u8], values: &[u8; 256], bits: u32) -> Option<u64> {
    let mut value = 0;
    let mut strange = 0;
    for digit in digits {
        let digit = values[usize::from(*digit)];
        strange |= digit & 0x80;
        value = value << bits | u64::from(digit);
    }
    (strange == 0).then_some(value)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn fixed(size: u64) -> Format {
        Format::new(0x5f3a_90c1, Sizes { min: size, max: size })
    }

    #[test]
    fn a_record_has_its_size_ends_its_line_and_knows_its_name() {
        for size in [1, 2, 10, 11, 12, 37, 38, 39, 70, 4096, 65_537, 200_000, 1 << 20] {
            let format = fixed(size);
            for name in [(0, 0), (63, 7), (1, 0xfff_ffff)] {
                let name = Name { writer: name.0, sequence: name.1 };
                let mut line = Vec::new();
                format.write(name, &mut line);
                assert_eq!(line.len() as u64, size);
                assert_eq!(line.iter().position(|b| *b == b'\n'), Some(line.len() - 1));
                let named = (size >= SHORT_MIN).then_some(name);
                assert_eq!(format.name_of_line(&line), named);
            }
        }
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        for size in [38, 70, 300] {
            let format = fixed(size);
            let mut line = Vec::new();
            format.write(Name { writer: 2, sequence: 9 }, &mut line);
            for position in 0..line.len() {
                let mut changed = line.clone();
                changed[position] ^= 1;
                assert_eq!(format.name_of_line(&changed), None, "byte {position} of {size}");
            }
        }
    }

    #[test]
    fn a_record_of_another_run_is_none_of_ours() {
        let mut line = Vec::new();
        Format::new(1, Sizes { min: 70, max: 70 })
            .write(Name { writer: 0, sequence: 0 }, &mut line);
        assert_eq!(fixed(70).name_of_line(&line), None);
    }

    #[test]
    fn varying_sizes_fill_their_range_and_are_found_again() {
        let format = Format::new(9, Sizes { min: 50, max: 59 });
        let records = Records::make(format, 3, 2000);
        let mut seen = [0; 10];
        for index in 0..2000 {
            let name = Name { writer: 3, sequence: index as u64 };
            assert_eq!(format.name_of_line(records.get(index)), Some(name));
            seen[records.get(index).len() - 50] += 1;
        }
        assert!(seen.iter().all(|times| (120..=280).contains(times)), "{seen:?}");
        let total: usize = (0..2000).map(|i| records.get(i).len()).sum();
        assert_eq!(total, records.bytes().len());
    }
}
