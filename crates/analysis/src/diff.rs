//! What changed between two runs. They were not interleaved: whatever was not the same on
//! the two occasions is part of what they differ by. So each interval holds what runs of the
//! same vary by, learned from neighbours in time among others that were saved, or assumed
//! ([`stats::Variation`]), and all intervals hold together, since a change is looked for in
//! every arm.

use model::analysis::Analysis;
use model::description::Score;
use model::diff::{ArmChange, Diff, Fact, Missing, SCHEMA, Side};
use model::matching::{Matching, same_places};
use model::run::Run;
use stats::{ASSUMED_DEVIATION, Interval, Level, Variation};

use crate::blocks::{self, Block, log_typicals};
use crate::comparisons::decided;
use crate::facts::{apart, setting};
use crate::stretches;

/// A run with what follows from it.
#[derive(Clone, Copy)]
pub struct Analysed<'a> {
    /// The run.
    pub run: &'a Run,
    /// What follows from it.
    pub analysis: &'a Analysis,
}

/// By what changes are judged.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// The smallest relative difference that matters.
    pub threshold: f64,
    /// The share of diffs in which an interval may miss the truth.
    pub error_rate: f64,
}

/// What changed. `repeats` has the logarithms of the times per operation of
/// other saved runs of a [`setting`], in the order of time.
pub fn diff(
    before: Analysed<'_>,
    after: Analysed<'_>,
    matching: &Matching,
    judged: Judged,
    repeats: &mut dyn FnMut(&str) -> Vec<f64>,
) -> Diff {
    let places = same_places(before.run, after.run);
    let pairs = matching.arms(before.run, after.run);
    let mut missing = matching.unmatched(before.run, after.run);
    let levels = [Levels::of(before), Levels::of(after)];
    let mut both = Vec::new();
    for &(old, new) in &pairs {
        match (levels[0].of_arm(old), levels[1].of_arm(new)) {
            (Ok(old_level), Ok(new_level)) => both.push((old, new, old_level, new_level)),
            (Err(why), _) => missing.push(lacking(after, new, "the earlier run", &why, false)),
            (_, Err(why)) => missing.push(lacking(after, new, "the later run", &why, true)),
        }
    }
    let each = Judged { error_rate: judged.error_rate / both.len().max(1) as f64, ..judged };
    let (mut variations, runs): (Vec<Option<Variation>>, Vec<usize>) = both
        .iter()
        .map(|(old, new, ..)| {
            let groups = groups(before.run, *old, after.run, *new, repeats);
            (Variation::learned(&groups), groups.iter().map(Vec::len).sum::<usize>())
        })
        .unzip();
    stats::moderate(&mut variations);
    let learned = variations.into_iter().zip(runs);
    let arms = both.into_iter().zip(learned).map(|((_, new, old_level, new_level), learned)| {
        change(after, new, [old_level, new_level], learned, each)
    });
    Diff {
        schema: SCHEMA.to_owned(),
        before: side(before.run),
        after: side(after.run),
        arms: arms.collect(),
        facts: apart(before.run, after.run, &places),
        missing,
        threshold: judged.threshold,
        confidence: 1.0 - judged.error_rate,
    }
}

fn side(run: &Run) -> Side {
    Side { id: run.run.id.clone(), started: run.run.started.clone() }
}

/// One arm, with intervals that may miss the truth in the share of cases that is its own.
fn change(
    after: Analysed<'_>,
    arm: usize,
    [old, new]: [Level; 2],
    (variation, runs): (Option<Variation>, usize),
    judged: Judged,
) -> ArmChange {
    let interval = stats::difference(&old, &new, variation, judged.error_rate);
    let verdict = decided(interval.decision(judged.threshold));
    let Interval { estimate, low, high } = interval;
    let result = &after.analysis.arms[arm];
    let study = after.run.study(&result.study);
    ArmChange {
        id: result.id.clone(),
        score: study.map_or(Score::MeanTime, |study| study.score_of(&result.params)),
        before_ns: old.log.exp(),
        after_ns: new.log.exp(),
        ratio: estimate.exp(),
        ratio_low: low.exp(),
        ratio_high: high.exp(),
        verdict,
        runs_vary_by: variation.map_or(ASSUMED_DEVIATION, |learned| learned.deviation),
        learned_from: variation.map(|_| runs),
    }
}

/// The log times of others that repeat the one run or the other: one group where these are
/// of one setting.
fn groups(
    before: &Run,
    old: usize,
    after: &Run,
    new: usize,
    repeats: &mut dyn FnMut(&str) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    let settings = [(before, old), (after, new)]
        .map(|(run, arm)| setting(run, &run.plan.arms[arm]).unwrap_or_default());
    let [old, new] = &settings;
    if old == new { vec![repeats(old)] } else { vec![repeats(old), repeats(new)] }
}

/// The arms' levels in a run.
struct Levels<'a> {
    of: Analysed<'a>,
    blocks: Vec<Block<'a>>,
    /// How many blocks each stretch has.
    rounds: Vec<usize>,
}

impl<'a> Levels<'a> {
    fn of(of: Analysed<'a>) -> Self {
        Self { of, blocks: blocks::of(of.run), rounds: stretches::cut(of.run).rounds }
    }

    /// What each stretch gives of an arm.
    fn stretches(&self, arm: usize) -> Vec<f64> {
        let mut blocks = self.blocks.as_slice();
        let mut stretch = |rounds: &usize| {
            let (first, rest) = blocks.split_at(*rounds);
            blocks = rest;
            let logs: Vec<f64> = log_typicals(first, arm).into_iter().map(|(_, log)| log).collect();
            stats::trimmed_mean(&logs)
        };
        self.rounds.iter().filter_map(&mut stretch).collect()
    }

    /// An arm's level, or why it has none.
    fn of_arm(&self, arm: usize) -> Result<Level, String> {
        let result = &self.of.analysis.arms[arm];
        let stretches = self.stretches(arm);
        let level =
            result.typical_ns.and_then(|typical_ns| Level::new(typical_ns.ln(), &stretches));
        level.ok_or_else(|| match &result.failure {
            Some(why) => why.clone(),
            None => format!("fewer than {} stretches", stats::STRETCHES_MIN),
        })
    }
}

/// What is not the same about the machine and the places of two runs.
pub fn facts_between(before: &Run, after: &Run) -> Vec<Fact> {
    apart(before, after, &same_places(before, after))
}

fn lacking(after: Analysed<'_>, arm: usize, which: &str, why: &str, lost: bool) -> Missing {
    let id = after.analysis.arms[arm].id.clone();
    Missing { id, why: format!("not measured in {which}: {why}"), failed: true, lost }
}
