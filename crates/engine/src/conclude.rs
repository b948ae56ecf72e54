//! From samples to arms' tolls and to verdicts: pure functions of what was saved.

use std::collections::BTreeMap;

use model::arm::{Arm, Axis, Pair};
use model::result::{
    ArmResult, Cause, Comparison, Cpu, ErrorComparison, Integrity, Io, Latency, TailComparison,
    Verdict,
};
use model::sample::Sample;
use stats::{Decision, Histogram, Sequence};

use crate::causes::{self, Side, Tally};
use crate::measure::{Job, Measurement};
use crate::standing::{ERROR_RATE, Standing, Standings};
use crate::{figures, invalid};

/// The arms' tolls, in the arms' order.
pub fn arm_results(
    arms: &[Arm],
    place_labels: &[String],
    measurement: &Measurement,
) -> Vec<ArmResult> {
    arms.iter()
        .enumerate()
        .map(|(index, arm)| {
            let samples = samples_of(measurement, index);
            let totals = Totals::of(&samples);
            ArmResult {
                id: arm.id.clone(),
                study: arm.study.name.to_owned(),
                strategy: arm.strategy.name.to_owned(),
                place: place_labels[arm.place].clone(),
                params: arm
                    .params
                    .0
                    .iter()
                    .map(|(k, v)| ((*k).to_owned(), v.to_string()))
                    .collect(),
                slices: samples.len() as u64,
                operations: totals.operations,
                time_per_op_ns: (totals.operations > 0)
                    .then(|| latency(&totals, &measurement.latencies[index], measurement.tick_ns)),
                toll_ns: toll(&samples, &totals),
                cpu_ns_per_op: Cpu {
                    user: totals.per_op(totals.user_ns),
                    system: totals.per_op(totals.system_ns),
                },
                io: totals.io(),
                integrity: samples
                    .iter()
                    .filter_map(|s| s.integrity.clone())
                    .reduce(Integrity::and),
                metrics: metrics(arm, &samples, &totals),
                causes: causes::of_arm(&Tally::of(&samples, arm.study.operation)),
                failure: measurement.failures[index].clone(),
            }
        })
        .collect()
}

/// The verdicts, in the pairs' order.
pub fn comparisons(
    job: &Job<'_>,
    measurement: &Measurement,
    arms: &[ArmResult],
) -> Vec<Comparison> {
    let mut standings = Standings::new(job.pairs, job.worth);
    standings.take_all(&measurement.samples);
    let tallies: Vec<Tally> = job
        .arms
        .iter()
        .enumerate()
        .map(|(index, arm)| Tally::of(&samples_of(measurement, index), arm.study.operation))
        .collect();
    let conclude = |standing: &Standing| {
        let comparison = comparison(standing, job, measurement, arms);
        let causes = pair_causes(standing.pair, comparison.verdict, &tallies, arms);
        Comparison { causes, ..comparison }
    };
    standings.0.iter().map(conclude).collect()
}

fn samples_of(measurement: &Measurement, arm: usize) -> Vec<&Sample> {
    measurement.samples.iter().filter(|s| s.arm == arm).collect()
}

fn pair_causes(
    Pair { base, other, axis }: Pair,
    verdict: Verdict,
    tallies: &[Tally],
    arms: &[ArmResult],
) -> Vec<Cause> {
    let label = |arm: usize, than: usize| match axis {
        Axis::Place => format!("on {}", arms[arm].place),
        Axis::Strategy => format!("with {}", arms[arm].way_apart_from(&arms[than])),
    };
    let [base_label, other_label] = [label(base, other), label(other, base)];
    let base = Side { label: &base_label, tally: &tallies[base] };
    let other = Side { label: &other_label, tally: &tallies[other] };
    causes::of_pair(base, other, axis, verdict)
}

fn comparison(
    standing: &Standing,
    job: &Job<'_>,
    measurement: &Measurement,
    arms: &[ArmResult],
) -> Comparison {
    let Pair { base, other, axis } = standing.pair;
    let Ratios { ratio, ratio_low, ratio_high } = Ratios::of(&standing.mean);
    let base_ns = arms[base].toll_ns;
    let (verdict, why) = verdict(standing, measurement.interrupted);
    let measured = Comparison {
        base: arms[base].id.clone(),
        other: arms[other].id.clone(),
        axis,
        ratio,
        ratio_low,
        ratio_high,
        confidence: 1.0 - ERROR_RATE,
        saves_ns_per_op: ratio.zip(base_ns).map(|(ratio, base_ns)| base_ns * (1.0 - ratio)),
        worth: job.worth,
        verdict,
        blocks: standing.mean.blocks() as u64,
        p99: tail(&standing.p99),
        errors: errors(standing, measurement),
        why,
        causes: Vec::new(),
        next: None,
    };
    let sides = [base, other];
    let places = sides.map(|arm| job.arms[arm].place);
    match invalid::why(&measured, sides, places, arms, measurement) {
        Some(why) => invalidated(measured, why),
        None => measured,
    }
}

