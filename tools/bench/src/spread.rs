//! The middle of some rounds, and within what it lies.

/// Of fewer rounds than this there is no such interval.
pub(crate) const ROUNDS_MIN: usize = 6;
/// What differs by no more than this is taken to be the same.
pub(crate) const ALIKE: f64 = 0.05;
/// An interval that is wider than this, up or down from its median, does not say that two are
/// the same because it holds 1.
const WIDTH_MAX: f64 = 0.15;
/// The interval does not hold the median with this probability at the most.
const ERROR_RATE: f64 = 0.05;

/// The median of what was drawn, and an interval that holds the median of what it was
/// drawn from with 95% confidence at the least, whatever its distribution: the values of
/// two ranks, the lower of which lies above the median only where almost all draws do.
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// Of at least [`ROUNDS_MIN`] values; that of fewer is without ends.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        let ends = stats::median_interval(&mut values, ERROR_RATE);
        let (low, high) = ends.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        Self { median: stats::median(&mut values), low, high }
    }

    /// Whether it says that two are the same whose ratio this is.
    pub(crate) fn is_same(&self) -> bool {
        let within = self.low >= 1.0 - ALIKE && self.high <= 1.0 + ALIKE;
        within || (self.holds(1.0) && !self.is_wide())
    }

    /// Whether its ends are too far from each other to say so.
    pub(crate) fn is_wide(&self) -> bool {
        self.width() > WIDTH_MAX
    }

    /// How far its ends are from its median, relative to that.
    pub(crate) fn width(&self) -> f64 {
        (self.high / self.median).max(self.median / self.low) - 1.0
    }

    /// Whether a value lies in it.
    pub(crate) fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// As `1.002 (0.981 to 1.013)`, each as given.
    pub(crate) fn show(&self, one: impl Fn(f64) -> String) -> String {
        format!("{} ({} to {})", one(self.median), one(self.low), one(self.high))
    }
}

/// Reads a number of rounds of which an interval can be made.
pub(crate) fn enough(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(rounds) if rounds >= ROUNDS_MIN => Ok(rounds),
        _ => Err(format!("an interval takes {ROUNDS_MIN} rounds or more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_sign_test() {
        // Tables of the sign test, two-sided 5%: the largest count that still rejects.
        let outside = |draws| Spread::of((0..draws).map(f64::from)).low as usize;
        assert_eq!([6, 8, 9, 10, 12, 15, 20, 25].map(outside), [0, 0, 1, 1, 2, 3, 5, 7]);
    }

    #[test]
    fn the_interval_holds_the_median_and_leaves_one_of_ten_out_at_each_end() {
        let spread = Spread::of([9.0, 1.0, 5.0, 6.0, 4.0, 8.0, 2.0, 3.0, 7.0, 100.0]);
        assert_eq!((spread.median, spread.low, spread.high), (5.5, 2.0, 9.0));
        assert!((spread.width() - 1.75).abs() < 1e-9);
        assert_eq!(spread.show(|value| format!("{value:.1}")), "5.5 (2.0 to 9.0)");
    }
}
