//! When an arm is warm.
//!
//! The first slices of an arm pay for what later ones find ready: code and
//! directories in the cache, a file system's own structures, a device that has
//! woken up. They are thrown away. Random order keeps a comparison right even
//! if warm-up ends too soon, so that a plain rule is enough.

/// An arm is warm when its latest slice was no more than `gain` faster than
/// the one before, or after `most` slices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warmup {
    /// Relative gain in speed from one slice to the next that still counts as
    /// warming up: 0.05 is 5%.
    pub gain: f64,
    /// Slices after which warm-up ends in any case.
    pub most: usize,
}

impl Default for Warmup {
    fn default() -> Self {
        Self { gain: 0.05, most: 5 }
    }
}

impl Warmup {
    /// Whether the arm is warm whose slices so far took `times` per operation,
    /// in any unit, the latest last.
    pub fn is_over(&self, times: &[f64]) -> bool {
        times.len() >= self.most
            || matches!(times, [.., before, latest] if *latest >= before * (1.0 - self.gain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_with_the_first_slice_that_gains_little() {
        let rule = Warmup::default();
        assert!(!rule.is_over(&[]));
        assert!(!rule.is_over(&[100.0]));
        assert!(!rule.is_over(&[100.0, 94.0]));
        assert!(rule.is_over(&[100.0, 96.0]));
        assert!(rule.is_over(&[100.0, 120.0]));
        assert!(!rule.is_over(&[100.0, 120.0, 80.0]));
    }

    #[test]
    fn ends_at_the_limit_whatever_the_times() {
        let rule = Warmup { gain: 0.05, most: 3 };
        assert!(!rule.is_over(&[100.0, 50.0]));
        assert!(rule.is_over(&[100.0, 50.0, 25.0]));
        assert!(rule.is_over(&[f64::NAN; 3]));
    }
}
