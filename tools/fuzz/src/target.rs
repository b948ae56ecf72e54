//! A target: something that reads what others wrote.

use crate::mutate::Form;

/// One reader, or a few that are given the same.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// How many inputs it gets, of ten thousand for all; where each takes milliseconds, a hundred.
    pub share: u64,
    /// No input is longer.
    pub bytes_max: usize,
    /// The form of its inputs.
    pub form: fn() -> Form,
    /// Inputs that are read without complaint.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Reads an input; whether it was understood. A panic is a finding.
    pub run: fn(&[u8]) -> bool,
}

impl Target {
    /// One whose inputs are not longer than a file that somebody would write.
    pub(crate) const fn new(
        name: &'static str,
        share: u64,
        form: fn() -> Form,
        seeds: fn() -> Vec<Vec<u8>>,
        run: fn(&[u8]) -> bool,
    ) -> Self {
        Self { name, share, bytes_max: 1 << 14, form, seeds, run }
    }

    /// The same with another limit.
    pub(crate) const fn bytes_max(self, bytes_max: usize) -> Self {
        Self { bytes_max, ..self }
    }
}
