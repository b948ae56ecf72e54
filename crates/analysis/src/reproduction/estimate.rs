//! What is taken of arms, with the interval that it surely lies in.
//!
//! Of a ratio, the interval is that of the stretches' log ratios, as of a comparison, whatever
//! is measured. That of times holds for another run. The interval of one arm's figure is that
//! of its median slice, and that of a share of failures is Clopper and Pearson's.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::analysis::{ArmResult, Comparison, Verdict};
use model::arm::{Axis, Pair};
use model::article::{
    Article, Measure, PublishedConclusion, PublishedFigure, Quantity, SetAgainst,
};
use model::cause::CauseCode;
use model::description::FigureDescription;
use model::figure::{Fold, Unit};
use model::limit::THROUGHPUT;
use model::run::ArmRecord;
use model::slice::{Outcome, Slice};
use model::spent::Spent;

use super::other_runs;
use crate::comparisons::{self, Ratios};
use crate::indexed::Indexed;
use crate::noise::Neighbours;
use crate::pair_state::PairStates;
use crate::totals::ArmTotals;

/// A value, and where it surely lies.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    /// Why nothing can be said of it, if so.
    pub(super) why: Option<String>,
    /// What explains it.
    pub(super) cause: Option<String>,
}

/// A base and what is held against it.
type Sides = (usize, usize);

/// All that is asked of a run.
pub(super) struct Estimates<'a> {
    run: &'a Indexed<'a>,
    arms: &'a [ArmResult],
    /// The comparisons of times that the article asks for.
    typical_times: BTreeMap<Sides, Comparison>,
}

impl<'a> Estimates<'a> {
    pub(super) fn of(
        article: &Article,
        run: &'a Indexed<'a>,
        arms: &'a [ArmResult],
        totals: &[ArmTotals],
        neighbours: &Neighbours,
    ) -> Self {
        let mut all: Vec<Sides> = asked(article).collect();
        all.sort_unstable();
        all.dedup();
        let pair = |&(base, other): &Sides| Pair {
            base,
            other,
            axis: axis(&run.plan.arms[base], &run.plan.arms[other]),
        };
        let pairs: Vec<Pair> = all.iter().map(pair).collect();
        let between_runs = other_runs::of_pairs(run, &pairs);
        let states = PairStates::of_pairs(run, &pairs, &between_runs, Cow::Borrowed);
        let results = comparisons::results(run, &states, arms, totals, neighbours);
        let typical_times = all.into_iter().zip(results).collect();
        Self { run, arms, typical_times }
    }

    pub(super) fn threshold(&self) -> f64 {
        self.run.plan.threshold
    }

