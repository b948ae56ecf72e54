//! What to do about each thing that an application does with files.
//!
//! What it does now is held against what else was tried: another place, another way of
//! doing it, both. A change pays where what it saves is a share of one worker's time that
//! anyone would notice, at the rate at which the operation is done. Where nobody said what
//! that is, a change that pays from a hundred operations a second on is worth it for most
//! applications, one that pays from ten thousand on for some, and the rest for hardly any.
//! To leave a safer place is never advised without a condition.

use model::analysis::{Advice, Answer, ArmResult, Comparison, USUAL_PER_S, Verdict};
use model::arm::Axis;
use model::place::StorageKind;
use model::run::Run;

/// The share of one worker's time from which on a saving pays.
const PAYS_SHARE: f64 = 0.01;
/// What does not pay at this many operations a second pays for hardly any application.
const RARE_PER_S: f64 = 10_000.0;

/// An answer for each arm that is what an application does now, in the order of the arms.
pub(crate) fn of(run: &Run, arms: &[ArmResult], comparisons: &[Comparison]) -> Vec<Answer> {
    let is_now = |arm: &usize| run.plan.pairs.iter().all(|pair| pair.other != *arm);
    let answer = |now: usize| {
        let others = (0..comparisons.len()).filter(|index| run.plan.pairs[*index].base == now);
        Question { run, arms, comparisons, now, others: others.collect() }.answer()
    };
    (0..arms.len()).filter(is_now).map(answer).collect()
}

/// What an application does now, and what is held against it.
struct Question<'a> {
    run: &'a Run,
    arms: &'a [ArmResult],
    comparisons: &'a [Comparison],
    now: usize,
    /// Comparisons with what is done now.
    others: Vec<usize>,
}

