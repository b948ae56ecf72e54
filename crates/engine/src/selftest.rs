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

use model::place::PlaceFacts;
use model::run::{Machine, PlaceAfter, Run, Watch};
use model::slice::Slice;

use crate::job::Job;
use crate::measure::Event;
use crate::run::{Environment, Header, run};
use crate::selftest::rerun::Rerun;

/// Two arms that do the same at the same place.
#[derive(Clone, Copy)]
pub struct Twins<'a> {
    /// The two, and the one comparison that they make.
    pub job: &'a Job,
    /// The place's two folders.
    pub places: &'a [PlaceFacts],
    /// The machine.
    pub machine: &'a Machine,
}

/// How one of many runs is run.
struct Rules {
    /// The smallest relative difference that matters.
    worth: f64,
    /// How long it may take.
    budget: Duration,
    /// What its order is made from.
    seed: u64,
}

impl Twins<'_> {
    /// Compares the two once, as a user's run would.
    fn compare(&self, rules: &Rules, mut runner: Rerun, events: &mut dyn FnMut(Event)) -> Run {
        let Rules { worth, budget, seed } = *rules;
        let job = Job { worth, budget, seed, ..self.job.clone() };
        let mut environment = Unwatched { places: self.places, machine: self.machine };
        run(&job, Header::default(), &mut environment, &mut runner, events)
    }
}

/// The environment of one of many runs: the selftest as a whole looks at it.
struct Unwatched<'a> {
    places: &'a [PlaceFacts],
    machine: &'a Machine,
}

impl Environment for Unwatched<'_> {
    fn machine(&self) -> Machine {
        self.machine.clone()
    }

    fn places(&self) -> Vec<PlaceFacts> {
        self.places.to_vec()
    }

    fn places_after(&mut self) -> Vec<PlaceAfter> {
        Vec::new()
    }

    fn watch(&mut self) -> Watch {
        Watch::default()
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

/// How a run ended, if not in order.
fn ended(run: &Run) -> Option<Ended> {
    match run.failures.first() {
        Some(failure) => Some(Ended::Failed(failure.why.clone())),
        None => run.run.interrupted.then_some(Ended::Interrupted),
    }
}

/// The blocks' log ratios, in order; a block without one is left out.
fn log_ratios(run: &Run) -> Vec<f64> {
    let Some(pair) = run.plan.pairs.first() else { return Vec::new() };
    let of = |block: &[Slice], arm| block.iter().find(|s| s.arm == arm).map(Slice::time_per_op_ns);
    run.blocks()
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
    /// `None` of no slices.
    fn of<'a>(slices: impl Iterator<Item = &'a Slice>) -> Option<Self> {
        let mut tolls: Vec<f64> = slices.map(Slice::time_per_op_ns).collect();
        tolls.sort_by(f64::total_cmp);
        let undisturbed_ns = *tolls.get(tolls.len() / 4)?;
        Some(Self { median_ns: stats::median(&mut tolls), undisturbed_ns })
    }
}
