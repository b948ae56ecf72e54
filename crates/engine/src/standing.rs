//! How the comparisons stand: the blocks' paired log ratios, fed to their
//! sequences block by block. Used while measuring, to know when to stop, and
//! again on saved samples, to conclude: the same code, so the same verdicts.

use model::arm::Pair;
use model::sample::Sample;
use stats::{Decision, Sequence, Settings, Signs};

/// One wrong verdict in twenty at the most, each comparison by itself.
pub(crate) const ERROR_RATE: f64 = 0.05;

/// One comparison so far.
pub(crate) struct Standing {
    /// What is compared.
    pub(crate) pair: Pair,
    /// Of the mean time per operation. This one decides when to stop.
    pub(crate) mean: Sequence,
    /// Of the 99th percentile.
    pub(crate) p99: Sequence,
    /// Of the share of operations that failed.
    pub(crate) errors: Signs,
}

/// All comparisons so far.
pub(crate) struct Standings(pub(crate) Vec<Standing>);

impl Standings {
    /// Nothing known yet.
    pub(crate) fn new(pairs: &[Pair], worth: f64) -> Self {
        let sequence = || Sequence::new(Settings { worth, error_rate: ERROR_RATE });
        Self(
            pairs
                .iter()
                .map(|&pair| Standing {
                    pair,
                    mean: sequence(),
                    p99: sequence(),
                    errors: Signs::default(),
                })
                .collect(),
        )
    }

    /// Takes in one block's samples.
    pub(crate) fn take_block(&mut self, block: &[Sample]) {
        let of = |arm: usize| block.iter().find(|s| s.arm == arm);
        for standing in &mut self.0 {
            if let (Some(base), Some(other)) = (of(standing.pair.base), of(standing.pair.other)) {
                // A block without a finite ratio says nothing, and is left out.
                let _ = standing.mean.push(log_ratio(other.toll_ns(), base.toll_ns()));
                let _ = standing.p99.push(log_ratio(other.p99_ns, base.p99_ns));
                if let (Some(base), Some(other)) = (failed_share(base), failed_share(other)) {
                    standing.errors.push(other - base);
                }
            }
        }
    }

    /// Takes in saved samples, which are in the order in which they were measured.
    pub(crate) fn take_all(&mut self, samples: &[Sample]) {
        for block in samples.chunk_by(|a, b| a.block == b.block) {
            self.take_block(block);
        }
    }

    /// How many are decided.
    pub(crate) fn decided(&self) -> usize {
        self.0.iter().filter(|s| s.mean.decision() != Decision::Open).count()
    }

    /// What is still open.
    pub(crate) fn open_pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        self.0.iter().filter(|s| s.mean.decision() == Decision::Open).map(|s| s.pair)
    }
}

/// Of a slice's operations, where they may fail.
fn failed_share(sample: &Sample) -> Option<f64> {
    sample.failed.map(|failed| failed as f64 / sample.operations.max(1) as f64)
}

fn log_ratio(other: f64, base: f64) -> f64 {
    (other / base).ln()
}
