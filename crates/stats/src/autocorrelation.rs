//! Whether θ explains the blocks, if each may resemble the one before.
//!
//! A series of which each value keeps the share φ of the one before (AR(1))
//! strays to one side of its center for long, and then looks like a series
//! about another one. The two are told apart by their likelihoods: the highest
//! that any φ can give to Gaussian AR(1) noise about θ, against that of
//! independent Gaussian noise about the blocks' own mean, or of AR(1) noise
//! about it. The scatter is whatever suits each best. These are the generalised
//! likelihood ratios of Neyman and Pearson (1928).

/// Shares φ beyond this are not considered: nearly all that such a series says
/// would be noise.
const HIGHEST: f64 = 0.9;
/// Values farther out than this many spreads count as this far, so that one
/// stall does not hide the resemblance of all others.
const CLIP: f64 = 3.0;

/// What the likelihoods need to know of a series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resemblance {
    /// What all other values are counted from.
    center: f64,
    count: f64,
    sum: f64,
    squares: f64,
    /// Sum of each value times the one before.
    products: f64,
    first: f64,
    last: f64,
}

impl Resemblance {
    /// Of no series: there is evidence for nothing.
    pub(crate) fn none() -> Self {
        let (center, count, sum, squares) = (0.0, 0.0, 0.0, 0.0);
        Self { center, count, sum, squares, products: 0.0, first: 0.0, last: 0.0 }
    }

    /// Of a series with this center and spread. Where most values are the same,
    /// which makes the spread zero, none is clipped.
    pub(crate) fn of(series: &[f64], center: f64, spread: f64) -> Self {
        let reach = if spread > 0.0 { CLIP * spread } else { f64::INFINITY };
        let mut all = Self { center, count: series.len() as f64, ..Self::none() };
        for (index, value) in series.iter().enumerate() {
            let value = (value - center).clamp(-reach, reach);
            all.sum += value;
            all.squares += value * value;
            all.products += all.last * value;
            all.last = value;
            if index == 0 {
                all.first = value;
            }
        }
        all
    }

    /// The mean of the clipped series.
    pub(crate) fn mean(&self) -> f64 {
        self.center + self.sum / self.count
    }

    /// Logarithm of the likelihood of independent blocks about their own mean
    /// over that of blocks that resemble each other and have the center θ.
    pub(crate) fn independent_rather_than_about(&self, theta: f64) -> f64 {
        let squares = self.squares - self.sum * self.sum / self.count;
        self.misfit(theta) - 0.5 * self.count * squares.ln()
    }

    /// The same for blocks that resemble each other about either center.
    pub(crate) fn elsewhere_rather_than_about(&self, theta: f64) -> f64 {
        self.misfit(theta) - self.misfit(self.mean())
    }

    /// Minus the logarithm of the highest likelihood of AR(1) noise about θ, but
    /// for a constant. -∞ without any noise.
    fn misfit(&self, theta: f64) -> f64 {
        let theta = theta - self.center;
        let n = self.count;
        let squares = self.squares - 2.0 * theta * self.sum + n * theta * theta;
        let ends = self.first + self.last;
        let products = self.products - theta * (2.0 * self.sum - ends) + (n - 1.0) * theta * theta;
        let inner = squares - (self.first - theta).powi(2) - (self.last - theta).powi(2);
        let share = if inner > 0.0 { (products / inner).clamp(0.0, HIGHEST) } else { 0.0 };
        let fresh = squares - share * (2.0 * products - share * inner);
        0.5 * (n * fresh.max(0.0).ln() - (1.0 - share * share).ln())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::median::center_and_spread;

    fn evidence(series: &[f64], theta: f64) -> f64 {
        let (center, spread) = center_and_spread(series);
        Resemblance::of(series, center, spread).independent_rather_than_about(theta)
    }

    /// The sum of squares as it is defined, and the best of many shares.
    #[test]
    fn it_is_the_ratio_of_the_likelihoods() {
        let series = [0.3, 0.9, 0.7, -0.2, 0.4, 1.1, 0.8, 0.2, 0.5];
        let (n, theta) = (series.len() as f64, -0.1);
        let mean = series.iter().sum::<f64>() / n;
        let own: f64 = series.iter().map(|x| (x - mean).powi(2)).sum();
        let about = |share: f64| {
            let steps = series.windows(2);
            (1.0 - share * share) * (series[0] - theta).powi(2)
                + steps
                    .map(|pair| (pair[1] - theta - share * (pair[0] - theta)).powi(2))
                    .sum::<f64>()
        };
        let (share, least) = (0..=9_000)
            .map(|step| f64::from(step) * 1e-4)
            .map(|share| (share, about(share)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or_default();
        let expected = 0.5 * (n * (least / own).ln() - (1.0 - share * share).ln());
        assert!((evidence(&series, theta) - expected).abs() < 1e-3, "{expected}");
    }

    #[test]
    fn what_alternates_is_told_from_what_lingers() {
        let alternating = [0.6, 1.4].repeat(10);
        let lingering = [0.6, 0.6, 0.6, 0.6, 0.6, 1.4, 1.4, 1.4, 1.4, 1.4].repeat(2);
        let (alternating, lingering) = (evidence(&alternating, 0.5), evidence(&lingering, 0.5));
        assert!(alternating > 8.0 && lingering < 3.0, "{alternating} {lingering}");
    }

    #[test]
    fn what_lingers_elsewhere_is_found_to_do_so() {
        let lingering = [0.6, 0.6, 0.6, 0.6, 0.6, 1.4, 1.4, 1.4, 1.4, 1.4].repeat(20);
        let (center, spread) = center_and_spread(&lingering);
        let seen = Resemblance::of(&lingering, center, spread);
        assert!(seen.independent_rather_than_about(0.5) < 0.0);
        assert!(seen.elsewhere_rather_than_about(0.5) > 4.0);
        assert!(seen.elsewhere_rather_than_about(1.0).abs() < 1e-9);
    }

    #[test]
    fn the_farther_theta_lies_the_more_evidence() {
        let series = [0.3, 0.9, 0.7, -0.2, 0.4, 1.1, 0.8, 0.2, 0.5];
        let mut last = f64::INFINITY;
        for step in 0..100 {
            let now = evidence(&series, -5.0 + 0.05 * f64::from(step));
            assert!(now <= last, "{step}: {now} after {last}");
            last = now;
        }
    }

    #[test]
    fn one_stall_does_not_hide_the_resemblance() {
        let mut series = [1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0].repeat(8);
        let calm = evidence(&series, -0.5);
        series[20] = 1e6;
        let stalled = evidence(&series, -0.5);
        assert!(calm < 1.0 && stalled < 3.0, "{calm} {stalled}");
    }

    #[test]
    fn equal_values_do_not_hide_the_resemblance() {
        let mut series = [0.0; 30];
        series[20..].fill(1.0);
        assert!(evidence(&series, 0.0) < 3.0, "{}", evidence(&series, 0.0));
    }

    #[test]
    fn without_variation_any_other_center_is_out() {
        assert!(evidence(&[0.5; 9], 0.4) == f64::INFINITY);
    }
}
