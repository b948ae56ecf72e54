//! What workers of one slice came to together: how evenly they went, who was slowest, and how
//! far apart those began that share no clock.

use model::study::{Better, FigureDescription, Unit};
use process::worker::{CLOCK_ERROR, Report};

use crate::specs::{figure, largest, time};

/// How even their speeds are.
pub(crate) const FAIRNESS: &str = "fairness_jain";
/// Of several clients, how slow the slowest is, and how far apart they began.
const SLOWEST: &str = "slowest_client_ns";
const SKEW: &str = "start_skew_ns";

/// Those of the figures that are here, for the description of a study.
pub(crate) fn figures() -> Vec<FigureDescription> {
    vec![
        FigureDescription {
            unit: Unit::Ratio,
            better: Better::More,
            ..figure(
                FAIRNESS,
                "fair",
                "Jain's fairness index: 1 if all were equally fast, 1/n if one of n did everything",
            )
        },
        time(SLOWEST, "slowest", "the time per operation of the slowest client"),
        largest(time(
            SKEW,
            "skew",
            "within which all clients started, with what is not known of their clocks",
        )),
    ]
}

/// The figures of several clients alone; none of workers that share a clock.
pub(crate) fn of_clients(workers: &[Report]) -> Vec<(&'static str, f64)> {
    let skew = skew_ns(workers).map(|skew| (SKEW, skew));
    skew.into_iter().flat_map(|skew| [skew, (SLOWEST, slowest_ns(workers))]).collect()
}

/// Jain's fairness index of the workers' speeds: 1 where all are as fast, 1/n
/// where one of n gets everything (Jain, Chiu, Hawe: DEC-TR-301, 1984).
pub(crate) fn jain(workers: &[Report]) -> f64 {
    let speeds: Vec<f64> =
        workers.iter().map(|w| w.acknowledged as f64 / w.spent.elapsed_ns.max(1) as f64).collect();
    let sum: f64 = speeds.iter().sum();
    let squares: f64 = speeds.iter().map(|speed| speed * speed).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (speeds.len() as f64 * squares) }
}

/// Between the first and the last start, by clocks that are not quite known to each other;
/// nothing of workers that share one.
fn skew_ns(workers: &[Report]) -> Option<f64> {
    let errors = workers.iter().filter_map(|w| w.figures.get(CLOCK_ERROR).copied());
    let error_ns = errors.reduce(f64::max)?;
    let started = workers.iter().map(|w| w.started_after_ns);
    let apart = started.clone().max()?.saturating_sub(started.min()?);
    Some(apart as f64 + error_ns)
}

/// What an operation took the worker to whom it took the longest, on average.
fn slowest_ns(workers: &[Report]) -> f64 {
    let each = |w: &Report| w.spent.elapsed_ns as f64 / w.acknowledged.max(1) as f64;
    workers.iter().map(each).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use model::spent::Spent;

    use super::*;

    fn worker(started_after_ns: u64, elapsed_ns: u64, error_ns: Option<f64>) -> Report {
        let figures = error_ns.map(|error| (CLOCK_ERROR.to_owned(), error));
        Report {
            acknowledged: 10,
            started_after_ns,
            spent: Spent { elapsed_ns, ..Spent::default() },
            figures: figures.into_iter().collect(),
            ..Report::default()
        }
    }

    #[test]
    fn skew_contains_what_is_not_known_of_the_clocks() {
        let workers = [worker(500, 90, Some(0.0)), worker(200, 40, Some(70.0))];
        assert_eq!(of_clients(&workers), [(SKEW, 370.0), (SLOWEST, 9.0)]);
        assert_eq!(of_clients(&[worker(500, 90, None), worker(200, 40, None)]), []);
    }

    #[test]
    fn the_index_says_how_many_of_them_it_is_as_if_there_were() {
        let even = [worker(0, 50, None), worker(0, 50, None)];
        assert!((jain(&even) - 1.0).abs() < 1e-12);
        let one = [worker(0, 1, None), worker(0, u64::MAX / 2, None)];
        assert!((jain(&one) - 0.5).abs() < 1e-9);
    }
}
