//! The figures of one step while it runs, in memory that does not grow.

use crate::{outcome::Counter, subsamples::SubsampleSeries};
use host::clock::SECOND_NS;
use model::load::{Phases, ReplyCounts, Sampled, Step, Times};
use stats::Histogram;

/// Intervals of the reply rate that are kept.
const INTERVALS_MAX: usize = 256;
/// Length of an interval at first; it doubles whenever there are too many.
const INTERVAL_NS: u64 = SECOND_NS / 10;

/// Replies counted over time.
#[derive(Debug)]
pub(crate) struct RateSeries {
    interval_ns: u64,
    counts: Vec<u64>,
}

impl RateSeries {
    fn new() -> Self {
        Self { interval_ns: INTERVAL_NS, counts: Vec::with_capacity(INTERVALS_MAX) }
    }

    #[inline]
    fn add(&mut self, at_ns: u64) {
        let mut index = (at_ns / self.interval_ns) as usize;
        while index >= INTERVALS_MAX {
            self.halve();
            index = (at_ns / self.interval_ns) as usize;
        }
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
    }

    fn halve(&mut self) {
        let merged = self.counts.chunks(2).map(|pair| pair.iter().sum()).collect::<Vec<u64>>();
        self.counts.clear();
        self.counts.extend(merged);
        self.interval_ns *= 2;
    }

    /// The counts as they are kept in a record.
    pub(crate) fn into_counts(self) -> ReplyCounts {
        ReplyCounts { interval_ns: self.interval_ns, counts: self.counts }
    }
}

/// Every phase's times in nanoseconds, while they are being counted.
#[derive(Default)]
pub(crate) struct PhaseHistograms {
    pub(crate) connection: Histogram,
    pub(crate) answered: Histogram,
    pub(crate) connection_from_connect: Histogram,
    pub(crate) connect: Histogram,
    pub(crate) reply: Histogram,
    pub(crate) response: Histogram,
    pub(crate) transfer: Histogram,
    pub(crate) lag: Histogram,
}

impl PhaseHistograms {
    /// The times as they are kept in a record.
    pub(crate) fn to_phases(&self) -> Phases {
        Phases {
            connection: Times::of(&self.connection),
            answered: Times::of(&self.answered),
            connection_from_connect: Times::of(&self.connection_from_connect),
            connect: Times::of(&self.connect),
            reply: Times::of(&self.reply),
            response: Times::of(&self.response),
            transfer: Times::of(&self.transfer),
            lag: Times::of(&self.lag),
        }
    }
}

/// What is counted during a step.
pub(crate) struct Meter {
    /// When the step began, on the monotonic clock.
    pub(crate) start_ns: u64,
    /// What needs no more than a number; until the end, its times are on the monotonic clock.
    pub(crate) step: Step,
    pub(crate) phases: PhaseHistograms,
    series: RateSeries,
    pub(crate) subsamples: SubsampleSeries,
}

/// When each phase of a request began, in nanoseconds of the monotonic clock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Timestamps {
    pub(crate) intended: u64,
    pub(crate) begun: u64,
    pub(crate) connected: u64,
    pub(crate) sent: u64,
    pub(crate) first_byte: u64,
    pub(crate) last_byte: u64,
    /// Whether a reply was an error, or not what was expected.
    pub(crate) refused: bool,
}

impl Meter {
    pub(crate) fn new(start_ns: u64, sampled: Sampled) -> Self {
        Self {
            start_ns,
            step: Step { last_start_ns: start_ns, last_reply_ns: start_ns, ..Step::default() },
            phases: PhaseHistograms::default(),
            series: RateSeries::new(),
            subsamples: SubsampleSeries::new(sampled),
        }
    }

