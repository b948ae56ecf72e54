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

use std::sync::{Mutex, OnceLock, PoisonError};

use model::integrity::Checks;
use model::study::Sizes;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::random::{GOLDEN, mixed, text_of};

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
/// One in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;
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
    run_tag: [u8; 9],
    sizes: Sizes,
    /// From the smallest to the largest, each as likely as the next; else all are.
    sample: Option<&'static [u32]>,
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
        let mut run_tag = [b' '; 9];
        run_tag[..8].copy_from_slice(&hex_digits(run));
        Self { run, run_tag, sizes, sample: None, checks }
    }

    /// Records of a run whose sizes are those of a sample, in order, each as likely as the
    /// next.
    pub(crate) fn sampled(run: u32, sample: &[u32]) -> Self {
        let ends = [sample.first(), sample.last()].map(|size| size.copied().unwrap_or_default());
        let [min, max] = ends.map(u64::from);
        Self { sample: Some(kept_for_good(sample)), ..Self::new(run, Sizes { min, max }) }
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
        let below = |bound: u64| ((u128::from(self.hash(name)) * u128::from(bound)) >> 64) as usize;
        match self.sample {
            Some(sample) => sample[below(sample.len() as u64)] as usize,
            None => min as usize + below(max - min + 1),
        }
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
        // The length that the header names is under the checksum.
        let (header, trailer) = match self.checks {
            Checks::Full => (FULL_HEADER, FULL_TRAILER),
            Checks::Short => (SHORT_NAME, SHORT_TRAILER),
            Checks::Count => return None,
        };
        let payload = &line[header..line.len() - trailer];
        (self.has_its_checksum(line) && self.is_payload(name, payload)).then_some(name)
    }

    fn has_its_checksum(self, line: &[u8]) -> bool {
        if self.checks == Checks::Full {
            let (summed, sum) = line.split_at(line.len() - FULL_TRAILER + 1);
            return sum.first_chunk() == Some(&hex_digits(self.checksum(summed)));
        }
        let (summed, sum) = line.split_at(line.len() - SHORT_TRAILER);
        letters(&sum[..2]) == Some(u64::from(self.checksum(summed) & 0xfff))
    }

    /// Which record begins here, going by its header alone.
    pub(crate) fn name_at(self, bytes: &[u8]) -> Option<Name> {
        match self.checks {
            Checks::Full => {
                let header: &[u8; FULL_NAME + 1] = bytes.first_chunk()?;
                let spaced = header[11] == b' ' && header[FULL_NAME] == b' ';
                (spaced && header[..9] == self.run_tag).then_some(())?;
                let writer = hex(&header[9..11])? as u32;
                let sequence = eight_hex_digits(*header[12..FULL_NAME].first_chunk()?);
                Some(Name { writer, sequence })
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
        (self.checks == Checks::Full).then_some(self.run_tag)
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

    fn hash(self, name: Name) -> u64 {
        let seed = u64::from(self.run) << 32 | u64::from(name.writer) << 24;
        mixed((seed ^ name.sequence).wrapping_mul(GOLDEN))
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

/// The same sizes, as long as the process lives: a run has one sample or a few, and formats
/// are copied wherever records are looked at.
fn kept_for_good(sample: &[u32]) -> &'static [u32] {
    static KEPT: Mutex<Vec<&'static [u32]>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let known = kept.iter().copied().find(|known| *known == sample);
    known.unwrap_or_else(|| {
        let new: &'static [u32] = Box::leak(sample.into());
        kept.push(new);
        new
    })
}

fn text() -> &'static [u8] {
    static TEXT: OnceLock<Vec<u8>> = OnceLock::new();
    TEXT.get_or_init(|| text_of(LETTERS, TEXT_BYTES, 0))
}

fn push_hex(out: &mut Vec<u8>, value: u64, digits: usize, then: u8) {
    push_hex_digits(out, value, digits);
    out.push(then);
}

/// The last digits of a number's last eight.
fn push_hex_digits(out: &mut Vec<u8>, value: u64, digits: usize) {
    out.extend_from_slice(&hex_digits(value as u32)[8 - digits..]);
}

/// Eight digits at once.
fn hex_digits(value: u32) -> [u8; 8] {
    let value = u64::from(value);
    let pairs = (value | value << 16) & 0x0000_ffff_0000_ffff;
    let bytes = (pairs | pairs << 8) & 0x00ff_00ff_00ff_00ff;
    let halves = (bytes | bytes << 4) & (0xf * ONES);
    // From ten on, six more reach into the next bit, and letters stand 39 above what follows 9.
    let letters = (halves + 6 * ONES) >> 4 & ONES;
    (halves + u64::from(b'0') * ONES + 39 * letters).to_be_bytes()
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

/// Eight digits at once. What is no digit reads as some number: whoever asks
/// holds the record against the one of that name.
fn eight_hex_digits(digits: [u8; 8]) -> u64 {
    let text = u64::from_be_bytes(digits);
    // A letter's low half counts from 1, and its bit 6 is set.
    let halves = (text & (0xf * ONES)) + 9 * ((text >> 6) & ONES);
    let bytes = (halves | halves >> 4) & 0x00ff_00ff_00ff_00ff;
    let pairs = (bytes | bytes >> 8) & 0x0000_ffff_0000_ffff;
    (pairs | pairs >> 16) & 0xffff_ffff
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
    fn digits_read_back_as_they_were_written() {
        for value in [0, 1, 0x9a, 0x0123_4567, 0x89ab_cdef, u32::MAX] {
            assert_eq!(hex_digits(value), *format!("{value:08x}").as_bytes());
            assert_eq!(eight_hex_digits(hex_digits(value)), u64::from(value));
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
                for bit in 0..8 {
                    changed[position] = line[position] ^ 1 << bit;
                    assert_eq!(format.name_of_line(&changed), None, "byte {position} of {size}");
                }
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

    #[test]
    fn sizes_of_a_sample_come_as_often_as_they_are_in_it() {
        let sample = [11, 60, 60, 60, 5000];
        let format = Format::sampled(9, &sample);
        let records = Records::make(format, 3, 5000);
        let named = |index| format.name_of_line(records.get(index));
        assert!((0..5000).all(|n| named(n) == Some(Name { writer: 3, sequence: n as u64 })));
        let times = |size| (0..5000).filter(|&index| records.get(index).len() == size).count();
        let [small, usual, large] = [11, 60, 5000].map(times);
        assert_eq!(small + usual + large, 5000);
        assert!((850..1150).contains(&small) && (850..1150).contains(&large), "{small} {large}");
        assert_eq!(Format::sampled(8, &sample).sample, format.sample);
    }
}
