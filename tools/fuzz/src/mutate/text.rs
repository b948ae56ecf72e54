//! Changes text that is not read as a tree: it replaces, removes and repeats numbers, words and lines.

use std::ops::Range;

use rand::Rng;
use rand::seq::IndexedRandom as _;

use super::values::{NUMBERS, PAYLOADS};

/// Makes one change. The text may be any bytes.
pub(super) fn change(input: &mut Vec<u8>, words: &[&str], random: &mut impl Rng) {
    match random.random_range(0..8) {
        0..3 => replace(input, u8::is_ascii_digit, &NUMBERS, random),
        3 => replace(input, u8::is_ascii_alphanumeric, words, random),
        4 => replace(input, u8::is_ascii_graphic, PAYLOADS, random),
        5 => {
            let at = random.random_range(0..=input.len());
            let word = [words, PAYLOADS].concat().choose(random).copied().unwrap_or("");
            input.splice(at..at, word.bytes());
        }
        6 => {
            let line = line(input, random);
            let copies = 1 << random.random_range(0..8);
            let copy = input[line.clone()].repeat(copies);
            input.splice(line.end..line.end, copy);
        }
        _ => drop(input.drain(line(input, random))),
    }
}

/// Replaces a run of such bytes: the first after a random place.
fn replace(
    input: &mut Vec<u8>,
    is_of_it: impl Fn(&u8) -> bool,
    by: &[impl AsRef<str>],
    random: &mut impl Rng,
) {
    let from = random.random_range(0..=input.len());
    let Some(start) = input[from..].iter().position(&is_of_it) else { return };
    let start = from + start;
    let length = input[start..].iter().take_while(|byte| is_of_it(byte)).count();
    let other = by.choose(random).map_or("", AsRef::as_ref);
    input.splice(start..start + length, other.bytes());
}

/// A line with its end.
fn line(input: &[u8], random: &mut impl Rng) -> Range<usize> {
    let at = random.random_range(0..=input.len());
    let start = input[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let length = input[at..].iter().position(|byte| *byte == b'\n').map(|end| end + 1);
    start..length.map_or(input.len(), |length| at + length)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn numbers_words_and_lines_are_changed_and_the_rest_stays() {
        let plain = b"disk=tmpfs:64M\nsecond line\n".to_vec();
        let all: Vec<Vec<u8>> = (0..2000)
            .map(|seed| {
                let mut input = plain.clone();
                change(&mut input, &["zram"], &mut ChaCha8Rng::seed_from_u64(seed));
                input
            })
            .collect();
        let has = |text: &str| all.iter().any(|input| input == text.as_bytes());
        assert!(has("disk=tmpfs:18446744073709551615M\nsecond line\n"));
        assert!(has("disk=zram:64M\nsecond line\n"));
        assert!(has("second line\n") && has("disk=tmpfs:64M\nsecond line\nsecond line\n"));
    }

    #[test]
    fn nothing_can_be_changed_too() {
        (0..200).for_each(|seed| {
            change(&mut Vec::new(), &[], &mut ChaCha8Rng::seed_from_u64(seed));
        });
    }
}
