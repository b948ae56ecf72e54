//! The middle of many rounds, and how far they lie apart.

use std::fmt;

/// The median of a series and the range that all but the outer tenth lies in.
pub(super) struct Spread {
    pub(super) median: f64,
    low: f64,
    high: f64,
}

impl Spread {
    /// Of at least one value.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
        let (low, high) = (at(0.05), at(0.95));
        Self { median: stats::median(&mut sorted), low, high }
    }
}

impl fmt::Display for Spread {
    /// Median, low and high, each as the format says for one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, digits) = (f.width().unwrap_or(0), f.precision().unwrap_or(2));
        let Self { median, low, high } = self;
        write!(f, "{median:>width$.digits$} {low:>width$.digits$} {high:>width$.digits$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_tenth_is_left_out() {
        let spread = Spread::of((0..=100).rev().map(f64::from));
        assert_eq!(spread.to_string(), "50.00 5.00 95.00");
        assert_eq!(format!("{:>4.0}", Spread::of([2.0])), "   2    2    2");
    }
}
