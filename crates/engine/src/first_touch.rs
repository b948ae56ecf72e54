//! What touching memory for the first time takes, asked now and then while a run lasts: a host may
//! take back what this machine had used and freed.

use std::time::{Duration, Instant};

use host::touch::first_touch_more_ns;
use model::counters::Level;

/// Asking takes some 25 ms, and stretches may be as short.
const EVERY: Duration = Duration::from_secs(1);

/// What it takes.
#[derive(Default)]
pub(crate) struct FirstTouch {
    /// What touching a page again took before the run.
    again_ns: Option<f64>,
    /// When it was asked last, and what was found.
    last: Option<(Instant, Option<Level>)>,
}

impl FirstTouch {
    /// Of a run before which touching a page again took so long.
    pub(crate) fn beyond(again_ns: Option<f64>) -> Self {
        Self { again_ns, last: None }
    }

    /// Asks, unless that was done just before.
    pub(crate) fn ask(&mut self) {
        if self.last.is_some_and(|(at, _)| at.elapsed() < EVERY) {
            return;
        }
        let found = self.again_ns.zip(first_touch_more_ns().ok());
        let found = found.map(|(again_ns, more_ns)| Level((again_ns + more_ns) as u64));
        self.last = Some((Instant::now(), found));
    }

    /// What was found, in nanoseconds per page.
    pub(crate) fn ns(&self) -> Option<Level> {
        self.last.and_then(|(_, found)| found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_where_it_can_be_compared_and_not_twice_within_a_second() {
        let mut unknown = FirstTouch::default();
        unknown.ask();
        assert_eq!(unknown.ns(), None);
        let mut known = FirstTouch::beyond(Some(100.0));
        known.ask();
        let found = known.ns();
        assert!(found.is_some_and(|Level(ns)| ns >= 100), "{found:?}");
        known.again_ns = None;
        known.ask();
        assert_eq!(known.ns(), found);
        known.last = known.last.and_then(|(at, found)| Some((at.checked_sub(EVERY)?, found)));
        known.ask();
        assert_eq!(known.ns(), None);
    }
}
