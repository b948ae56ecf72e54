//! What workers report of a slice, and how the recorder takes it in.

use engine::recorder::{Recorder, WorkersAre};
use process::worker::{self, Report};

/// A report with the latencies that a worker's recorder has.
pub(crate) fn with_latencies(report: Report, recorder: &Recorder) -> Report {
    let latencies = recorder.latencies();
    Report {
        unit_ns: recorder.clock().tick_ns(),
        latencies: latencies.buckets().map(|(value, times)| (value as u64, times)).collect(),
        latency_max: latencies.max(),
        ..report
    }
}

/// Gives the recorder what all workers of a slice report.
pub(crate) fn absorb(workers: WorkersAre, reports: &[Report], recorder: &mut Recorder) {
    let tick_ns = recorder.clock().tick_ns();
    let latencies = reports.iter().flat_map(|report| report.latencies_in(tick_ns));
    recorder.absorb(workers, worker::spent(reports), latencies);
}
