//! A change that was tried: whether it pays, and what it gives up.

use model::advice::{Advice, Group, USUAL_PER_S};
use model::analysis::{ArmResult, Comparison, Verdict};
use model::place::StorageKind;
use model::run::{ArmRecord, Run};

use super::Subject;
use super::gives_up::GivesUp;

/// The share of one worker's time from which on a saving pays.
const PAYS_SHARE: f64 = 0.01;
/// What does not pay at this many operations a second pays for hardly any application.
const RARE_PER_S: f64 = 10_000.0;

/// A comparison with what is done now.
pub(super) struct Candidate<'a> {
    pub(super) index: usize,
    comparison: &'a Comparison,
    /// How many things are changed: the way of doing it, its parameters, the place.
    pub(super) changes: usize,
    pub(super) gives_up: GivesUp,
    pub(super) chance: Chance,
}

/// Whether a change pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chance {
    /// It surely does.
    Pays,
    /// It may, for all that is known.
    Open,
    /// It does not.
    None,
}

impl<'a> Candidate<'a> {
    /// `None` where nobody should do as the other arm does.
    pub(super) fn of(subject: Subject<'a>, index: usize) -> Option<Self> {
        let comparison = &subject.comparisons[index];
        let plan = &subject.run.plan;
        let pair = plan.pairs[index];
        let [now, other] = [pair.base, pair.other].map(|arm| &plan.arms[arm]);
        let gives_up = GivesUp::of(subject.run, now, other)?;
        let (now_ns, per_second) = (subject.arms[pair.base].typical_ns, plan.rate_of(now));
        let chance = chance(comparison, now_ns, per_second);
        let changes = usize::from(now.strategy != other.strategy)
            + usize::from(now.place != other.place)
            + differing(now, other).count();
        Some(Self { index, comparison, changes, gives_up, chance })
    }

    pub(super) fn ratio(&self) -> f64 {
        self.comparison.ratio.unwrap_or(f64::INFINITY)
    }

    /// The share of the time that it saves, as far as is known; below 0 where it costs more.
    pub(super) fn saved(&self) -> f64 {
        1.0 - self.ratio()
    }

    pub(super) fn low(&self) -> f64 {
        self.comparison.ratio_low.unwrap_or_default()
    }

    fn high(&self) -> f64 {
        self.comparison.ratio_high.unwrap_or(f64::INFINITY)
    }

    /// Of two that give up the same: the one that surely saves more; else the one that changes
    /// less, or saves more as far as is known.
    pub(super) fn is_preferred_to(&self, known: &Self) -> bool {
        let is_surely_better = self.high() < known.low();
        let is_no_worse = self.low() <= known.high();
        let is_better = (self.changes, self.high()) < (known.changes, known.high());
        is_surely_better || (is_no_worse && is_better)
    }

    /// Whether it surely saves more than another change, by enough to pay for itself.
    pub(super) fn surely_pays_beyond(&self, other: &Self, subject: Subject) -> bool {
        let more_ns = self.comparison.saves_ns_per_op.zip(other.comparison.saves_ns_per_op);
        let more_ns = more_ns.map_or(0.0, |(more, ns)| more - ns);
        let plan = &subject.run.plan;
        let rate = plan.rate_of(&plan.arms[plan.pairs[self.index].base]);
        self.high() < other.low() && pays_from(more_ns).is_some_and(|from| is_often(from, rate))
    }

