//! What the writers of a slice did, as the study's figures.

use model::scaling::CLIENTS_PER_S;
use process::worker::{Report, span_ns, spent};

use super::spec::RECORDS_PER_S;
use crate::worker_stats::{FAIRNESS, jain, of_clients};

/// The slice's figures. Those that end in `_per_record` are sums here, which the
/// arm's number of operations divides.
pub(super) fn figures(writers: &[Report], longest_ns: f64) -> Vec<(&'static str, f64)> {
    let sum = |name: &str| writers.iter().filter_map(|w| w.figures.get(name)).sum::<f64>();
    let mean = |name: &str| sum(name) / writers.len().max(1) as f64;
    let has = |name: &str| writers.iter().any(|w| w.figures.get(name).is_some_and(|f| *f > 0.0));
    let wall_s = span_ns(writers).max(1) as f64 / 1e9;
    let elapsed_ns = spent(writers).elapsed_ns;
    let records: u64 = writers.iter().map(|w| w.acknowledged).sum();
    let mut figures =
        vec![(RECORDS_PER_S, records as f64 / wall_s), ("longest_wait_ns", longest_ns)];
    if writers.len() > 1 {
        figures.push((FAIRNESS, jain(writers)));
    }
    let of_clients = of_clients(writers);
    if !of_clients.is_empty() {
        figures.push((CLIENTS_PER_S, records as f64 / wall_s));
    }
    figures.extend(of_clients);
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
