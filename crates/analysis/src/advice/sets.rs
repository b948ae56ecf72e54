//! Files of one set are moved together or not at all: where a place is faster for one thing
//! that is done with them and may be slower for another, a stated mix of these decides.

use model::advice::{Advice, Group};
use model::analysis::{Comparison, Verdict};
use model::arm::Axis;
use model::description::MixDescription;
use model::grouped::group_of;

use super::candidate::{self, Candidate, Chance, pays_from};
use super::{Ranked, Subject, in_its_group};

/// What is advised on whole sets, and the comparisons that are thereby spoken for.
pub(super) fn advice(subject: Subject, questions: &[usize]) -> (Vec<Ranked>, Vec<usize>) {
    let mut found = Vec::new();
    let mut spoken_for = Vec::new();
    for set in sets(subject, questions) {
        for place in 0..subject.run.places.len() {
            let Some(moved) = Moved::of(subject, &set, place) else { continue };
            let no_slower = [Verdict::Faster, Verdict::Same];
            if moved.parts.iter().any(|part| !no_slower.contains(&part.comparison.verdict)) {
                spoken_for.extend(moved.parts.iter().map(|part| part.index));
                found.extend(moved.advice(subject));
            }
        }
    }
    (found, spoken_for)
}

/// What is done with the files of one set: each arm with how often.
type Set = Vec<(usize, f64)>;

/// The sets: questions of one study that differ in the parameter of its mix alone.
fn sets(subject: Subject, questions: &[usize]) -> Vec<Set> {
    let mut sets = Vec::new();
    for &now in questions {
        let arm = &subject.run.plan.arms[now];
        let Some(mix) = subject.run.study(&arm.study).and_then(|study| study.mix.as_ref()) else {
            continue;
        };
        let Some(times) = times(mix, arm.params.get(&mix.param)) else { continue };
        let others = arm.params.iter().filter(|(name, _)| **name != mix.param).collect::<Vec<_>>();
        group_of(&mut sets, (others, arm.subject())).push((now, times));
    }
    sets.into_iter().map(|(_, set)| set).filter(|set| set.len() > 1).collect()
}

fn times(mix: &MixDescription, value: Option<&String>) -> Option<f64> {
    let found = mix.times.iter().find(|(known, _)| Some(known) == value);
    found.map(|(_, times)| *times).filter(|times| *times > 0.0)
}

/// A set, moved to another place.
struct Moved<'a> {
    parts: Vec<Part<'a>>,
}

struct Part<'a> {
    index: usize,
    now: usize,
    comparison: &'a Comparison,
    /// So much of a file's life it takes now.
    now_ns: f64,
}

impl<'a> Moved<'a> {
    /// `None` where it was not compared for all of them.
    fn of(subject: Subject<'a>, set: &Set, place: usize) -> Option<Self> {
        let part = |&(now, times): &(usize, f64)| {
            let pairs = &subject.run.plan.pairs;
            let index = pairs.iter().position(|pair| {
                let is_there = subject.run.plan.arms[pair.other].place == place;
                pair.base == now && pair.axis == Axis::Place && is_there
            })?;
            let now_ns = subject.arms[now].typical_ns? * times;
            Some(Part { index, now, comparison: &subject.comparisons[index], now_ns })
        };
        Some(Self { parts: set.iter().map(part).collect::<Option<_>>()? })
    }

    /// The time of a file's life after the move over that of now, by one ratio of each part.
    fn ratio(&self, of: impl Fn(&Comparison) -> Option<f64>) -> Option<f64> {
        let now: f64 = self.parts.iter().map(|part| part.now_ns).sum();
        let then = self.parts.iter().map(|part| Some(of(part.comparison)? * part.now_ns));
        Some(then.sum::<Option<f64>>()? / now)
    }

    fn advice(&self, subject: Subject) -> Option<Ranked> {
        let first = Candidate::of(subject, self.parts[0].index)?;
        let now_ns: f64 = self.parts.iter().map(|part| part.now_ns).sum();
        let ratio = self.ratio(|comparison| comparison.ratio);
        // Each part at its bound, which is wider than their sum needs.
        let [low, high] = [self.ratio(|c| c.ratio_low), self.ratio(|c| c.ratio_high)];
        let edge = 1.0 + self.parts[0].comparison.threshold;
        let verdict = match (low, high) {
            (_, Some(high)) if high < 1.0 / edge => Verdict::Faster,
            (Some(low), _) if low > edge => Verdict::Slower,
            (Some(low), Some(high)) if low > 1.0 / edge && high < edge => Verdict::Same,
            _ => Verdict::Unclear,
        };
        let saves_ns = ratio.map(|ratio| now_ns * (1.0 - ratio));
        let joint = Comparison {
            verdict,
            ratio_low: low,
            saves_ns_per_op: saves_ns,
            ..self.parts[0].comparison.clone()
        };
        let advice = first.advice(subject, Group::Leave);
        let chance = candidate::chance(&joint, Some(now_ns), advice.per_second);
        let group = match chance {
            Chance::Pays => Group::Do,
            Chance::Open => Group::Undecided,
            Chance::None => Group::Leave,
        };
        let advice = Advice {
            group,
            now: self.parts.iter().map(|part| subject.arms[part.now].id.clone()).collect(),
            comparisons: self.parts.iter().map(|part| part.index).collect(),
            now_ns: Some(now_ns),
            then_ns: ratio.map(|ratio| now_ns * ratio),
            ratio,
            ratio_low: low,
            ratio_high: high,
            pays_from_per_s: saves_ns.and_then(pays_from),
            ..advice
        };
        Some(if chance == Chance::Pays { in_its_group(advice, &first) } else { (advice, 0) })
    }
}
