//! Something that reads what others wrote, and what its inputs are made from.

use crate::mutate::Form;

/// One reader, or a few that are given the same.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// How many inputs it gets, of ten thousand for all; where each takes milliseconds, a hundred.
    pub share: u64,
    /// No input is longer: what grows with its input has shown it by then.
    pub bytes_max: usize,
    /// What inputs are.
    pub form: fn() -> Form,
    /// Inputs that are read without complaint.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Reads an input; whether it was understood. A panic is a finding.
    pub run: fn(&[u8]) -> bool,
}
