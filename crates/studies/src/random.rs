//! Bytes that neither a file system nor a device can make smaller: where a place
//! compresses, that must not decide what a study finds.

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// So many bytes, the same ones for the same seed.
pub(crate) fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; length];
    ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}
