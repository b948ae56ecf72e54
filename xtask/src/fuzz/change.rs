//! Changes to bytes.

use std::ops::Range;

use rand::Rng;
use rand::seq::IndexedRandom as _;

/// Longer inputs are cut: what grows with its input has shown it by then.
pub(super) const BYTES_MAX: usize = 1 << 18;
/// Numbers at which something may happen.
pub(super) const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "-1",
    "2",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "0.5",
    "1e-320",
    "1e308",
    "-1e308",
    "1e999",
    "00",
];
/// Bytes at which something may happen.
const BYTES: &[u8] = b"\0\t\n\r\x1b \"'%+,-./0:;=@AZ[\\]_az{|}~\x7f\x80\xc3\xff";

/// Changes an input in one way.
pub(super) fn change(input: &mut Vec<u8>, other: &[u8], words: &[&str], random: &mut impl Rng) {
    match random.random_range(0..12) {
        0 if !input.is_empty() => {
            let at = random.random_range(0..input.len());
            input[at] ^= 1 << random.random_range(0..8);
        }
        1 | 2 if !input.is_empty() => {
            let at = random.random_range(0..input.len());
            input[at] = BYTES.choose(random).copied().unwrap_or_default();
        }
        3 => drop(input.drain(range(input, random))),
        4 => {
            let copy = input[range(input, random)].to_vec();
            insert(input, &copy, random);
        }
        5 => {
            let copy = input[range(input, random)].to_vec();
            insert(input, &copy.repeat(random.random_range(2..200)), random);
        }
        6 => insert(input, &other[range(other, random)], random),
        7 => input.truncate(random.random_range(0..=input.len())),
        8 | 9 => replace_number(input, random),
        10 => {
            let byte = BYTES.choose(random).copied().unwrap_or_default();
            insert(input, &vec![byte; 1 << random.random_range(0..10)], random);
        }
        _ => insert(input, words.choose(random).unwrap_or(&"").as_bytes(), random),
    }
    input.truncate(BYTES_MAX);
}

/// A part, mostly a short one.
fn range(bytes: &[u8], random: &mut impl Rng) -> Range<usize> {
    let start = random.random_range(0..=bytes.len());
    let longest = (bytes.len() - start).min(1 << random.random_range(0..12));
    start..start + random.random_range(0..=longest)
}

fn insert(input: &mut Vec<u8>, what: &[u8], random: &mut impl Rng) {
    let at = random.random_range(0..=input.len());
    input.splice(at..at, what.iter().copied());
}

/// Puts another number in the place of one that is there.
fn replace_number(input: &mut Vec<u8>, random: &mut impl Rng) {
    let from = random.random_range(0..=input.len());
    let Some(start) = input[from..].iter().position(u8::is_ascii_digit) else { return };
    let start = from + start;
    let digits = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = NUMBERS.choose(random).unwrap_or(&"0");
    input.splice(start..start + digits, number.bytes());
}
