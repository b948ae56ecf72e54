//! Slow-downs of known size, which intervals must hold: short comparisons, one after
//! another, in each of which all blocks are new.

use std::time::Duration;

use analysis::analyse;
use model::analysis::{Analysis, Comparison, Verdict};
use model::run::{Floor, Run};
use model::selftest::{Missed, PlantedFound, PlantedKind, Rate};
use units::count;

use super::aa_test::{AaTest, Ended, Rules, ended, median, typical_ns};
use super::pace::{allowance, full, time_of};
use super::rerun::Rerun;
use super::slowdown::{Factors, SlowdownTimes, every, one_in};
use crate::runner::SliceRunner;

/// How much is added to the time of all slices together, as a share of it.
pub(super) const ADDED: f64 = 0.10;
/// As stalls it is added to one slice in so many.
const STALL_IN: u64 = 20;
/// So many comparisons of a kind should be done by the end of its time: of four kinds
/// they are a hundred.
const WANTED: usize = 25;
/// A comparison has time for about so many blocks at the least, warming up included: with
/// fewer its interval could hardly have both bounds, and would say nothing.
const BLOCKS_MIN: u32 = 32;
/// Where an interval had not, the comparisons after it have so many times as many blocks.
const MORE: f64 = 1.5;
/// The part of the time that the first may take, which shows what the others need.
const FIRST_SHARE: f64 = 0.3;
/// Too little time to begin with.
const TIME_MIN: Duration = Duration::from_millis(200);

/// How the slices of the slower arm are stretched.
pub(super) fn factors(kind: PlantedKind, seed: u64) -> Factors {
    match kind {
        PlantedKind::Stalls => one_in(STALL_IN, 1.0 + ADDED * STALL_IN as f64, seed),
        PlantedKind::Writing | PlantedKind::Syncing | PlantedKind::ColdReading => {
            every(1.0 + ADDED)
        }
    }
}

/// The ratio of two typical slices that follows.
pub(super) fn truth(kind: PlantedKind) -> f64 {
    if kind == PlantedKind::Stalls { 1.0 } else { 1.0 + ADDED }
}

/// One comparison, judged.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judged {
    verdict: Verdict,
    /// The ratio and its bounds; `None` as long as one of them is missing.
    bounded: Option<[f64; 3]>,
    /// Whether it is left open for stalls, which are told.
    tells_stalls: bool,
    /// Whether the total times do not show what was added; nothing where none of the
    /// slices that count had anything added.
    hidden: Option<bool>,
    blocks: u64,
}

/// Compares until the runner's clock shows `until`. `None` where there was no time for
/// a single comparison.
pub(super) fn planted(
    aa_test: AaTest<'_>,
    runner: &mut dyn SliceRunner,
    floor: &Floor,
    (kind, until): (PlantedKind, Duration),
    mut seeds: impl FnMut() -> u64,
    progress: &mut dyn FnMut(String),
) -> (Option<PlantedFound>, Option<Ended>) {
    let began = runner.elapsed();
    let time = until.saturating_sub(began);
    let (mut judged, mut slices_ns) = (Vec::<Judged>::new(), Vec::new());
    let (mut at_least, mut fill) = (time.mul_f64(FIRST_SHARE).max(TIME_MIN), None);
    let mut patience = 1.0;
    let ended = loop {
        let left = until.saturating_sub(runner.elapsed());
        if left < at_least {
            break None;
        }
        let budget = allowance(left, judged.len(), WANTED).clamp(at_least, left);
        let rules = Rules { threshold: aa_test.job.threshold, budget, seed: seeds() };
        let state = format!("looking for planted slow-downs, {} done", count(judged.len() as u64));
        let before = runner.elapsed();
        let rerun = Rerun::new(runner, floor, fill);
        let run = aa_test.compare(&rules, rerun, &mut |_| progress(state.clone()));
        if let Some(ended) = ended(&run) {
            break Some(ended);
        }
        let took = runner.elapsed().saturating_sub(before);
        let base = run.plan.pairs.first().map_or(0, |pair| pair.base);
        fill = fill.or_else(|| typical_ns(run.slices_of(base)).map(full));
        slices_ns.extend(run.slices_of(base).map(|slice| slice.spent.elapsed_ns as f64));
        judged.extend(judge(&run));
        if judged.last().is_some_and(|last| last.bounded.is_none()) {
            patience *= MORE;
        }
        at_least = time_of(BLOCKS_MIN, untimed(&run, took)).mul_f64(patience);
    };
    let seconds = runner.elapsed().saturating_sub(began).as_secs_f64();
    let found = (!judged.is_empty()).then(|| PlantedFound {
        slice_ns: median(slices_ns).unwrap_or_default(),
        seconds,
        ..summary(kind, &judged)
    });
    (found, ended)
}

/// The time of a block that passes outside of the clock, in a run that took so long.
fn untimed(run: &Run, took: Duration) -> Duration {
    let timed_ns = run.slices.iter().map(|slice| slice.spent.elapsed_ns).sum();
    let blocks = (run.slices.len() / 2).max(1) as u32;
    took.saturating_sub(Duration::from_nanos(timed_ns)) / blocks
}

/// Judges a run as a user's would be; nothing where no block was completed.
fn judge(run: &Run) -> Option<Judged> {
    let analysis = analyse(run);
    let Comparison { verdict, ratio, ratio_low, ratio_high, blocks, totals, .. } =
        *analysis.comparisons.first()?;
    let tells_stalls = totals.is_some() && verdict == Verdict::Unclear;
    let bounded = ratio.zip(ratio_low).zip(ratio_high);
    let bounded = bounded.map(|((ratio, low), high)| [ratio, low, high]);
    let hidden = hides(run, &analysis);
    (blocks > 0).then_some(Judged { verdict, bounded, tells_stalls, hidden, blocks })
}

