//! What workers report of a slice, as the recorder takes it in.

use engine::recorder::{Recorder, WorkersAre};
use engine::worker::Report;
use model::counters;
use model::spent::Spent;
use stats::Histogram;

/// What one worker says it spent.
fn spent(report: &Report) -> Spent {
    Spent {
        elapsed_ns: report.elapsed_ns,
        user_ns: report.user_ns,
        system_ns: report.system_ns,
        requested_bytes: report.requested_bytes,
        sync_calls: report.sync_calls,
        sync_ns: report.sync_ns,
        lock_calls: report.lock_calls,
        lock_ns: report.lock_ns,
        run_queue_ns: report.run_queue_ns,
        calls: report.calls,
        ..Spent::default()
    }
}

/// What a worker reports of what it spent, and of its latencies.
pub(crate) fn report(spent: Spent, latencies: &Histogram, tick_ns: f64) -> Report {
    Report {
        elapsed_ns: spent.elapsed_ns,
        unit_ns: tick_ns,
        latencies: latencies.buckets().map(|(value, times)| (value as u64, times)).collect(),
        latency_max: latencies.max(),
        sync_calls: spent.sync_calls,
        sync_ns: spent.sync_ns,
        lock_calls: spent.lock_calls,
        lock_ns: spent.lock_ns,
        run_queue_ns: spent.run_queue_ns,
        calls: spent.calls,
        user_ns: spent.user_ns,
        system_ns: spent.system_ns,
        requested_bytes: spent.requested_bytes,
        ..Report::default()
    }
}

/// Hands the recorder what all workers of a slice report.
pub(crate) fn absorb(workers: WorkersAre, reports: &[Report], recorder: &mut Recorder) {
    let tick_ns = recorder.clock().tick_ns();
    let latencies = reports.iter().flat_map(|report| report.latencies_in(tick_ns));
    recorder.absorb(workers, counters::sum(reports.iter().map(spent)), latencies);
}
