//! Levels of several things whose differences were found pair by pair, so that they add up.
//!
//! Three places compared in pairs give three differences, of which any two imply the
//! third; differences found one by one do not quite agree with each other. Here each thing
//! gets one level, and a difference is that of two levels: those at which the squares of what
//! the found differences are off by sum to the least.

/// Rounds after which levels are taken as they are; they settle within some ten, or some
/// hundred where comparisons form long chains.
const ROUNDS_MAX: usize = 1000;
/// Levels that change by less have settled.
const SETTLED: f64 = 1e-12;

/// A difference that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The one that is subtracted, as an index.
    pub from: usize,
    /// The other, as an index.
    pub to: usize,
    /// The level of `to` less that of `from`.
    pub found: f64,
}

/// The levels of `count` things, each 0 where nothing is linked to it. Those that are
/// linked, directly or through others, have levels up to a constant in common.
///
/// # Panics
/// When an index is `count` or more.
pub fn levels(count: usize, differences: &[Difference]) -> Vec<f64> {
    let mut levels = vec![0.0; count];
    for _ in 0..ROUNDS_MAX {
        let mut moved: f64 = 0.0;
        for thing in 0..count {
            let asked = differences.iter().filter_map(|&Difference { from, to, found }| {
                let off = found - (levels[to] - levels[from]);
                match (from == thing, to == thing) {
                    (false, true) => Some(off),
                    (true, false) => Some(-off),
                    _ => None,
                }
            });
            let (count, sum) = asked.fold((0.0, 0.0), |(count, sum), off| (count + 1.0, sum + off));
            let step: f64 = if count > 0.0 { sum / count } else { 0.0 };
            levels[thing] += step;
            moved = moved.max(step.abs());
        }
        if moved < SETTLED {
            break;
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(from: usize, to: usize, found: f64) -> Difference {
        Difference { from, to, found }
    }

    #[test]
    fn what_agrees_is_found_exactly() {
        let found =
            levels(4, &[difference(0, 1, 1.0), difference(1, 2, 2.0), difference(0, 2, 3.0)]);
        assert!((found[1] - found[0] - 1.0).abs() < 1e-9, "{found:?}");
        assert!((found[2] - found[0] - 3.0).abs() < 1e-9, "{found:?}");
        assert!(found[3].abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn what_disagrees_is_settled_so_that_it_adds_up() {
        // 1 + 2 is not 3.6: each of three gives way by a third.
        let found =
            levels(3, &[difference(0, 1, 1.0), difference(1, 2, 2.0), difference(0, 2, 3.6)]);
        assert!((found[1] - found[0] - 1.2).abs() < 1e-9, "{found:?}");
        assert!((found[2] - found[1] - 2.2).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_chain_and_two_groups_are_followed_to_their_ends() {
        let chain: Vec<Difference> = (0..9).map(|at| difference(at, at + 1, 0.5)).collect();
        let found = levels(12, &[chain, vec![difference(10, 11, -7.0)]].concat());
        assert!((found[9] - found[0] - 4.5).abs() < 1e-6, "{found:?}");
        assert!((found[11] - found[10] + 7.0).abs() < 1e-9, "{found:?}");
    }
}
