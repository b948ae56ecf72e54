//! The loop under the clock: one slice's records, each appended, timed and synced as
//! the slice wants it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::slice_timer::SliceTimer;
use engine::study::StudyError;
use host::clock::Clock;
use stats::Histogram;

use super::append::{Append, Taken};
use super::work::Work;

/// Sleeping wakes late by this much at the most, ordinarily; the rest is spun.
const SPIN: Duration = Duration::from_micros(100);

/// Appends all records. Implemented for each strategy, so that each is compiled into a
/// loop of its own: a record costs some 300 ns, and may not wait for an indirect call.
pub(crate) trait AppendAll: Append {
    /// One straight after the other, or each at its time. How many were taken.
    fn append_all(
        &mut self,
        round: &mut Round,
        timer: &mut SliceTimer,
        acks: Option<&AtomicU64>,
    ) -> Result<u64, StudyError>;
}

impl<A: Append> AppendAll for A {
    fn append_all(
        &mut self,
        round: &mut Round,
        timer: &mut SliceTimer,
        acks: Option<&AtomicU64>,
    ) -> Result<u64, StudyError> {
        if round.pace_ticks > 0.0 {
            round.at_a_pace(self, timer, acks)
        } else {
            round.at_full_speed(self, timer, acks)
        }
    }
}

/// One slice's loop, and what it keeps between records.
pub(crate) struct Round {
    records: u64,
    syncs: Syncs,
    pace_ticks: f64,
    first: u64,
    /// Of operations that come at a rate: from when they really began.
    pub(super) service: Histogram,
}

impl Round {
    pub(super) fn new(work: &Work, timer: &SliceTimer) -> Self {
        let tick_ns = timer.clock().tick_ns();
        Self {
            records: work.records,
            syncs: Syncs::new(work, timer),
            pace_ticks: work.pace_ns / tick_ns,
            first: timer.last_ticks() + (work.pace_first_ns / tick_ns) as u64,
            service: Histogram::new(),
        }
    }

    fn at_full_speed(
        &mut self,
        append: &mut impl Append,
        timer: &mut SliceTimer,
        acks: Option<&AtomicU64>,
    ) -> Result<u64, StudyError> {
        let mut next = 0;
        if acks.is_none() && self.syncs.are_never() {
            // What most runs time: nothing but the append and the reading.
            for _ in 0..self.records {
                next += u64::from(append.append(next as usize, timer)? != Taken::Dropped);
                timer.lap();
                timer.check_stop()?;
            }
            return Ok(next);
        }
        for _ in 0..self.records {
            next += self.one(next, append, timer, acks)?;
            timer.lap();
            timer.check_stop()?;
        }
        Ok(next)
    }

    fn at_a_pace(
        &mut self,
        append: &mut dyn Append,
        timer: &mut SliceTimer,
        acks: Option<&AtomicU64>,
    ) -> Result<u64, StudyError> {
        let mut next = 0;
        for attempt in 0..self.records {
            let intended = self.first + (attempt as f64 * self.pace_ticks) as u64;
            let began = wait_until(intended, timer.clock());
            next += self.one(next, append, timer, acks)?;
            timer.lap_from(intended);
            self.service.record(timer.last_ticks().saturating_sub(began));
            timer.check_stop()?;
        }
        Ok(next)
    }

    /// Appends one record, with the sync that is due after it. How many were taken.
    #[inline]
    fn one(
        &mut self,
        index: u64,
        append: &mut (impl Append + ?Sized),
        timer: &mut SliceTimer,
        acks: Option<&AtomicU64>,
    ) -> Result<u64, StudyError> {
        let taken = append.append(index as usize, timer)?;
        let synced = self.syncs.are_due(timer);
        if synced {
            timer.sync(|| append.sync())?;
        }
        if let Some(acks) = acks.filter(|_| taken == Taken::Acknowledged || synced) {
            acks.store(index + 1, Ordering::Relaxed);
        }
        Ok(u64::from(taken != Taken::Dropped))
    }
}

/// When the next sync is due.
struct Syncs {
    interval_records: u64,
    until: u64,
    interval_ticks: u64,
    next_ticks: u64,
}

impl Syncs {
    fn new(work: &Work, timer: &SliceTimer) -> Self {
        let ticks = |ns: u64| (ns as f64 / timer.clock().tick_ns()) as u64;
        let interval_records = if work.sync_records == 0 { u64::MAX } else { work.sync_records };
        let interval_ticks = ticks(work.sync_interval_ns);
        let next_ticks = match interval_ticks {
            0 => u64::MAX,
            _ => timer.last_ticks() + ticks(work.sync_first_ns),
        };
        Self { interval_records, until: interval_records, interval_ticks, next_ticks }
    }

    fn are_never(&self) -> bool {
        self.interval_records == u64::MAX && self.interval_ticks == 0
    }

    #[inline]
    fn are_due(&mut self, timer: &SliceTimer) -> bool {
        self.until -= 1;
        if self.until == 0 {
            self.until = self.interval_records;
            return true;
        }
        // The last operation's end is near enough, and costs no reading.
        let now = timer.last_ticks();
        let due = now >= self.next_ticks;
        if due {
            self.next_ticks = now + self.interval_ticks;
        }
        due
    }
}

/// Sleeps, then spins, until a moment; when it really was.
fn wait_until(intended: u64, clock: &Clock) -> u64 {
    loop {
        let now = clock.ticks();
        if now >= intended {
            return now;
        }
        let left = clock.between(now, intended);
        if left > SPIN {
            std::thread::sleep(left.saturating_sub(SPIN));
        }
    }
}
