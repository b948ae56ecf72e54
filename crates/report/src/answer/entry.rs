//! One advice, with what the screen says of it.

use model::advice::{Advice, Group};
use model::analysis::{ArmResult, Comparison, Verdict};
use model::cause::CauseCode;
use model::description::ParamForm;
use model::printable::shortened;
use units::{percent, three_digits, time};

use crate::difference::{self, Difference};
use crate::subject::Subject;
use crate::words;

/// What is better than to move files that the device waits for while they are removed.
const DISCARDS: &str = "first mount without discard and use fstrim.timer: loses nothing";
/// A name has at most so many characters.
const NAME_MAX: usize = 48;

/// An advice with what it is about.
pub(crate) struct Entry<'a> {
    pub(super) subject: Subject<'a>,
    pub(crate) advice: &'a Advice,
    /// What it is, in short: `page cold`.
    pub(crate) name: String,
}

/// All of them, in the order of the advice.
pub(crate) fn all(subject: Subject<'_>) -> Vec<Entry<'_>> {
    let all = &subject.analysis.advice;
    let alone = all.iter().filter(|advice| advice.now.len() == 1);
    let nows: Vec<&ArmResult> =
        alone.filter_map(|advice| subject.arm(advice.now.first()?)).collect();
    let entry = |advice| Entry { subject, advice, name: name(subject, advice, &nows) };
    all.iter().map(entry).collect()
}

/// The study as it is called, with the strategy where its advice is of several, and the parameters
/// in which that does other work in another of its advice.
fn name(subject: Subject, advice: &Advice, nows: &[&ArmResult]) -> String {
    let now = advice.now.first().and_then(|id| subject.arm(id));
    let Some(now) = now else { return advice.study.clone() };
    let called = subject.called(now);
    if advice.now.len() > 1 {
        return called;
    }
    let of_study = || nows.iter().filter(|arm| arm.subject() == now.subject());
    let has_others = of_study().any(|arm| arm.strategy != now.strategy);
    let of_strategy = || of_study().filter(|arm| arm.strategy == now.strategy);
    let differing = now
        .params
        .iter()
        .filter(|(name, value)| of_strategy().any(|arm| arm.params.get(*name) != Some(value)));
    let differing = differing.map(|(name, value)| param(subject, now, name, value));
    let strategy = has_others.then(|| now.strategy.clone());
    let name = std::iter::once(called).chain(strategy).chain(differing);
    let name = name.collect::<Vec<_>>().join(" ");
    shortened(&name, NAME_MAX).into_owned()
}

/// `cold` of a value that says itself what it is of, `record 70 B` of others.
pub(super) fn param(subject: Subject, arm: &ArmResult, name: &str, value: &str) -> String {
    let form = subject.study_of(arm).and_then(|study| study.param(name)).map(|param| param.kind);
    let says_itself = matches!(form, Some(ParamForm::Name | ParamForm::Choice));
    if says_itself { value.to_owned() } else { format!("{name} {value}") }
}

/// Whether a change is to another place alone.
pub(super) fn is_move(change: &str) -> bool {
    change.starts_with("in ") || change.starts_with("on ")
}

impl<'a> Entry<'a> {
    /// The comparisons that it rests on.
    pub(super) fn comparisons(&self) -> impl Iterator<Item = &'a Comparison> {
        let known = &self.subject.analysis.comparisons;
        self.advice.comparisons.iter().filter_map(|index| known.get(*index))
    }

    /// The one that it rests on, where it is one.
    pub(super) fn comparison(&self) -> Option<&'a Comparison> {
        self.comparisons().next().filter(|_| !self.is_of_set())
    }

    fn is_of_set(&self) -> bool {
        self.advice.now.len() > 1
    }

    /// Whether it takes a line of prose and has no times of its own: what a set comes to that is
    /// not to be changed.
    pub(crate) fn is_prose(&self) -> bool {
        self.is_of_set() && !self.advice.is_a_change()
    }

    pub(crate) fn is_sure(&self) -> bool {
        self.comparisons().all(|comparison| comparison.verdict.is_sure())
    }

    /// Whether there is something to draw of it.
    pub(crate) fn has_bar(&self) -> bool {
        self.advice.ratio.is_some() && !self.is_prose()
    }

    /// The change's time over that of now, and its interval: `14× faster`, `13–15`.
    pub(crate) fn difference(&self) -> Difference {
        let Advice { ratio, ratio_low, ratio_high, .. } = *self.advice;
        Difference::new(ratio, ratio_low, ratio_high)
    }

    /// The interval alone, for what is not sure: `1.5–1.9× faster`.
    pub(crate) fn range(&self) -> String {
        difference::range(self.advice.ratio_low, self.advice.ratio_high)
    }

    /// What is changed, `in ram`; of a set, what that does to each part of it where that is no
    /// gain.
    pub(super) fn change(&self) -> String {
        let change = self.advice.change.as_deref().unwrap_or_default();
        if !self.is_prose() {
            return change.to_owned();
        }
        let parts = self.comparisons().filter_map(|comparison| {
            let base = self.subject.arm(&comparison.base)?;
            let others = self.advice.now.iter().filter_map(|id| self.subject.arm(id));
            let (name, value) = base.params.iter().find(|(name, value)| {
                others.clone().any(|arm| arm.params.get(*name) != Some(value))
            })?;
            let part = param(self.subject, base, name, value);
            Some(format!("{part} {}", difference::told(comparison.ratio?)))
        });
        let parts: Vec<String> = parts.chain(self.of_mix()).collect();
        format!("{change}: {}", parts.join("; "))
    }

    /// What it takes now, or the highest rate that it holds.
    pub(crate) fn now(&self) -> String {
        let arm = self.advice.now.first().and_then(|id| self.subject.arm(id));
        match arm.filter(|_| !self.is_of_set()) {
            Some(arm) => words::typical(self.subject, arm),
            None => self.advice.now_ns.map_or_else(String::new, time),
        }
    }

    /// The same after the change; empty where nothing was compared.
    pub(crate) fn then(&self) -> String {
        let other = self.comparison().and_then(|c| self.subject.arm(&c.other));
        match other {
            Some(arm) => words::typical(self.subject, arm),
            None => self.advice.then_ns.map_or_else(String::new, time),
        }
    }

    /// `14×`, `26% less`; a range where nothing is decided.
    pub(super) fn figure(&self) -> String {
        let Advice { ratio, group, .. } = *self.advice;
        match (self.is_sure() && group != Group::Undecided, ratio) {
            (true, Some(_)) if self.comparison().is_some_and(|c| c.verdict == Verdict::Same) => {
                "same".to_owned()
            }
            (true, Some(ratio)) => difference::in_short(ratio),
            _ => self.range(),
        }
    }

    /// What more there is to say in a line below it.
    pub(crate) fn remark(&self) -> Option<String> {
        match self.advice.group {
            Group::Undecided => self.comparison().map(open),
            Group::Do | Group::OnlyIf => self.without_discards().or_else(|| self.saved()),
            Group::Leave => self.too_rare(),
        }
    }

    /// What helps as much as a move and gives up nothing, so that nobody moves files for its sake.
    fn without_discards(&self) -> Option<String> {
        let are_the_cause = self.first_cause() == Some(&CauseCode::DeviceDiscards);
        (are_the_cause && self.advice.group == Group::OnlyIf).then(|| DISCARDS.to_owned())
    }

    /// What a set comes to, and of which mix: `all together, 1 write, 10 read, 1 unlink: 1.9× slower`.
    fn of_mix(&self) -> Option<String> {
        let now = self.advice.now.first().and_then(|id| self.subject.arm(id))?;
        let mix = self.subject.study_of(now)?.mix.as_ref()?;
        let times: Vec<String> =
            mix.times.iter().map(|(what, times)| format!("{times} {what}")).collect();
        Some(format!(
            "all together, {}: {}",
            times.join(", "),
            difference::told(self.advice.ratio?)
        ))
    }

    /// What the change saves at the rate that was said; or from which rate on it pays.
    pub(super) fn saved(&self) -> Option<String> {
        let saves_ns = self.advice.saves_ns()?;
        if self.advice.is_for_high_rates() {
            return self.pays_from();
        }
        let of_core = self.saves_processor_time(saves_ns);
        let share = self.advice.per_second? * saves_ns / 1e9;
        Some(match (of_core, share < 1.0) {
            (true, true) => format!("saves {} of a core", percent(share)),
            (true, false) => format!("saves {} cores", three_digits(share)),
            (false, true) => format!("saves {} a second", time(share * 1e9)),
            (false, false) => format!("saves {} s a second", three_digits(share)),
        })
    }

    /// From which rate on a change pays that helps and that the user's rate is too low for.
    fn too_rare(&self) -> Option<String> {
        self.advice.per_second?;
        self.comparison().filter(|comparison| comparison.verdict == Verdict::Faster)?;
        self.pays_from()
    }

    fn pays_from(&self) -> Option<String> {
        let from = words::rate(self.advice.pays_from_per_s?);
        let of_core = self.saves_processor_time(self.advice.saves_ns()?);
        let what = if of_core { "1% of a core" } else { "1% of a worker's time" };
        let operation = self.advice.now.first().and_then(|id| self.subject.arm(id))?;
        let operation = self.subject.operation(operation);
        Some(format!("pays from {from} {operation}s a second on: frees {what}"))
    }

    fn saves_processor_time(&self, saves_ns: f64) -> bool {
        let sides = self.comparison().and_then(|comparison| self.subject.sides(comparison));
        sides.is_some_and(|[base, other]| words::is_processor_time(saves_ns, base, other))
    }

    /// The first cause of what it says.
    pub(super) fn first_cause(&self) -> Option<&CauseCode> {
        let mut causes = self.comparisons().flat_map(|comparison| &comparison.causes);
        causes.find(|cause| cause.code != CauseCode::NoneFound).map(|cause| &cause.code)
    }

    /// The same in a few words.
    pub(super) fn cause(&self) -> String {
        self.first_cause().map_or_else(String::new, |code| code.in_short().into_owned())
    }
}

/// Why it is not decided, or how much longer that would take.
fn open(comparison: &Comparison) -> String {
    if comparison.verdict == Verdict::Invalid {
        return "not to be trusted: see Doubt".to_owned();
    }
    match comparison.more_seconds.map(|seconds| seconds / 60.0) {
        Some(minutes) if minutes < 1.0 => "another minute may decide it".to_owned(),
        Some(minutes) if minutes < 120.0 => {
            format!("about {:.0} more minutes may decide it", minutes.ceil())
        }
        Some(minutes) => format!("about {:.0} more hours may decide it", (minutes / 60.0).ceil()),
        None if comparison.ratio_low.is_none() => "measured too briefly to tell".to_owned(),
        None => comparison.why.clone().unwrap_or_else(|| "too close to call".to_owned()),
    }
}
