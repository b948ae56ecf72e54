//! What differs between two versions of a page.
//!
//! A difference is a list of runs, each of two bytes for where it begins, two for how long
//! it is, and the bytes that stand there afterwards. Bytes are replaced, not combined with
//! what was there. Numbers are little-endian, here as everywhere.

use crate::page::{PAGE_BYTES, Page};

const RUN_HEADER_BYTES: usize = 4;
const WORD_BYTES: usize = size_of::<u64>();
/// Equal pages are skipped in steps of so many bytes.
const STRIDE: usize = 64;

/// Writes the difference to the beginning of `out`; its length, or none where a whole page
/// is no longer than that.
pub(crate) fn encode(before: &Page, after: &Page, out: &mut Page) -> Option<usize> {
    let mut end = 0;
    let mut at = 0;
    while let Some(start) = next_difference(before, after, at) {
        let stop = end_of_run(before, after, start);
        let body = end + RUN_HEADER_BYTES;
        let next = body + stop - start;
        if next >= PAGE_BYTES {
            return None;
        }
        out[end..end + 2].copy_from_slice(&(start as u16).to_le_bytes());
        out[end + 2..body].copy_from_slice(&((stop - start) as u16).to_le_bytes());
        out[body..next].copy_from_slice(&after[start..stop]);
        (end, at) = (next, stop);
    }
    Some(end)
}

/// Where the first byte differs, from `at` on.
fn next_difference(before: &Page, after: &Page, mut at: usize) -> Option<usize> {
    while let (Some(one), Some(other)) = (stride(before, at), stride(after, at))
        && is_same(one, other)
    {
        at += STRIDE;
    }
    while let Some(changed) = changed_bits(before, after, at) {
        if changed != 0 {
            return Some(at + changed.trailing_zeros() as usize / 8);
        }
        at += WORD_BYTES;
    }
    (at..PAGE_BYTES).find(|at| before[*at] != after[*at])
}

fn stride(page: &Page, at: usize) -> Option<&[u8; STRIDE]> {
    page.get(at..)?.first_chunk()
}

/// Without a branch for each word, so that it becomes a few vector instructions: as a
/// comparison of slices it is a call of memcmp(3) for every 64 bytes.
fn is_same(one: &[u8; STRIDE], other: &[u8; STRIDE]) -> bool {
    let words = one.as_chunks::<WORD_BYTES>().0.iter().zip(other.as_chunks::<WORD_BYTES>().0);
    let changed = words.map(|(one, other)| u64::from_ne_bytes(*one) ^ u64::from_ne_bytes(*other));
    changed.fold(0, |all, changed| all | changed) == 0
}

/// Where the run that begins at `start` ends: before the next whole word of equal bytes,
/// for a new run would take half of a word itself.
fn end_of_run(before: &Page, after: &Page, start: usize) -> usize {
    let mut at = start;
    while let Some(changed) = changed_bits(before, after, at) {
        if changed == 0 {
            return at;
        }
        at += WORD_BYTES - changed.leading_zeros() as usize / 8;
    }
    let last = (at..PAGE_BYTES).rfind(|at| before[*at] != after[*at]);
    last.map_or(at, |last| last + 1)
}

/// The bits that differ in the word at `at`; none where the page ends within it.
fn changed_bits(before: &Page, after: &Page, at: usize) -> Option<u64> {
    let word = |page: &Page| page.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    Some(word(before)? ^ word(after)?)
}

/// Makes the later version of the earlier one; none where this is no difference.
pub(crate) fn apply(mut runs: &[u8], page: &mut Page) -> Option<()> {
    while !runs.is_empty() {
        let ([start_0, start_1, len_0, len_1], rest) = runs.split_first_chunk()?;
        let start = usize::from(u16::from_le_bytes([*start_0, *start_1]));
        let len = usize::from(u16::from_le_bytes([*len_0, *len_1]));
        let (bytes, rest) = rest.split_at_checked(len)?;
        page.get_mut(start..start + len)?.copy_from_slice(bytes);
        runs = rest;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(before: &Page, after: &Page) -> Option<usize> {
        let mut out = [0; PAGE_BYTES];
        let len = encode(before, after, &mut out)?;
        let mut page = *before;
        apply(&out[..len], &mut page).unwrap();
        assert!(page == *after);
        Some(len)
    }

    #[test]
    fn a_difference_is_as_long_as_what_changed() {
        let before = [1; PAGE_BYTES];
        assert_eq!(round_trip(&before, &before), Some(0));
        for at in [0, 1, 63, 64, 65, 4087, 4088, 4095] {
            let mut after = before;
            after[at] = 2;
            assert_eq!(round_trip(&before, &after), Some(RUN_HEADER_BYTES + 1), "at {at}");
        }
        let mut after = before;
        (after[100], after[107], after[116]) = (2, 2, 2);
        assert_eq!(round_trip(&before, &after), Some(8 + 4 + 4 + 1), "two runs");
        assert_eq!(round_trip(&before, &[2; PAGE_BYTES]), None);
    }

    /// It would be read as a whole page.
    #[test]
    fn no_difference_is_as_long_as_a_page() {
        let before = [1; PAGE_BYTES];
        for (changed, long) in [(4091, Some(4095)), (4092, None)] {
            let mut after = before;
            after[..changed].fill(2);
            assert_eq!(round_trip(&before, &after), long, "{changed} bytes changed");
        }
    }

    #[test]
    fn what_is_no_difference_is_refused() {
        let page = &mut [0; PAGE_BYTES];
        let bad: [&[u8]; 4] = [&[0], &[0, 0, 2, 0, 1], &[255, 15, 2, 0, 1, 1], &[255, 255, 0, 0]];
        for runs in bad {
            assert_eq!(apply(runs, page), None, "{runs:?}");
        }
    }

    proptest! {
        #[test]
        fn any_change_comes_back(
            fill in any::<u8>(),
            changes in prop::collection::vec((0..PAGE_BYTES, 1..200_usize, any::<u8>()), 0..40),
        ) {
            let before = [fill; PAGE_BYTES];
            let mut after = before;
            for (at, len, byte) in changes {
                let end = (at + len).min(PAGE_BYTES);
                for (index, place) in after[at..end].iter_mut().enumerate() {
                    *place = byte.wrapping_mul(index as u8);
                }
            }
            round_trip(&before, &after);
        }

        #[test]
        fn any_bytes_are_applied_or_refused(runs in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = apply(&runs, &mut [0; PAGE_BYTES]);
        }
    }
}
