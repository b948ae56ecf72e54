//! The centres of several series of differences at once, so that they add up.
//!
//! Three places compared in pairs give three differences, of which any two imply the
//! third; centres found one by one do not agree with each other. Here each thing gets
//! one level, and a difference is that of two levels. The levels are those at which the
//! sum of ln cosh(r / s) over all residuals r is least, s being the spread of the
//! residual's series: near a center that is least squares, far from it each residual
//! counts the same however far it is (an M-estimator: Huber, "Robust estimation of a
//! location parameter", 1964). The sum is convex, so there is one solution.

use crate::median::center_and_spread;

/// Rounds after which levels are taken as they are; they settle within some ten, or some
/// hundred where comparisons form long chains.
const ROUNDS_MAX: usize = 1000;
/// Levels that change by less have settled.
const SETTLED: f64 = 1e-12;
/// A series without spread has one all the same, far below what anyone measures.
const SPREAD_MIN: f64 = 1e-9;

/// Observed differences of two things: the level of `to` less that of `from`.
#[derive(Clone, Debug)]
pub struct Differences {
    /// The one that is subtracted, as an index.
    pub from: usize,
    /// The other, as an index.
    pub to: usize,
    /// What was observed.
    pub values: Vec<f64>,
}

/// The levels of `count` things, each 0 where nothing is linked to it. Those that are
/// linked, directly or through others, have levels up to a constant of their own.
///
/// # Panics
/// When an index is `count` or more.
pub fn levels(count: usize, observed: &[Differences]) -> Vec<f64> {
    let observed: Vec<Observed> = observed
        .iter()
        .filter(|series| !series.values.is_empty())
        .map(|series| {
            let (center, spread) = center_and_spread(&series.values);
            Observed { series, center, spread: spread.max(SPREAD_MIN) }
        })
        .collect();
    let mut of_thing: Vec<Vec<&Observed>> = vec![Vec::new(); count];
    for one in &observed {
        of_thing[one.series.from].push(one);
        if one.series.to != one.series.from {
            of_thing[one.series.to].push(one);
        }
    }
    let mut levels = start(count, &observed);
    for _ in 0..ROUNDS_MAX {
        let mut moved: f64 = 0.0;
        for thing in 0..count {
            let step = step(thing, &levels, &of_thing[thing]);
            levels[thing] += step;
            moved = moved.max(step.abs());
        }
        if moved < SETTLED {
            break;
        }
    }
    levels
}

/// A series that has values, with what is known of it as a whole.
struct Observed<'a> {
    series: &'a Differences,
    center: f64,
    spread: f64,
}

/// Levels to start from: medians, followed from one thing to the next.
fn start(count: usize, observed: &[Observed]) -> Vec<f64> {
    let mut levels = vec![None; count];
    for first in 0..count {
        levels[first].get_or_insert(0.0);
        // As many rounds as the longest chain has links.
        while follow(&mut levels, observed) {}
    }
    levels.into_iter().map(Option::unwrap_or_default).collect()
}

/// Gives those a level that are linked to one that has one; whether there were any.
fn follow(levels: &mut [Option<f64>], observed: &[Observed]) -> bool {
    let mut found = false;
    for Observed { series, center, .. } in observed {
        match (levels[series.from], levels[series.to]) {
            (Some(from), None) => levels[series.to] = Some(from + center),
            (None, Some(to)) => levels[series.from] = Some(to - center),
            _ => continue,
        }
        found = true;
    }
    found
}

/// How far one level has to move, all others staying: a weighted mean of what its
/// series ask for, in which a residual counts the less the farther out it is.
fn step(thing: usize, levels: &[f64], of_thing: &[&Observed]) -> f64 {
    let (mut weights, mut sum) = (0.0, 0.0);
    for Observed { series, spread, .. } in of_thing {
        let sign = if thing == series.to { 1.0 } else { -1.0 };
        let difference = levels[series.to] - levels[series.from];
        for value in &series.values {
            let residual = value - difference;
            let weight = weight(residual / spread) / (spread * spread);
            weights += weight;
            sum += weight * sign * residual;
        }
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// The weight with which least squares would have the same pull as ln cosh.
fn weight(residual: f64) -> f64 {
    if residual.abs() < 1e-6 { 1.0 } else { residual.tanh() / residual }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(from: usize, to: usize, values: &[f64]) -> Differences {
        Differences { from, to, values: values.to_vec() }
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
    }

    #[test]
    fn what_agrees_is_found_exactly() {
        let observed = [
            series(0, 1, &[0.9, 1.0, 1.1]),
            series(1, 2, &[1.9, 2.0, 2.1]),
            series(0, 2, &[2.9, 3.0, 3.1]),
        ];
        let levels = levels(4, &observed);
        assert_near(levels[1] - levels[0], 1.0);
        assert_near(levels[2] - levels[0], 3.0);
        assert_near(levels[3], 0.0);
    }

    #[test]
    fn what_disagrees_is_settled_so_that_it_adds_up() {
        // 1 + 2 is not 3.6: each of three gives way by a third.
        let narrow = |center: f64| [center - 0.5, center, center + 0.5];
        let observed =
            [series(0, 1, &narrow(1.0)), series(1, 2, &narrow(2.0)), series(0, 2, &narrow(3.6))];
        let levels = levels(3, &observed);
        assert_near(levels[1] - levels[0], 1.2);
        assert_near(levels[2] - levels[1], 2.2);
    }

    #[test]
    fn one_stall_moves_little() {
        let calm = [0.0, 0.1, -0.1, 0.05, -0.05, 0.02, -0.02, 0.0];
        let mut stalled = calm;
        stalled[3] = 1e6;
        let moved = levels(2, &[series(0, 1, &stalled)])[1] - levels(2, &[series(0, 1, &calm)])[1];
        assert!(moved.abs() < 0.04, "{moved}");
    }

    #[test]
    fn both_directions_give_mirror_images() {
        let values = [0.3, 0.1, 0.9, 0.4, -0.2];
        let mirrored = values.map(|value| -value);
        let there = levels(2, &[series(0, 1, &values)]);
        let back = levels(2, &[series(1, 0, &mirrored)]);
        assert_near(there[1] - there[0], back[1] - back[0]);
    }
}
