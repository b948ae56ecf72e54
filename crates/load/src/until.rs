//! When a step ends by itself: its percentiles are known as closely as was asked.
//!
//! A load that is looked at again and again until an interval is narrow stops where chance made
//! it so. The looks are therefore few and fixed beforehand, and each has a part of the error
//! rate (`stats::LOOK_SHARE`).

use crate::{
    Plan, Reuse, Steps,
    analyse::{are_narrow, intervals},
    subsamples::SubsampleSeries,
};
use model::load::{Sampled, Until};
use stats::{LOOKS, look_after};

/// The smallest half-width that can be asked for: times are counted within 1%.
pub const HALF_WIDTH_MIN: f64 = 0.01;
/// The largest: beyond it an interval says next to nothing.
pub const HALF_WIDTH_MAX: f64 = 0.5;
/// How many seconds a step lasts at most where its connections are not given.
pub(crate) const LONGEST_S: f64 = 100.0;

/// The time that percentiles have intervals for.
pub(crate) fn sampled(reuse: Reuse) -> Sampled {
    match reuse {
        Reuse::Never | Reuse::Requests(1) => Sampled::Connection,
        Reuse::Requests(_) | Reuse::Always => Sampled::Reply,
    }
}

/// How a step of so many connections (or requests, in a closed loop) ends by itself.
pub(crate) fn until(plan: &Plan, goal: u64) -> Option<Until> {
    let half_width = plan.until?;
    let most = match (&plan.steps, plan.reuse) {
        // A search looks for something else.
        (Steps::MaxRate { .. }, _) => return None,
        (Steps::Rates { .. }, Reuse::Requests(each)) => goal.saturating_mul(each),
        _ => goal,
    };
    Some(Until { half_width, most })
}

/// The looks of a step that are still to come.
pub(crate) struct Looks {
    until: Until,
    next: u32,
}

impl Looks {
    pub(crate) fn new(until: Until) -> Self {
        Self { until, next: 0 }
    }

    /// Whether it is time for a look that finds them known closely enough. The last one comes
    /// when the step has ended anyway.
    pub(crate) fn end_step(&mut self, series: &SubsampleSeries) -> bool {
        if self.next + 1 >= LOOKS || series.count() < look_after(self.until.most, self.next) {
            return false;
        }
        self.next += 1;
        let seen = intervals(&series.to_subsamples(), true);
        are_narrow(seen.as_ref(), self.until.half_width)
    }
}

/// How many connections were open after so many had been started. Which look ends a step is
/// not known beforehand, and with it where its middle is.
#[derive(Default)]
pub(crate) struct OpenCounts {
    noted: Vec<(u64, u64)>,
    next: u64,
}

impl OpenCounts {
    /// Notes it, each time that a sixteenth more have been started.
    #[inline]
    pub(crate) fn note(&mut self, started: u64, open: u64) {
        if started >= self.next {
            self.noted.push((started, open));
            self.next = started + started.div_ceil(16);
        }
    }

    /// How many were open after so many starts, or shortly before.
    pub(crate) fn after(&self, started: u64) -> u64 {
        let before = self.noted.iter().rev().find(|(at, _)| *at <= started);
        before.map_or(0, |(_, open)| *open)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Target;

    #[test]
    fn a_step_that_ends_by_itself_is_looked_at_at_fixed_times_alone() {
        let until = Until { half_width: 0.02, most: 16_000 };
        let (mut looks, mut series) = (Looks::new(until), SubsampleSeries::new(Sampled::Reply));
        let mut looked_at = Vec::new();
        let mut ended = None;
        for count in 1..=16_000 {
            series.record(Sampled::Reply, 1_000_000 + count % 7);
            let before = looks.next;
            if looks.end_step(&series) {
                ended.get_or_insert(count);
            }
            if looks.next > before {
                looked_at.push(count);
            }
        }
        assert_eq!(looked_at, [1000, 1415, 2000, 2829, 4000, 5657, 8000, 11_314]);
        // With fewer, too few are slower than the 99th percentile.
        assert_eq!(ended, Some(8000 + 3314));
    }

    #[test]
    fn as_many_times_are_expected_as_requests() {
        let mut plan = Plan::new(
            Target::parse("http://127.0.0.1/").unwrap(),
            Steps::Rates { rates: vec![1.0], connections: None },
        );
        assert_eq!(until(&plan, 100), None);
        plan.until = Some(0.05);
        let most = |plan: &Plan| until(plan, 100).map(|until| until.most);
        assert_eq!((most(&plan), sampled(plan.reuse)), (Some(100), Sampled::Connection));
        plan.reuse = Reuse::Requests(10);
        assert_eq!((most(&plan), sampled(plan.reuse)), (Some(1000), Sampled::Reply));
        plan.steps = Steps::Closed { concurrency: 2, requests: 100 };
        assert_eq!(most(&plan), Some(100));
        plan.steps = Steps::MaxRate { connections: None };
        assert_eq!(most(&plan), None);
    }

    #[test]
    fn open_connections_are_known_near_any_middle() {
        let mut counts = OpenCounts::default();
        (1..=10_000).for_each(|started| counts.note(started, started));
        for middle in [1, 10, 100, 1000, 4999] {
            let found = counts.after(middle);
            assert!(found <= middle && found * 16 + 16 >= middle * 15, "{middle}: {found}");
        }
        assert_eq!(OpenCounts::default().after(5), 0);
    }
}
