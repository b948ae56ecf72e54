//! The interval in which the highest rate lies, and which rate to try next.
//!
//! Where there is a rate from the last time, the highest is most likely a few
//! percent away from it, so that small steps enclose it at once. A guess that is
//! far too low is outgrown, since the steps grow. One that is far too high is
//! given up, because every try beyond what the server can do takes long and
//! leaves it a queue.

use super::effort::Parameters;

/// No server is faster than this by one core's client.
pub(super) const RATE_MAX: f64 = 1e6;

/// Where a search begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    rate: f64,
    /// The first step away from it; each next one is the square of the one
    /// before …
    step: f64,
    /// … up to this, for what a much too high rate leaves in the server's queue
    /// spoils the tries that follow.
    step_max: f64,
    /// The lowest rate tried, as a share of it.
    lowest_share: f64,
    /// Whether nothing is found when nothing is found from here, so that the
    /// lowest rate gets a recheck as well.
    is_last: bool,
}

impl Start {
    /// At what closed loops did.
    pub(super) fn at_capacity(rate: f64) -> Self {
        Self { rate, step: 1.15, step_max: 3.0, lowest_share: 0.05, is_last: true }
    }

    /// At what was found the last time. One step, halved once, is as precise
    /// as a quick search has to be.
    pub(super) fn at_last_found(rate: f64) -> Self {
        Self { rate, step: 1.07, step_max: 3.0, lowest_share: 0.5, is_last: false }
    }

    /// The same from up to half a step above or below, as `phase` says (0 to 1): the rates
    /// tried lie on a grid, and where each search begins on the one before's, its rounding
    /// would repeat from search to search. With a random phase it is noise.
    pub(super) fn dithered(self, phase: f64) -> Self {
        Self { rate: self.rate * self.step.powf(phase - 0.5), ..self }
    }

    /// Where any server can follow, doubling from there: what is loaded may
    /// have other users, and is not to be flooded to find out what it can do.
    pub(super) fn low() -> Self {
        Self { rate: 50.0, step: 2.0, step_max: 2.0, lowest_share: 1.0, is_last: true }
    }
}

/// Why a rate was not held, and what of it was the client's.
pub(super) type Limit = (String, Option<String>);

/// What is known of the rate that is searched for.
pub(super) struct Interval {
    start: Start,
    step: f64,
    precision: f64,
    /// The highest rate held.
    pub(super) low: Option<f64>,
    /// The rates not held, each lower than the one before.
    pub(super) not_held: Vec<(f64, Limit)>,
    rechecks: u32,
    /// The last rate that got a recheck.
    rechecked: Option<f64>,
}

impl Interval {
    pub(super) fn new(start: Start, parameters: &Parameters) -> Self {
        Self {
            start: Start { rate: start.rate.min(RATE_MAX), ..start },
            step: start.step,
            precision: parameters.precision,
            low: None,
            not_held: Vec::new(),
            rechecks: parameters.rechecks,
            rechecked: None,
        }
    }

    /// The rate to try next; `None` when the search is over.
    pub(super) fn next_rate(&mut self) -> Option<f64> {
        let lowest = self.start.rate * self.start.lowest_share;
        match (self.low, self.not_held.last().map(|(high, _)| *high)) {
            (None, None) => Some(self.start.rate),
            (Some(low), None) if low >= RATE_MAX => None,
            (Some(low), None) => Some((low * self.take_step()).min(RATE_MAX)),
            (None, Some(high)) if high > lowest => Some((high / self.take_step()).max(lowest)),
            (None, Some(high)) => self.start.is_last.then(|| self.recheck(high)).flatten(),
            (Some(low), Some(high)) if high / low > 1.0 + self.precision => {
                Some((low * high).sqrt())
            }
            (Some(_), Some(high)) => self.recheck(high),
        }
    }

    /// The middle of the interval, on a logarithmic scale; its lower end where it has no
    /// upper one.
    pub(super) fn estimate(&self) -> Option<f64> {
        let low = self.low?;
        Some(self.not_held.last().map_or(low, |(high, _)| (low * high).sqrt()))
    }

    /// The step, of which the next is the square, up to a bound.
    fn take_step(&mut self) -> f64 {
        let this = self.step;
        self.step = (this * this).min(self.start.step_max);
        this
    }

    /// The lowest rate that was not held, unless it has had its recheck.
    fn recheck(&mut self, high: f64) -> Option<f64> {
        if self.rechecked == Some(high) {
            return None;
        }
        self.rechecks = self.rechecks.checked_sub(1)?;
        self.rechecked = Some(high);
        self.rechecked
    }

    pub(super) fn held(&mut self, rate: f64) {
        self.low = Some(rate);
        if self.not_held.pop_if(|(high, _)| rate >= *high).is_some() {
            self.step = self.start.step;
        }
    }
}
