//! What files are filled with: bytes that become as small, compressed, as those that were
//! recorded.

use std::sync::Arc;

use sys::aligned::{ALIGNMENT, Aligned};

use super::plan::program::FILL_STEPS as STEPS;
use crate::random;

/// So much of each is at the front of every so many bytes: a file system that compresses does
/// so in pieces of 4 KiB and more.
const GRAIN: usize = 256;
/// Each write takes another part of this.
const WINDOW: usize = 256 << 10;

/// Bytes of each compressibility that a program writes.
#[derive(Clone, Default)]
pub(super) struct Fills {
    of: [Option<Arc<Aligned>>; STEPS + 1],
}

impl Fills {
    /// With enough of one for writes of so many bytes.
    pub(super) fn with(&mut self, fill: u8, length: usize) {
        let is_enough = |made: &Arc<Aligned>| made.bytes().len() >= WINDOW + length;
        let made = &mut self.of[usize::from(fill)];
        if !made.as_ref().is_some_and(is_enough) {
            *made = Some(Arc::new(filled(fill, WINDOW + length)));
        }
    }

    /// So many bytes, other ones each time; `at` is moved on. No more than was made are given.
    #[inline]
    pub(super) fn next(&self, fill: u8, length: usize, at: &mut usize) -> &[u8] {
        let Some(made) = &self.of[usize::from(fill)] else { return &[] };
        if length.is_multiple_of(512) {
            *at = at.next_multiple_of(ALIGNMENT);
        }
        let begins = *at % WINDOW;
        *at = begins + length;
        let bytes = made.bytes();
        &bytes[begins..bytes.len().min(begins + length)]
    }
}

fn filled(fill: u8, length: usize) -> Aligned {
    let mut made = Aligned::zeros(length);
    let kept = GRAIN * usize::from(fill) / STEPS;
    let bytes = random::bytes(length, u64::from(fill));
    for (made, random) in made.bytes_mut().chunks_mut(GRAIN).zip(bytes.chunks(GRAIN)) {
        let kept = kept.min(made.len());
        made[..kept].copy_from_slice(&random[..kept]);
        made[kept..].fill(b' ');
    }
    made
}

#[cfg(test)]
mod tests {
    use super::super::plan::program::{RANDOM, fill_of};
    use super::*;

    #[test]
    fn a_fill_becomes_as_small_as_the_sample_did() {
        for share in [0.0_f32, 0.25, 0.6, 1.0] {
            let mut fills = Fills::default();
            let fill = fill_of(Some(share));
            fills.with(fill, 1 << 20);
            let bytes = fills.next(fill, 1 << 20, &mut 0);
            let small = size_without_runs(bytes) as f32 / bytes.len() as f32;
            assert!((small - share).abs() < 0.08, "{share}: {small}");
        }
        assert_eq!(fill_of(None), RANDOM);
    }

    /// How many bytes are left when runs of one byte are counted: what any compression finds.
    fn size_without_runs(bytes: &[u8]) -> usize {
        let mut left = 0;
        let mut run = 0;
        for pair in bytes.windows(2) {
            run = if pair[0] == pair[1] { run + 1 } else { 0 };
            left += usize::from(run < 4);
        }
        left
    }

    #[test]
    fn each_write_has_other_bytes_from_memory_that_direct_writes_can_take() {
        let mut fills = Fills::default();
        fills.with(RANDOM, 4096);
        let mut at = 0;
        let first = fills.next(RANDOM, 70, &mut at).to_vec();
        assert_ne!(first, fills.next(RANDOM, 70, &mut at));
        let page = fills.next(RANDOM, 4096, &mut at);
        assert_eq!((page.len(), page.as_ptr().align_offset(4096)), (4096, 0));
        for _ in 0..1000 {
            assert_eq!(fills.next(RANDOM, 4096, &mut at).len(), 4096);
        }
    }
}
