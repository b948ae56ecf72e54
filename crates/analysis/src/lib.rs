//! From the record of a run to what follows from it: times, comparisons,
//! verdicts, causes and what to measure next.
//!
//! Everything here is a pure function of the record. A run that was just measured
//! and one that was read from a file go the same way, and come to the same end.
//!
//! # Inside
//!
//! - `pair_state.rs` and `comparisons.rs` cut a record into its stretches and decide each comparison.
//! - `typical_times.rs` finds the time per operation of every combination at once, and `stalls.rs` the
//!   slices that a typical time leaves out.
//! - `causes` has a file for each cause: a rule over the totals of a combination and the parts of its time
//!   (`causes/parts.rs`), with its threshold and the reason for it. A study adds causes by naming the figure
//!   that is their time. A verdict that nothing explains says so.
//! - `advice` groups changes by their price: what each strategy promises decides.
//! - `invalid.rs` says when a measurement cannot be trusted, and `next.rs` what to measure next.
//! - `between_runs.rs` learns from saved runs how much comparisons differ from run to run. `Run::between_runs`
//!   keeps it, so a saved run is analysed without the others.
//! - `diff.rs` compares two runs, which were not interleaved. `limits.rs` compares figures with the limits of
//!   `--fail`: a limit is missed only if the whole range is beyond it.
//! - `reproduction` compares a run with published figures and conclusions.
//! - `live_summary.rs` sees as much of the same as is known while a run goes on.

mod advice;
mod arms;
mod between_runs;
mod blocks;
mod carry_over;
mod causes;
mod check;
mod comparisons;
mod diff;
mod drift;
mod facts;
mod figures;
mod indexed;
mod integrity;
mod invalid;
mod limits;
mod live_summary;
mod modes;
mod next;
mod noise;
mod pair_state;
mod picks;
mod remaining;
mod reproduction;
mod scaling;
mod stalls;
mod stretches;
mod tails;
#[cfg(test)]
mod testing;
mod totals;
mod trend;
mod typical_times;

use model::analysis::Analysis;
use model::run::Run;

pub use between_runs::{Saved, between_runs, kept};
pub use diff::{Analysed, Judged, diff, facts_between};
pub use facts::setting;
pub use limits::limited;
pub use live_summary::LiveSummary;
pub use noise::between as noise_between;
pub use pair_state::{PairProgress, PairStates};
pub use trend::{Point, trend};

/// What follows from a run.
pub fn analyse(run: &Run) -> Analysis {
    let states = PairStates::of(run);
    let run = &indexed::Indexed::of(run);
    let blocks = blocks::of(run);
    let typical_times = typical_times::of_arms(run.plan.arms.len(), &blocks, &states);
    let totals = totals::of_arms(run, &typical_times);
    let arms = arms::results(run, &blocks, &totals, &typical_times);
    let neighbours = noise::Neighbours::of(run, &totals);
    let comparisons = comparisons::results(run, &states, &arms, &totals, &neighbours);
    let picks = picks::of(&states, &comparisons, run.plan.error_rate);
    let advice = advice::of(advice::Subject { run, arms: &arms, comparisons: &comparisons });
    let scaling = scaling::of(&arms, run.plan.threshold);
    let noise = noise::of_run(run, &totals, &comparisons, &neighbours);
    let reproduction = reproduction::of(run, &arms, &totals, &neighbours);
    let check = check::of(run, &arms, &noise);
    let cut = stretches::cut(run);
    Analysis {
        blocks: run.blocks().count() as u64,
        stretches: cut.rounds.len() as u64,
        cut_afterwards: cut.afterwards,
        arms,
        comparisons,
        noise,
        carry_over: carry_over::found(run),
        picks,
        advice,
        reproduction,
        check,
        scaling,
    }
}
