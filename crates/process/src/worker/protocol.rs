//! What workers are told and what they report, whatever the transport.

use std::collections::BTreeMap;
use std::io;

use model::counters;
use model::slice::Outcome;
use model::spent::Spent;
use model::sums;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// The figure of a report that says by how much its worker's clock may be off, in nanoseconds:
/// of workers that do not share one.
pub const CLOCK_ERROR: &str = "clock_error_ns";

/// What is shown of a message that cannot be read.
const SHOWN_BYTES: usize = 400;

/// One worker's part of a slice.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assignment {
    /// The study, which knows what to do with the rest.
    pub study: String,
    /// What to do, as the study and its workers have agreed.
    pub work: Box<RawValue>,
}

impl Assignment {
    /// Work for a study's worker.
    ///
    /// # Errors
    /// Where it cannot be written down.
    pub fn of(study: &str, work: &impl Serialize) -> io::Result<Self> {
        Ok(Self { study: study.to_owned(), work: to_raw_value(work)? })
    }

    /// The work, as it was written down.
    ///
    /// # Errors
    /// Where it is another kind of work, in words.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, String> {
        let read = serde_json::from_str(self.work.get());
        read.map_err(|error| format!("cannot read an assignment: {error}"))
    }
}

/// What a worker sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "fuzz", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FromWorker {
    /// Everything is made ready; waiting for the start.
    Ready,
    /// The work is done.
    Done(Box<Report>),
    /// The work cannot be done, and why.
    Failed(String),
}

impl FromWorker {
    /// Reads a line; why it is no message, with its beginning.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let message = serde_json::from_slice::<Self>(line).map_err(|error| error.to_string());
        message.and_then(Self::checked).map_err(|why| {
            let beginning = &line[..line.len().min(SHOWN_BYTES)];
            let rest = if beginning.len() < line.len() { " …" } else { "" };
            format!("{why}: {}{rest}", String::from_utf8_lossy(beginning).trim())
        })
    }

    /// The message, if its figures can be added up with those of others.
    ///
    /// # Errors
    /// Why not.
    pub fn checked(self) -> Result<Self, String> {
        match &self {
            Self::Done(report) => report.check().map(|()| self),
            Self::Ready | Self::Failed(_) => Ok(self),
        }
    }
}

/// What a worker did.
///
/// Its times are durations or count from the moment at which the group was started,
/// as the worker's own clock showed it: clocks of two workers are never compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "fuzz", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Operations that it was told had been done.
    pub acknowledged: u64,
    /// From the start of the group to its first operation.
    pub started_after_ns: u64,
    /// From the start of the group to the end of its last operation.
    pub ended_after_ns: u64,
    /// How long one unit of the latencies is.
    pub unit_ns: f64,
    /// Latencies within 1%, and how often each came.
    pub latencies: Vec<(u64, u64)>,
    /// The longest latency, exactly.
    pub latency_max: u64,
    /// What it spent, as far as it knows. What a thread's process counts as its own
    /// is left out by the time that the group hands the report on.
    #[serde(default)]
    pub spent: Spent,
    /// What else the study wants to know.
    #[serde(default)]
    pub figures: BTreeMap<String, f64>,
    /// What a whole slice came to, of a worker that did one by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// What a worker's latencies may come to: longer than any run of any number of workers.
const LATENCIES_NS_MAX: f64 = 1e17;

impl Report {
    /// Whether its figures can be added up with those of others.
    fn check(&self) -> Result<(), String> {
        sums::check(self)?;
        let units = self.latencies.iter().map(|(value, times)| *value as f64 * *times as f64);
        let all_ns = (units.sum::<f64>() + self.latency_max as f64) * self.unit_ns;
        if self.unit_ns >= 0.0 && all_ns <= LATENCIES_NS_MAX {
            return Ok(());
        }
        Err(format!(
            "latencies of {all_ns} ns in all, in units of {} ns, are not valid",
            self.unit_ns
        ))
    }

