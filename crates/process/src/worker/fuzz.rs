//! The workers' protocol, given any bytes.

use super::lines::Lines;
use super::message::ToWorker;
use super::protocol::{FromWorker, Report, span_ns, spent};
use super::thread::without_what_the_process_counts;

/// What a worker sends, taken in as a run does. Whether any of it was a message.
pub fn from_worker(bytes: &[u8]) -> bool {
    let mut lines = Lines::new(bytes);
    let mut reports = Vec::new();
    let mut understood = false;
    loop {
        while let Some(line) = lines.take() {
            let message = FromWorker::read(&line);
            understood |= message.is_ok();
            if let Ok(FromWorker::Done(report)) = message {
                without_what_the_process_counts(report.spent);
                reports.push(*report);
            }
        }
        if lines.fill().unwrap_or_default() == 0 {
            break;
        }
    }
    absorb(&reports);
    understood
}

/// As the recorder does with the reports of a slice.
fn absorb(reports: &[Report]) {
    for report in reports {
        let of_each = report.latencies_in(0.4).map(|(value, times)| value * times);
        std::hint::black_box(of_each.sum::<u64>());
    }
    spent(reports);
    span_ns(reports);
}

/// The JSON schema of messages from workers.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(FromWorker).to_value()
}

/// What a worker is sent. Whether it was a message.
pub fn to_worker(bytes: &[u8]) -> bool {
    serde_json::from_slice::<ToWorker>(bytes).is_ok()
}
