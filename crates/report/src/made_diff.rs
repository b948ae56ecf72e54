//! What changed between two made-up runs, for tests.

use model::analysis::Verdict;
use model::description::Score;
use model::diff::{ArmChange, Diff, SCHEMA, Side};

/// An arm that takes `ratio` times what it took.
pub(crate) fn arm(
    id: &str,
    ratio: f64,
    verdict: Verdict,
    learned_from: Option<usize>,
) -> ArmChange {
    ArmChange {
        id: id.to_owned(),
        score: Score::MeanTime,
        before_ns: 600.0,
        after_ns: 600.0 * ratio,
        ratio,
        ratio_low: ratio * 0.94,
        ratio_high: ratio / 0.94,
        verdict,
        runs_vary_by: if learned_from.is_some() { 0.012 } else { 0.05 },
        learned_from,
    }
}

/// Two runs with these arms, which differ in nothing else.
pub(crate) fn diff(arms: Vec<ArmChange>) -> Diff {
    let side = |id: &str| Side { id: id.to_owned(), started: "2026-11-22T21:59:55Z".to_owned() };
    Diff {
        schema: SCHEMA.to_owned(),
        before: side("1a2b3c4d00000000"),
        after: side("5e6f7a8b00000000"),
        facts: Vec::new(),
        arms,
        missing: Vec::new(),
        threshold: 0.05,
        confidence: 0.95,
    }
}