/// What an arm's slices are judged by: their mean, or the median of what each says.
fn toll(samples: &[&Sample], totals: &Totals) -> Option<f64> {
    let mut judged: Vec<f64> = samples.iter().filter_map(|s| s.judged_ns).collect();
    if judged.is_empty() {
        (totals.operations > 0).then(|| totals.per_op(totals.elapsed_ns))
    } else {
        Some(stats::median(&mut judged))
    }
}

/// The operations that failed; nothing where none may.
fn errors(standing: &Standing, measurement: &Measurement) -> Option<ErrorComparison> {
    let Pair { base, other, .. } = standing.pair;
    let failed = |arm| -> Option<(u64, u64)> {
        let samples = samples_of(measurement, arm);
        let failed = samples.iter().filter_map(|s| s.failed).reduce(|a, b| a + b)?;
        Some((failed, samples.iter().map(|s| s.operations).sum()))
    };
    let [base, other] = [failed(base)?, failed(other)?];
    let share = |(failed, of): (u64, u64)| failed as f64 / of.max(1) as f64;
    let none = base.0 == 0 && other.0 == 0;
    let verdict = match standing.errors.decision(ERROR_RATE) {
        ..0 => Verdict::Faster,
        1.. => Verdict::Slower,
        0 if none => Verdict::Same,
        0 => Verdict::Unclear,
    };
    let fewer = base.1.min(other.1);
    let share_at_most = none.then(|| stats::rate_at_most(0, fewer, ERROR_RATE));
    Some(ErrorComparison {
        base_share: share(base),
        other_share: share(other),
        share_at_most,
        verdict,
    })
}

fn invalidated(comparison: Comparison, why: String) -> Comparison {
    let p99 = TailComparison { verdict: Verdict::Invalid, ..comparison.p99 };
    let errors = comparison.errors.map(|e| ErrorComparison { verdict: Verdict::Invalid, ..e });
    Comparison { verdict: Verdict::Invalid, why: Some(why), p99, errors, ..comparison }
}

/// Where a sequence is after its last block; unknown before the first.
struct Ratios {
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
}

impl Ratios {
    fn of(sequence: &Sequence) -> Self {
        let interval = sequence.interval();
        let bounded = |log: f64| log.is_finite().then(|| log.exp());
        Self {
            ratio: bounded(interval.estimate).filter(|_| sequence.blocks() > 0),
            ratio_low: bounded(interval.low),
            ratio_high: bounded(interval.high),
        }
    }
}

fn tail(sequence: &Sequence) -> TailComparison {
    let Ratios { ratio, ratio_low, ratio_high } = Ratios::of(sequence);
    let verdict = decided(sequence.decision());
    TailComparison { ratio, ratio_low, ratio_high, verdict }
}

fn decided(decision: Decision) -> Verdict {
    match decision {
        Decision::Less => Verdict::Faster,
        Decision::Greater => Verdict::Slower,
        Decision::Within => Verdict::Same,
        Decision::Open => Verdict::Unclear,
    }
}

fn verdict(standing: &Standing, interrupted: bool) -> (Verdict, Option<String>) {
    let verdict = decided(standing.mean.decision());
    let why = (verdict == Verdict::Unclear).then(|| {
        let end = if interrupted { "the run was interrupted" } else { "the budget ended" };
        match standing.mean.blocks() {
            0 if standing.seen > 0 => format!(
                "half of the operations failed in each of {} blocks, which leaves no median to \
                 compare",
                standing.seen
            ),
            0 => format!("{end} before the first block was complete"),
            blocks => format!("{end} after {blocks} blocks, before the interval was narrow enough"),
        }
    });
    (verdict, why)
}

#[derive(Default)]
struct Totals {
    slices: u64,
    operations: u64,
    elapsed_ns: u64,
    requested_bytes: u64,
    sync_calls: u64,
    sync_ns: u64,
    deferred_sync_ns: u64,
    user_ns: u64,
    system_ns: u64,
    device_bytes: Option<u64>,
}

