//! What workers report of a slice, and how the recorder takes it in.

use engine::recorder::{Recorder, WorkersAre};
use process::worker::{self, Report};
use stats::Histogram;

/// A report of latencies; the rest is the worker's to fill in.
pub(crate) fn report(latencies: &Histogram, tick_ns: f64) -> Report {
    Report {
        unit_ns: tick_ns,
        latencies: latencies.buckets().map(|(value, times)| (value as u64, times)).collect(),
        latency_max: latencies.max(),
        ..Report::default()
    }
}

/// Gives the recorder what all workers of a slice report.
pub(crate) fn absorb(workers: WorkersAre, reports: &[Report], recorder: &mut Recorder) {
    let tick_ns = recorder.clock().tick_ns();
    let latencies = reports.iter().flat_map(|report| report.latencies_in(tick_ns));
    recorder.absorb(workers, worker::spent(reports), latencies);
}
