//! Whether a run keeps its limits.
//!
//! Counts are exact. A time is known as well as the run's stretches agree about it, by
//! Student's t of their logarithms; with fewer stretches than a verdict takes, nothing is sure.

use model::analysis::{Analysis, ArmResult};
use model::figure::{Fold, Unit};
use model::limit::{Limited, Row, THROUGHPUT};
use model::run::Run;
use model::slice::{Latencies, Slice};
use stats::{Interval, Level, STRETCHES_MIN};
use units::{Judgement, Limit, Range};

use crate::{figures, stretches};

/// Operations beyond a percentile that it rests on at the least.
const BEYOND_MIN: f64 = 3.0;

/// Each limit for each combination that it names.
pub fn limited(run: &Run, analysis: &Analysis, limits: &[Limit]) -> Vec<Limited> {
    let stretches = stretches_of(run);
    let mut found = Vec::new();
    for limit in limits {
        for (index, arm) in run.plan.arms.iter().enumerate() {
            let row = Row::of_run(run, arm).filter(|row| row.is_named_by(&limit.subject));
            let quantity = row.and_then(|row| row.quantity(&limit.figure));
            let Some(quantity) = quantity else { continue };
            let measured =
                Measured { run, result: &analysis.arms[index], index, stretches: &stretches };
            let range = measured.range(&limit.figure);
            found.push(Limited {
                limit: limit.text.clone(),
                id: arm.id.clone(),
                figure: limit.figure.clone(),
                quantity,
                range,
                judgement: range.map_or(Judgement::Undecided, |range| limit.judge(range)),
            });
        }
    }
    found
}

/// The slices of each stretch.
fn stretches_of(run: &Run) -> Vec<Vec<&Slice>> {
    let mut blocks = run.blocks();
    let rounds = stretches::cut(run).rounds;
    rounds.iter().map(|rounds| blocks.by_ref().take(*rounds).flatten().collect()).collect()
}

/// One combination with what was measured of it.
struct Measured<'a> {
    run: &'a Run,
    result: &'a ArmResult,
    index: usize,
    stretches: &'a [Vec<&'a Slice>],
}

impl Measured<'_> {
    fn range(&self, figure: &str) -> Option<Range> {
        let ArmResult { time_per_op_ns, operations, io, cpu_ns_per_op: cpu, .. } = self.result;
        let latency = time_per_op_ns.filter(|_| *operations > 0)?;
        let per_op = |total: u64| Range::exactly(total as f64 / *operations as f64);
        Some(match figure {
            "time" => self.mean(self.result.typical_ns?, |slices| {
                let logs: Vec<f64> = slices.iter().map(|slice| slice.score_ns().ln()).collect();
                stats::trimmed_mean(&logs).map(f64::exp)
            }),
            "mean" => self.mean(latency.mean, |slices| {
                per_operation(slices, |slice| slice.spent.elapsed_ns as f64)
            }),
            "p50" => self.quantile(latency.p50, 0.5),
            "p90" => self.quantile(latency.p90, 0.9),
            "p99" => self.quantile(latency.p99, 0.99),
            "p999" => self.quantile(latency.p999, 0.999),
            "max" => Range::exactly(latency.max),
            "cpu" => self.mean(cpu.user + cpu.system, |slices| {
                per_operation(slices, |slice| (slice.spent.user_ns + slice.spent.system_ns) as f64)
            }),
            "syncs" => per_op(io.sync_calls),
            "calls" => per_op(self.calls()?),
            "bytes" => per_op(io.requested_bytes),
            "device_bytes" => self.mean(io.device_bytes? as f64 / *operations as f64, |slices| {
                per_operation(slices, |slice| {
                    slice.spent.device.map_or(f64::NAN, |device| {
                        (device.read_bytes + device.written_bytes) as f64
                    })
                })
            }),
            "failed" => self.failed()?,
            own => self.own(own)?,
        })
    }

    /// All of its slices that count.
    fn slices(&self) -> impl Iterator<Item = &Slice> {
        self.run.blocks().flatten().filter(|slice| slice.arm == self.index)
    }

    /// Calls of the read(2) and the write(2) kind.
    fn calls(&self) -> Option<u64> {
        self.slices().map(|slice| slice.spent.calls.map(|calls| calls.reads + calls.writes)).sum()
    }

    fn failed(&self) -> Option<Range> {
        let shares = |slices: &[&Slice]| {
            per_operation(slices, |slice| slice.outcome.failed.unwrap_or_default() as f64)
        };
        Some(self.mean(shares(&self.slices().collect::<Vec<_>>())?, shares))
    }

    /// A figure of the study's own.
    fn own(&self, name: &str) -> Option<Range> {
        let value = self.result.metrics.get(name).copied()?;
        let study = self.run.study(&self.result.study)?;
        let Some(figure) = study.figures.iter().find(|figure| figure.name == name) else {
            // It follows from the typical time.
            debug_assert!(name == THROUGHPUT);
            let time = self.range("time")?;
            let rate = |ns: f64| value * time.value / ns;
            return Some(Range { value, low: rate(time.high), high: rate(time.low) });
        };
        let scale = if figure.unit == Unit::Percent { 0.01 } else { 1.0 };
        if matches!(figure.fold, Fold::Max | Fold::Sum) {
            return Some(Range::exactly(value * scale));
        }
        Some(self.mean(value * scale, |slices| {
            figures::folded(slices.iter().copied(), figure).map(|value| value * scale)
        }))
    }

    /// A value that each stretch tells, with the interval that they leave it.
    fn mean(&self, value: f64, of: impl Fn(&[&Slice]) -> Option<f64>) -> Range {
        let each = self.stretches.iter().filter_map(|stretch| {
            let own: Vec<&Slice> =
                stretch.iter().copied().filter(|slice| slice.arm == self.index).collect();
            if own.is_empty() { None } else { of(&own) }
        });
        range(value, &each.collect::<Vec<_>>(), self.run.plan.error_rate)
    }

    /// A percentile; where a stretch has too few operations for it, the next is added.
    fn quantile(&self, value: f64, q: f64) -> Range {
        let mut each = Vec::new();
        let mut gathered: Vec<&Latencies> = Vec::new();
        for stretch in self.stretches {
            let own = stretch.iter().filter(|slice| slice.arm == self.index);
            gathered.extend(own.map(|slice| &slice.latencies));
            let operations: u64 = gathered.iter().map(|latencies| latencies.count()).sum();
            if operations as f64 * (1.0 - q) >= BEYOND_MIN {
                let all = Latencies::sum(gathered.drain(..));
                each.push(all.quantile(q) * self.run.floor.tick_ns);
            }
        }
        range(value, &each, self.run.plan.error_rate)
    }
}

