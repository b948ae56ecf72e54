//! What workers report of a slice, and how the recorder takes it in.

use engine::slice_timer::{SliceTimer, WorkersAre};
use process::worker::{self, Report};

/// A report with the latencies that a worker's recorder has.
pub(crate) fn with_latencies(report: Report, timer: &SliceTimer) -> Report {
    let latencies = timer.latencies();
    Report {
        unit_ns: timer.clock().tick_ns(),
        latencies: latencies.buckets(),
        latency_max: latencies.max(),
        ..report
    }
}

/// Gives the recorder what all workers of a slice report.
pub(crate) fn absorb(workers: WorkersAre, reports: &[Report], timer: &mut SliceTimer) {
    let tick_ns = timer.clock().tick_ns();
    let latencies = reports.iter().flat_map(|report| report.latencies_in(tick_ns));
    timer.absorb(workers, worker::spent(reports), latencies);
}