    /// The advice to make the change, in a group.
    pub(super) fn advice(&self, subject: Subject, group: Group) -> Advice {
        let Self { index, comparison, gives_up, .. } = self;
        let pair = subject.run.plan.pairs[*index];
        let [now, then]: [&ArmResult; 2] = [pair.base, pair.other].map(|arm| &subject.arms[arm]);
        let [now_record, other] = [pair.base, pair.other].map(|arm| &subject.run.plan.arms[arm]);
        Advice {
            group,
            condition: None,
            change: Some(in_words(subject.run, now_record, other)),
            keeps_promises: gives_up.is_nothing(),
            comparisons: vec![*index],
            then_ns: then.typical_ns,
            ratio: comparison.ratio,
            ratio_low: comparison.ratio_low,
            ratio_high: comparison.ratio_high,
            pays_from_per_s: comparison.saves_ns_per_op.and_then(pays_from),
            per_second: subject.run.plan.rate_of(now_record),
            ..unchanged(now)
        }
    }
}

/// What is done now, where nothing was compared with it.
pub(super) fn alone(subject: Subject, now: usize) -> Advice {
    let per_second = subject.run.plan.rate_of(&subject.run.plan.arms[now]);
    Advice { per_second, ..unchanged(&subject.arms[now]) }
}

/// To leave an arm as it is.
fn unchanged(now: &ArmResult) -> Advice {
    Advice {
        study: now.study.clone(),
        label: now.label.clone(),
        now: vec![now.id.clone()],
        keeps_promises: true,
        now_ns: now.typical_ns,
        ..Advice::default()
    }
}

/// The other's parameters that have another value now.
fn differing<'a>(
    now: &'a ArmRecord,
    other: &'a ArmRecord,
) -> impl Iterator<Item = (&'a String, &'a String)> {
    other.params.iter().filter(|(name, value)| now.params.get(*name) != Some(value))
}

/// What is changed, in words: `WAL, synchronous=NORMAL in ram`.
pub(super) fn in_words(run: &Run, now: &ArmRecord, other: &ArmRecord) -> String {
    let study = run.study(&other.study);
    let strategy = study.and_then(|study| study.strategy(&other.strategy));
    let strategy = strategy.map_or(other.strategy.as_str(), |strategy| strategy.shown());
    let way = (other.strategy != now.strategy).then(|| strategy.to_owned());
    let params = differing(now, other).map(|(name, value)| format!("{name} {value}"));
    let mut words = way.into_iter().chain(params).collect::<Vec<_>>().join(", ");
    if other.place != now.place
        && let Some(place) = run.places.get(other.place)
    {
        let preposition = if place.kind == StorageKind::Memory { "in" } else { "on" };
        let gap = if words.is_empty() { "" } else { " " };
        words += &format!("{gap}{preposition} {}", place.label);
    }
    words
}

/// Whether a change pays, of what takes so long now, at that rate.
pub(super) fn chance(
    comparison: &Comparison,
    now_ns: Option<f64>,
    per_second: Option<f64>,
) -> Chance {
    let pays = |saves_ns: f64| {
        pays_from(saves_ns)
            .is_some_and(|from| is_often(from, per_second) || is_thinkable(from, per_second))
    };
    match comparison.verdict {
        Verdict::Faster if comparison.saves_ns_per_op.is_some_and(pays) => Chance::Pays,
        verdict if verdict.is_sure() => Chance::None,
        Verdict::Invalid => Chance::Open,
        _ => {
            let at_best_ns = now_ns.zip(comparison.ratio_low).map(|(ns, low)| ns * (1.0 - low));
            if at_best_ns.is_none_or(pays) { Chance::Open } else { Chance::None }
        }
    }
}

/// From how many operations a second on it pays to save so much in each.
pub(super) fn pays_from(saves_ns: f64) -> Option<f64> {
    (saves_ns > 0.0).then(|| PAYS_SHARE * 1e9 / saves_ns)
}

/// Whether the operation is done so often, as was said or as is usual.
fn is_often(from_per_s: f64, per_second: Option<f64>) -> bool {
    from_per_s <= per_second.unwrap_or(USUAL_PER_S)
}

/// Whether it may be done so often, for all that was said.
fn is_thinkable(from_per_s: f64, per_second: Option<f64>) -> bool {
    per_second.is_none() && from_per_s <= RARE_PER_S
}
