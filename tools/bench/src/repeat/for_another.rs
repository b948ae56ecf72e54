//! What each run says for each other run, where all runs but these two are saved ones.

use std::collections::HashMap;

use analysis::{Saved, analyse};
use model::analysis::Comparison;
use model::run::Run;

/// The comparisons of the first of two runs for the second, by their numbers; none of a run for
/// itself.
pub(super) fn of_runs(runs: &[Run]) -> Vec<Vec<Vec<Comparison>>> {
    let kept: Vec<HashMap<String, f64>> =
        runs.iter().map(|run| analysis::kept(run, &analyse(run)).into_iter().collect()).collect();
    let of = |one: usize, other: usize| {
        if one == other {
            return Vec::new();
        }
        let numbered = kept.iter().enumerate();
        let saved: Vec<&HashMap<String, f64>> =
            numbered.filter(|(run, _)| ![one, other].contains(run)).map(|(_, kept)| kept).collect();
        analyse(&after(&runs[one], &saved)).comparisons
    };
    (0..runs.len()).map(|one| (0..runs.len()).map(|other| of(one, other)).collect()).collect()
}

/// A run as if it had begun when these were saved.
fn after(run: &Run, saved: &[&HashMap<String, f64>]) -> Run {
    let of = |text: &str| saved.iter().filter_map(|kept| kept.get(text).copied()).collect();
    let ratios = |base: &str, other: &str| {
        saved.iter().filter_map(|kept| Some(kept.get(other)? - kept.get(base)?)).collect()
    };
    let between_runs = analysis::between_runs(run, &Saved { of: &of, ratios: &ratios });
    Run { between_runs, ..run.clone() }
}
