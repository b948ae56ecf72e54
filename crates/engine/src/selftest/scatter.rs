//! How much the blocks of a place against itself scatter, with slices as long
//! as a user's run would have them.

use std::time::Duration;

use model::run::Floor;
use model::slice::Slice;

use super::aa_test::{AaTest, Ended, Rules, ended, log_ratios, typical_ns};
use super::rerun::Rerun;
use crate::measure::Event;
use crate::runner::SliceRunner;

/// With no difference small enough to be none, a comparison never comes out
/// `same`: it goes on until its time is up, or until it errs.
const NEVER_SAME: f64 = 0.0;
/// Too little time to learn anything more from.
const TIME_MIN: Duration = Duration::from_millis(200);

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Scatter {
    /// The blocks' log ratios, in order.
    pub(super) log_ratios: Vec<f64>,
    /// What an operation takes; `None` where not even a block was completed.
    pub(super) typical_ns: Option<f64>,
    /// How long a block takes with all that belongs to it.
    pub(super) block_time: Duration,
    /// The part of that outside the clock: making files, flushing and removing them.
    pub(super) untimed: Duration,
    /// Why it ended early, if so.
    pub(super) ended: Option<Ended>,
}

/// Runs blocks until it is `until`, by the runner's clock, which `now` reads too.
pub(super) fn scatter(
    aa_test: AaTest<'_>,
    runner: &mut dyn SliceRunner,
    floor: &Floor,
    (now, until): (&dyn Fn() -> Duration, Duration),
    mut seeds: impl FnMut() -> u64,
    progress: &mut dyn FnMut(String),
) -> Scatter {
    let mut seen = Scatter::default();
    let mut slices: Vec<Slice> = Vec::new();
    let mut blocks_took = Vec::new();
    while seen.ended.is_none() && until.saturating_sub(runner.elapsed()) >= TIME_MIN {
        let left = until.saturating_sub(runner.elapsed());
        let before = seen.log_ratios.len();
        let mut last = None;
        let rules = Rules { threshold: NEVER_SAME, budget: left, seed: seeds() };
        let rerun = Rerun::new(runner, floor, None);
        let run = aa_test.compare(&rules, rerun, &mut |event| {
            progress(format!("measuring how much blocks vary, {} so far", blocks_took.len()));
            if matches!(event, Event::Block { .. }) {
                let now = now();
                blocks_took
                    .extend(last.replace(now).map(|last| now.saturating_sub(last).as_secs_f64()));
            }
        });
        seen.log_ratios.extend(log_ratios(&run));
        seen.ended = ended(&run);
        slices.extend(run.blocks().flatten().cloned());
        if seen.log_ratios.len() == before {
            break;
        }
    }
    let base = aa_test.job.pairs.first().map_or(0, |pair| pair.base);
    seen.typical_ns = typical_ns(slices.iter().filter(|slice| slice.arm == base));
    let blocks = blocks_took.len().max(1) as f64;
    seen.block_time = Duration::from_secs_f64(blocks_took.iter().sum::<f64>() / blocks);
    let timed_ns: u64 = slices.iter().map(|slice| slice.spent.elapsed_ns).sum();
    let timed = Duration::from_nanos(timed_ns) / seen.log_ratios.len().max(1) as u32;
    seen.untimed = seen.block_time.saturating_sub(timed);
    seen
}
