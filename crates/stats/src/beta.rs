//! The regularised incomplete beta function, whose quantiles bound a rate.
//!
//! The continued fraction is 6.4.5 of Press et al., "Numerical Recipes" (3rd
//! edition, 2007), evaluated by the modified Lentz method. The factor before it
//! is a binomial probability, which is computed as C. Loader does in "Fast and
//! accurate computation of binomial probabilities" (2000), because differences
//! of log-gamma functions lose half of the digits when the counts are in the
//! millions.

// As the formulas name them.
#![allow(clippy::many_single_char_names)]

use std::f64::consts::TAU;

use crate::bisect::bisect;

/// Halvings of the unit interval in which a quantile is searched: it is found
/// to full precision even where it is as small as 1e-9.
const HALVINGS: usize = 84;

/// The continued fraction converges within some √max(a, b) terms; this is
/// enough for counts of 1e9.
const TERMS_MAX: u32 = 1_000_000;

/// What a denominator of the continued fraction is replaced by when it is 0.
const TINY: f64 = 1e-300;

/// Where a beta distribution has this much of its mass below. Both parameters
/// are whole numbers, 1 or more.
pub(crate) fn quantile(a: f64, b: f64, mass: f64) -> f64 {
    bisect(0.0, 1.0, HALVINGS, |x| masses(a, b, x).below < mass).1
}

/// Where a beta distribution has this much of its mass above.
pub(crate) fn upper_quantile(a: f64, b: f64, mass: f64) -> f64 {
    bisect(0.0, 1.0, HALVINGS, |x| masses(a, b, x).above > mass).1
}

/// A distribution's mass on both sides of a point. Both are precise, however
/// small, which the difference of the other from 1 would not be.
struct Masses {
    below: f64,
    above: f64,
}

fn masses(a: f64, b: f64, x: f64) -> Masses {
    // The fraction converges fast on this side of the mean alone.
    if x < (a + 1.0) / (a + b + 2.0) {
        let below = mass_below(a, b, x, 1.0 - x);
        Masses { below, above: 1.0 - below }
    } else {
        let above = mass_below(b, a, 1.0 - x, x);
        Masses { below: 1.0 - above, above }
    }
}

/// The mass below `x`, of which `y` is the complement.
fn mass_below(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    binomial_probability(a, b, x, y) * b / (a + b) * fraction(a, b, x)
}

/// The continued fraction, by the modified Lentz method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let keep_away_from_0 = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / keep_away_from_0(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for term in 1..=TERMS_MAX {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut factor = 1.0;
        for numerator in [even, odd] {
            d = 1.0 / keep_away_from_0(1.0 + numerator * d);
            c = keep_away_from_0(1.0 + numerator / c);
            factor = c * d;
            value *= factor;
        }
        if (factor - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    value
}

/// The probability of `a` successes and `b` failures, at least one of each,
/// where one has the probability `x` and the other its complement `y`.
fn binomial_probability(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    let exponent = stirling_error(n)
        - stirling_error(a)
        - stirling_error(b)
        - deviance(a, n * x)
        - deviance(b, n * y);
    exponent.exp() * (n / (TAU * a * b)).sqrt()
}

/// By how much ln(n!) is more than Stirling's formula gives.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        // Exact: 15! is less than 2^53.
        let factorial: f64 = (1..=n as u32).map(f64::from).product();
        return factorial.ln() - (0.5 * (TAU * n).ln() + n * n.ln() - n);
    }
    let inverse_square = 1.0 / (n * n);
    let series = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0];
    series.iter().rev().fold(0.0, |sum, term| sum * inverse_square + term) / n
}

/// `count * ln(count / mean) + mean - count`, by a series where the two are close and
/// the terms would cancel each other.
fn deviance(count: f64, mean: f64) -> f64 {
    let difference = count - mean;
    if difference.abs() >= 0.1 * (count + mean) {
        return count * (count / mean).ln() - difference;
    }
    let v = difference / (count + mean);
    let mut sum = difference * v;
    let mut power = 2.0 * count * v;
    for term in 1.. {
        power *= v * v;
        let next = power / f64::from(2 * term + 1);
        sum += next;
        if next.abs() <= sum * 0.1 * f64::EPSILON {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} instead of {expected}");
    }

    #[test]
    fn the_masses_of_simple_distributions_follow_their_closed_forms() {
        for x in [1e-9, 0.1, 0.5, 0.9] {
            near(masses(1.0, 1.0, x).below, x);
            near(masses(1.0, 1.0, x).above, 1.0 - x);
            near(masses(3.0, 1.0, x).below, x * x * x);
            near(masses(2.0, 2.0, x).below, x * x * (3.0 - 2.0 * x));
        }
        near(masses(1.0, 1000.0, 1e-9).below, -(1000.0 * (-1e-9_f64).ln_1p()).exp_m1());
        near(masses(7e6, 7e6, 0.5).below, 0.5);
    }

    #[test]
    fn all_of_the_mass_is_between_0_and_1() {
        for (a, b) in [(1.0, 1.0), (3.0, 700.0), (5e6, 1.0)] {
            assert!(masses(a, b, 0.0).below.abs() < f64::EPSILON);
            assert!(masses(a, b, 1.0).above.abs() < f64::EPSILON);
        }
    }

    #[test]
    fn the_series_meets_the_exact_stirling_error() {
        for (n, expected) in [(15.0, 0.005_554_733_551_962_801), (16.0, 0.005_207_655_919_609_64)] {
            let found = stirling_error(n);
            assert!((found - expected).abs() < 1e-14, "{found} instead of {expected}");
        }
    }
}
