//! The state of each comparison: the rounds' paired log ratios, of which each stretch gives
//! one number. Used while measuring, to know when to stop, and again on the record, to
//! analyse it: the same code, so the same verdicts.

use std::borrow::Cow;

use model::arm::Pair;
use model::between_runs::{BetweenRuns, Learned};
use model::figure::ESTIMATED_AWAY;
use model::run::{PlanRecord, Run};
use model::slice::Slice;
use stats::{Decision, Interval, Settings, Shares, Stretches, Variation, trimmed_mean, unlike};

use crate::stretches;
use crate::tails::Tails;

const HALF: f64 = 0.5;
const HUNDREDTH: f64 = 0.01;

/// One comparison so far.
pub(crate) struct PairState {
    /// What is compared.
    pub(crate) pair: Pair,
    /// What saved runs showed of it.
    pub(crate) learned: BetweenRuns,
    /// Of the mean time per operation. This one decides when to stop.
    pub(crate) mean: Stretches,
    /// Of the 99th percentile.
    pub(crate) p99: Tails,
    /// Of the share of operations that failed: the differences of the shares, of which any
    /// matters.
    errors: Stretches,
    /// The same, whatever failures are like.
    shares: Shares,
    /// Blocks that were not doubted.
    pub(crate) seen: u64,
    /// What rounds gave, one by one.
    pub(crate) taken: Vec<Taken>,
    /// How many of them there were at the end of each stretch that gave a number.
    ends: Vec<usize>,
    /// The differences of the shares of failed operations in the present stretch.
    failed: Vec<f64>,
}

/// One block's ratio.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// The block's number.
    pub(crate) block: usize,
    /// The natural logarithm of the other's time per operation over the base's.
    pub(crate) log_ratio: f64,
    /// By how much that may be off, for what an estimate left out.
    doubt: f64,
}

