//! What recording costs on this machine, found out before it begins.
//!
//! A process of ours makes the same small calls many times, bare and recorded, and says how long
//! each took by its own clock. It does so in turns, and each is held against the bare calls just
//! before and just after it: a machine is faster at one moment than at the next. What the calls
//! took according to the recorder says how much of the cost falls within their recorded time, and
//! how much into the program's own. One of them names a
//! file: writing a name down costs more than writing down the rest. Another one is not made through
//! the C library's function, which costs more where that is how calls are seen.
#![expect(unsafe_code, reason = "the C library is what is timed")]

use std::ffi::{CStr, CString};
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::time::Instant;

use rustix::fs::{MemfdFlags, memfd_create};
use trace::{Header, Mechanism, NamedOverhead, OverheadNs};

use crate::raw_call::{Event, RawCall, Sink};
use crate::timing::{CALL_BYTES, NAMED, ROUNDS};

/// What each call costs, by mechanism and machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// One that names nothing.
    plain: Part,
    /// One that names a file.
    named: Part,
    /// How much more one costs that the C library's function does not make.
    dispatched: OverheadNs,
}

/// What a call of a kind costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Part {
    /// How much longer the program takes.
    whole: OverheadNs,
    /// The part that falls within the recorded time of the call.
    within: OverheadNs,
}

impl Overhead {
    /// Writes it down where a trace begins.
    pub(crate) fn put(self, header: &mut Header) {
        let Self { plain, named, dispatched } = self;
        (header.overhead_ns, header.overhead_within_ns) = (plain.whole, plain.within);
        header.named =
            Some(NamedOverhead { overhead_ns: named.whole, overhead_within_ns: named.within });
        header.dispatch_ns = (header.mechanism == Mechanism::Preload).then_some(dispatched);
    }
}

/// How long a call takes that names nothing, one that names a file, and one that names nothing and
/// is made without the C library, in nanoseconds.
pub(crate) type Round = [u64; 3];

/// What the process does that is timed, and what it says on standard output: rounds of calls of
/// all kinds, and how long a call took, in a line for each round.
pub fn time_calls(calls: u32) -> io::Result<String> {
    let line = |[plain, named, bare]: Round| format!("{plain} {named} {bare}\n");
    Ok(time_rounds(calls)?.into_iter().map(line).collect())
}

fn time_rounds(calls: u32) -> io::Result<Vec<Round>> {
    let file = File::from(memfd_create("iotoll", MemfdFlags::CLOEXEC)?);
    let line = [b'x'; CALL_BYTES];
    let write = || file.write_all_at(black_box(&line), 0);
    let named = CString::new(NAMED)?;
    let ask = || ask(&named);
    // Of rustix, which makes the system call itself.
    let by_itself =
        || rustix::io::pwrite(&file, black_box(&line), 0).map(drop).map_err(io::Error::from);
    // The first round is for warming up.
    let round = |_| Ok([timed(calls, write)?, timed(calls, ask)?, timed(calls, by_itself)?]);
    let rounds = (0..=ROUNDS).map(round);
    let mut rounds = rounds.collect::<io::Result<Vec<_>>>()?;
    rounds.remove(0);
    Ok(rounds)
}

