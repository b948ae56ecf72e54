//! The arms' times.

use std::collections::BTreeMap;

use model::analysis::{ArmResult, Cpu, Io, Latency};
use model::figure::Unit;
use model::guarantee::Guarantee;
use model::integrity::Integrity;
use model::limit::THROUGHPUT;
use model::run::{ArmRecord, Run};

use crate::blocks::Block;
use crate::indexed::Indexed;
use crate::totals::ArmTotals;
use crate::{causes, drift, figures};

/// The arms' results, in the order of the plan.
pub(crate) fn results(
    run: &Indexed<'_>,
    blocks: &[Block<'_>],
    totals: &[ArmTotals],
    typical_times: &[Option<f64>],
) -> Vec<ArmResult> {
    let arms = run.plan.arms.iter().zip(totals).enumerate();
    arms.map(|(index, (arm, totals))| {
        let typical_ns = typical_times[index];
        let result = result(run, index, arm, totals);
        let metrics = metrics(run, index, totals, typical_ns, result.integrity.as_ref());
        let drift = drift::of_arm(blocks, index, typical_times.len(), &run.places[arm.place]);
        ArmResult { typical_ns, drift, metrics, ..result }
    })
    .collect()
}

/// A result with what its arm tells, before anything measured is added.
pub(crate) fn named(run: &Run, arm: &ArmRecord) -> ArmResult {
    ArmResult {
        id: arm.id.clone(),
        study: arm.study.clone(),
        label: arm.label.clone(),
        strategy: arm.strategy.clone(),
        place: run.places[arm.place].label.clone(),
        params: arm.params.clone(),
        ..ArmResult::default()
    }
}

fn result(run: &Indexed<'_>, index: usize, arm: &ArmRecord, totals: &ArmTotals) -> ArmResult {
    let spent = &totals.spent;
    let integrity = run.slices_of(index).filter_map(|slice| slice.outcome.integrity.clone());
    ArmResult {
        slices: totals.slices,
        operations: totals.operations,
        time_per_op_ns: (totals.operations > 0).then(|| latency(run, index, totals)),
        modes: totals.modes.clone(),
        cpu_ns_per_op: Cpu {
            user: totals.ns_per_op(spent.user_ns as f64),
            system: totals.ns_per_op(spent.system_ns as f64),
        },
        time: causes::time_of_arm(totals),
        io: io(totals),
        integrity: integrity.reduce(Integrity::and),
        evidence: figures::evidence(run, index),
        causes: causes::of_arm(totals),
        not_kept: not_kept(run, arm),
        failure: run.failure(index).map(str::to_owned),
        ..named(run, arm)
    }
}

/// What an arm relies on and its place does not keep.
fn not_kept(run: &Run, arm: &ArmRecord) -> Vec<Guarantee> {
    let Some(study) = run.study(&arm.study) else { return Vec::new() };
    let mut relied_on = study.guarantees_of(&arm.strategy, &arm.params);
    relied_on.retain(|guarantee| run.places[arm.place].lacks(*guarantee));
    relied_on
}

fn latency(run: &Indexed<'_>, arm: usize, totals: &ArmTotals) -> Latency {
    let all = run.latencies_of(arm);
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
        sync_ns_per_op: totals.ns_per_op(spent.sync_ns as f64),
        deferred_sync_ns: totals.per_slice(totals.deferred.sync_ns as f64),
    }
}

/// An arm's figures, each with its unit in its name. Rates are those of a typical slice,
/// as the time per operation is.
fn metrics(
    run: &Indexed<'_>,
    arm: usize,
    totals: &ArmTotals,
    typical_ns: Option<f64>,
    integrity: Option<&Integrity>,
) -> BTreeMap<String, f64> {
    let Some(study) = run.study(&run.plan.arms[arm].study) else { return BTreeMap::new() };
    let mut metrics = figures::fold(run, arm, &study.figures);
    if let Some(typical_ns) = typical_ns.filter(|_| !totals.is_scored) {
        let typical = totals.per_op(totals.time_ns()) / typical_ns;
        for figure in study.figures.iter().filter(|figure| figure.unit == Unit::PerSecond) {
            metrics.entry(figure.name.clone()).and_modify(|rate| *rate *= typical);
        }
        if study.moves_bytes {
            // Bytes per microsecond are megabytes per second.
            let mb_per_s = totals.per_op(totals.spent.requested_bytes as f64) / typical_ns * 1e3;
            metrics.insert(THROUGHPUT.to_owned(), mb_per_s);
        }
    }
    let share_at_most = integrity.and_then(Integrity::share_at_most);
    metrics.extend(share_at_most.map(|share| ("broken_share_at_most".to_owned(), share)));
    metrics
}

#[cfg(test)]
mod tests {
    use model::condition::{Condition, ReliesOnDescription};

    use super::*;
    use crate::testing;

    #[test]
    fn an_arm_is_told_of_what_it_relies_on_and_its_place_lacks() {
        let mut run = testing::run(3, Vec::new());
        let when = Condition { strategies: vec!["plain".to_owned()], params: Vec::new() };
        let on = [Guarantee::Appends, Guarantee::Flock];
        run.studies[0].relies_on =
            on.map(|on| ReliesOnDescription { on, when: when.clone() }).to_vec();
        run.places[1].not_kept = Some(vec![Guarantee::FcntlLocks, Guarantee::Appends]);
        run.places[2].not_kept = Some(Vec::new());
        let lacking: Vec<Vec<Guarantee>> =
            run.plan.arms.iter().map(|arm| not_kept(&run, arm)).collect();
        assert_eq!(lacking, [vec![], vec![Guarantee::Appends], vec![]]);
    }
}