    /// The latencies in units of so many nanoseconds, the longest exactly.
    pub fn latencies_in(&self, unit_ns: f64) -> impl Iterator<Item = (u64, u64)> {
        let scale = self.unit_ns / unit_ns;
        let scaled = move |value: u64| (value as f64 * scale) as u64;
        let longest = self.latencies.iter().map(|(value, _)| *value).max();
        let mut put_right = longest;
        let max = scaled(self.latency_max);
        self.latencies.iter().flat_map(move |&(value, times)| {
            // One of the longest bucket's is known exactly.
            let exact = u64::from(put_right.take_if(|longest| *longest == value).is_some());
            [(max, exact), (scaled(value), times - exact.min(times))]
        })
    }
}

/// What all of them spent together.
pub fn spent(reports: &[Report]) -> Spent {
    counters::sum(reports.iter().map(|report| report.spent))
}

/// From when the first of them began to when the last one ended, which all count
/// from the same start.
pub fn span_ns(reports: &[Report]) -> u64 {
    let started = reports.iter().map(|report| report.started_after_ns).min();
    let ended = reports.iter().map(|report| report.ended_after_ns).max();
    ended.unwrap_or_default().saturating_sub(started.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn latencies_keep_their_number_and_the_longest_its_value() {
        let report = Report {
            unit_ns: 1.0,
            latencies: vec![(10, 3), (100, 2)],
            latency_max: 101,
            ..Report::default()
        };
        let mut seen: Vec<_> = report.latencies_in(0.5).filter(|(_, times)| *times > 0).collect();
        seen.sort_unstable();
        assert_eq!(seen, [(20, 3), (200, 1), (202, 1)]);
    }

    #[test]
    fn a_report_with_few_fields_is_read() {
        let sent = r#"{"acknowledged": 2, "started_after_ns": 5, "ended_after_ns": 9,
            "spent": {"elapsed_ns": 4, "sync_calls": 1}, "unit_ns": 1.0, "latencies": [[2, 2]],
            "latency_max": 3, "figures": {"lock_ns": 0}}"#;
        let report: Report = serde_json::from_str(sent).unwrap();
        assert_eq!((report.spent.elapsed_ns, report.spent.sync_calls), (4, 1));
        assert_eq!((report.spent.calls, report.spent.run_queue_ns), (None, None));
    }

    #[test]
    fn a_report_is_the_same_after_the_way() {
        let calls = model::spent::Calls { writes: 7, ..Default::default() };
        let spent = Spent {
            elapsed_ns: u64::MAX,
            run_queue_ns: Some(3),
            calls: Some(calls),
            ..Spent::default()
        };
        let report = Report { spent, unit_ns: 0.5, latency_max: 8, ..Report::default() };
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    }

    #[test]
    fn a_report_whose_figures_cannot_be_added_up_is_refused() {
        let read = |report: &Report| {
            let json = serde_json::to_vec(&FromWorker::Done(Box::new(report.clone()))).unwrap();
            FromWorker::read(&json).err().unwrap_or_default()
        };
        assert_eq!(read(&Report::default()), "");
        let whole =
            Report { unit_ns: 0.4, latencies: vec![(10_u64.pow(9), 1000)], ..Report::default() };
        assert_eq!(read(&whole), "");
        let endless = Report { latencies: vec![(1 << 40, 1 << 30)], ..whole.clone() };
        assert!(read(&endless).contains("are not valid"), "{}", read(&endless));
        let large = Report { acknowledged: u64::MAX, ..whole.clone() };
        assert!(read(&large).contains("larger than anything"), "{}", read(&large));
        let backwards = Report { unit_ns: -1.0, ..whole };
        assert!(read(&backwards).contains("in units of -1 ns"), "{}", read(&backwards));
    }

    #[test]
    fn reports_add_up_and_span_from_the_first_start_to_the_last_end() {
        let report = |started_after_ns, ended_after_ns, sync_calls| Report {
            started_after_ns,
            ended_after_ns,
            spent: Spent { sync_calls, run_queue_ns: Some(1), ..Spent::default() },
            ..Report::default()
        };
        let reports = [report(5, 20, 3), report(2, 17, 4)];
        assert_eq!((span_ns(&reports), spent(&reports).sync_calls), (18, 7));
        assert_eq!(spent(&reports).run_queue_ns, Some(2));
        assert_eq!(span_ns(&[]), 0);
    }
}