impl Totals {
    fn of(samples: &[&Sample]) -> Self {
        let sum = |field: fn(&Sample) -> u64| samples.iter().map(|s| field(s)).sum();
        Self {
            slices: samples.len() as u64,
            operations: sum(|s| s.operations),
            elapsed_ns: sum(|s| s.elapsed_ns),
            requested_bytes: sum(|s| s.requested_bytes),
            sync_calls: sum(|s| s.sync_calls),
            sync_ns: sum(|s| s.sync_ns),
            deferred_sync_ns: sum(|s| s.deferred_sync_ns),
            user_ns: sum(|s| s.user_ns),
            system_ns: sum(|s| s.system_ns),
            device_bytes: samples
                .iter()
                .map(|s| s.device_read_bytes.zip(s.device_written_bytes).map(|(r, w)| r + w))
                .sum(),
        }
    }

    fn per_op(&self, total_ns: u64) -> f64 {
        total_ns as f64 / self.operations.max(1) as f64
    }

    fn io(&self) -> Io {
        Io {
            requested_bytes: self.requested_bytes,
            device_bytes: self.device_bytes.filter(|_| self.slices > 0),
            sync_calls: self.sync_calls,
            sync_ns_per_op: self.per_op(self.sync_ns),
            deferred_sync_ns: self.deferred_sync_ns as f64 / self.slices.max(1) as f64,
        }
    }
}

fn latency(totals: &Totals, ticks: &Histogram, tick_ns: f64) -> Latency {
    let at = |q: f64| ticks.quantile(q) * tick_ns;
    Latency {
        mean: totals.per_op(totals.elapsed_ns),
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: ticks.max() as f64 * tick_ns,
    }
}

fn metrics(arm: &Arm, samples: &[&Sample], totals: &Totals) -> BTreeMap<String, f64> {
    let mut metrics = figures::fold(arm.study.figures, samples, totals.operations);
    if arm.study.moves_bytes && totals.elapsed_ns > 0 {
        // Bytes per microsecond are megabytes per second.
        let mb_per_s = totals.requested_bytes as f64 / totals.elapsed_ns as f64 * 1e3;
        metrics.insert("throughput_mb_per_s".to_owned(), mb_per_s);
    }
    metrics
}

#[cfg(test)]
mod tests {
    use model::arm::Axis;

    use super::*;

    /// Blocks of two arms of a hundred operations each, of which so many failed.
    fn compared(blocks: &[(u64, u64)]) -> Option<ErrorComparison> {
        let sample = |block, arm, failed| Sample {
            arm,
            block,
            failed: Some(failed),
            operations: 100,
            elapsed_ns: 1000,
            ..Sample::default()
        };
        let samples: Vec<Sample> = blocks
            .iter()
            .enumerate()
            .flat_map(|(block, failed)| [sample(block, 0, failed.0), sample(block, 1, failed.1)])
            .collect();
        let pair = Pair { base: 0, other: 1, axis: Axis::Place };
        let mut standings = Standings::new(&[pair], 0.05);
        standings.take_all(&samples);
        let measurement = Measurement {
            floor: model::result::Floor {
                record_ns: 0.0,
                clock: String::new(),
                clock_off_by: None,
            },
            samples,
            latencies: Vec::new(),
            tick_ns: 1.0,
            failures: vec![None; 2],
            unread: Vec::new(),
            place_changes: Vec::new(),
            interrupted: false,
        };
        errors(&standings.0[0], &measurement)
    }

    #[test]
    fn failures_are_fewer_more_the_same_or_unclear() {
        let verdict = |blocks: &[(u64, u64)]| compared(blocks).map(|errors| errors.verdict);
        assert_eq!(verdict(&[(5, 1); 9]), Some(Verdict::Faster));
        assert_eq!(verdict(&[(0, 3); 9]), Some(Verdict::Slower));
        assert_eq!(verdict(&[(0, 0); 9]), Some(Verdict::Same));
        assert_eq!(verdict(&[(0, 3); 4]), Some(Verdict::Unclear));
        assert_eq!(verdict(&[(2, 2); 40]), Some(Verdict::Unclear));
        let none = compared(&[(0, 0); 10]).and_then(|errors| errors.share_at_most);
        // 1 - 0.05^(1/1000), the rule of three.
        assert!(none.is_some_and(|most| (most - 0.002_991).abs() < 1e-5), "{none:?}");
        let some = compared(&[(5, 1); 9]);
        assert!(
            some.is_some_and(|e| (e.base_share - 0.05).abs() < 1e-9 && e.share_at_most.is_none())
        );
    }
}
