//! What to do about each thing that an application does with files.
//!
//! The present way is compared with every other one that was tried: another place, another way
//! of doing it, both. A change pays where what it saves is a share of one worker's time that anyone
//! would notice, at the rate at which the operation is done. Where nobody said what that is, a
//! change that pays from a hundred operations a second on is worth it for most applications,
//! one that pays from ten thousand on for some, and the rest for hardly any.
//!
//! A change that keeps less than what is done now is never advised without its condition
//! ([`gives_up`]), and never hides the best one that keeps as much.

mod candidate;
mod gives_up;
mod sets;
#[cfg(test)]
mod tests;

use model::advice::{Advice, Group};
use model::analysis::{ArmResult, Comparison};
use model::run::Run;

use candidate::{Candidate, Chance};

/// A run, with what is known of its arms and pairs.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) run: &'a Run,
    pub(crate) arms: &'a [ArmResult],
    pub(crate) comparisons: &'a [Comparison],
}

/// From this share of the best change's saving on, a change saves nearly as much.
const NEARLY_ALL: f64 = 0.8;
/// The condition of what saves a share of a worker's time at high rates alone.
const OFTEN: &str = "you do it very often";

/// The advice: by group, then by condition, the mildest first, then what saves most.
pub(crate) fn of(subject: Subject) -> Vec<Advice> {
    let run = subject.run;
    let is_now = |arm: &usize| run.plan.pairs.iter().all(|pair| pair.other != *arm);
    let questions: Vec<usize> = (0..subject.arms.len()).filter(is_now).collect();
    let (joint, spoken_for) = sets::advice(subject, &questions);
    let mut found = joint;
    for now in questions {
        let others = (0..subject.comparisons.len())
            .filter(|index| run.plan.pairs[*index].base == now && !spoken_for.contains(index));
        let candidates: Vec<Candidate> =
            others.filter_map(|index| Candidate::of(subject, index)).collect();
        found.extend(answer(subject, now, &candidates, &spoken_for));
    }
    // A set that one place suits has no line on those that do not.
    let changed: Vec<String> = found
        .iter()
        .filter(|(advice, _)| advice.is_a_change())
        .flat_map(|(advice, _)| advice.now.clone())
        .collect();
    found.retain(|(advice, _)| {
        advice.is_a_change() || !advice.now.iter().any(|now| changed.contains(now))
    });
    in_order(&found)
}

/// By group and condition; of these the study first that has the largest saving, and in each
/// study in the order of the plan.
fn in_order(found: &[Ranked]) -> Vec<Advice> {
    let most_saved = |(of, rank): &Ranked| {
        let alike = found.iter().filter(|(advice, other)| {
            let (one, another) = ((&advice.study, &advice.label), (&of.study, &of.label));
            (advice.group, other, one) == (of.group, rank, another)
        });
        let saved = alike.filter_map(|(advice, _)| advice.saves_ns()).fold(0.0, f64::max);
        if of.is_a_change() { saved } else { 0.0 }
    };
    let key = |one: &Ranked| ((one.0.group, one.1), most_saved(one));
    let mut keyed: Vec<_> = found.iter().map(|one| (key(one), &one.0)).collect();
    keyed.sort_by(|((rank, saved), _), ((other_rank, other), _)| {
        rank.cmp(other_rank).then(other.total_cmp(saved))
    });
    keyed.into_iter().map(|(_, advice)| advice.clone()).collect()
}

/// An advice, and how severe its condition is.
type Ranked = (Advice, usize);

/// What to do about one thing: the changes that pay, or else one line that says that none does.
fn answer(
    subject: Subject,
    now: usize,
    candidates: &[Candidate],
    spoken_for: &[usize],
) -> Vec<Ranked> {
    let paying = candidates.iter().filter(|candidate| candidate.chance == Chance::Pays);
    let chosen = chosen(subject, paying.collect());
    if !chosen.is_empty() {
        let change = |of: &Candidate| in_its_group(of.advice(subject, Group::Do), of);
        return chosen.into_iter().map(change).collect();
    }
    let open = candidates.iter().filter(|candidate| candidate.chance == Chance::Open);
    if let Some(open) = open.min_by(|a, b| a.low().total_cmp(&b.low())) {
        return vec![(open.advice(subject, Group::Undecided), 0)];
    }
    // A set has a line of its own.
    let is_of_set = |index: &usize| subject.run.plan.pairs[*index].base == now;
    if candidates.is_empty() && spoken_for.iter().any(is_of_set) {
        return Vec::new();
    }
    let left = best_of(candidates)
        .map_or_else(|| candidate::alone(subject, now), |best| best.advice(subject, Group::Leave));
    vec![(left, 0)]
}

/// Of changes that do not pay, the one that saves most; or one that saves nearly as much and gives
/// up less, or changes less: a reader shall not think that it takes both.
fn best_of<'a>(candidates: &'a [Candidate<'a>]) -> Option<&'a Candidate<'a>> {
    let by_ratio = |a: &&Candidate, b: &&Candidate| a.ratio().total_cmp(&b.ratio());
    let best = candidates.iter().min_by(by_ratio)?;
    let nearly = best.saved() * NEARLY_ALL;
    let milder = candidates.iter().filter(|one| best.saved() > 0.0 && one.saved() >= nearly);
    let mildness = |one: &Candidate| (one.gives_up.rank(), one.changes);
    milder.min_by(|a, b| mildness(a).cmp(&mildness(b)).then(by_ratio(a, b))).or(Some(best))
}

/// Of each sort of condition the best, mildest first: one with a harsher condition only where
/// it surely saves more, by enough to pay for itself.
fn chosen<'a>(subject: Subject, paying: Vec<&'a Candidate<'a>>) -> Vec<&'a Candidate<'a>> {
    let mut best: Vec<&Candidate> = Vec::new();
    for candidate in paying {
        match best.iter_mut().find(|known| known.gives_up == candidate.gives_up) {
            Some(known) if candidate.is_preferred_to(known) => *known = candidate,
            Some(_) => {}
            None => best.push(candidate),
        }
    }
    best.sort_by_key(|candidate| candidate.gives_up.rank());
    let mut kept: Vec<&Candidate> = Vec::new();
    for candidate in best {
        let covers = |known: &&Candidate| {
            known.gives_up.is_within(&candidate.gives_up)
                && !candidate.surely_pays_beyond(known, subject)
        };
        if !kept.iter().any(covers) {
            kept.push(candidate);
        }
    }
    kept
}

/// An advice to make a change, in the group that what the change gives up puts it into.
fn in_its_group(mut advice: Advice, candidate: &Candidate) -> Ranked {
    advice.condition = candidate.gives_up.condition();
    let mut rank = candidate.gives_up.rank();
    if advice.condition.is_none() && advice.is_for_high_rates() {
        advice.condition = Some(OFTEN.to_owned());
        // The list ends with what loses nothing, and hardly gains anything.
        rank = usize::MAX;
    }
    if advice.condition.is_some() {
        advice.group = Group::OnlyIf;
    }
    (advice, rank)
}
