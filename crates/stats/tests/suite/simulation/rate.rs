//! How often something happened, and how often it may happen at most.

use std::fmt;

#[derive(Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) hits: u64,
    pub(crate) runs: u64,
}

impl Rate {
    /// Counts the seeds from 0 to `runs` for which `happens`.
    pub(crate) fn of(runs: u64, happens: impl Fn(u64) -> bool) -> Self {
        let hits = (0..runs).filter(|&seed| happens(seed)).count() as u64;
        Self { hits, runs }
    }

    pub(crate) fn observed(self) -> f64 {
        self.hits as f64 / self.runs as f64
    }

    /// The upper end of the 95% interval of Wilson (1927): a true rate above
    /// it would have shown fewer hits by luck in 1 of 40 simulations only.
    pub(crate) fn surely_at_most(self) -> f64 {
        const Z: f64 = 1.96;
        let (p, n) = (self.observed(), self.runs as f64);
        let center = p + Z * Z / (2.0 * n);
        let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        (center + half) / (1.0 + Z * Z / n)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (percent, upper) = (100.0 * self.observed(), 100.0 * self.surely_at_most());
        f.pad(&format!("{percent:.1}% (< {upper:.1}%)"))
    }
}