/// Whether a file is there, by the C library's function.
fn ask(name: &CStr) -> io::Result<()> {
    // SAFETY: the name ends with a 0, and is only read.
    match unsafe { libc::access(black_box(name).as_ptr(), libc::F_OK) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
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
        let mut figures = line.split_whitespace().map(|figure| figure.parse().ok());
        Some([figures.next()??, figures.next()??, figures.next()??])
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
    fn on_event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let Event::Called(raw_call) = event else { return Ok(()) };
        let took_ns = |raw_call: &RawCall<'_>| raw_call.ended_ns.saturating_sub(raw_call.began_ns);
        if i64::from(raw_call.number) == libc::SYS_pwrite64 {
            self.plain.push(took_ns(raw_call));
        } else if raw_call.path.is_some_and(|path| path == NAMED.as_bytes()) {
            self.named.push(took_ns(raw_call));
        }
        Ok(())
    }

    fn idle(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Took {
    /// How long calls of each kind took, in the middle.
    fn middles(self) -> Option<[u64; 2]> {
        Some([middle(self.plain)?, middle(self.named)?])
    }
}

/// What turns of recorded calls cost, each beside what the same calls took without a recorder.
pub(crate) struct Turns {
    /// What the calls took that were timed last.
    bare: [u64; 3],
    /// What each turn found for [`Part::whole`], of either kind of call.
    whole: [Vec<i64>; 2],
    /// The same for [`Part::within`].
    within: [Vec<i64>; 2],
    dispatched: Vec<i64>,
}

impl Turns {
    /// Before the first; nothing where no round was told of.
    pub(crate) fn after(bare: &[Round]) -> Option<Self> {
        let [whole, within] = Default::default();
        Some(Self { bare: middles(bare)?, whole, within, dispatched: Vec::new() })
    }

    /// Adds a turn: rounds that were recorded, what the recorder saw of them, and rounds without
    /// it that came next. Nothing where one of them is missing.
    pub(crate) fn add(&mut self, recorded: &[Round], took: Took, bare: &[Round]) -> Option<()> {
        let after = middles(bare)?;
        let before = std::mem::replace(&mut self.bare, after);
        let bare = [0, 1, 2].map(|kind| before[kind].midpoint(after[kind]));
        let (recorded, took) = (middles(recorded)?, took.middles()?);
        let beyond = |took: u64, bare: u64| took.cast_signed() - bare.cast_signed();
        for kind in 0..2 {
            self.whole[kind].push(beyond(recorded[kind], bare[kind]));
            self.within[kind].push(beyond(took[kind], bare[kind]));
        }
        let by_itself = |[plain, _, by_itself]: [u64; 3]| beyond(by_itself, plain);
        self.dispatched.push(by_itself(recorded) - by_itself(bare));
        Some(())
    }

    /// The toll: what it was in the middle half of the turns.
    pub(crate) fn overhead(self) -> Option<Overhead> {
        // Being recorded makes nothing faster.
        let no_less = |OverheadNs { low, high }| OverheadNs { low: low.max(0), high: high.max(0) };
        let part = |whole, within| {
            Some(Part { whole: no_less(middle_half(whole)?), within: middle_half(within)? })
        };
        let [whole, named_whole] = self.whole;
        let [within, named_within] = self.within;
        Some(Overhead {
            plain: part(whole, within)?,
            named: part(named_whole, named_within)?,
            dispatched: no_less(middle_half(self.dispatched)?),
        })
    }
}

/// What each kind of call took in the middle of some rounds.
fn middles(rounds: &[Round]) -> Option<[u64; 3]> {
    let of = |kind: usize| middle(rounds.iter().map(|round| round[kind]).collect());
    Some([of(0)?, of(1)?, of(2)?])
}

fn middle(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

fn middle_half(mut values: Vec<i64>) -> Option<OverheadNs> {
    values.sort_unstable();
    let last = values.len().checked_sub(1)?;
    Some(OverheadNs { low: values[last / 4], high: values[last - last / 4] })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Rounds in which calls took so long.
    fn rounds(took: &[u64]) -> Vec<Round> {
        took.iter().map(|took| [*took, 2 * took, 3 * took]).collect()
    }

    fn took(plain: &[u64]) -> Took {
        Took { plain: plain.to_vec(), named: plain.iter().map(|took| 2 * took).collect() }
    }

    /// A toll of turns: what calls took without a recorder before the first, then with it, what
    /// the recorder saw of them, and without it again.
    fn overhead(before: &[u64], turns: &[[&[u64]; 3]]) -> Option<Overhead> {
        let mut made = Turns::after(&rounds(before))?;
        for [recorded, raw_call, bare] in turns {
            made.add(&rounds(recorded), took(raw_call), &rounds(bare))?;
        }
        made.overhead()
    }

    #[test]
    fn a_toll_is_what_calls_took_longer_in_the_middle_of_the_rounds() {
        let bare: &[u64] = &[300, 310, 290, 320, 280];
        let turn = [&[700, 720, 5_000, 710, 690], &[520, 500, 510, 530, 9_000], bare];
        let overhead = overhead(bare, &[turn]).unwrap();
        assert_eq!(overhead.plain.whole, OverheadNs { low: 410, high: 410 });
        assert_eq!(overhead.plain.within, OverheadNs { low: 220, high: 220 });
        assert_eq!(overhead.named.whole, OverheadNs { low: 820, high: 820 });
        assert_eq!(overhead.named.within, OverheadNs { low: 440, high: 440 });
        assert_eq!(overhead.dispatched, OverheadNs { low: 820, high: 820 });
    }

    /// Fails where a machine that becomes slower makes the toll larger, or the range of it.
    #[test]
    fn a_turn_is_held_against_the_calls_just_before_and_after_it() {
        let turn = |bare: u64| [[bare + 250], [bare + 150], [bare + 100]];
        let turns = [300, 400, 500, 600].map(turn);
        let turns = turns.each_ref().map(|turn| turn.each_ref().map(|took| &took[..]));
        let overhead = overhead(&[300], &turns).unwrap();
        assert_eq!(overhead.plain.whole, OverheadNs { low: 200, high: 200 });
        assert_eq!(overhead.plain.within, OverheadNs { low: 100, high: 100 });
    }

    #[test]
    fn turns_that_differ_leave_a_range() {
        let turns = [700_u64, 720, 690, 710, 5_000].map(|took| [[took], [took], [300]]);
        let turns = turns.each_ref().map(|turn| turn.each_ref().map(|took| &took[..]));
        let overhead = overhead(&[300], &turns).unwrap();
        assert_eq!(overhead.plain.whole, OverheadNs { low: 400, high: 420 });
    }

    /// Fails where time that is spent in entering and leaving the kernel is lost: it is part of
    /// what a call takes, and is seen neither within the call nor between two.
    #[test]
    fn calls_that_seem_shorter_than_they_are_have_less_than_nothing_of_the_toll() {
        let overhead = overhead(&[300], &[[&[700], &[200], &[300]]]).unwrap();
        assert_eq!(overhead.plain.within, OverheadNs { low: -100, high: -100 });
    }

    #[test]
    fn without_figures_there_is_no_toll() {
        assert_eq!(overhead(&[], &[]), None);
        assert_eq!(overhead(&[1], &[]), None);
        assert_eq!(overhead(&[1], &[[&[1], &[], &[1]]]), None);
        let faster = overhead(&[5], &[[&[3], &[1], &[5]]]).unwrap();
        assert_eq!(faster.plain.whole, OverheadNs { low: 0, high: 0 });
    }

    #[test]
    fn calls_are_timed_in_rounds() {
        let rounds = read_rounds(&time_calls(3).unwrap());
        assert_eq!(rounds.len(), ROUNDS);
        assert!(rounds.iter().flatten().all(|took| *took > 0));
    }
}