impl Question<'_> {
    fn answer(&self) -> Answer {
        let [moved, rewritten, both] =
            [Axis::Place, Axis::Strategy, Axis::Both].map(|axis| self.best(axis));
        let (advice, by) = self.advice(moved, rewritten, both);
        Answer {
            now: self.arms[self.now].id.clone(),
            moved,
            rewritten,
            both,
            advice,
            by,
            pays_from_per_s: by.and_then(|index| self.pays_from_per_s(index)),
            per_second: self.per_second(),
        }
    }

    /// The best of those that differ from now in this: what is advised with the fewest
    /// conditions, and of those the one whose bound is lowest. Another one that promises
    /// what the present way does is preferred to it, unless it is surely slower.
    fn best(&self, axis: Axis) -> Option<usize> {
        let key = |index: &usize| {
            let Comparison { verdict, ratio, ratio_high, .. } = &self.comparisons[*index];
            let ratio = ratio.unwrap_or(f64::INFINITY);
            let sure = *verdict == Verdict::Faster;
            (self.of_one(*index), if sure { ratio_high.unwrap_or(ratio) } else { ratio })
        };
        let of_axis = self.others.iter().filter(|index| self.comparisons[**index].axis == axis);
        let best = of_axis.clone().copied().min_by(|a, b| {
            let ((advice, ratio), (other_advice, other_ratio)) = (key(a), key(b));
            advice.cmp(&other_advice).then(ratio.total_cmp(&other_ratio))
        })?;
        let (advice, bound) = key(&best);
        let is_no_worse = |index: &&usize| {
            let low = self.comparisons[**index].ratio_low;
            key(index).0 == advice
                && low.is_some_and(|low| low <= bound)
                && self.keeps_promise(**index)
        };
        of_axis
            .clone()
            .find(is_no_worse)
            .copied()
            .filter(|_| !self.keeps_promise(best))
            .or(Some(best))
    }

    /// Whether another way promises what the present one does.
    fn keeps_promise(&self, index: usize) -> bool {
        let pair = self.run.plan.pairs[index];
        let promise = |arm: usize| {
            let arm = &self.run.plan.arms[arm];
            Some(self.run.study(&arm.study)?.promise_of(&arm.strategy, &arm.params))
        };
        promise(pair.base) == promise(pair.other)
    }

    fn advice(
        &self,
        moved: Option<usize>,
        rewritten: Option<usize>,
        both: Option<usize>,
    ) -> (Advice, Option<usize>) {
        // To write it another way risks least, to do both changes most.
        let found = [rewritten, moved, both].into_iter().flatten();
        let found: Vec<(usize, Advice)> = found.map(|index| (index, self.of_one(index))).collect();
        for advice in [Advice::Do, Advice::Maybe] {
            let fitting = found.iter().filter(|(_, of_one)| *of_one == advice);
            if let Some(index) = fitting.map(|(index, _)| *index).reduce(|a, b| self.better(a, b)) {
                return (advice, Some(index));
            }
        }
        let undecided = self.others.iter().any(|index| self.of_one(*index) == Advice::Undecided);
        (if undecided { Advice::Undecided } else { Advice::Leave }, None)
    }

    /// Which of two changes is the better: the first unless the other surely saves more,
    /// by enough to pay for itself.
    fn better(&self, first: usize, other: usize) -> usize {
        let [a, b] = [first, other].map(|index| &self.comparisons[index]);
        let surely = b.ratio_high.zip(a.ratio_low).is_some_and(|(high, low)| high < low);
        let more_ns = b.saves_ns_per_op.zip(a.saves_ns_per_op).map(|(b, a)| b - a);
        let pays = more_ns.is_some_and(|ns| pays_from(ns).is_some_and(|from| self.is_often(from)));
        if surely && pays { other } else { first }
    }

    /// What one comparison alone would advise.
    fn of_one(&self, index: usize) -> Advice {
        let comparison = &self.comparisons[index];
        match comparison.verdict {
            Verdict::Faster => match self.pays_from_per_s(index) {
                Some(from) if self.is_often(from) && !self.is_volatile(index) => Advice::Do,
                Some(from) if self.is_often(from) || self.is_now_and_then(from) => Advice::Maybe,
                _ => Advice::Leave,
            },
            Verdict::Same | Verdict::Slower => Advice::Leave,
            Verdict::Unclear if self.is_nothing_at_best(comparison) => Advice::Leave,
            Verdict::Unclear | Verdict::Invalid => Advice::Undecided,
        }
    }

    fn per_second(&self) -> Option<f64> {
        self.run.plan.per_second.get(&self.arms[self.now].study).copied()
    }

    /// Whether the operation is done so often, as was said or as is usual.
    fn is_often(&self, from_per_s: f64) -> bool {
        from_per_s <= self.per_second().unwrap_or(USUAL_PER_S)
    }

    /// Whether it may be done so often, for all that was said.
    fn is_now_and_then(&self, from_per_s: f64) -> bool {
        self.per_second().is_none() && from_per_s <= RARE_PER_S
    }

    /// Whether an open comparison could not save enough at its bound.
    fn is_nothing_at_best(&self, comparison: &Comparison) -> bool {
        let now_ns = self.arms[self.now].typical_ns;
        let at_best_ns = now_ns.zip(comparison.ratio_low).map(|(ns, low)| ns * (1.0 - low));
        at_best_ns.is_some_and(|ns| {
            pays_from(ns).is_none_or(|from| !self.is_often(from) && !self.is_now_and_then(from))
        })
    }

    fn pays_from_per_s(&self, index: usize) -> Option<f64> {
        pays_from(self.comparisons[index].saves_ns_per_op?)
    }

    /// Whether the change goes to a place that forgets what it has at a reboot, from one
    /// that does not.
    fn is_volatile(&self, index: usize) -> bool {
        let place = |arm: usize| self.run.places[self.run.plan.arms[arm].place].kind;
        let pair = self.run.plan.pairs[index];
        let in_memory = [pair.base, pair.other].map(|arm| place(arm) == StorageKind::Memory);
        in_memory == [false, true]
    }
}

/// From how many operations a second on it pays to save so much in each.
fn pays_from(saves_ns: f64) -> Option<f64> {
    (saves_ns > 0.0).then(|| PAYS_SHARE * 1e9 / saves_ns)
}

#[cfg(test)]
mod tests {
    use model::arm::Pair;
    use model::condition::{Condition, ParamCondition, PromiseWhenDescription, ValueTest};

    use super::*;
    use crate::{analyse, testing};

