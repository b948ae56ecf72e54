//! The results of a run so far, for a live view: times, ratios and verdicts alone, in
//! less time than a slice takes. Causes, tails and what makes a comparison invalid take
//! the whole record, and come at the end.

use model::analysis::{Analysis, ArmResult, Comparison, TailComparison};
use model::run::Run;
use model::slice::{Phase, Slice};

use crate::pair_state::{PairState, PairStates};
use crate::{advice, arms, comparisons};

/// A run that goes on.
pub struct LiveSummary {
    /// Its record as it was when it began.
    run: Run,
    /// The times of each arm's slices in rounds; before it had any, of those before.
    typical_times_ns: Vec<Vec<f64>>,
    /// Whether an arm had a slice in a round.
    is_in_rounds: Vec<bool>,
}

impl LiveSummary {
    /// A run that has just begun.
    pub fn new(run: &Run) -> Self {
        let arms = run.plan.arms.len();
        Self {
            run: run.clone(),
            typical_times_ns: vec![Vec::new(); arms],
            is_in_rounds: vec![false; arms],
        }
    }

    /// Takes in slices that are complete.
    pub fn take(&mut self, slices: &[Slice]) {
        for slice in slices {
            let times_ns = &mut self.typical_times_ns[slice.arm];
            match (slice.phase, &mut self.is_in_rounds[slice.arm]) {
                (Phase::Block(_), true) => {}
                (Phase::Block(_), is_in_rounds) => {
                    *is_in_rounds = true;
                    times_ns.clear();
                }
                // The latest is the longest and the warmest.
                (Phase::Calibration | Phase::Warmup, false) => times_ns.clear(),
                _ => continue,
            }
            times_ns.push(slice.score_ns());
        }
    }

    /// The run's record, without its slices.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// What follows from it so far.
    pub fn analysis(&self, states: &PairStates) -> Analysis {
        let arms: Vec<ArmResult> =
            (0..self.typical_times_ns.len()).map(|arm| self.arm(arm)).collect();
        let comparisons: Vec<Comparison> =
            states.0.iter().map(|state| self.comparison(state, &arms)).collect();
        let subject = advice::Subject { run: &self.run, arms: &arms, comparisons: &comparisons };
        let advice = advice::of(subject);
        Analysis {
            blocks: self.typical_times_ns.iter().map(Vec::len).max().unwrap_or_default() as u64,
            stretches: states.stretches() as u64,
            arms,
            comparisons,
            advice,
            ..Analysis::default()
        }
    }

    fn arm(&self, index: usize) -> ArmResult {
        let typical_times_ns = &self.typical_times_ns[index];
        ArmResult {
            slices: typical_times_ns.len() as u64,
            typical_ns: (!typical_times_ns.is_empty())
                .then(|| stats::median(&mut typical_times_ns.clone())),
            ..arms::named(&self.run, &self.run.plan.arms[index])
        }
    }

    fn comparison(&self, state: &PairState, arms: &[ArmResult]) -> Comparison {
        let shown = comparisons::by_ratios(state, &self.run, arms);
        let times = arms[state.pair.base].typical_ns.zip(shown.ratio);
        Comparison {
            saves_ns_per_op: times.map(|(base_ns, ratio)| base_ns * (1.0 - ratio)),
            // Nothing is known of 99th percentiles while the run goes on.
            p99: TailComparison { verdict: shown.verdict, ..TailComparison::default() },
            ..shown
        }
    }
}

#[cfg(test)]
mod tests {
    use model::analysis::Verdict;

    use super::*;
    use crate::{analyse, testing};

    #[test]
    fn before_the_first_round_times_are_those_of_the_latest_slice() {
        let mut live_summary = LiveSummary::new(&testing::run(2, Vec::new()));
        let typical_ns = |live_summary: &LiveSummary| {
            live_summary.analysis(&PairStates::of(live_summary.run())).arms[0].typical_ns
        };
        let mut times = Vec::new();
        for (phase, ns) in [
            (Phase::Calibration, 900),
            (Phase::Warmup, 500),
            (Phase::Block(0), 300),
            (Phase::Block(1), 100),
            (Phase::Unfinished, 700),
        ] {
            let mut slice = Slice { phase, operations: 1, ..testing::slice(0, 0) };
            slice.spent.elapsed_ns = ns;
            live_summary.take(&[slice]);
            times.push(typical_ns(&live_summary).unwrap_or_default());
        }
        assert_eq!(times, [900.0, 500.0, 300.0, 200.0, 200.0]);
    }

    #[test]
    fn a_glance_at_a_whole_run_has_the_tolls_and_verdicts_of_its_analysis() {
        let mut slices = Vec::new();
        for block in 0..40 {
            for (arm, ns) in [(0, 100_000), (1, 40_000)] {
                let mut slice = testing::slice(arm, block);
                slice.spent.elapsed_ns = ns + (block as u64 * 7 + arm as u64 * 3) % 11 * 100;
                slices.push(slice);
            }
        }
        let run = testing::run(2, slices);
        let begun = Run { slices: Vec::new(), ..run.clone() };
        let mut live_summary = LiveSummary::new(&begun);
        let open = live_summary.analysis(&PairStates::of(&begun));
        assert_eq!(
            (open.arms[0].typical_ns, open.comparisons[0].verdict),
            (None, Verdict::Unclear)
        );
        live_summary.take(&run.slices);
        let (seen, whole) = (live_summary.analysis(&PairStates::of(&run)), analyse(&run));
        assert_eq!(seen.comparisons[0].verdict, whole.comparisons[0].verdict);
        assert_eq!(seen.advice[0].group, whole.advice[0].group);
        let [a, b] = [seen, whole].map(|analysis| analysis.arms[0].typical_ns.unwrap_or_default());
        assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
    }
}
