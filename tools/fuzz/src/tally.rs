//! How many inputs a target had, and what they took.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::count;

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub(crate) inputs: u64,
    pub(crate) understood: u64,
    pub(crate) memory_bytes: usize,
    pub(crate) longest_s: f64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.inputs += other.inputs;
        self.understood += other.understood;
        self.memory_bytes = self.memory_bytes.max(other.memory_bytes);
        self.longest_s = self.longest_s.max(other.longest_s);
    }

    /// In one line.
    pub(crate) fn line(&self, name: &str, took: Duration) -> String {
        let seconds = took.as_secs_f64();
        format!(
            "{name:<13} {:>10} inputs in {seconds:.0} s ({:.0}/s), {:.1}% understood, at most {} \
             bytes of memory and {:.1} ms each",
            count(self.inputs),
            self.inputs as f64 / seconds.max(1e-3),
            100.0 * self.understood as f64 / self.inputs.max(1) as f64,
            count(self.memory_bytes as u64),
            self.longest_s * 1e3,
        )
    }
}
