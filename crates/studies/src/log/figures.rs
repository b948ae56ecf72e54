//! What the writers of a slice did, as the study's figures.

use std::collections::BTreeMap;

use process::worker::Report;

/// What one writer did.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    /// Records that it was told had been written.
    pub(super) acknowledged: u64,
    /// When it began and ended, from the start of all on.
    pub(super) started_after_ns: u64,
    pub(super) ended_after_ns: u64,
    /// The time that counts for the toll.
    pub(super) elapsed_ns: u64,
    /// What else it counted, by names that writers in other languages share.
    pub(super) figures: BTreeMap<String, f64>,
}

impl Done {
    /// As a worker reports it.
    pub(super) fn of_worker(report: &Report) -> Self {
        Self {
            acknowledged: report.acknowledged,
            started_after_ns: report.started_after_ns,
            ended_after_ns: report.ended_after_ns,
            elapsed_ns: report.spent.elapsed_ns,
            figures: report.figures.clone(),
        }
    }
}

/// The slice's figures. Those that end in `_per_record` are sums here, which the
/// arm's number of operations divides.
pub(super) fn figures(writers: &[Done], longest_ns: f64) -> Vec<(&'static str, f64)> {
    let sum = |name: &str| writers.iter().filter_map(|w| w.figures.get(name)).sum::<f64>();
    let mean = |name: &str| sum(name) / writers.len().max(1) as f64;
    let has = |name: &str| writers.iter().any(|w| w.figures.get(name).is_some_and(|f| *f > 0.0));
    let started_ns = writers.iter().map(|w| w.started_after_ns).min().unwrap_or_default();
    let ended_ns = writers.iter().map(|w| w.ended_after_ns).max().unwrap_or_default();
    let wall_s = ended_ns.saturating_sub(started_ns).max(1) as f64 / 1e9;
    let elapsed_ns: u64 = writers.iter().map(|w| w.elapsed_ns).sum();
    let records: u64 = writers.iter().map(|w| w.acknowledged).sum();
    let mut figures =
        vec![("records_per_s", records as f64 / wall_s), ("longest_wait_ns", longest_ns)];
    if writers.len() > 1 {
        figures.push(("fairness_jain", jain(writers)));
    }
    if has("lock_ns") {
        figures.push(("lock_wait_share", sum("lock_ns") / elapsed_ns.max(1) as f64));
    }
    if writers.iter().any(|w| w.figures.contains_key("calls")) {
        figures.push(("calls_per_record", sum("calls")));
    }
    if has("dropped") {
        figures.push(("dropped_per_record", sum("dropped")));
    }
    if has("service_mean_ns") {
        figures.push(("service_mean_ns", mean("service_mean_ns")));
        figures.push(("service_p99_ns", mean("service_p99_ns")));
    }
    figures
}

/// Jain's fairness index of the writers' speeds: 1 where all are as fast, 1/n
/// where one of n gets everything (Jain, Chiu, Hawe: DEC-TR-301, 1984).
fn jain(writers: &[Done]) -> f64 {
    let speeds: Vec<f64> =
        writers.iter().map(|w| w.acknowledged as f64 / w.elapsed_ns.max(1) as f64).collect();
    let sum: f64 = speeds.iter().sum();
    let squares: f64 = speeds.iter().map(|speed| speed * speed).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (speeds.len() as f64 * squares) }
}
