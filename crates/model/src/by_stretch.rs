//! A run's slices with less detail, as a page keeps them.
//!
//! Each slice keeps its round, its operations with their time and outcome, and the memory that it took.
//! All other readings of an arm's slices in a stretch are added up and divided equally among them; the
//! first slice has all latencies. The sums of each arm and stretch stay the same, and so do the verdicts
//! and intervals, which are computed from them.

use std::collections::{BTreeMap, BTreeSet};

use crate::counters::{Counters, Level, sum};
use crate::description::{FigureDescription, StudyDescription};
use crate::figure::{ESTIMATED_AWAY, Fold, Unit};
use crate::probes::{MemoryTraffic, Surroundings};
use crate::run::Run;
use crate::slice::{Latencies, Outcome, Phase, PlaceTraffic, Slice};
use crate::spent::{Calls, Spent};

/// The slices of an arm that are one with each other: those of a stretch, or of what counts for nothing.
type Key = (usize, Option<usize>, bool);

impl Run {
    /// Whether it can have less detail. A check, and what articles ask, rests on the slices themselves,
    /// and nothing holds those together that were measured before there were stretches.
    pub fn has_stretches(&self) -> bool {
        let are_in_one = self.slices.iter().all(|s| s.block().is_none() || s.stretch.is_some());
        are_in_one && self.checks.is_none() && self.article.is_none()
    }

    /// The same run with less detail in its slices, but for some arms.
    #[must_use]
    pub fn by_stretch(&self, is_kept: impl Fn(usize) -> bool) -> Self {
        if !self.has_stretches() {
            return self.clone();
        }
        let odd = self.odd_rounds();
        let is_odd = |slice: &Slice| slice.block().is_some_and(|block| odd.contains(&block));
        let mut groups: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        let slices = self.slices.iter().enumerate();
        for (at, slice) in slices.filter(|(_, slice)| !is_kept(slice.arm) && !is_odd(slice)) {
            groups.entry(key(slice)).or_default().push(at);
        }
        let mut run = self.clone();
        run.run.by_stretch = true;
        for (key, group) in groups {
            let of_group: Vec<&Slice> = group.iter().map(|at| &self.slices[*at]).collect();
            let study = self.studies.iter().find(|s| s.name == self.plan.arms[key.0].study);
            for (at, slice) in group.iter().zip(parts(&of_group, study)) {
                run.slices[*at] = slice;
            }
        }
        self.keep_lowest_free(&mut run);
        // A made-up record may have levels too large to stand in each slice.
        if run.check().is_ok() { run } else { self.clone() }
    }

    /// Rounds of which a comparison may leave out a side: something failed, is doubted, or lacks an arm
    /// or a reading that others of the stretch have.
    fn odd_rounds(&self) -> BTreeSet<usize> {
        let mut rounds: BTreeMap<(usize, usize), Round> = BTreeMap::new();
        for slice in &self.slices {
            let (Some(block), Some(stretch)) = (slice.block(), slice.stretch) else { continue };
            let round = rounds.entry((stretch, block)).or_default();
            let Outcome { untrusted, tail_untrusted, failed, .. } = &slice.outcome;
            round.is_doubted |=
                untrusted.is_some() || *tail_untrusted || failed.is_some_and(|failed| failed > 0);
            let Slice { spent, surroundings, .. } = slice;
            let reads = [
                spent.calls.is_some(),
                spent.run_queue_ns.is_some(),
                surroundings.memory.is_some(),
            ];
            round.has.insert((slice.arm, reads));
        }
        let mut first: BTreeMap<usize, &Round> = BTreeMap::new();
        let mut odd = BTreeSet::new();
        for ((stretch, block), round) in &rounds {
            let first = first.entry(*stretch).or_insert(round);
            if round.is_doubted || round.has != first.has {
                odd.insert(*block);
            }
        }
        odd
    }

    /// Of free memory, what follows rests on the lowest until then.
    fn keep_lowest_free(&self, run: &mut Self) {
        let mut lowest = Level(u64::MAX);
        for (slice, kept) in self.slices.iter().zip(&mut run.slices) {
            let free = slice.surroundings.memory.and_then(|memory| memory.free_bytes);
            let Some((free, memory)) = free.zip(kept.surroundings.memory.as_mut()) else {
                continue;
            };
            lowest = lowest.min(free);
            memory.free_bytes = Some(lowest);
        }
    }
}

/// What is there of a round.
#[derive(Default)]
struct Round {
    is_doubted: bool,
    /// Its arms, and whether what can be lacking was read of each.
    has: BTreeSet<(usize, [bool; 3])>,
}

fn key(slice: &Slice) -> Key {
    (slice.arm, slice.stretch, matches!(slice.phase, Phase::Block(_)))
}