/// Whether the arms' total times show less than half of what was added, going by how
/// long each slice was to take; nothing where nothing was added.
fn hides(run: &Run, analysis: &Analysis) -> Option<bool> {
    let pair = run.plan.pairs.first()?;
    let shown = |arm: usize| analysis.arms[arm].time_per_op_ns.map(|latency| latency.mean);
    let [shown_base, shown_other] = [shown(pair.base)?, shown(pair.other)?];
    let slices = |arm: usize| run.slices_of(arm).collect::<Vec<_>>();
    let [base, other] = [pair.base, pair.other].map(|arm| SlowdownTimes::of(&slices(arm)));
    let expected = other.wanted_ns / base.own_ns;
    let without = other.own_ns / base.own_ns;
    let least = without.midpoint(expected);
    (other.wanted_ns > other.own_ns).then_some(shown_other / shown_base < least)
}

/// The counts and what they say of the true rates.
pub(super) fn summary(kind: PlantedKind, judged: &[Judged]) -> PlantedFound {
    let truth = truth(kind);
    let is_stalls = kind == PlantedKind::Stalls;
    let truly = if is_stalls { Verdict::Same } else { Verdict::Slower };
    let counted = |is: &dyn Fn(&Judged) -> bool| judged.iter().filter(|j| is(j)).count() as u64;
    let of = judged.len() as u64;
    let bounded = counted(&|j| j.bounded.is_some());
    // Where stalls are told beside it, `same` is not said.
    let is_right = |j: &Judged| j.verdict == truly || is_stalls && j.tells_stalls;
    let right = counted(&is_right);
    let decides_nothing = |j: &Judged| matches!(j.verdict, Verdict::Unclear | Verdict::Invalid);
    let unclear = counted(&|j| decides_nothing(j) && !is_right(j));
    let misses: Vec<Missed> = judged.iter().filter_map(|j| missed(j, truth)).collect();
    let widths = judged.iter().filter_map(|j| j.bounded.map(|[_, low, high]| (high / low).ln()));
    PlantedFound {
        right,
        unclear,
        wrong: of - right - unclear,
        unbounded: of - bounded,
        missed: Rate::new(misses.len() as u64, bounded),
        misses,
        hidden_in_totals: is_stalls.then(|| {
            let stalled = counted(&|j| j.hidden.is_some());
            Rate::new(counted(&|j| j.hidden == Some(true)), stalled)
        }),
        log_width_median: median(widths.collect()),
        blocks_median: median(judged.iter().map(|j| j.blocks as f64).collect()).unwrap_or_default(),
        slice_ns: 0.0,
        seconds: 0.0,
    }
}

/// The comparison, if its interval does not hold the truth.
fn missed(judged: &Judged, truth: f64) -> Option<Missed> {
    let Judged { verdict, blocks, bounded, .. } = *judged;
    let [ratio, ratio_low, ratio_high] = bounded?;
    let misses = !(ratio_low..=ratio_high).contains(&truth);
    misses.then_some(Missed { ratio, ratio_low, ratio_high, verdict, blocks })
}

#[cfg(test)]
impl Judged {
    /// One whose totals show what was added.
    pub(super) fn new(verdict: Verdict, bounded: Option<[f64; 3]>) -> Self {
        Self { verdict, bounded, tells_stalls: false, hidden: None, blocks: 12 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(verdict: Verdict, bounded: Option<[f64; 3]>) -> Judged {
        Judged::new(verdict, bounded)
    }

    #[test]
    fn an_interval_on_either_side_of_the_truth_misses_and_an_open_one_says_nothing() {
        let found = summary(
            PlantedKind::Writing,
            &[
                judged(Verdict::Slower, Some([1.10, 1.06, 1.14])),
                judged(Verdict::Unclear, Some([1.08, 1.02, 1.12])),
                judged(Verdict::Slower, Some([1.07, 1.051, 1.09])),
                judged(Verdict::Slower, Some([1.20, 1.12, 1.30])),
                judged(Verdict::Same, Some([1.01, 0.98, 1.04])),
                judged(Verdict::Unclear, None),
            ],
        );
        assert_eq!((found.right, found.unclear, found.wrong, found.unbounded), (3, 2, 1, 1));
        assert_eq!((found.missed.count, found.missed.of), (3, 5));
        assert!(found.misses.iter().map(|m| m.ratio).eq([1.07, 1.20, 1.01]));
        assert_eq!(found.hidden_in_totals, None);
    }

    #[test]
    fn the_typical_slice_is_none_the_slower_for_stalls_and_totals_are() {
        let unstalled = judged(Verdict::Same, Some([1.0, 0.97, 1.03]));
        let [same, hidden] =
            [false, true].map(|hidden| Judged { hidden: Some(hidden), ..unstalled.clone() });
        let wrong = judged(Verdict::Slower, Some([1.10, 1.06, 1.14]));
        let found = summary(PlantedKind::Stalls, &[unstalled, same, hidden, wrong]);
        assert_eq!((found.right, found.wrong, found.missed.count), (3, 1, 1));
        assert_eq!(found.hidden_in_totals.map(|rate| (rate.count, rate.of)), Some((1, 2)));
    }
}
