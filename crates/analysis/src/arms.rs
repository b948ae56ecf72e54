//! The arms' tolls.

use std::collections::BTreeMap;

use model::analysis::{ArmResult, Cpu, Io, Latency};
use model::integrity::Integrity;
use model::run::{ArmRecord, Run};
use model::slice::Latencies;

use crate::totals::ArmTotals;
use crate::{causes, figures};

/// The arms' results, in the order of the plan.
pub(crate) fn results(run: &Run, totals: &[ArmTotals]) -> Vec<ArmResult> {
    let arms = run.plan.arms.iter().zip(totals).enumerate();
    arms.map(|(index, (arm, totals))| result(run, index, arm, totals)).collect()
}

fn result(run: &Run, index: usize, arm: &ArmRecord, totals: &ArmTotals) -> ArmResult {
    let spent = &totals.spent;
    let integrity = run.slices_of(index).filter_map(|slice| slice.outcome.integrity.clone());
    ArmResult {
        id: arm.id.clone(),
        study: arm.study.clone(),
        strategy: arm.strategy.clone(),
        place: run.places[arm.place].label.clone(),
        params: arm.params.clone(),
        slices: totals.slices,
        operations: totals.operations,
        time_per_op_ns: (totals.operations > 0).then(|| latency(run, index, totals)),
        toll_ns: toll(run, index, totals),
        cpu_ns_per_op: Cpu {
            user: totals.per_op(spent.user_ns as f64),
            system: totals.per_op(spent.system_ns as f64),
        },
        io: io(totals),
        integrity: integrity.reduce(Integrity::and),
        metrics: metrics(run, index, totals),
        evidence: figures::evidence(run, index),
        causes: causes::of_arm(totals),
        failure: run.failure(index).map(str::to_owned),
    }
}

/// What an arm's slices are judged by: their mean, or the median of what each says.
fn toll(run: &Run, arm: usize, totals: &ArmTotals) -> Option<f64> {
    let mut scores: Vec<f64> = run.slices_of(arm).filter_map(|s| s.outcome.score_ns).collect();
    if scores.is_empty() {
        (totals.operations > 0).then(|| totals.per_op(totals.time_ns()))
    } else {
        Some(stats::median(&mut scores))
    }
}

fn latency(run: &Run, arm: usize, totals: &ArmTotals) -> Latency {
    let all = Latencies::sum(run.slices_of(arm).map(|slice| &slice.latencies));
    let at = |q: f64| all.quantile(q) * run.floor.tick_ns;
    Latency {
        mean: totals.per_op(totals.time_ns()),
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: at(1.0),
    }
}

fn io(totals: &ArmTotals) -> Io {
    let spent = &totals.spent;
    let device = spent.device.filter(|_| totals.slices > 0);
    Io {
        requested_bytes: spent.requested_bytes,
        device_bytes: device.map(|device| device.read_bytes + device.written_bytes),
        sync_calls: spent.sync_calls,
        sync_ns_per_op: totals.per_op(spent.sync_ns as f64),
        deferred_sync_ns: totals.per_slice(totals.deferred.sync_ns as f64),
    }
}

/// An arm's figures, each with its unit in its name.
fn metrics(run: &Run, arm: usize, totals: &ArmTotals) -> BTreeMap<String, f64> {
    let Some(study) = run.study(&run.plan.arms[arm].study) else { return BTreeMap::new() };
    let mut metrics = figures::fold(run, arm, &study.figures);
    if study.moves_bytes && totals.time_ns() > 0.0 {
        // Bytes per microsecond are megabytes per second.
        let mb_per_s = totals.spent.requested_bytes as f64 / totals.time_ns() * 1e3;
        metrics.insert("throughput_mb_per_s".to_owned(), mb_per_s);
    }
    let checked = run.slices_of(arm).filter_map(|slice| slice.outcome.integrity.clone());
    if let Some(share) = checked.reduce(Integrity::and).and_then(|checked| checked.share_at_most())
    {
        metrics.insert("broken_share_at_most".to_owned(), share);
    }
    metrics
}
