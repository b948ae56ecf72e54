//! Reports come to rank 0 through a tree, and latencies are added up on the way.
//!
//! A histogram is most of a report. Were each sent to rank 0, it would spend more time on a
//! slice of a thousand ranks than the slice takes. So every rank passes on what its worker
//! reports with what the ranks below it sent: one message, with one histogram for all of them.
//! That all are ready, and when to start, goes the same way.

use std::ops::Range;

use process::worker::{FromWorker, Report};
use serde::{Deserialize, Serialize};
use stats::Histogram;

/// So many ranks are directly below one.
const WIDTH: usize = 8;

/// What the worker of a rank said, or why it is no more.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Said {
    pub(crate) rank: usize,
    pub(crate) what: Result<FromWorker, String>,
    /// The ranks whose workers said the very same, as all do that are ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) same: Vec<usize>,
}

impl Said {
    pub(crate) fn of(rank: usize, what: Result<FromWorker, String>) -> Self {
        Self { rank, what, same: Vec::new() }
    }
}

/// The rank above another, which is not rank 0.
pub(crate) fn above(rank: usize) -> usize {
    (rank - 1) / WIDTH
}

/// The ranks directly below one, of so many that take part.
pub(crate) fn below(rank: usize, of: usize) -> Range<usize> {
    let first = rank * WIDTH + 1;
    first.min(of)..(first + WIDTH).min(of)
}

/// The rank directly below rank 0 that another is below, or is.
pub(crate) fn branch(rank: usize) -> usize {
    std::iter::successors(Some(rank), |rank| Some(above(*rank)))
        .find(|rank| *rank <= WIDTH)
        .unwrap_or(rank)
}

/// How many ranks a message passes on its way down to the last of so many.
pub(crate) fn depth(of: usize) -> u32 {
    let last = of.checked_sub(1).filter(|last| *last > 0);
    std::iter::successors(last, |rank| Some(above(*rank)).filter(|rank| *rank > 0)).count() as u32
}

/// Adds up the latencies of all reports: the first then has those of all, in units of so many
/// nanoseconds.
pub(crate) fn add_up(all: &mut [Said], unit_ns: f64) {
    let mut reports: Vec<&mut Report> = all.iter_mut().filter_map(report).collect();
    let mut sum = Histogram::new();
    for report in &mut reports {
        for (value, times) in report.latencies_in(unit_ns) {
            sum.record_many(value, times);
        }
        report.latencies = Vec::new();
        report.latency_max = 0;
    }
    if let Some(first) = reports.first_mut() {
        first.unit_ns = unit_ns;
        first.latencies = sum.buckets();
        first.latency_max = sum.max();
    }
}

/// The same with once what several said one after the other.
pub(crate) fn joined(all: Vec<Said>) -> Vec<Said> {
    let mut joined: Vec<Said> = Vec::new();
    for said in all {
        match joined.last_mut().filter(|last| last.what == said.what) {
            Some(last) => {
                last.same.push(said.rank);
                last.same.extend(said.same);
            }
            None => joined.push(said),
        }
    }
    joined
}

fn report(said: &mut Said) -> Option<&mut Report> {
    match &mut said.what {
        Ok(FromWorker::Done(report)) => Some(report),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_below_one_that_is_nearer_to_rank_0() {
        for of in [1, 2, 8, 9, 10, 73, 74, 1000] {
            for rank in 1..of {
                assert!(above(rank) < rank && below(above(rank), of).contains(&rank));
                assert!(below(0, of).contains(&branch(rank)));
            }
            let all: usize = (0..of).map(|rank| below(rank, of).len()).sum();
            assert_eq!(all, of - 1, "each is below one");
        }
        assert_eq!((branch(8), branch(9), branch(72), branch(73)), (8, 1, 8, 1));
        assert_eq!([0, 1, 2, 9, 10, 73, 74, 585, 586].map(depth), [0, 0, 1, 1, 2, 2, 3, 3, 4]);
    }

    fn done(rank: usize, unit_ns: f64, latencies: &[(u64, u64)]) -> Said {
        let latency_max = latencies.last().map_or(0, |(value, _)| value + 1);
        let report =
            Report { unit_ns, latencies: latencies.to_vec(), latency_max, ..Report::default() };
        Said::of(rank, Ok(FromWorker::Done(Box::new(report))))
    }

    #[test]
    fn what_several_say_is_said_once_with_all_of_their_ranks() {
        let ready = |rank| Said::of(rank, Ok(FromWorker::Ready));
        let below = joined(vec![ready(9), ready(10)]);
        let said = vec![ready(1), below.into_iter().next().unwrap_or_else(|| ready(0))];
        let killed = Said::of(2, Err("killed".to_owned()));
        let all = joined(said.into_iter().chain([killed, ready(3)]).collect());
        let ranks: Vec<_> = all.iter().map(|said| (said.rank, &said.same[..])).collect();
        assert_eq!(ranks, [(1, &[9, 10][..]), (2, &[]), (3, &[])]);
    }

    #[test]
    fn latencies_of_all_are_in_the_first_report_whatever_their_unit() {
        let mut all = [
            Said::of(4, Err("killed".to_owned())),
            done(5, 1.0, &[(100, 3), (200, 2)]),
            done(6, 0.5, &[(200, 4)]),
        ];
        add_up(&mut all, 2.0);
        let reports: Vec<_> = all.iter_mut().filter_map(report).collect();
        assert_eq!(reports[0].latencies, [(50, 7), (100, 2)]);
        assert_eq!((reports[0].unit_ns, reports[0].latency_max), (2.0, 100));
        assert_eq!((reports[1].latencies.len(), reports[1].latency_max), (0, 0));
        assert_eq!(all[0].what.as_ref().err().map(String::as_str), Some("killed"));
    }
}
