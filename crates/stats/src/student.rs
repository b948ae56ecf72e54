//! Student's t: how far a mean strays when its scatter is known from few values.
//!
//! The distribution is the finite sum of Abramowitz and Stegun, "Handbook of Mathematical
//! Functions" (1964), 26.7.3 and 26.7.4, for whole degrees of freedom. Between two of these,
//! quantiles' logarithms are nearly straight in 1 / degrees.

use std::f64::consts::FRAC_2_PI;

use crate::bisect::bisect;
use crate::normal::beyond;

/// From so many degrees on it is the normal distribution, within what is printed.
const DEGREES_MAX: f64 = 2_000.0;
/// Halvings of the interval in which a quantile is searched.
const HALVINGS: usize = 80;
/// With a single degree of freedom, one value in 10^8 is farther out than this.
const FARTHEST: f64 = 1e8;

/// What only this share of values, on both sides together, is farther from 0 than.
/// There is one degree of freedom at the least.
pub(crate) fn two_sided(share: f64, degrees: f64) -> f64 {
    if degrees >= DEGREES_MAX {
        return quantile(|t| beyond(t) > share);
    }
    let degrees = degrees.max(1.0);
    let whole = degrees.floor();
    let of = |whole: f64| quantile(|t| outside(t, whole as u32) > share);
    let fewer = of(whole);
    let more = if whole < degrees { of(whole + 1.0) } else { fewer };
    let part = (1.0 / whole - 1.0 / degrees) * whole * (whole + 1.0);
    fewer * (more / fewer).powf(part)
}

/// The greatest value that is still less than wanted.
fn quantile(is_less: impl Fn(f64) -> bool) -> f64 {
    bisect(0.0, FARTHEST, HALVINGS, is_less).1
}

/// The probability of lying farther from 0 than `t`, on either side.
fn outside(t: f64, degrees: u32) -> f64 {
    let angle = (t / f64::from(degrees).sqrt()).atan();
    let square = angle.cos().powi(2);
    let is_odd = degrees % 2 == 1;
    let (first, mut term) = if is_odd { (3, angle.cos()) } else { (2, 1.0) };
    let mut sum = if degrees == 1 { 0.0 } else { term };
    for step in (first..degrees.saturating_sub(1)).step_by(2) {
        let (above, below) = (f64::from(step - 1), f64::from(step));
        term *= square * above / below;
        sum += term;
    }
    let within = angle.sin() * sum;
    1.0 - if is_odd { FRAC_2_PI * (angle + within) } else { within }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (share, degrees, expected) in [
            (0.05, 1.0, 12.706_205),
            (0.05, 2.0, 4.302_653),
            (0.05, 3.0, 3.182_446),
            (0.05, 7.0, 2.364_624),
            (0.01, 10.0, 3.169_273),
            (0.001, 5.0, 6.868_827),
            (0.05, 120.0, 1.979_930),
            (0.05, f64::INFINITY, 1.959_964),
        ] {
            let found = two_sided(share, degrees);
            assert!((found - expected).abs() < 1e-5, "{share} {degrees}: {found}");
        }
    }

    #[test]
    fn between_whole_degrees_quantiles_are_those_of_the_distribution() {
        // By numerical integration of the density.
        for (share, degrees, expected) in
            [(0.05, 1.6, 5.5172), (0.04, 2.25, 4.3225), (0.05, 7.9, 2.3111)]
        {
            let found = two_sided(share, degrees);
            assert!((found / expected - 1.0).abs() < 0.05, "{share} {degrees}: {found}");
        }
    }
}