    pub(super) fn arm(&self, arm: usize) -> Option<&'a ArmResult> {
        self.arms.get(arm)
    }

    /// The ids of a quantity's arms.
    pub(super) fn ids(&self, quantity: &Quantity) -> Vec<String> {
        quantity.arms().filter_map(|arm| Some(self.arm(arm)?.id.clone())).collect()
    }

    /// What a quantity is in.
    pub(super) fn unit(&self, quantity: &Quantity) -> Unit {
        if let Some(SetAgainst::Over(_)) = quantity.set_against {
            return Unit::Ratio;
        }
        self.unit_of_measure(&quantity.measure, quantity.arm)
    }

    fn unit_of_measure(&self, measure: &Measure, arm: usize) -> Unit {
        match measure {
            Measure::TypicalTime | Measure::MeanTime => Unit::Nanoseconds,
            Measure::Throughput => Unit::MegabytesPerSecond,
            Measure::Failed => Unit::Count,
            Measure::FailedShare | Measure::Share(_) | Measure::SyncShare => Unit::Percent,
            Measure::Figure(name) => self.unit_of(arm, name),
            Measure::Sum(names) => {
                names.first().map_or(Unit::Ratio, |name| self.unit_of(arm, name))
            }
        }
    }

    /// What a quantity's measure is called; nothing for the time per operation.
    pub(super) fn title(&self, quantity: &Quantity) -> Option<String> {
        let title = |name: &String| {
            self.figure(quantity.arm, name).map_or_else(|| name.clone(), |f| f.title.clone())
        };
        let titles = |names: &[String]| names.iter().map(title).collect::<Vec<_>>().join(" + ");
        match &quantity.measure {
            Measure::TypicalTime | Measure::MeanTime => None,
            Measure::Throughput => Some("throughput".to_owned()),
            Measure::Failed | Measure::FailedShare => Some("failed".to_owned()),
            Measure::SyncShare => Some("time in sync".to_owned()),
            Measure::Figure(name) => Some(title(name)),
            Measure::Sum(names) => Some(titles(names)),
            Measure::Share(names) => Some(format!("{}, of all time", titles(names))),
        }
    }

    fn unit_of(&self, arm: usize, name: &str) -> Unit {
        self.figure(arm, name).map_or(Unit::Ratio, |figure| figure.unit)
    }

    fn figure(&self, arm: usize, name: &str) -> Option<&'a FigureDescription> {
        self.run.study(&self.arm(arm)?.study)?.figure(name)
    }

    /// What a slice has under a measure.
    fn of_slice(&self, measure: &Measure, slice: &Slice) -> Option<f64> {
        let figure = |name: &String| {
            let value = slice.outcome.figures.get(name)?;
            let fold = self.figure(slice.arm, name).map(|figure| figure.fold);
            let operations = slice.operations.max(1) as f64;
            Some(if fold == Some(Fold::PerOperation) { value / operations } else { *value })
        };
        match measure {
            Measure::TypicalTime => Some(slice.score_ns()),
            Measure::MeanTime => Some(slice.time_per_op_ns()),
            Measure::Throughput => {
                let elapsed_ns = slice.spent.elapsed_ns.max(1) as f64;
                Some(slice.spent.requested_bytes as f64 / elapsed_ns * 1e3)
            }
            Measure::Failed => slice.outcome.failed.map(|failed| failed as f64),
            Measure::FailedShare => slice.outcome.failed.map(|_| slice.failed_share() * 100.0),
            Measure::SyncShare => {
                let Spent { sync_ns, elapsed_ns, .. } = slice.spent;
                Some(percent_of(sync_ns as f64, elapsed_ns.max(1) as f64))
            }
            Measure::Figure(name) => figure(name),
            Measure::Sum(names) => names.iter().map(figure).sum(),
            Measure::Share(names) => {
                let sum: Option<f64> = names.iter().map(figure).sum();
                Some(percent_of(sum?, slice.time_per_op_ns()))
            }
        }
    }

    /// A block whose slices are judged by a measure instead of their times.
    fn scored(&self, measure: &Measure, block: &[Slice]) -> Vec<Slice> {
        let scored = |slice: &Slice| {
            let outcome = Outcome {
                score_ns: Some(self.of_slice(measure, slice)?),
                untrusted: slice.outcome.untrusted.clone(),
                // There are no latencies to take a percentile of.
                tail_untrusted: true,
                ..Outcome::default()
            };
            let (arm, phase, operations) = (slice.arm, slice.phase, slice.operations);
            Some(Slice { arm, phase, operations, outcome, ..Slice::default() })
        };
        block.iter().filter_map(scored).collect()
    }

    pub(super) fn of_quantity(&self, quantity: &Quantity) -> Estimate {
        let Quantity { measure, times, arm, set_against } = quantity;
        match *set_against {
            None => self.level(measure, *arm).times(*times),
            Some(SetAgainst::Over(base)) => self.ratio(measure, (base, *arm)),
            Some(SetAgainst::Minus(base)) => self.difference(measure, (base, *arm)).times(*times),
        }
    }

    /// The ratio of two quantities of one arm each; nothing where they are something else.
    pub(super) fn ratio_of(&self, own: &Quantity, base: &Quantity) -> Option<Estimate> {
        let alone = own.set_against.is_none() && base.set_against.is_none();
        if !alone || own.measure != base.measure {
            return None;
        }
        Some(self.ratio(&own.measure, (base.arm, own.arm)).times(own.times / base.times))
    }

    /// A figure of an arm, and where it lies.
    fn level(&self, measure: &Measure, arm: usize) -> Estimate {
        let interval = match measure {
            Measure::FailedShare => self.failed_share_interval(arm),
            measure => self.median_slice_interval(measure, arm),
        };
        let failed = self.arm(arm).and_then(|arm| arm.failure.as_ref());
        Estimate {
            value: self.value(measure, arm),
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            why: failed.map(|why| format!("{} failed: {why}", self.arms[arm].id)),
            cause: None,
        }
    }

    fn median_slice_interval(&self, measure: &Measure, arm: usize) -> Option<(f64, f64)> {
        let slices = self.run.slices_of(arm);
        let mut values: Vec<f64> =
            slices.filter_map(|slice| self.of_slice(measure, slice)).collect();
        stats::median_interval(&mut values, self.run.plan.error_rate)
    }

    /// In percent, by Clopper and Pearson: a slice without failures says little where an
    /// operation fails now and then.
    fn failed_share_interval(&self, arm: usize) -> Option<(f64, f64)> {
        let (failed, operations) = self.failed(arm)?;
        let one_side = self.run.plan.error_rate / 2.0;
        let low = stats::rate_at_least(failed, operations, one_side);
        let high = stats::rate_at_most(failed, operations, one_side);
        Some((low * 100.0, high * 100.0))
    }

    /// The operations that failed, and all of them; nothing where none may fail.
    fn failed(&self, arm: usize) -> Option<(u64, u64)> {
        let slices = self.run.slices_of(arm);
        let counted = slices.filter_map(|slice| Some((slice.outcome.failed?, slice.operations)));
        let (failed, of) = counted.reduce(|a, b| (a.0 + b.0, a.1 + b.1))?;
        Some((failed.min(of), of))
    }

    fn value(&self, measure: &Measure, arm: usize) -> Option<f64> {
        let result = self.arm(arm)?;
        match measure {
            Measure::TypicalTime => result.typical_ns,
            Measure::MeanTime => result.time_per_op_ns.map(|time| time.mean),
            Measure::Throughput => result.metrics.get(THROUGHPUT).copied(),
            Measure::Figure(name) => result.metrics.get(name).copied(),
            Measure::Sum(names) => names.iter().map(|name| result.metrics.get(name)).sum(),
            Measure::Share(names) => {
                let sum: Option<f64> = names.iter().map(|name| result.metrics.get(name)).sum();
                Some(percent_of(sum?, result.time_per_op_ns?.mean))
            }
            Measure::Failed => Some(self.failed(arm)?.0 as f64),
            Measure::FailedShare => {
                let (failed, of) = self.failed(arm)?;
                Some(percent_of(failed as f64, of.max(1) as f64))
            }
            Measure::SyncShare => {
                Some(percent_of(result.io.sync_ns_per_op, result.time_per_op_ns?.mean))
            }
        }
    }

    /// The ratio of the other's to the base's.
    fn ratio(&self, measure: &Measure, (base, other): Sides) -> Estimate {
        if *measure == Measure::TypicalTime {
            return self.typical_times.get(&(base, other)).map(of_comparison).unwrap_or_default();
        }
        let value = |arm| self.value(measure, arm);
        let quotient = value(other).zip(value(base)).map(|(other, base)| other / base);
        let pair = Pair { base, other, axis: Axis::Both };
        let scored = |block| Cow::Owned(self.scored(measure, block));
        // Saved runs tell how much times vary, and nothing of counts and sizes.
        let between_runs = match self.unit_of_measure(measure, other) {
            Unit::Nanoseconds | Unit::MegabytesPerSecond => other_runs::of_pairs(self.run, &[pair]),
            _ => Vec::new(),
        };
        let states = PairStates::of_pairs(self.run, &[pair], &between_runs, scored);
        let Some(state) = states.0.first() else { return Estimate::default() };
        let Ratios { ratio, ratio_low, ratio_high } =
            Ratios::of(state.interval(), state.taken.len());
        let value = quotient.filter(|ratio| ratio.is_finite()).or(ratio);
        // A mean over all slices may lie beyond what the blocks' own ratios say.
        let low = ratio_low.map(|low| value.map_or(low, |value| low.min(value)));
        let high = ratio_high.map(|high| value.map_or(high, |value| high.max(value)));
        // What makes an operation take longer makes parts of its time do so.
        let is_time = matches!(measure, Measure::MeanTime | Measure::Sum(_));
        let typical = self.typical_times.get(&(base, other)).filter(|_| is_time);
        let cause = typical.and_then(|typical| of_comparison(typical).cause);
        Estimate { value, low, high, cause, ..Estimate::default() }
    }

    /// The other's less the base's.
    fn difference(&self, measure: &Measure, (base, other): Sides) -> Estimate {
        let ratio = self.ratio(measure, (base, other));
        let Some(of_base) = self.value(measure, base) else { return Estimate::default() };
        let less = |ratio: f64| of_base * (ratio - 1.0);
        Estimate {
            value: ratio.value.map(less),
            low: ratio.low.map(less),
            high: ratio.high.map(less),
            ..ratio
        }
    }
}

