//! Others that used the device of one place alone: what they did to the comparisons of that place.
//!
//! The evidence is the traffic with the devices of a place while the run worked elsewhere: in a
//! place that is in memory, or on other devices. None of that traffic is the run's.
//!
//! Such a neighbour makes one side of a comparison slower, and not the other. Some rounds may have
//! been without it: then those show how much it cost, or how much the few with it cost at most.
//! Otherwise it cost no more than what the side waited for its device. A verdict that would not hold without that is `unclear`.

use std::collections::BTreeMap;

use model::analysis::{Comparison, Verdict};
use model::arm::Pair;
use model::noise::{NoiseCode, NoiseSource};
use model::place::{PlaceFacts, StorageKind};
use model::slice::Slice;
use model::spent::Calls;
use units::{percent, rough_size};

use super::source::source;
use crate::causes;
use crate::indexed::Indexed;
use crate::totals::ArmTotals;

/// Others' traffic with a device, in bytes a second, from which on a round was disturbed.
const TRAFFIC_MIN_PER_S: f64 = 5e6;
/// So many rounds with a neighbour, and without, can be compared.
const ROUNDS_MIN: usize = 5;
/// Ranks that lie so many standard deviations from where chance puts them are no chance.
const APART: f64 = 2.5;

/// All that were found, and what arms lost to them.
pub(crate) struct Neighbours {
    found: Vec<NoiseSource>,
    /// Whether any place's devices were seen while the run worked elsewhere.
    are_visible: bool,
    /// The share of its time that each arm lost at the most.
    lost: Vec<f64>,
}

/// What was seen of a place's devices in one round, while the run worked elsewhere.
#[derive(Clone, Copy, Default)]
struct Seen {
    bytes: u64,
    ns: u64,
}

impl Seen {
    fn bytes_per_s(self) -> f64 {
        if self.ns == 0 { 0.0 } else { self.bytes as f64 * 1e9 / self.ns as f64 }
    }

    fn is_disturbed(self) -> bool {
        self.bytes_per_s() >= TRAFFIC_MIN_PER_S
    }
}

impl Neighbours {
    /// Those of a run.
    pub(crate) fn of(run: &Indexed<'_>, totals: &[ArmTotals]) -> Self {
        let mut found = Vec::new();
        let mut lost = vec![0.0; run.plan.arms.len()];
        let mut are_visible = false;
        for (place, facts) in run.places.iter().enumerate() {
            let seen = seen_from_elsewhere(run, place);
            are_visible |= !seen.is_empty();
            let with = seen.values().filter(|seen| seen.is_disturbed()).count();
            if with == 0 {
                continue;
            }
            for (arm, record) in run.plan.arms.iter().enumerate() {
                if record.place == place {
                    let waited = causes::device_wait_share(&totals[arm]);
                    lost[arm] = lost_by(run, arm, &seen).unwrap_or(waited).min(waited);
                }
            }
            found.push(found_at(facts, &seen, with));
        }
        Self { found, are_visible, lost }
    }

    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        !self.found.is_empty()
    }

    /// Whether they would have been seen.
    pub(super) fn are_visible(&self) -> bool {
        self.are_visible
    }

    /// The share of its time that each arm lost to them at the most.
    pub(super) fn lost(&self) -> &[f64] {
        &self.lost
    }

    /// What is reported of them.
    pub(super) fn sources(&self) -> impl Iterator<Item = NoiseSource> {
        self.found.iter().cloned()
    }

    /// A comparison whose verdict stands only if it would without what a neighbour cost.
    pub(crate) fn judge(&self, comparison: Comparison, pair: Pair) -> Comparison {
        let verdict = comparison.verdict;
        let kept = self.kept(pair.other) / self.kept(pair.base);
        let bounds = [comparison.ratio, comparison.ratio_low, comparison.ratio_high];
        let holds = |ratio: f64| match verdict {
            // An interval may reach beyond the threshold, but not to where they are equal.
            Verdict::Faster => ratio < 1.0,
            Verdict::Slower => ratio > 1.0,
            _ => verdict.is_true_of(ratio, comparison.threshold),
        };
        if !verdict.is_sure() || bounds.into_iter().flatten().all(|ratio| holds(ratio * kept)) {
            return comparison;
        }
        let lost = percent(self.lost_by(pair.base).max(self.lost_by(pair.other)));
        let why = format!("other programs used its disk, for up to {lost} of its time");
        let mut comparison = comparison;
        comparison.p99.verdict = Verdict::Unclear;
        Comparison { verdict: Verdict::Unclear, why: Some(why), ..comparison }
    }

    /// What would be left of an arm's time without them, at the least.
    fn kept(&self, arm: usize) -> f64 {
        1.0 - self.lost_by(arm).min(0.999)
    }

    fn lost_by(&self, arm: usize) -> f64 {
        self.lost.get(arm).copied().unwrap_or_default()
    }
}

