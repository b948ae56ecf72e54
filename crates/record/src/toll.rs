//! What recording costs on this machine, found out before it begins.
//!
//! A process of ours makes the same small call many times, bare and recorded, and says how long
//! each took by its own clock. What the calls took according to the recorder says how much of
//! the cost falls within their recorded time, and how much into the program's own.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::time::Instant;

use rustix::fs::{MemfdFlags, memfd_create};
use trace::TollNs;

use crate::seen::{Event, Sink};

/// The call that is timed writes so much: a line of a log.
const CALL_BYTES: usize = 70;
/// So many rounds are timed each time: short ones, most of which nothing interrupts.
const ROUNDS: usize = 120;

/// What each call costs, by mechanism and machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Toll {
    /// How much longer the program takes.
    pub whole: TollNs,
    /// The part that falls within the recorded time of the call.
    pub within: TollNs,
}

/// What the process does that is timed: rounds of calls. Says on standard output how many
/// nanoseconds a call took, in a line for each round.
pub fn time_calls(calls: u32) -> io::Result<Vec<u64>> {
    let file = File::from(memfd_create("iotoll", MemfdFlags::CLOEXEC)?);
    let line = [b'x'; CALL_BYTES];
    // The first round is for warming up.
    let rounds = (0..=ROUNDS).map(|_| {
        let began = Instant::now();
        for _ in 0..calls {
            file.write_all_at(black_box(&line), 0)?;
        }
        Ok(began.elapsed().as_nanos() as u64 / u64::from(calls.max(1)))
    });
    let mut rounds = rounds.collect::<io::Result<Vec<_>>>()?;
    rounds.remove(0);
    Ok(rounds)
}

/// What the process said.
pub(crate) fn read_rounds(text: &str) -> Vec<u64> {
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

/// Collects how long the calls took according to the recorder.
#[derive(Default)]
pub(crate) struct Took(Vec<u64>);

impl Sink for Took {
    fn see(&mut self, event: &Event<'_>) -> io::Result<()> {
        if let Event::Called(seen) = event
            && i64::from(seen.number) == libc::SYS_pwrite64
        {
            self.0.push(seen.ended_ns.saturating_sub(seen.began_ns));
        }
        Ok(())
    }

    fn idle(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Took {
    /// The toll, of rounds without a recorder and with it; nothing where there are none.
    pub(crate) fn toll(self, bare: &[u64], recorded: &[u64]) -> Option<Toll> {
        let bare = Middle::of(bare)?;
        let within = Middle::of(&self.0)?.beyond(bare);
        Some(Toll { whole: Middle::of(recorded)?.beyond(bare), within })
    }
}

/// The middle half of some values.
#[derive(Clone, Copy)]
struct Middle {
    low: u64,
    high: u64,
}

impl Middle {
    fn of(values: &[u64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        Some(Self { low: sorted[last / 4], high: sorted[last - last / 4] })
    }

    fn beyond(self, other: Self) -> TollNs {
        TollNs {
            low: self.low.saturating_sub(other.high),
            high: self.high.saturating_sub(other.low),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_toll_is_between_the_nearest_and_the_farthest_of_both_middles() {
        let took = Took(vec![520, 500, 510, 530, 9_000]);
        let toll = took.toll(&[300, 310, 290, 320, 280], &[700, 720, 5_000, 710, 690]).unwrap();
        assert_eq!(toll.whole, TollNs { low: 390, high: 430 });
        assert_eq!(toll.within, TollNs { low: 200, high: 240 });
    }

    #[test]
    fn without_figures_there_is_no_toll() {
        assert_eq!(Took::default().toll(&[1], &[1]), None);
        assert_eq!(Took(vec![1]).toll(&[], &[]), None);
        assert_eq!(Took(vec![1]).toll(&[5], &[3]).unwrap().whole, TollNs { low: 0, high: 0 });
    }

    #[test]
    fn calls_are_timed_in_rounds() {
        let rounds = time_calls(3).unwrap();
        assert_eq!(rounds.len(), ROUNDS);
        let text: String = rounds.iter().map(|round| format!("{round}\n")).collect();
        assert_eq!(read_rounds(&text), rounds);
    }
}
