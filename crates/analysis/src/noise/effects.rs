//! What each disturbance did: the share of its time that an arm lost to it, and the comparisons
//! that it may have moved.
//!
//! Both sides of a comparison lose time to what disturbs the whole machine. Their ratio moves only
//! as far as one of them lost more. Shares are those of the slices' own readings, at the most.

use model::analysis::Comparison;
use model::grouped::each_once;
use model::noise::{Noise, NoiseCode, NoiseSource};
use units::percent;

use super::neighbours::Neighbours;
use super::{WAITING_MIN_BYTES, in_run, limits, unlike_saved};
use crate::causes;
use crate::indexed::Indexed;
use crate::totals::ArmTotals;

/// What disturbed a run, the largest effect first, each with what it did.
pub(crate) fn of_run(
    run: &Indexed<'_>,
    totals: &[ArmTotals],
    comparisons: &[Comparison],
    neighbours: &Neighbours,
) -> Noise {
    let Noise { mut sources, unread } = in_run(run);
    // Writes whose disk is known are reported once.
    sources.retain(|source| !neighbours.any() || !is_writing_alone(source));
    sources.extend(neighbours.sources());
    sources.extend(limits::io(run, totals));
    sources.extend(unlike_saved::source_of(comparisons));
    for source in sources.iter_mut().filter(|source| source.code == NoiseCode::MemoryLimit) {
        limits::say_hits(source, totals);
    }
    for source in &mut sources {
        let lost = match source.code {
            NoiseCode::PlaceNeighbour => Some(neighbours.lost().to_vec()),
            // Slices elsewhere show better what others did to a disk while the run went on.
            NoiseCode::BackgroundWrites if neighbours.are_visible() => None,
            NoiseCode::IoLimit => run.watch.after.limits.io.map(|limit| {
                let held_up = totals.iter().map(|arm| limits::is_held_up(arm, &limit));
                let waits = totals.iter().map(causes::device_wait_share);
                held_up.zip(waits).map(|(is, share)| if is { share } else { 0.0 }).collect()
            }),
            code => totals.iter().map(|arm| lost(code, arm)).collect(),
        };
        if let Some(lost) = lost {
            take_effect(source, run, &lost, comparisons);
        }
    }
    let effect = |source: &NoiseSource| match source.code {
        // It is what all of them did together.
        NoiseCode::UnlikeSaved => f64::INFINITY,
        _ => source.effect.unwrap_or(-1.0),
    };
    sources.sort_by(|a, b| effect(b).total_cmp(&effect(a)));
    Noise { sources, unread }
}

/// Whether a source is others' writes, and nothing that waited before the run.
fn is_writing_alone(source: &NoiseSource) -> bool {
    let waited = source.evidence.get("waiting_bytes").copied().unwrap_or_default();
    source.code == NoiseCode::BackgroundWrites && waited < WAITING_MIN_BYTES as f64
}

/// The share of its time that an arm lost to such a source at the most; nothing where its
/// readings do not show it.
fn lost(code: NoiseCode, arm: &ArmTotals) -> Option<f64> {
    let surroundings = &arm.surroundings;
    match code {
        NoiseCode::Steal | NoiseCode::VirtualMachine => {
            let cpus = surroundings.cpus?;
            let all_ns = arm.machine_ns()?;
            Some(if all_ns > 0.0 { cpus.steal_ns as f64 / all_ns } else { 0.0 })
        }
        NoiseCode::OtherLoad | NoiseCode::FewProcessors => {
            Some(arm.share(arm.spent.run_queue_ns? as f64))
        }
        NoiseCode::CpuQuota => Some(arm.share(surroundings.group?.throttled_ns? as f64)),
        NoiseCode::Swap => Some(arm.share(arm.pressure()?.memory_some_ns as f64)),
        NoiseCode::MemoryLimit => {
            let is_reached = surroundings.group?.memory_limit_hits? > 0;
            Some(if is_reached { arm.share(arm.pressure()?.memory_some_ns as f64) } else { 0.0 })
        }
        NoiseCode::BackgroundWrites | NoiseCode::PlaceNeighbour | NoiseCode::IoLimit => {
            let on_device = arm.place.as_ref()?.bottom_devices().next().is_some();
            Some(if on_device { causes::device_wait_share(arm) } else { 0.0 })
        }
        NoiseCode::Governor | NoiseCode::Frequency | NoiseCode::UnlikeSaved => None,
    }
}

/// Adds to a source what it did.
fn take_effect(
    source: &mut NoiseSource,
    run: &Indexed<'_>,
    lost: &[f64],
    comparisons: &[Comparison],
) {
    let threshold = run.plan.threshold;
    let of = |arm: usize| lost.get(arm).copied().unwrap_or_default().min(0.999);
    let mut moved = 0.0_f64;
    for (comparison, pair) in comparisons.iter().zip(&run.plan.pairs) {
        let by = ((1.0 - of(pair.base)) / (1.0 - of(pair.other))).ln().abs();
        if by >= threshold.ln_1p() {
            source.touched.push(comparison.other.clone());
            moved = moved.max(by);
        }
    }
    source.effect = lost.iter().copied().reduce(f64::max);
    let did = match source.touched.as_slice() {
        [] if comparisons.is_empty() => return,
        [] => format!("It moved no comparison by {} or more.", percent(threshold)),
        touched => format!("It may have moved {} by up to {}.", named(touched), times(moved)),
    };
    source.text = format!("{} {did}", source.text);
}

/// A share, or a factor where that is large.
fn times(log: f64) -> String {
    if log < 1.0 { percent(log.exp_m1()) } else { format!("{:.1}×", log.exp()) }
}

/// One by its id; of several how many, and of which studies.
fn named(touched: &[String]) -> String {
    if let [only] = touched {
        return only.clone();
    }
    let studies = each_once(touched.iter().filter_map(|id| id.split('/').next()));
    format!("{} comparisons ({})", touched.len(), studies.join(", "))
}