fn per_operation(slices: &[&Slice], of: impl Fn(&Slice) -> f64) -> Option<f64> {
    let operations: u64 = slices.iter().map(|slice| slice.operations).sum();
    let sum: f64 = slices.iter().map(|slice| of(slice)).sum();
    Some(sum / operations as f64).filter(|value| value.is_finite())
}

/// Where a value lies, of which the stretches tell these.
fn range(value: f64, stretches: &[f64], error_rate: f64) -> Range {
    // A value that is the same in each stretch is exact. Zero has no logarithm.
    let is_same = |other: &f64| (other - value).abs() <= f64::EPSILON * value.abs();
    if stretches.len() >= STRETCHES_MIN && stretches.iter().all(is_same) {
        return Range::exactly(value);
    }
    let unknown = Range { value, low: 0.0, high: f64::INFINITY };
    let logs: Vec<f64> = stretches.iter().map(|value| value.ln()).collect();
    let level = Level::new(value.ln(), &logs).filter(|level| level.error.is_finite());
    level.map_or(unknown, |level| {
        let Interval { low, high, .. } = level.interval(error_rate);
        Range { value, low: low.exp(), high: high.exp() }
    })
}

#[cfg(test)]
mod tests {
    use model::slice::Phase;

    use super::*;
    use crate::testing;

    /// Two combinations in this many stretches of one round. An operation of the first takes
    /// some 10 ns, more or less by this share; each tenth one is a sync.
    fn run(stretches: usize, scatter: f64) -> Run {
        let slice = |block: usize, arm: usize| {
            let mut slice = testing::slice(arm, block);
            let off = if block.is_multiple_of(2) { 1.0 + scatter } else { 1.0 - scatter };
            slice.spent.elapsed_ns = (1000.0 * off) as u64;
            slice.spent.sync_calls = 10;
            slice.latencies = Latencies { buckets: vec![(10, 900), (500, 100)], max: 500 };
            slice.stretch = Some(block);
            slice.phase = Phase::Block(block);
            slice
        };
        let rounds = (0..stretches).flat_map(|block| [slice(block, 0), slice(block, 1)]);
        testing::run(2, rounds.collect())
    }

    fn judged(run: &Run, limit: &str) -> Vec<Judgement> {
        let limit: Limit = limit.parse().unwrap_or_else(|error| panic!("{error}"));
        let found = limited(run, &crate::analyse(run), &[limit]);
        found.into_iter().map(|limited| limited.judgement).collect()
    }

    #[test]
    fn a_time_is_limited_as_far_as_its_stretches_agree() {
        let [quiet, noisy] = [0.01, 0.4].map(|scatter| run(10, scatter));
        for (of, limit, expected) in [
            (&quiet, "made.time > 9ns", Judgement::Missed),
            (&quiet, "made.time > 11ns", Judgement::Met),
            (&noisy, "made.time > 9ns", Judgement::Undecided),
            (&noisy, "mean > 9ns", Judgement::Undecided),
            (&noisy, "mean > 100ns", Judgement::Met),
            (&quiet, "p99 > 400ns", Judgement::Missed),
            (&quiet, "p50 > 400ns", Judgement::Met),
            // There are too few operations for it.
            (&quiet, "p999 > 1ns", Judgement::Undecided),
        ] {
            assert_eq!(judged(of, limit), [expected; 2], "{limit}");
        }
        assert_eq!(judged(&quiet, "made@b.time > 9ns"), [Judgement::Missed]);
    }

    #[test]
    fn counts_are_exact_in_one_round_where_times_are_not_known() {
        let one = run(1, 0.0);
        assert_eq!(judged(&one, "syncs > 0.1"), [Judgement::Met; 2]);
        assert_eq!(judged(&one, "syncs > 0.09/op"), [Judgement::Missed; 2]);
        assert_eq!(judged(&one, "mean > 1ns"), [Judgement::Undecided; 2]);
    }
}
