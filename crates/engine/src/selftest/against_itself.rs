//! A place against itself, over and over: real comparisons, each a short run
//! of its own, in which every `faster` and every `slower` is false.

use std::time::Duration;

use analysis::analyse;
use model::analysis::Verdict;
use model::run::{Floor, Run};
use model::selftest::{AgainstItself, Rate};
use units::count;

use super::aa_test::{AaTest, Ended, Rules, ended, median};
use super::pace::{allowance, full, time_of};
use super::rerun::Rerun;
use super::scatter::Scatter;
use crate::runner::SliceRunner;

/// So many comparisons should be done by the end of the budget: with none
/// false among them, false verdicts are surely rarer than 3%.
const WANTED: usize = 100;
/// A comparison has time for about so many blocks at the least, warming up
/// included: with fewer it could only be unclear.
const BLOCKS_MIN: u32 = 16;
/// One comparison, judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judged {
    /// The verdict that a user would have seen.
    pub(super) verdict: Verdict,
    /// Whether at any look the interval did not contain "no difference at all".
    pub(super) missed: bool,
    /// Blocks until it ended.
    pub(super) blocks: u64,
}

/// Compares until the runner's clock shows `until`, going by what was seen of the
/// place before. `None` where there was no time for a single comparison.
pub(super) fn against_itself(
    aa_test: AaTest<'_>,
    runner: &mut dyn SliceRunner,
    floor: &Floor,
    (seen, until): (&Scatter, Duration),
    mut seeds: impl FnMut() -> u64,
    progress: &mut dyn FnMut(String),
) -> (Option<AgainstItself>, Option<Ended>) {
    let began = runner.elapsed();
    let least = time_of(BLOCKS_MIN, seen.untimed);
    let full = seen.typical_ns.map(full);
    let mut judged: Vec<Judged> = Vec::new();
    let mut slices_ns = Vec::new();
    let ended = loop {
        let left = until.saturating_sub(runner.elapsed());
        if left < least {
            break None;
        }
        let state = state(&judged);
        let allowance = allowance(left, judged.len(), WANTED).clamp(least, left);
        let rules = Rules { threshold: aa_test.job.threshold, budget: allowance, seed: seeds() };
        let rerun = Rerun::new(runner, floor, full);
        let run = aa_test.compare(&rules, rerun, &mut |_| progress(state.clone()));
        if let Some(ended) = ended(&run) {
            break Some(ended);
        }
        let before = slices_ns.len();
        slices_ns.extend(run.blocks().flatten().map(|slice| slice.spent.elapsed_ns as f64));
        if slices_ns.len() > before {
            judged.push(judge(run));
        }
    };
    let seconds = runner.elapsed().saturating_sub(began).as_secs_f64();
    let found = (!judged.is_empty()).then(|| AgainstItself {
        slice_ns: median(slices_ns).unwrap_or_default(),
        seconds,
        ..summary(aa_test.job.threshold, &judged)
    });
    (found, ended)
}

fn state(judged: &[Judged]) -> String {
    let wrong = judged.iter().filter(|j| is_false(j.verdict)).count();
    format!("comparing it with itself, {} done, {wrong} false", count(judged.len() as u64))
}

/// Judges one run as a user's would be, and once more with every difference
/// counting, so that any look at which the interval left out "none" shows.
fn judge(run: Run) -> Judged {
    let first = |run: &Run| analyse(run).comparisons.into_iter().next();
    let (verdict, blocks) = first(&run).map_or((Verdict::Invalid, 0), |c| (c.verdict, c.blocks));
    let missed = first(&run.with_threshold(0.0)).is_some_and(|strict| is_false(strict.verdict));
    Judged { verdict, missed, blocks }
}

fn is_false(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Faster | Verdict::Slower)
}

/// The counts and what they say of the true rates.
pub(super) fn summary(threshold: f64, judged: &[Judged]) -> AgainstItself {
    let counted = |is: &dyn Fn(&Judged) -> bool| judged.iter().filter(|j| is(j)).count() as u64;
    let rate = |count: u64| Rate::new(count, judged.len() as u64);
    AgainstItself {
        threshold,
        same: counted(&|j| j.verdict == Verdict::Same),
        unclear: counted(&|j| matches!(j.verdict, Verdict::Unclear | Verdict::Invalid)),
        false_verdicts: rate(counted(&|j| is_false(j.verdict))),
        missed_by_interval: rate(counted(&|j| j.missed)),
        blocks_median: median(judged.iter().map(|j| j.blocks as f64).collect()).unwrap_or_default(),
        slice_ns: 0.0,
        seconds: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_verdicts_go_either_way_and_unclear_ones_are_not_false() {
        let judged = |verdict, missed| Judged { verdict, missed, blocks: 12 };
        let mut all = vec![judged(Verdict::Same, false); 95];
        all.push(judged(Verdict::Same, true));
        all.push(judged(Verdict::Faster, true));
        all.push(judged(Verdict::Slower, true));
        all.extend([judged(Verdict::Unclear, false); 2]);
        let summary = summary(0.05, &all);
        assert_eq!((summary.same, summary.unclear), (96, 2));
        assert_eq!((summary.false_verdicts.count, summary.false_verdicts.of), (2, 100));
        assert_eq!(summary.missed_by_interval.count, 3);
        let Rate { at_least, at_most, .. } = summary.false_verdicts;
        assert!(at_least < 0.02 && 0.02 < at_most && at_most < 0.063, "{at_least} {at_most}");
    }

    #[test]
    fn nothing_compared_says_nothing() {
        let summary = summary(0.05, &[]);
        assert!(summary.false_verdicts.at_most >= 1.0 && summary.false_verdicts.at_least <= 0.0);
    }
}
