//! Bytes that neither a file system nor a device can make smaller: where a place
//! compresses, that must not decide what a study finds.

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// So many letters and digits of text, the same ones for the same seed: a quarter
/// less is the least that compression makes of it.
pub(crate) fn text(length: usize, seed: u64) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 \n";
    let mut text = bytes(length, seed);
    for byte in &mut text {
        *byte = LETTERS[usize::from(*byte % 64)];
    }
    text
}

/// Puts a number in front of bytes, as far as it fits, so that none of many pass for
/// another.
#[inline]
pub(crate) fn stamp(bytes: &mut [u8], number: u64) {
    let number = number.to_le_bytes();
    let fits = number.len().min(bytes.len());
    bytes[..fits].copy_from_slice(&number[..fits]);
}

/// So many bytes, the same ones for the same seed.
pub(crate) fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; length];
    ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}