/// What is reported of the traffic of others with the devices of a place.
fn found_at(facts: &PlaceFacts, seen: &BTreeMap<usize, Seen>, rounds_with: usize) -> NoiseSource {
    let devices: Vec<&str> = facts.bottom_devices().map(|device| device.name.as_str()).collect();
    let all = seen.values().fold(Seen::default(), |sum, seen| Seen {
        bytes: sum.bytes.saturating_add(seen.bytes),
        ns: sum.ns.saturating_add(seen.ns),
    });
    let (rounds, per_s) = (seen.len(), all.bytes_per_s());
    source(
        NoiseCode::PlaceNeighbour,
        &[
            ("others_bytes", all.bytes as f64),
            ("others_bytes_per_s", per_s),
            ("rounds", rounds as f64),
            ("rounds_with", rounds_with as f64),
        ],
        format!(
            "Other programs used the disk of `{}` ({}) in {rounds_with} of {rounds} rounds: {}, {} \
             per second.",
            facts.label,
            devices.join(", "),
            rough_size(all.bytes),
            rough_size(per_s as u64)
        ),
        "Stop what uses that disk, or measure when it is idle.",
    )
}

/// Traffic with a place's devices in each round, while the run had no work for them.
fn seen_from_elsewhere(run: &Indexed<'_>, place: usize) -> BTreeMap<usize, Seen> {
    let elsewhere: Vec<bool> = run
        .plan
        .arms
        .iter()
        .map(|arm| works_elsewhere(run.places.get(arm.place), run.places.get(place)))
        .collect();
    let mut seen: BTreeMap<usize, Seen> = BTreeMap::new();
    for slice in run.slices.iter().filter(|slice| elsewhere.get(slice.arm) == Some(&true)) {
        let Some(block) = slice.block() else { continue };
        let others = slice.other_places.iter().find(|traffic| traffic.place == place);
        // A program that is timed may write somewhere else itself.
        let own = slice.spent.calls.map_or(0, Calls::storage_bytes);
        let round = seen.entry(block).or_default();
        round.bytes += others.map_or(0, |traffic| traffic.bytes).saturating_sub(own);
        round.ns += slice.spent.elapsed_ns;
    }
    seen
}

/// Whether what is done in one place has nothing to do with the devices of another. Where a server
/// or another file stands behind a place, nobody knows.
fn works_elsewhere(own: Option<&PlaceFacts>, other: Option<&PlaceFacts>) -> bool {
    let Some((own, other)) = own.zip(other) else { return false };
    let numbers = |place: &PlaceFacts| -> Vec<(u32, u32)> {
        place.bottom_devices().map(|device| (device.major, device.minor)).collect()
    };
    let (its, others) = (numbers(own), numbers(other));
    if others.is_empty() {
        return false;
    }
    let is_plain = |place: &PlaceFacts| {
        !place.filesystem.starts_with("fuse")
            && place.filesystem != "overlay"
            && place.devices.iter().all(|layer| !matches!(layer.kind.as_str(), "loop" | "zram"))
    };
    let in_memory = own.kind == StorageKind::Memory && its.is_empty();
    let on_others = !its.is_empty() && its.iter().all(|number| !others.contains(number));
    is_plain(own) && (in_memory || on_others)
}

/// The share of its time that an arm lost to a neighbour, by the rounds without it; nothing where
/// there are too few of those.
fn lost_by(run: &Indexed<'_>, arm: usize, seen: &BTreeMap<usize, Seen>) -> Option<f64> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for slice in run.slices_of(arm) {
        let Some(round) = slice.block().and_then(|block| seen.get(&block)) else { continue };
        if round.is_disturbed() { &mut with } else { &mut without }.push(Slice::score_ns(slice));
    }
    if without.len() < ROUNDS_MIN {
        return None;
    }
    let rounds = (with.len() + without.len()) as f64;
    if with.len() < ROUNDS_MIN {
        // Too few to show what is usual, and so few that all they took beyond the others is little.
        let usual = stats::median(&mut without);
        let beyond: f64 = with.iter().map(|round| (round / usual).ln().max(0.0)).sum();
        return Some(1.0 - (-beyond / rounds).exp());
    }
    let share_with = with.len() as f64 / rounds;
    if !is_larger(&with, &without) {
        return Some(0.0);
    }
    let (with, without) = (stats::median(&mut with), stats::median(&mut without));
    // Rounds are compared by their logarithms, so that this is what their mean lost.
    Some((1.0 - (without / with).powf(share_with)).max(0.0))
}

/// Whether the first values are larger than the second by more than chance (Mann and Whitney).
fn is_larger(first: &[f64], second: &[f64]) -> bool {
    let pairs = first.iter().flat_map(|a| second.iter().map(move |b| (a, b)));
    let wins: f64 = pairs.map(|(a, b)| 0.5 + (f64::from(a > b) - f64::from(a < b)) / 2.0).sum();
    let (n, m) = (first.len() as f64, second.len() as f64);
    let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
    (wins - n * m / 2.0) / deviation > APART
}

#[cfg(test)]
mod tests;
