//! Bytes that neither a file system nor a device can make smaller: where a place
//! compresses, that must not decide what a study finds.

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// So many letters and digits of text, the same ones for the same seed: a quarter
/// less is the least that compression makes of it.
pub(crate) fn text(length: usize, seed: u64) -> Vec<u8> {
    text_of(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 \n", length, seed)
}

/// The same as [`text`], with other letters.
pub(crate) fn text_of(letters: &[u8; 64], length: usize, seed: u64) -> Vec<u8> {
    let mut text = bytes(length, seed);
    for byte in &mut text {
        *byte = letters[usize::from(*byte % 64)];
    }
    text
}

/// Another number for each number, all over the range: the finaliser of `SplitMix64` (Steele, Lea
/// and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), of which each step
/// can be undone.
#[inline]
pub(crate) fn mixed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// What `SplitMix64` adds up, so that numbers in a row are far apart.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

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
