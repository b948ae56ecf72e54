//! Numbers in as few bytes as they need (LEB128), and signed ones zigzag before that.

/// The longest a number becomes.
const BYTES_MAX: u32 = 10;

pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Small where `now` is near `before`, above it or below.
pub(crate) fn put_difference(out: &mut Vec<u8>, now: u64, before: u64) {
    let difference = now.wrapping_sub(before) as i64;
    put(out, ((difference << 1) ^ (difference >> 63)) as u64);
}

/// Takes a number from the front; none where it is cut or longer than any.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for place in 0..BYTES_MAX {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(first & 0x7f);
        let shifted = bits << (7 * place);
        if shifted >> (7 * place) != bits {
            return None;
        }
        number |= shifted;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// What [`put_difference`] put.
pub(crate) fn take_difference(bytes: &mut &[u8], before: u64) -> Option<u64> {
    let zigzag = take(bytes)?;
    let difference = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
    Some(before.wrapping_add(difference as u64))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_length_comes_back_and_takes_no_more_than_it_needs() {
        for bits in 0..=64 {
            let number = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
            let mut out = Vec::new();
            put(&mut out, number);
            assert_eq!(out.len(), bits.max(1_usize).div_ceil(7));
            let mut bytes = &out[..];
            assert_eq!(take(&mut bytes), Some(number));
            assert!(bytes.is_empty());
            assert_eq!(take(&mut &out[..out.len() - 1]), None);
        }
    }

    #[test]
    fn differences_of_any_two_numbers_come_back() {
        let numbers = [0, 1, 63, 64, 1 << 31, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX];
        for (now, before) in numbers.iter().flat_map(|a| numbers.map(|b| (*a, b))) {
            let mut out = Vec::new();
            put_difference(&mut out, now, before);
            assert_eq!(take_difference(&mut &out[..], before), Some(now));
        }
        let mut out = Vec::new();
        put_difference(&mut out, 100, 163);
        assert_eq!(out.len(), 1);
    }

    #[test]
    fn numbers_that_fit_nowhere_are_refused() {
        assert_eq!(take(&mut &[0xff; 11][..]), None);
        assert_eq!(take(&mut &[[0xff; 9].as_slice(), &[0x02]].concat()[..]), None);
        assert_eq!(take(&mut &[[0xff; 9].as_slice(), &[0x01]].concat()[..]), Some(u64::MAX));
    }
}
