//! The price of touching memory for the first time, measured again during a run: a host may take
//! back memory that this machine had used and freed.

use std::time::{Duration, Instant};

use host::touch::first_touch_more_ns;
use model::counters::Level;

/// A measurement takes some 25 ms, and stretches may be as short.
const EVERY: Duration = Duration::from_secs(1);

/// The price of a first touch.
#[derive(Default)]
pub(crate) struct FirstTouch {
    /// What touching a page again took before the run, in nanoseconds.
    again_ns: Option<f64>,
    /// When it was measured last, and the price in nanoseconds per page.
    last: Option<(Instant, Option<Level>)>,
}

impl FirstTouch {
    /// Not measured yet, in a run before which touching a page again took `again_ns`.
    pub(crate) fn beyond(again_ns: Option<f64>) -> Self {
        Self { again_ns, last: None }
    }

    /// Measures it, at most once a second.
    pub(crate) fn measure(&mut self) {
        if self.last.is_some_and(|(at, _)| at.elapsed() < EVERY) {
            return;
        }
        let found = self.again_ns.zip(first_touch_more_ns().ok());
        let found = found.map(|(again_ns, more_ns)| Level((again_ns + more_ns) as u64));
        self.last = Some((Instant::now(), found));
    }

    /// The latest price, in nanoseconds per page.
    pub(crate) fn ns(&self) -> Option<Level> {
        self.last.and_then(|(_, found)| found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_measured_where_it_can_be_compared_and_not_twice_within_a_second() {
        let mut unknown = FirstTouch::default();
        unknown.measure();
        assert_eq!(unknown.ns(), None);
        let mut known = FirstTouch::beyond(Some(100.0));
        known.measure();
        let found = known.ns();
        assert!(found.is_some_and(|Level(ns)| ns >= 100), "{found:?}");
        known.again_ns = None;
        known.measure();
        assert_eq!(known.ns(), found);
        known.last = known.last.and_then(|(at, found)| Some((at.checked_sub(EVERY)?, found)));
        known.measure();
        assert_eq!(known.ns(), None);
    }
}