    /// Counts a reply that came whole.
    #[inline]
    pub(crate) fn reply(&mut self, times: &Timestamps, status: u16) {
        self.step.replies += 1;
        self.step.last_reply_ns = times.last_byte;
        self.phases.response.record(times.first_byte.saturating_sub(times.sent));
        self.phases.transfer.record(times.last_byte - times.first_byte);
        let took_ns = times.last_byte.saturating_sub(times.sent);
        self.phases.reply.record(took_ns);
        self.subsamples.record(Sampled::Reply, took_ns);
        self.series.add(times.last_byte.saturating_sub(self.start_ns));
        let counts = &mut self.step.status;
        match status / 100 {
            2 => counts.success += 1,
            3 => counts.redirect += 1,
            4 => counts.client_error += 1,
            _ => counts.server_error += 1,
        }
    }

    /// Counts a connection that carried all that it should.
    #[inline]
    pub(crate) fn connection(&mut self, times: &Timestamps) {
        self.step.completed += 1;
        let took_ns = times.last_byte.saturating_sub(times.intended);
        self.phases.connection.record(took_ns);
        self.subsamples.record(Sampled::Connection, took_ns);
        if !times.refused {
            self.phases.answered.record(took_ns);
        }
        self.phases.connection_from_connect.record(times.last_byte.saturating_sub(times.begun));
    }

    /// Counts what went wrong; `what` is asked for words only the first time.
    pub(crate) fn failure(&mut self, counter: Counter, what: impl FnOnce() -> String) {
        self.step.errors.total += 1;
        *counter(&mut self.step.errors) += 1;
        self.step.first_error.get_or_insert_with(what);
    }

    /// The step as it was counted, which ended then.
    pub(crate) fn into_step(self, end_ns: u64) -> Step {
        let since_start = |ns: u64| ns.saturating_sub(self.start_ns);
        Step {
            length_ns: since_start(end_ns).max(1),
            last_start_ns: since_start(self.step.last_start_ns),
            last_reply_ns: since_start(self.step.last_reply_ns),
            reply_counts: self.series.into_counts(),
            phases: self.phases.to_phases(),
            subsamples: self.subsamples.to_subsamples(),
            ..self.step
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_over_time_keep_their_number_however_long_it_gets() {
        let mut series = RateSeries::new();
        // 1000/s for 1000 s.
        (0..1_000_000_u64).for_each(|i| series.add(i * 1_000_000));
        let ReplyCounts { interval_ns, counts } = series.into_counts();
        assert!(counts.len() <= INTERVALS_MAX && counts.len() > INTERVALS_MAX / 4);
        assert_eq!(counts.iter().sum::<u64>(), 1_000_000);
        let in_a_full_one = interval_ns / 1_000_000;
        assert!(counts[..counts.len() - 1].iter().all(|count| *count == in_a_full_one));
    }

    #[test]
    fn each_phase_counts_from_where_it_should() {
        let mut meter = Meter::new(1000, Sampled::Connection);
        let times = Timestamps {
            intended: 1000,
            begun: 1010,
            connected: 1030,
            sent: 1035,
            first_byte: 1075,
            last_byte: 1175,
            refused: false,
        };
        meter.reply(&times, 204);
        meter.connection(&times);
        let phases = &meter.phases;
        let max = [
            &phases.connection,
            &phases.connection_from_connect,
            &phases.reply,
            &phases.response,
            &phases.transfer,
        ]
        .map(Histogram::max);
        assert_eq!(max, [175, 165, 140, 40, 100]);
        assert_eq!((meter.step.status.success, meter.step.last_reply_ns), (1, 1175));
    }

    #[test]
    fn a_refusal_is_no_answer() {
        let mut meter = Meter::new(0, Sampled::Connection);
        let answered = Timestamps { last_byte: 900, ..Timestamps::default() };
        meter.connection(&answered);
        meter.connection(&Timestamps { last_byte: 5, refused: true, ..Timestamps::default() });
        assert_eq!((meter.phases.connection.count(), meter.phases.answered.count()), (2, 1));
        assert_eq!(meter.phases.answered.max(), 900);
    }
}