impl Estimate {
    fn times(self, times: f64) -> Self {
        let scaled = |value: Option<f64>| value.map(|value| value * times);
        let [value, low, high] = [self.value, self.low, self.high].map(scaled);
        Self { value, low, high, ..self }
    }
}

/// In what two arms differ.
fn axis(base: &ArmRecord, other: &ArmRecord) -> Axis {
    let is_one_way = base.strategy == other.strategy && base.params == other.params;
    match (base.place == other.place, is_one_way) {
        (true, _) => Axis::Strategy,
        (false, true) => Axis::Place,
        (false, false) => Axis::Both,
    }
}

fn percent_of(part: f64, whole: f64) -> f64 {
    part / whole * 100.0
}

/// The pairs of arms whose times an article has a ratio of.
fn asked(article: &Article) -> impl Iterator<Item = Sides> + '_ {
    let tests = article.conclusions.iter().flat_map(PublishedConclusion::all_tests);
    let of_figures = article.figures.iter().flat_map(|f| f.original.iter().chain(&f.native));
    let set_against = of_figures
        .chain(tests.map(|test| &test.of))
        .filter_map(|quantity| Some((quantity.set_against?.arm(), quantity.arm)));
    let beside = article.figures.iter().flat_map(|figure| {
        let base = figure.against.and_then(|index| article.figures.get(index));
        let sides = |of: fn(&PublishedFigure) -> Option<&Quantity>| {
            Some((base.and_then(of)?.arm, of(figure)?.arm))
        };
        let both = [sides(|f| f.original.as_ref()), sides(|f| f.native.as_ref())];
        both.into_iter().flatten()
    });
    set_against.chain(beside)
}

fn of_comparison(comparison: &Comparison) -> Estimate {
    let known = comparison.causes.iter().find(|cause| cause.code != CauseCode::NoneFound);
    let invalid = comparison.verdict == Verdict::Invalid;
    Estimate {
        value: comparison.ratio,
        low: comparison.ratio_low,
        high: comparison.ratio_high,
        why: comparison.why.clone().filter(|_| invalid),
        cause: known.map(|cause| cause.text.clone()),
    }
}
