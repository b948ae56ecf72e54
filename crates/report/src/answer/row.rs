//! One thing that an application does with files, with what the screen says of it.

use model::analysis::{Answer, ArmResult, Comparison};
use model::description::ParamForm;
use model::printable::shortened;
use units::{percent, three_digits, time, two_digits};

use crate::subject::Subject;
use crate::words;

/// An interval is told as ± so many per cent up to this; wider ones are no longer even.
const NARROW: f64 = 0.5;
/// A name has at most so many characters.
const NAME_MAX: usize = 24;

/// An answer with what it is about.
pub(super) struct Row<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) answer: &'a Answer,
    /// What it is, in short: `page cold`.
    pub(super) name: String,
    /// How it is done now.
    pub(super) now: &'a ArmResult,
}

/// The rows, in the order of the run's arms.
pub(super) fn all<'a>(subject: Subject<'a>) -> Vec<Row<'a>> {
    let answers = subject.analysis.answers.iter();
    let answers: Vec<(&'a Answer, &'a ArmResult)> =
        answers.filter_map(|answer| Some((answer, subject.arm(&answer.now)?))).collect();
    let row = |&(answer, now): &(&'a Answer, &'a ArmResult)| {
        let of_study = answers.iter().map(|(_, arm)| *arm).filter(|arm| arm.study == now.study);
        let name = name(subject, now, &of_study.collect::<Vec<_>>());
        Row { subject, answer, name, now }
    };
    answers.iter().map(row).collect()
}

/// The study, with the parameters in which it does other work than another of its answers.
fn name(subject: Subject, now: &ArmResult, of_study: &[&ArmResult]) -> String {
    let differs =
        |name: &str| of_study.iter().any(|arm| arm.params.get(name) != now.params.get(name));
    let study = subject.study_of(now);
    let says_itself = |name: &str| {
        let form = study.and_then(|study| study.param(name)).map(|param| param.kind);
        matches!(form, Some(ParamForm::Name | ParamForm::Choice))
    };
    let params = now.params.iter().filter(|(name, _)| differs(name));
    let params =
        params.map(
            |(name, value)| {
                if says_itself(name) { value.clone() } else { format!("{name} {value}") }
            },
        );
    let name = std::iter::once(now.study.clone()).chain(params).collect::<Vec<_>>().join(" ");
    shortened(&name, NAME_MAX).into_owned()
}

impl<'a> Row<'a> {
    /// A comparison of the answer with its other arm.
    pub(super) fn change(&self, index: Option<usize>) -> Option<Change<'a>> {
        let comparison = self.subject.analysis.comparisons.get(index?)?;
        let other = self.subject.arm(&comparison.other)?;
        Some(Change { subject: self.subject, comparison, now: self.now, other })
    }

    /// What the advice rests on.
    pub(super) fn by(&self) -> Option<Change<'a>> {
        self.change(self.answer.by)
    }

    /// The best of each kind of change: moved, rewritten, both.
    pub(super) fn changes(&self) -> [Option<Change<'a>>; 3] {
        let Answer { moved, rewritten, both, .. } = self.answer;
        [moved, rewritten, both].map(|index| self.change(*index))
    }

    /// The change that the row tells more of: what the advice rests on, or else the one
    /// with the lowest ratio.
    pub(super) fn best(&self) -> Option<Change<'a>> {
        let ratio = |change: &Change| change.comparison.ratio.unwrap_or(f64::INFINITY);
        let lowest = || {
            let found = self.changes().into_iter().flatten();
            found.min_by(|a, b| ratio(a).total_cmp(&ratio(b)))
        };
        self.by().or_else(lowest)
    }

    /// The toll as it is now.
    pub(super) fn typical(&self) -> String {
        words::typical(self.subject, self.now)
    }

    /// What the change saves at the rate that was said: a share of a core, where that is
    /// processor time, or of what one worker waits and works.
    pub(super) fn saved_at_rate(&self) -> Option<String> {
        let (per_second, change) = (self.answer.per_second?, self.by()?);
        let saves_ns = change.comparison.saves_ns_per_op?;
        let share = per_second * saves_ns / 1e9;
        let of_core = words::is_processor_time(saves_ns, self.now, change.other);
        Some(match (of_core, share < 1.0) {
            (true, true) => format!("{} of a core", percent(share)),
            (true, false) => format!("{} cores", three_digits(share)),
            (false, true) => format!("{} a second", time(share * 1e9)),
            (false, false) => format!("{} s a second", three_digits(share)),
        })
    }
}

/// An arm that was held against what is done now.
pub(super) struct Change<'a> {
    subject: Subject<'a>,
    pub(super) comparison: &'a Comparison,
    now: &'a ArmResult,
    pub(super) other: &'a ArmResult,
}

impl Change<'_> {
    pub(super) fn typical(&self) -> String {
        words::typical(self.subject, self.other)
    }

    /// The other way of doing it: `wal-normal`, `sync each`.
    pub(super) fn way(&self) -> String {
        self.subject.difference(self.other, self.now)
    }

    /// The way in which it is done now, where another is tried.
    pub(super) fn way_now(&self) -> String {
        self.subject.difference(self.now, self.other)
    }

    /// What the other way promises, where that is not what the present one does.
    pub(super) fn other_promise(&self) -> Option<&str> {
        let promise = self.subject.promise(self.other);
        (!promise.is_empty() && promise != self.subject.promise(self.now)).then_some(promise)
    }

    /// Whether the change goes to a place in memory, from one that is not.
    pub(super) fn is_volatile(&self) -> bool {
        let in_memory = |arm: &ArmResult| {
            let mut places = self.subject.run.places.iter();
            places.any(|place| {
                place.label == arm.place && place.kind == model::place::StorageKind::Memory
            })
        };
        in_memory(self.other) && !in_memory(self.now)
    }

    /// `×0.12 ±3%`; a range where it is wide, or nothing is decided.
    pub(super) fn factor(&self) -> String {
        let Comparison { ratio, ratio_low, ratio_high, verdict, .. } = self.comparison;
        let (low, high) = (*ratio_low, *ratio_high);
        let off_by = |ratio: f64| {
            low.zip(high).map_or(f64::INFINITY, |(low, high)| (high / ratio).max(ratio / low) - 1.0)
        };
        match (*ratio, low.zip(high)) {
            (Some(ratio), _) if verdict.is_sure() && off_by(ratio) <= NARROW => {
                let percent = percent((off_by(ratio) * 100.0).ceil() / 100.0);
                format!("×{} ±{percent}", three_digits(ratio))
            }
            (_, Some((low, high))) => format!("×{}–{}", two_digits(low), two_digits(high)),
            (_, None) => match (low, high) {
                (Some(low), _) => format!("≥×{}", two_digits(low)),
                (_, Some(high)) => format!("≤×{}", two_digits(high)),
                _ => String::new(),
            },
        }
    }
}