/// Slices of one group with less detail.
fn parts(group: &[&Slice], study: Option<&StudyDescription>) -> Vec<Slice> {
    let spent = sum(group.iter().map(|slice| slice.spent));
    let surroundings = sum(group.iter().map(|slice| slice.surroundings));
    let deferred = sum(group.iter().map(|slice| slice.deferred));
    let mut latencies = Latencies::sum(group.iter().map(|slice| &slice.latencies));
    let mut queued_ns: Option<u64> = group.iter().map(|slice| slice.spent.queued_ns()).sum();
    let mut figures = figures(group, study);
    let all = group.len() as u64;
    let part = |(at, slice): (u64, &&Slice)| {
        let spent = spent_of(slice.spent, spent.part(at, all), &mut queued_ns);
        let mut outcome = slice.outcome.clone();
        for (name, figure) in &mut outcome.figures {
            let Some(shared) = figures.get_mut(name) else { continue };
            *figure = shared.first;
            shared.first = shared.then;
        }
        Slice {
            latencies: std::mem::take(&mut latencies),
            deferred: deferred.part(at, all),
            surroundings: surroundings_of(&slice.surroundings, &surroundings.part(at, all)),
            other_places: others(&slice.other_places, slice.spent.calls, spent.calls),
            outcome: outcome.with_measured_digits(),
            spent,
            arm: slice.arm,
            phase: slice.phase,
            position: slice.position,
            stretch: slice.stretch,
            operations: slice.operations,
        }
    };
    (0..).zip(group).map(part).collect()
}

/// What a slice spent, with its own time and faults. What it cannot have waited for a processor, the next
/// one has.
fn spent_of(own: Spent, part: Spent, queued_ns: &mut Option<u64>) -> Spent {
    let (elapsed_ns, minor_faults) = (own.elapsed_ns, own.minor_faults);
    let spent = Spent { elapsed_ns, minor_faults, run_queue_ns: *queued_ns, ..part };
    let run_queue_ns = spent.queued_ns();
    *queued_ns = queued_ns.zip(run_queue_ns).map(|(all_ns, own_ns)| all_ns - own_ns);
    Spent { run_queue_ns, ..spent }
}

/// A slice's part of the surroundings, with its own memory.
fn surroundings_of(own: &Surroundings, part: &Surroundings) -> Surroundings {
    let allocated_bytes = own.memory.and_then(|memory| memory.allocated_bytes);
    let memory = part.memory.map(|memory| MemoryTraffic { allocated_bytes, ..memory });
    Surroundings { residency: own.residency, memory, ..*part }
}

/// The traffic of other places, changed so that subtracting the slice's own traffic leaves the same.
fn others(places: &[PlaceTraffic], own: Option<Calls>, part: Option<Calls>) -> Vec<PlaceTraffic> {
    let [own, part] = [own, part].map(|calls| calls.map_or(0, Calls::storage_bytes));
    let kept = |PlaceTraffic { place, bytes }: &PlaceTraffic| PlaceTraffic {
        place: *place,
        bytes: bytes.saturating_sub(own).saturating_add(part),
    };
    places.iter().map(kept).collect()
}

/// A figure of a group: its value in the first slice, and in each of the others.
struct Shared {
    first: f64,
    then: f64,
}

/// The figures of a group as they are divided among its slices, without those that are compared round by
/// round.
fn figures(group: &[&Slice], study: Option<&StudyDescription>) -> BTreeMap<String, Shared> {
    let is_by_round = |name: &str| {
        let pairs = study.map_or(&[][..], |study| &study.break_evens);
        let is_of = |device: &String| device == name;
        name == ESTIMATED_AWAY
            || pairs.iter().any(|of| of.bytes == name || of.device.iter().any(is_of))
    };
    let mut values: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for (name, value) in group.iter().flat_map(|slice| &slice.outcome.figures) {
        values.entry(name).or_default().push(*value);
    }
    let one = |(name, values): (&String, Vec<f64>)| {
        let described = study.and_then(|study| study.figures.iter().find(|f| f.name == *name));
        let shared = shared(described, &values);
        let is_told = !is_by_round(name) && shared.first.is_finite() && shared.then.is_finite();
        is_told.then(|| (name.clone(), shared))
    };
    values.into_iter().filter_map(one).collect()
}

fn shared(figure: Option<&FigureDescription>, values: &[f64]) -> Shared {
    let count = values.len() as f64;
    let sum: f64 = values.iter().sum();
    let each = |value| Shared { first: value, then: value };
    match figure.map(|figure| (figure.fold, figure.unit)) {
        Some((Fold::Sum | Fold::PerOperation, _)) => Shared { first: sum, then: 0.0 },
        Some((Fold::Max, _)) => each(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        Some((Fold::Mean, Unit::PerSecond)) => {
            each(count / values.iter().map(|rate| 1.0 / rate).sum::<f64>())
        }
        _ => each(sum / count),
    }
}
