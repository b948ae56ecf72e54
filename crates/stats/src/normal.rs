//! The tails of the normal distribution.
//!
//! The series is that of G. Marsaglia, "Evaluating the normal distribution",
//! Journal of Statistical Software 11 (2004): precise to some 1e-15, which is
//! enough for any level at which something is tested.

use std::f64::consts::TAU;

/// Beyond this many standard deviations nothing is left.
const FARTHEST: f64 = 8.0;

/// The probability of lying at least |z| standard deviations from the mean, on
/// either side.
pub(crate) fn beyond(z: f64) -> f64 {
    let z = z.abs();
    if z >= FARTHEST {
        return 0.0;
    }
    let (mut term, mut sum, mut divisor) = (z, z, 1.0);
    while term > sum * f64::EPSILON {
        divisor += 2.0;
        term *= z * z / divisor;
        sum += term;
    }
    let density = (-0.5 * z * z).exp() / TAU.sqrt();
    (1.0 - 2.0 * density * sum).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tails_are_those_of_tables() {
        for (z, expected) in [
            (0.0, 1.0),
            (1.0, 0.317_310_507_862_914),
            (-1.959_963_984_540_054, 0.05),
            (2.575_829_303_548_901, 0.01),
            (5.0, 5.733_031_437_583e-7),
            (9.0, 0.0),
            (f64::INFINITY, 0.0),
        ] {
            assert!((beyond(z) - expected).abs() < 1e-13, "{z}: {}", beyond(z));
        }
    }
}
