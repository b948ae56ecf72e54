//! Whether this machine lets verdicts be trusted: the engine measured with
//! itself.
//!
//! Two arms that do the same at the same place, each in a folder of its own,
//! are compared by the very loop and the very conclusions that users get:
//! - over and over, where any difference found is a false one
//!   ([`against_itself`]);
//! - without stopping, to learn how much blocks scatter ([`scatter`]) and from
//!   that how small a difference could be shown ([`resolution`]);
//! - with one of them slowed down on purpose, which must be found
//!   ([`planted`]).

pub mod against_itself;
pub mod clock_check;
mod objections;
pub mod planted;
mod rerun;
pub mod resolution;
pub mod scatter;
pub mod slowed;

pub use objections::objections;

use std::time::Duration;

use model::arm::{Arm, Pair};
use model::sample::Sample;

use crate::measure::{Job, Measurement};

/// Two arms that do the same at the same place.
#[derive(Clone, Copy)]
pub struct Twins<'a> {
    /// The two.
    pub arms: &'a [Arm],
    /// The one comparison that they make.
    pub pair: Pair,
    /// The labels of the place's two folders.
    pub labels: &'a [String],
    /// The smallest relative difference that matters.
    pub worth: f64,
}

impl Twins<'_> {
    fn job(&self, worth: f64, budget: Duration, seed: u64) -> Job<'_> {
        let pairs = std::slice::from_ref(&self.pair);
        Job { arms: self.arms, pairs, worth, budget, seed }
    }
}

/// Why a part of the selftest ended before it was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was told to.
    Interrupted,
    /// An arm could not go on, with the reason.
    Failed(String),
}

/// How a measurement ended, if not in order.
fn ended(measurement: &Measurement) -> Option<Ended> {
    let failure = measurement.failures.iter().flatten().next();
    match failure {
        Some(why) => Some(Ended::Failed(why.clone())),
        None => measurement.interrupted.then_some(Ended::Interrupted),
    }
}

/// The blocks' log ratios, in order; a block without one is left out.
fn log_ratios(samples: &[Sample], pair: Pair) -> Vec<f64> {
    let of =
        |block: &[Sample], arm| block.iter().find(|s| s.arm == arm).map(Sample::time_per_op_ns);
    samples
        .chunk_by(|a, b| a.block == b.block)
        .filter_map(|block| Some((of(block, pair.other)? / of(block, pair.base)?).ln()))
        .filter(|ratio| ratio.is_finite())
        .collect()
}

/// What an operation takes, over one arm's slices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolls {
    /// The median, which a stall does not move.
    pub median_ns: f64,
    /// The lower quartile: where other programs take the processor in most
    /// slices, this is still what the operation itself needs.
    pub undisturbed_ns: f64,
}

impl Tolls {
    /// `None` where the arm has no samples.
    fn of(samples: &[Sample], arm: usize) -> Option<Self> {
        let own = samples.iter().filter(|s| s.arm == arm);
        let mut tolls: Vec<f64> = own.map(Sample::time_per_op_ns).collect();
        tolls.sort_by(f64::total_cmp);
        let undisturbed_ns = *tolls.get(tolls.len() / 4)?;
        Some(Self { median_ns: stats::median(&mut tolls), undisturbed_ns })
    }
}
