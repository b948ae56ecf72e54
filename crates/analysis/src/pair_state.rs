//! The state of each comparison: the blocks' paired log ratios, fed to their
//! sequences block by block. Used while measuring, to know when to stop, and
//! again on the record, to analyse it: the same code, so the same verdicts.

use std::cell::Cell;

use model::arm::Pair;
use model::run::Run;
use model::slice::Slice;
use stats::{Decision, Interval, Sequence, Settings, Shares};

use crate::tails::Tails;

/// By how much, on either side, the log ratios of two runs of one machine may differ for
/// what stays the same within each, such as where its process's memory lies; no number of
/// blocks shows it. Of ten default runs on a quiet virtual machine 87% of pairs agreed
/// without this, and 93% with it (`cargo xtask bench repeat`).
const SAME_WITHIN_A_RUN: f64 = 0.02;

const HALF: f64 = 0.5;
const HUNDREDTH: f64 = 0.01;

/// One comparison so far.
pub(crate) struct PairState {
    /// What is compared.
    pub(crate) pair: Pair,
    /// Of the mean time per operation. This one decides when to stop.
    pub(crate) mean: Sequence,
    /// Of the 99th percentile.
    pub(crate) p99: Tails,
    /// Of the share of operations that failed.
    pub(crate) errors: Shares,
    /// Blocks that were not doubted.
    pub(crate) seen: u64,
    /// What the mean's sequence was given, block by block.
    pub(crate) taken: Vec<Taken>,
    /// The logarithm of 1 + worth, beyond which a difference matters.
    edge: f64,
    /// The probability with which the mean's interval may miss the truth.
    error_rate: f64,
    /// The width of the interval that the blocks alone allow, when it was last looked at, and
    /// after how many blocks that was.
    width: Cell<(f64, usize)>,
}

/// One block's ratio.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// The block's number.
    pub(crate) block: usize,
    /// The natural logarithm of the other's toll over the base's.
    pub(crate) log_ratio: f64,
}

impl PairState {
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
            self.take_ratio(base, log_ratio(other.score_ns(), base.score_ns()));
        }
        if failed < HUNDREDTH && !base.outcome.tail_untrusted && !other.outcome.tail_untrusted {
            self.p99.take(base, other);
        }
        if base.outcome.failed.is_some() && other.outcome.failed.is_some() {
            self.errors.push(base.failed_share(), other.failed_share());
        }
    }

    /// Takes in one block's ratio; one that is not finite says nothing, and is left out.
    fn take_ratio(&mut self, base: &Slice, log_ratio: f64) {
        if self.mean.push(log_ratio).is_ok() {
            let block = base.block().unwrap_or_default();
            self.taken.push(Taken { block, log_ratio });
        }
    }

    /// The width, looked at again once a twentieth more is known: finding an interval
    /// takes milliseconds where blocks are many, and who asks does so after each.
    fn width(&self) -> f64 {
        let ((mut width, seen), blocks) = (self.width.get(), self.mean.blocks());
        if blocks > 0 && blocks * 20 >= seen * 21 {
            let interval = self.mean.interval_at(self.error_rate);
            width = interval.high - interval.low;
            self.width.set((width, blocks));
        }
        width
    }

    /// Where the log ratio lies, and another run of the machine would find it: the
    /// sequence's interval with what runs differ by, as far as the verdict allows.
    pub(crate) fn interval(&self) -> Interval {
        let more = self.between_runs();
        if self.mean.is_contradicted() {
            let Interval { estimate, low, high } = self.mean.interval_at(self.error_rate);
            return Interval { estimate, low: low - more, high: high + more };
        }
        let edge = self.edge;
        let (least, most) = match self.mean.decision() {
            Decision::Open => (f64::NEG_INFINITY, f64::INFINITY),
            Decision::Greater => (edge, f64::INFINITY),
            Decision::Less => (f64::NEG_INFINITY, -edge),
            Decision::Within => (-edge, edge),
        };
        let interval = self.mean.interval();
        // What the sequence itself says stands, even where it is beyond the verdict.
        let low = (interval.low - more).max(least).min(interval.low);
        let high = (interval.high + more).min(most).max(interval.high);
        Interval { low, high, ..interval }
    }

    /// What runs of the machine differ by, besides what their blocks scatter by.
    pub(crate) fn between_runs(&self) -> f64 {
        let ratios: Vec<f64> = self.taken.iter().map(|taken| taken.log_ratio).collect();
        stats::slow_change(&ratios) + SAME_WITHIN_A_RUN
    }
}

/// All comparisons so far.
pub struct PairStates(pub(crate) Vec<PairState>);

impl PairStates {
    /// Nothing known yet.
    pub fn new(pairs: &[Pair], settings: Settings) -> Self {
        Self(
            pairs
                .iter()
                .map(|&pair| PairState {
                    pair,
                    mean: Sequence::new(settings),
                    p99: Tails::new(settings),
                    errors: Shares::new(settings.error_rate),
                    seen: 0,
                    taken: Vec::new(),
                    edge: settings.threshold.ln_1p(),
                    error_rate: settings.error_rate,
                    width: Cell::new((f64::INFINITY, 0)),
                })
                .collect(),
        )
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

    /// The states after all blocks of a run.
    pub(crate) fn of(run: &Run) -> Self {
        let settings = Settings { threshold: run.plan.threshold, error_rate: run.plan.error_rate };
        let mut states = Self::new(&run.plan.pairs, settings);
        run.blocks().for_each(|block| states.take_block(block));
        states
    }

    /// How many are decided.
    pub fn decided(&self) -> usize {
        self.0.iter().filter(|s| s.mean.decision() != Decision::Open).count()
    }

    /// How far each comparison is.
    pub fn progress(&self) -> impl Iterator<Item = PairProgress> + '_ {
        self.0.iter().map(|state| PairProgress {
            pair: state.pair,
            is_decided: state.mean.decision() != Decision::Open,
            width: state.width(),
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
    /// The width of its interval, the logarithm of high over low.
    pub width: f64,
}

fn log_ratio(other: f64, base: f64) -> f64 {
    (other / base).ln()
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
        let mut states = PairStates::new(&[pair], Settings::default());
        let mut other = slice(1, 0);
        change(&mut other.outcome);
        states.take_block(&[slice(0, 0), other]);
        let state = &states.0[0];
        [state.mean.blocks() as u64, state.p99.sequence.blocks() as u64, state.seen]
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
