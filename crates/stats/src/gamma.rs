//! The first two derivatives of the logarithm of the gamma function, for positive arguments:
//! Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 6.3.5 and 6.3.18,
//! 6.4.6 and 6.4.12.

use crate::bisect::bisect;

/// From here on the first terms of the asymptotic expansions are exact to 10^-12.
const LARGE: f64 = 12.0;

/// ψ, the first.
pub(crate) fn digamma(x: f64) -> f64 {
    let (x, below) = raised(x, |x| 1.0 / x);
    let square = x.powi(-2);
    let series = square / 12.0 - square.powi(2) / 120.0 + square.powi(3) / 252.0;
    x.ln() - 0.5 / x - (series - square.powi(4) / 240.0) - below
}

/// ψ′, the second.
pub(crate) fn trigamma(x: f64) -> f64 {
    let (x, below) = raised(x, |x| x.powi(-2));
    let square = x.powi(-2);
    let series = 1.0 / 6.0 - square / 30.0 + square.powi(2) / 42.0 - square.powi(3) / 30.0;
    1.0 / x + square / 2.0 + square / x * series + below
}

/// What ψ′ is this at: it falls from infinity to 0.
pub(crate) fn trigamma_inverse(value: f64) -> f64 {
    // On a logarithmic scale, for it may be anything.
    let (low, high) = bisect(-30.0, 30.0, 100, |x| trigamma(x.exp()) > value);
    (0.5 * (low + high)).exp()
}

/// An argument that is large, by the recurrence, with the sum of the steps' terms.
fn raised(mut x: f64, term: impl Fn(f64) -> f64) -> (f64, f64) {
    let mut sum = 0.0;
    while x < LARGE {
        sum += term(x);
        x += 1.0;
    }
    (x, sum)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{LN_2, PI};

    use super::*;

    #[test]
    fn they_have_their_known_values() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let near = |found: f64, known: f64| {
            assert!((found - known).abs() < 1e-10 * known.abs().max(1.0), "{found}, not {known}");
        };
        near(digamma(1.0), -EULER);
        near(digamma(0.5), -EULER - 2.0 * LN_2);
        near(digamma(50.0), 3.901_989_673_427_892);
        near(trigamma(1.0), PI * PI / 6.0);
        near(trigamma(0.5), PI * PI / 2.0);
        near(trigamma(2.0), PI * PI / 6.0 - 1.0);
        for x in [0.01, 0.5, 3.0, 1e4] {
            near(trigamma_inverse(trigamma(x)), x);
        }
    }
}
