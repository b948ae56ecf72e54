//! The promises that a change gives up, and the condition that names them.

use model::place::{PlaceFacts, StorageKind};
use model::promise::{Loss, Promise};
use model::run::{ArmRecord, Run};
use model::study::{ParamDescription, ParamForm};
use model::weakening::Weakening;

/// The promises that a change gives up; nothing where it keeps every one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GivesUp {
    /// What is lost when the machine dies, where that is more than now.
    power_failure: Option<Loss>,
    /// What is lost when the process dies, where that is more than now.
    process_crash: Option<Loss>,
    /// What else may happen that does not now, in the promise's words.
    besides: Vec<String>,
}

impl GivesUp {
    /// What it gives up to do as the other arm does; `None` where nobody should, for the other
    /// is there to be seen failing.
    pub(crate) fn of(run: &Run, now: &ArmRecord, other: &ArmRecord) -> Option<Self> {
        let promise = |arm: &ArmRecord| {
            let study = run.study(&arm.study);
            study.map_or("", |study| study.promise_of(&arm.strategy, &arm.params)).to_owned()
        };
        let texts = [promise(now), promise(other)];
        let [from, to] = [&texts[0], &texts[1]].map(|text| Promise::read(text));
        if to.is_control() && !from.is_control() {
            return None;
        }
        let after_failure = |arm: &ArmRecord, loss: Loss| {
            if is_in_memory(run, arm) { Loss::All } else { loss }
        };
        let [before, after] =
            [after_failure(now, from.power_failure), after_failure(other, to.power_failure)];
        let is_new = |clause: &&&str| !from.besides.contains(*clause);
        let unknown = is_another_command(run, now, other).then(|| UNKNOWN.to_owned());
        Some(Self {
            power_failure: (after > before).then_some(after),
            process_crash: (to.process_crash > from.process_crash).then_some(to.process_crash),
            besides: to
                .besides
                .iter()
                .filter(is_new)
                .map(ToString::to_string)
                .chain(unknown)
                .chain(weaker(run, now, other))
                .collect(),
        })
    }

    /// Whether all that is promised now is kept.
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the other change gives up as much in every respect.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.power_failure <= other.power_failure
            && self.process_crash <= other.process_crash
            && self.besides.iter().all(|clause| other.besides.contains(clause))
    }

    /// How severe it is, the mildest first.
    pub(crate) fn rank(&self) -> usize {
        let of = |loss: Option<Loss>| loss.map_or(0, |loss| 1 + loss as usize);
        of(self.power_failure).max(of(self.process_crash)) * 10
            + of(self.process_crash).min(1)
            + self.besides.len()
    }

    /// What must be acceptable, in words that follow "only if"; `None` where nothing is given up.
    pub(crate) fn condition(&self) -> Option<String> {
        let mut all = Vec::new();
        all.extend(self.power_failure.map(after_power_failure));
        all.extend(self.process_crash.map(after_crash));
        all.extend(self.besides.iter().map(String::as_str));
        (!all.is_empty()).then(|| all.join(", and "))
    }
}

fn is_in_memory(run: &Run, arm: &ArmRecord) -> bool {
    run.places.get(arm.place).is_some_and(|place| place.kind == StorageKind::Memory)
}

/// What the mount options of another place take away that those of the present one do not.
fn weaker(run: &Run, now: &ArmRecord, other: &ArmRecord) -> Vec<String> {
    let of =
        |arm: &ArmRecord| run.places.get(arm.place).into_iter().flat_map(PlaceFacts::weakenings);
    if is_in_memory(run, now) {
        return Vec::new();
    }
    let is_new = |weaker: &Weakening| of(now).all(|known| known.risk != weaker.risk);
    of(other).filter(is_new).map(|w| format!("{} ({})", w.risk, w.option)).collect()
}

/// A command of the user's promises what its author says.
const UNKNOWN: &str = "the new command keeps your data as safe, which iotoll cannot judge";

fn is_another_command(run: &Run, now: &ArmRecord, other: &ArmRecord) -> bool {
    let is_given = |param: &ParamDescription| {
        param.kind == ParamForm::Shell
            && other.params.get(&param.name).is_some_and(|c| !c.is_empty())
    };
    let study = run.study(&other.study);
    study.is_some_and(|study| {
        study.params.iter().any(is_given)
            && study.promise_of(&other.strategy, &other.params).is_empty()
    }) && now.params != other.params
}

fn after_power_failure(loss: Loss) -> &'static str {
    match loss {
        Loss::Nothing => "a power failure may lose nothing",
        Loss::LastOne => "a power failure may undo the latest transaction",
        Loss::DeviceCache => "a power failure may lose what the device has in its cache",
        Loss::Latest => "a power failure may undo the latest requests",
        Loss::Unwritten => "a power failure may lose the last half minute of data",
        Loss::Damage => "a power failure may damage files",
        Loss::All => "the files can be made again (a reboot loses them)",
    }
}

fn after_crash(loss: Loss) -> &'static str {
    match loss {
        Loss::Damage | Loss::All => "a file may be left incomplete when the process dies",
        _ => "records may be lost when the process dies",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gives_up_more_ranks_higher_and_nothing_lowest() {
        let of = |power_failure, process_crash, besides: &[&str]| GivesUp {
            power_failure,
            process_crash,
            besides: besides.iter().map(ToString::to_string).collect(),
        };
        let rising = [
            of(None, None, &[]),
            of(None, None, &["others see halves"]),
            of(Some(Loss::All), None, &[]),
            of(Some(Loss::All), Some(Loss::All), &[]),
            of(Some(Loss::All), Some(Loss::All), &["others see halves"]),
        ];
        assert!(rising.is_sorted_by(|one, next| one.rank() < next.rank()), "{rising:?}");
        assert!(rising.iter().skip(1).all(|more| rising[0].is_within(more) && !more.is_nothing()));
        assert!(rising[0].is_nothing() && !rising[1].is_within(&rising[3]));
    }
}
