//! Where a transaction's time goes, as the store tells it.
//!
//! Each part is timed by the run's clock in every transaction. Processor time is asked from the
//! kernel, some 0.2 µs each time, and so of every eighth transaction alone.

use host::clock::{Clock, thread_cpu_ns};
use journal::{Observer, Part};

/// How many parts there are, those that belong to no transaction aside.
pub(super) const COUNT: usize = 9;
/// One transaction of so many has its processor time measured.
const SAMPLED: u64 = 8;

/// A time for each part, and one for what is outside of transactions.
type Times = [u64; COUNT + 1];

/// What the parts of a slice's transactions took.
pub(super) struct Parts {
    clock: Clock,
    part: usize,
    since: u64,
    ticks: Times,
    /// Whether the present transaction's processor time is measured.
    is_sampled: bool,
    cpu_since_ns: u64,
    cpu_ns: Times,
    sampled: u64,
}

impl Parts {
    /// From a reading of the clock on.
    pub(super) fn new(clock: Clock, since: u64) -> Self {
        Self {
            clock,
            part: COUNT,
            since,
            ticks: Times::default(),
            is_sampled: false,
            cpu_since_ns: 0,
            cpu_ns: Times::default(),
            sampled: 0,
        }
    }

    /// Another transaction begins, which has this place in its slice, and that its place
    /// among the slices.
    pub(super) fn begin(&mut self, transaction: u64, slice: u64, transactions: u64) {
        // Of a short slice one is measured, in each slice another.
        let every = SAMPLED.min(transactions);
        self.is_sampled = transaction % every == slice % every;
        if self.is_sampled {
            self.sampled += 1;
            self.cpu_since_ns = thread_cpu_ns();
        }
    }

    /// What a part took, in ticks.
    pub(super) fn of(&self, part: Part) -> u64 {
        self.ticks[place(part)]
    }

    /// What all parts took.
    pub(super) fn ticks(&self) -> &[u64] {
        &self.ticks[..COUNT]
    }

    /// The processor time in them, for so many transactions: that of those that were measured,
    /// as if the others were like them.
    pub(super) fn cpu_ns(&self, transactions: u64) -> impl Iterator<Item = f64> {
        let scale = transactions as f64 / self.sampled.max(1) as f64;
        self.cpu_ns[..COUNT].iter().map(move |ns| *ns as f64 * scale)
    }
}

impl Observer for Parts {
    fn enter(&mut self, part: Part) {
        let now = self.clock.ticks();
        self.ticks[self.part] += now.saturating_sub(self.since);
        if self.is_sampled {
            let cpu_ns = thread_cpu_ns();
            self.cpu_ns[self.part] += cpu_ns.saturating_sub(self.cpu_since_ns);
            self.cpu_since_ns = cpu_ns;
        }
        (self.part, self.since) = (place(part), now);
    }
}

/// A part's place among the figures.
fn place(part: Part) -> usize {
    match part {
        Part::Tree => 0,
        Part::Copy => 1,
        Part::Difference => 2,
        Part::Compression => 3,
        Part::Checksum => 4,
        Part::Segment => 5,
        Part::Write => 6,
        Part::Sync => 7,
        Part::Checkpoint => 8,
        _ => COUNT,
    }
}

/// What replaying the journal took.
pub(super) struct Recovering {
    clock: Clock,
    /// Since when it goes on.
    since: Option<u64>,
    ticks: u64,
}

impl Recovering {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, since: None, ticks: 0 }
    }

    pub(super) fn ns(&self) -> f64 {
        self.ticks as f64 * self.clock.tick_ns()
    }
}

impl Observer for Recovering {
    fn enter(&mut self, part: Part) {
        let now = self.clock.ticks();
        self.ticks += self.since.map_or(0, |since| now.saturating_sub(since));
        self.since = (part == Part::Recovery).then_some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_belongs_to_the_part_that_was_entered_last() {
        let clock = Clock::simulated(0);
        let mut parts = Parts::new(clock.clone(), clock.ticks());
        let mut spend = |part, ns| {
            parts.enter(part);
            clock.advance(ns);
        };
        for (part, ns) in [
            (Part::Outside, 1000),
            (Part::Tree, 30),
            (Part::Difference, 20),
            (Part::Checksum, 5),
            (Part::Write, 7),
            (Part::Tree, 3),
            (Part::Checkpoint, 100),
            (Part::Outside, 2000),
        ] {
            spend(part, ns);
        }
        assert_eq!(parts.ticks(), [33, 0, 20, 0, 5, 0, 7, 0, 100]);
    }

    #[test]
    fn one_transaction_of_eight_is_measured_and_one_at_least() {
        let measured = |slice, transactions: u64| -> Vec<u64> {
            let mut parts = Parts::new(Clock::simulated(0), 0);
            let all = 0..transactions;
            all.filter(|transaction| {
                parts.begin(*transaction, slice, transactions);
                parts.is_sampled
            })
            .collect()
        };
        assert_eq!(measured(0, 20), [0, 8, 16]);
        assert_eq!(measured(11, 20), [3, 11, 19]);
        assert_eq!((measured(0, 3), measured(4, 3)), (vec![0], vec![1]));
        assert_eq!(measured(9, 1), [0]);
    }

    #[test]
    fn processor_time_of_all_is_told_by_those_that_were_measured() {
        let mut parts = Parts::new(Clock::simulated(0), 0);
        (parts.sampled, parts.cpu_ns[0]) = (3, 60);
        assert!((parts.cpu_ns(20).next().unwrap_or_default() - 400.0).abs() < 1e-9);
    }

    #[test]
    fn only_replaying_counts_as_recovery() {
        let clock = Clock::simulated(0);
        let mut recovering = Recovering::new(clock.clone());
        for (part, ns) in
            [(Part::Load, 9), (Part::Recovery, 40), (Part::Load, 7), (Part::Outside, 3)]
        {
            recovering.enter(part);
            clock.advance(ns);
        }
        assert!((recovering.ns() - 40.0).abs() < 1e-9);
    }
}