    /// What is done now at the disk `a` in so many nanoseconds, rewritten there, moved to
    /// memory, and both, in so many times the time.
    fn run(now_ns: f64, [rewritten, moved, both]: [f64; 3]) -> Run {
        let mut slices = Vec::new();
        for block in 0..40 {
            for (arm, factor) in [1.0, rewritten, moved, both].into_iter().enumerate() {
                let mut slice = testing::slice(arm, block);
                let noise = 0.005 * ((block * block * 7 + arm * 31) % 11) as f64 - 0.025;
                slice.spent.elapsed_ns = (100.0 * now_ns * factor * noise.exp()) as u64;
                slices.push(slice);
            }
        }
        let mut run = testing::run(4, slices);
        for (arm, place) in run.plan.arms.iter_mut().zip([0, 0, 1, 1]) {
            arm.place = place;
        }
        let axes = [Axis::Strategy, Axis::Place, Axis::Both];
        let pairs = axes.into_iter().zip(1..);
        run.plan.pairs = pairs.map(|(axis, other)| Pair { base: 0, other, axis }).collect();
        run
    }

    fn answer(run: &Run) -> Answer {
        let answers = analyse(run).answers;
        assert_eq!(answers.len(), 1, "all else is held against what is done now");
        answers.into_iter().next().unwrap_or_else(|| unreachable!())
    }

    #[test]
    fn what_pays_where_the_files_are_is_to_be_done_and_moving_is_not() {
        let found = answer(&run(10e6, [0.05, 0.1, 0.045]));
        assert_eq!((found.advice, found.by), (Advice::Do, Some(0)));
        assert_eq!((found.rewritten, found.moved, found.both), (Some(0), Some(1), Some(2)));
        assert!(found.pays_from_per_s.is_some_and(|from| (0.9..1.2).contains(&from)));
    }

    #[test]
    fn of_two_ways_the_one_that_promises_as_much_is_preferred() {
        let mut run = run(10e6, [0.05, 0.05, 0.05]);
        for pair in &mut run.plan.pairs {
            pair.axis = Axis::Strategy;
        }
        let syncs = ["each", "never", "each", "never"];
        for (arm, sync) in run.plan.arms.iter_mut().zip(syncs) {
            arm.place = 0;
            arm.params.insert("sync".to_owned(), sync.to_owned());
        }
        let is_never = ParamCondition {
            param: "sync".to_owned(),
            is: ValueTest::OneOf,
            values: vec!["never".to_owned()],
        };
        let when = Condition { strategies: Vec::new(), params: vec![is_never] };
        let promise = "what was written last is lost".to_owned();
        run.studies[0].promise_when = vec![PromiseWhenDescription { when, promise }];
        assert_eq!(answer(&run).rewritten, Some(1));
    }

    #[test]
    fn data_that_a_reboot_would_lose_is_moved_on_a_condition_alone() {
        let found = answer(&run(10e6, [1.0, 0.1, 0.1]));
        assert_eq!((found.advice, found.by), (Advice::Maybe, Some(1)), "both is no better");
        let mut back = run(10e6, [1.0, 0.1, 0.1]);
        back.places.swap(0, 1);
        assert_eq!(answer(&back).advice, Advice::Do, "out of memory nothing is risked");
    }

    #[test]
    fn a_rate_decides_what_is_worth_it() {
        // It saves half a microsecond: 1% of a worker's time at 20,000 a second.
        let mut now_and_then = run(1e3, [0.5, 0.9, 0.9]);
        assert_eq!(answer(&now_and_then).advice, Advice::Leave);
        now_and_then.plan.per_second = [("made".to_owned(), 1000.0)].into();
        assert_eq!(answer(&now_and_then).advice, Advice::Leave);
        now_and_then.plan.per_second = [("made".to_owned(), 100_000.0)].into();
        let found = answer(&now_and_then);
        assert_eq!((found.advice, found.per_second), (Advice::Do, Some(100_000.0)));
        assert!(found.pays_from_per_s.is_some_and(|from| (19e3..21e3).contains(&from)));
        assert_eq!(answer(&run(10e3, [0.5, 0.9, 0.9])).advice, Advice::Maybe, "2,000 a second");
    }

    #[test]
    fn what_is_slower_is_left_and_what_is_open_is_said_to_be() {
        assert_eq!(answer(&run(10e6, [1.3, 1.2, 1.0])).advice, Advice::Leave);
        let mut short = run(10e6, [0.8, 1.0, 1.0]);
        short.slices.truncate(8);
        assert_eq!(answer(&short).advice, Advice::Undecided);
    }

    #[test]
    fn an_arm_alone_has_an_answer_without_advice() {
        let alone = analyse(&testing::run(1, vec![testing::slice(0, 0)])).answers;
        assert_eq!(alone.len(), 1);
        assert_eq!((alone[0].moved, alone[0].by), (None, None));
    }
}