impl PairState {
    fn new(pair: Pair, settings: Settings, learned: BetweenRuns) -> Self {
        Self {
            pair,
            learned,
            mean: Stretches::new(settings).among_runs(learned.time.map(variation)),
            p99: Tails::new(settings, learned.p99.map(variation)),
            errors: Stretches::new(Settings { threshold: 0.0, ..settings }),
            shares: Shares::new(settings.error_rate),
            seen: 0,
            taken: Vec::new(),
            ends: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Takes in one block's slices of the two arms.
    ///
    /// A block in which either is doubted says nothing. Where half of the operations
    /// failed there is no median, and where a hundredth did no 99th percentile, that
    /// would be the operations' rather than the limit's on how long they may take.
    fn take(&mut self, base: &Slice, other: &Slice) {
        if base.outcome.untrusted.is_some() || other.outcome.untrusted.is_some() {
            return;
        }
        self.seen += 1;
        let failed = base.failed_share().max(other.failed_share());
        if failed < HALF {
            let log_ratio = (other.score_ns() / base.score_ns()).ln();
            let block = base.block().unwrap_or_default();
            // One that is not finite says nothing, and is left out.
            let doubt = (estimated_away(other) - estimated_away(base)).abs();
            self.taken.extend(log_ratio.is_finite().then_some(Taken { block, log_ratio, doubt }));
        }
        if failed < HUNDREDTH && !base.outcome.tail_untrusted && !other.outcome.tail_untrusted {
            self.p99.take(base, other);
        }
        if base.outcome.failed.is_some() && other.outcome.failed.is_some() {
            let difference = other.failed_share() - base.failed_share();
            self.failed.push(difference);
            self.shares.push(difference);
        }
    }

    /// Takes in what the stretch gives.
    fn end_stretch(&mut self) {
        let begun = self.ends.last().copied().unwrap_or_default();
        if let Some(mean) = trimmed_mean(&self.log_ratios()[begun..]) {
            self.mean.push(mean);
            self.ends.push(self.taken.len());
            self.mean.doubt(self.doubt());
        }
        let failed = std::mem::take(&mut self.failed);
        if !failed.is_empty() {
            self.errors.push(failed.iter().sum::<f64>() / failed.len() as f64);
        }
        self.p99.end_stretch();
    }

    fn log_ratios(&self) -> Vec<f64> {
        self.taken.iter().map(|taken| taken.log_ratio).collect()
    }

    /// By how much the log ratio may be off, however long it is measured.
    pub(crate) fn doubt(&self) -> f64 {
        let doubts: Vec<f64> = self.taken.iter().map(|taken| taken.doubt).collect();
        trimmed_mean(&doubts).unwrap_or_default()
    }

    /// Where the log ratio lies; without bounds before the first look.
    pub(crate) fn interval(&self) -> Interval {
        let interval = self.mean.interval();
        if self.mean.looked_at() > 0 {
            return interval;
        }
        Interval { estimate: trimmed_mean(&self.log_ratios()).unwrap_or_default(), ..interval }
    }

    /// Where the mean difference of the shares of failed operations lies, from -1 to 1: as far
    /// as the stretches allow, and whatever failures are like.
    pub(crate) fn failed_difference(&self) -> (f64, f64) {
        let (Interval { low, high, .. }, shares) = (self.errors.interval(), self.shares.interval());
        (low.max(-1.0).min(shares.0), high.min(1.0).max(shares.1))
    }

    /// After how many blocks the verdict was first reached that has stood since.
    pub(crate) fn decided_after(&self) -> Option<usize> {
        self.ends.get(self.mean.decided_after()? - 1).copied()
    }
}

/// The logarithm of what a slice would have taken without an estimate over what it took with it.
fn estimated_away(slice: &Slice) -> f64 {
    let estimated = slice.outcome.figures.get(ESTIMATED_AWAY);
    estimated.map_or(0.0, |ns| (ns / slice.operations.max(1) as f64 / slice.score_ns()).ln_1p())
}

/// What a run differs by from where the saved ones lay, and the variance that it has.
fn off_level(stretches: &Stretches, learned: Option<Learned>) -> Option<(f64, f64)> {
    stretches.off_level(learned?.level?)
}

fn variation(Learned { deviation, degrees, .. }: Learned) -> Variation {
    Variation { deviation, degrees }
}

/// All comparisons so far.
pub struct PairStates(pub(crate) Vec<PairState>);

impl PairStates {
    /// Nothing known yet but what saved runs showed of the pairs, in their order.
    pub fn new(pairs: &[Pair], settings: Settings, learned: &[BetweenRuns]) -> Self {
        let learned = learned.iter().copied().chain(std::iter::repeat(BetweenRuns::default()));
        let state = |(pair, learned): (&Pair, _)| PairState::new(*pair, settings, learned);
        Self(pairs.iter().zip(learned).map(state).collect())
    }

    /// Takes in one block's slices.
    pub fn take_block(&mut self, block: &[Slice]) {
        let arms = Slice::by_arm(block);
        for state in &mut self.0 {
            let of = |arm| arms.get(&arm);
            if let (Some(base), Some(other)) = (of(state.pair.base), of(state.pair.other)) {
                state.take(base, other);
            }
        }
    }

    /// Takes note that a stretch is complete.
    pub fn end_stretch(&mut self) {
        self.0.iter_mut().for_each(PairState::end_stretch);
        let of_means = self.0.iter().map(|state| off_level(&state.mean, state.learned.time));
        let of_tails = self.0.iter().map(|s| off_level(&s.p99.stretches, s.learned.p99));
        let (means, tails) = (unlike(of_means.flatten()), unlike(of_tails.flatten()));
        for state in &mut self.0 {
            state.mean.set_unlike(means);
            state.p99.stretches.set_unlike(tails);
        }
    }

    /// The states after all blocks of a run.
    pub fn of(run: &Run) -> Self {
        Self::of_pairs(run, &run.plan.pairs, &run.between_runs, Cow::Borrowed)
    }

    /// The same of some pairs, with blocks read in some way, and with how much the pairs vary
    /// from run to run, in their order.
    pub(crate) fn of_pairs<'a>(
        run: &'a Run,
        pairs: &[Pair],
        between_runs: &[BetweenRuns],
        read: impl Fn(&'a [Slice]) -> Cow<'a, [Slice]>,
    ) -> Self {
        let PlanRecord { threshold, error_rate, .. } = run.plan;
        let mut states = Self::new(pairs, Settings { threshold, error_rate }, between_runs);
        let mut blocks = run.blocks();
        for rounds in stretches::cut(run).rounds {
            blocks.by_ref().take(rounds).for_each(|block| states.take_block(&read(block)));
            states.end_stretch();
        }
        blocks.for_each(|block| states.take_block(&read(block)));
        states
    }

    /// Stretches that were complete: the most that any comparison has a number of.
    pub fn stretches(&self) -> usize {
        self.0.iter().map(|state| state.mean.count()).max().unwrap_or_default()
    }

    /// How many are decided.
    pub fn decided(&self) -> usize {
        self.0.iter().filter(|s| s.mean.decision() != Decision::Open).count()
    }

    /// How far each comparison is.
    pub fn progress(&self) -> impl Iterator<Item = PairProgress> + '_ {
        self.0.iter().map(|state| {
            // More of this run does not narrow what other runs add.
            let Interval { low, high, .. } = state.mean.interval_of_this_run();
            PairProgress {
                pair: state.pair,
                is_decided: state.mean.decision() != Decision::Open,
                width: high - low,
            }
        })
    }
}

/// How far one comparison is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairProgress {
    /// What is compared.
    pub pair: Pair,
    /// Whether its verdict is sure.
    pub is_decided: bool,
    /// The width of its interval in this run alone, the logarithm of high over low.
    pub width: f64,
}

#[cfg(test)]
mod tests {
    use model::arm::Axis;
    use model::slice::{Latencies, Outcome, Phase};
    use model::spent::Spent;

    use super::*;

    fn slice(arm: usize, failed: u64) -> Slice {
        Slice {
            arm,
            phase: Phase::Block(0),
            operations: 300,
            spent: Spent { elapsed_ns: 1000 + arm as u64, ..Spent::default() },
            latencies: Latencies { buckets: vec![(20, 300)], max: 20 },
            outcome: Outcome { failed: Some(failed), ..Outcome::default() },
            ..Slice::default()
        }
    }

    /// How many blocks the mean, the tail and the failures of a pair rest on, after
    /// one whose second slice has come to something else.
    fn taken(change: impl Fn(&mut Outcome)) -> [u64; 3] {
        let pair = Pair { base: 0, other: 1, axis: Axis::Place };
        let mut states = PairStates::new(&[pair], Settings::default(), &[]);
        let mut other = slice(1, 0);
        change(&mut other.outcome);
        states.take_block(&[slice(0, 0), other]);
        states.end_stretch();
        let state = &states.0[0];
        [state.mean.count() as u64, state.p99.stretches.count() as u64, state.seen]
    }

    #[test]
    fn what_a_block_cannot_tell_is_not_taken_from_it() {
        assert_eq!(taken(|_| ()), [1, 1, 1]);
        assert_eq!(taken(|o| o.failed = Some(3)), [1, 0, 1]);
        assert_eq!(taken(|o| o.failed = Some(150)), [0, 0, 1]);
        assert_eq!(taken(|o| o.tail_untrusted = true), [1, 0, 1]);
        assert_eq!(taken(|o| o.untrusted = Some(String::new())), [0, 0, 0]);
    }
}
