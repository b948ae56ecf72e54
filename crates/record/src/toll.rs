//! What recording costs on this machine, found out before it begins.
//!
//! A process of ours makes the same two small calls many times, bare and recorded, and says how
//! long each took by its own clock. What the calls took according to the recorder says how much of
//! the cost falls within their recorded time, and how much into the program's own. One of them
//! names a file: writing a name down costs more than writing down the rest.

use std::ffi::OsStr;
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::time::Instant;

use rustix::fs::{Access, MemfdFlags, access, memfd_create};
use trace::{Header, NamedToll, TollNs};

use crate::seen::{Event, Seen, Sink};

/// The call that is timed writes so much: a line of a log.
const CALL_BYTES: usize = 70;
/// The call that is timed beside it asks for this, whose name is about as long as most are.
const NAMED: &str = "/proc/self/task/../../self/task/../fd";
/// So many rounds are timed each time: short ones, most of which nothing interrupts.
const ROUNDS: usize = 120;

/// What each call costs, by mechanism and machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Toll {
    /// One that names nothing.
    plain: Part,
    /// One that names a file.
    named: Part,
}

/// What a call of a kind costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Part {
    /// How much longer the program takes.
    whole: TollNs,
    /// The part that falls within the recorded time of the call.
    within: TollNs,
}

impl Toll {
    /// Writes it down where a trace begins.
    pub(crate) fn put(self, header: &mut Header) {
        let Self { plain, named } = self;
        (header.toll_ns, header.toll_within_ns) = (plain.whole, plain.within);
        header.named = Some(NamedToll { toll_ns: named.whole, toll_within_ns: named.within });
    }
}

/// How long a call takes that names nothing, and one that names a file, in nanoseconds.
pub(crate) type Round = [u64; 2];

/// What the process does that is timed, and what it says on standard output: rounds of calls of
/// both kinds, and how long a call took, in a line for each round.
pub fn time_calls(calls: u32) -> io::Result<String> {
    let line = |[plain, named]: Round| format!("{plain} {named}\n");
    Ok(time_rounds(calls)?.into_iter().map(line).collect())
}

fn time_rounds(calls: u32) -> io::Result<Vec<Round>> {
    let file = File::from(memfd_create("iotoll", MemfdFlags::CLOEXEC)?);
    let line = [b'x'; CALL_BYTES];
    let write = || file.write_all_at(black_box(&line), 0);
    let ask = || access(black_box(NAMED), Access::EXISTS).map_err(io::Error::from);
    // The first round is for warming up.
    let rounds = (0..=ROUNDS).map(|_| Ok([timed(calls, write)?, timed(calls, ask)?]));
    let mut rounds = rounds.collect::<io::Result<Vec<_>>>()?;
    rounds.remove(0);
    Ok(rounds)
}

fn timed(calls: u32, call: impl Fn() -> io::Result<()>) -> io::Result<u64> {
    let began = Instant::now();
    for _ in 0..calls {
        call()?;
    }
    Ok(began.elapsed().as_nanos() as u64 / u64::from(calls.max(1)))
}

/// What the process said.
pub(crate) fn read_rounds(text: &str) -> Vec<Round> {
    let round = |line: &str| {
        let (plain, named) = line.trim().split_once(' ')?;
        Some([plain.parse().ok()?, named.parse().ok()?])
    };
    text.lines().filter_map(round).collect()
}

/// Collects how long the calls took according to the recorder.
#[derive(Default)]
pub(crate) struct Took {
    plain: Vec<u64>,
    named: Vec<u64>,
}

impl Sink for Took {
    fn see(&mut self, event: &Event<'_>) -> io::Result<()> {
        let Event::Called(seen) = event else { return Ok(()) };
        let took_ns = |seen: &Seen<'_>| seen.ended_ns.saturating_sub(seen.began_ns);
        if i64::from(seen.number) == libc::SYS_pwrite64 {
            self.plain.push(took_ns(seen));
        } else if seen.path.is_some_and(|path| OsStr::from_bytes(path) == NAMED) {
            self.named.push(took_ns(seen));
        }
        Ok(())
    }

    fn idle(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Took {
    /// The toll, of rounds without a recorder and with it; nothing where there are none.
    pub(crate) fn toll(self, bare: &[Round], recorded: &[Round]) -> Option<Toll> {
        let part = |took: &[u64], kind: usize| {
            let of = |rounds: &[Round]| {
                Middle::of(&rounds.iter().map(|round| round[kind]).collect::<Vec<_>>())
            };
            let bare = of(bare)?;
            let (whole, within) = (of(recorded)?.beyond(bare), Middle::of(took)?.beyond(bare));
            // Being recorded makes nothing faster.
            let whole = TollNs { low: whole.low.max(0), high: whole.high.max(0) };
            Some(Part { whole, within })
        };
        Some(Toll { plain: part(&self.plain, 0)?, named: part(&self.named, 1)? })
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
            low: self.low.cast_signed() - other.high.cast_signed(),
            high: self.high.cast_signed() - other.low.cast_signed(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Rounds in which calls of both kinds took as long.
    fn rounds(took: &[u64]) -> Vec<Round> {
        took.iter().map(|took| [*took, 2 * took]).collect()
    }

    fn took(plain: &[u64]) -> Took {
        Took { plain: plain.to_vec(), named: plain.iter().map(|took| 2 * took).collect() }
    }

    #[test]
    fn a_toll_is_between_the_nearest_and_the_farthest_of_both_middles() {
        let bare = rounds(&[300, 310, 290, 320, 280]);
        let recorded = rounds(&[700, 720, 5_000, 710, 690]);
        let toll = took(&[520, 500, 510, 530, 9_000]).toll(&bare, &recorded).unwrap();
        assert_eq!(toll.plain.whole, TollNs { low: 390, high: 430 });
        assert_eq!(toll.plain.within, TollNs { low: 200, high: 240 });
        assert_eq!(toll.named.whole, TollNs { low: 780, high: 860 });
        assert_eq!(toll.named.within, TollNs { low: 400, high: 480 });
    }

    /// Fails where time that is spent in entering and leaving the kernel is lost: it is part of
    /// what a call takes, and is seen neither within the call nor between two.
    #[test]
    fn calls_that_seem_shorter_than_they_are_have_less_than_nothing_of_the_toll() {
        let toll = took(&[200; 5]).toll(&rounds(&[300; 5]), &rounds(&[700; 5])).unwrap();
        assert_eq!(toll.plain.within, TollNs { low: -100, high: -100 });
    }

    #[test]
    fn without_figures_there_is_no_toll() {
        assert_eq!(Took::default().toll(&[[1; 2]], &[[1; 2]]), None);
        assert_eq!(took(&[1]).toll(&[], &[]), None);
        let faster = took(&[1]).toll(&[[5; 2]], &[[3; 2]]).unwrap();
        assert_eq!(faster.plain.whole, TollNs { low: 0, high: 0 });
    }

    #[test]
    fn calls_are_timed_in_rounds() {
        let rounds = read_rounds(&time_calls(3).unwrap());
        assert_eq!(rounds.len(), ROUNDS);
        assert!(rounds.iter().flatten().all(|took| *took > 0));
    }
}
