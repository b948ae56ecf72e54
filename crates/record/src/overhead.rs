//! What recording costs on this machine, found out before it begins or after an earlier recording.
//!
//! A process of ours makes the same small calls many times, bare and recorded, and says how long
//! each took by its own clock. It does so in turns, and each is held against the bare calls just
//! before and just after it: a machine is faster at one moment than at the next. What the calls
//! took according to the recorder says how much of the cost falls within their recorded time, and
//! how much into the program's own. One of them names a
//! file: writing a name down costs more than writing down the rest. Another one is not made through
//! the C library's function, which costs more where that is how calls are seen. Some are made with the
//! processor's nearest cache emptied before: most programs work between their calls, and pay more
//! for each than calls in a row do.
#![expect(unsafe_code, reason = "the C library is what is timed")]

use std::ffi::{CStr, CString};
use std::fmt;
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::time::Instant;

use rustix::fs::{MemfdFlags, memfd_create};
use trace::{Header, Mechanism, NamedOverhead, OverheadNs};

use crate::middles::{middle, middle_half, no_less, numbers};
use crate::raw_call::{Event, Sink};
use crate::starts::Starts;
use crate::timing::{CALL_BYTES, COLD_BYTES, COLD_NAMED, COLD_OFFSET, COLD_PART, NAMED, ROUNDS};

/// What each call costs, by mechanism and machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// One that names nothing.
    plain: NamedOverhead,
    /// One that names a file.
    named: NamedOverhead,
    /// How much more one costs that the C library's function does not make.
    dispatched: OverheadNs,
    /// What starting a process costs, and how much more a program in it.
    starts: Option<[OverheadNs; 2]>,
}

impl Overhead {
    /// What of a call's cost falls within its recorded time, of one that names nothing.
    pub(crate) fn within(self) -> OverheadNs {
        self.plain.overhead_within_ns
    }

    /// Writes it down where a trace begins.
    pub(crate) fn put(self, header: &mut Header) {
        let Self { plain, named, dispatched, starts } = self;
        (header.overhead_ns, header.overhead_within_ns) =
            (plain.overhead_ns, plain.overhead_within_ns);
        header.named = Some(named);
        header.dispatch_ns = (header.mechanism == Mechanism::Preload).then_some(dispatched);
        (header.process_ns, header.program_ns) = starts.map(|[a, b]| (a, b)).unzip();
    }
}

/// Kinds of calls that are timed: one that names nothing, one that names a file, one that names
/// nothing and is made without the C library, and the first two with a cold cache.
const KINDS: usize = 5;
/// Of these, those that the recorder's own view is compared with: how it knows them, and which of
/// [`Round`] each is.
const SEEN: [usize; 4] = [0, 1, 3, 4];
/// The one without the C library.
const BY_ITSELF: usize = 2;

/// How long a call of each kind takes, in nanoseconds.
pub(crate) type Round = [u64; KINDS];

/// What the process does that is timed, and what it says on standard output: rounds of calls of
/// all kinds, and how long a call took, in a line for each round.
pub fn time_calls(calls: u32) -> io::Result<String> {
    let line = |round: Round| round.map(|took| took.to_string()).join(" ") + "\n";
    Ok(time_rounds(calls)?.into_iter().map(line).collect())
}

fn time_rounds(calls: u32) -> io::Result<Vec<Round>> {
    let file = File::from(memfd_create("iotoll", MemfdFlags::CLOEXEC)?);
    let line = [b'x'; CALL_BYTES];
    let write = |offset| file.write_all_at(black_box(&line), offset);
    let [named, cold_named] = [CString::new(NAMED)?, CString::new(COLD_NAMED)?];
    // Of rustix, which makes the system call itself.
    let by_itself =
        || rustix::io::pwrite(&file, black_box(&line), 0).map(drop).map_err(io::Error::from);
    let mut memory = vec![0; COLD_BYTES];
    // The first round is for warming up.
    let round = |_| {
        Ok([
            timed(calls, || write(0))?,
            timed(calls, || ask(&named))?,
            timed(calls, by_itself)?,
            timed_cold(calls, &mut memory, || write(COLD_OFFSET))?,
            timed_cold(calls, &mut memory, || ask(&cold_named))?,
        ])
    };
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

/// The same of fewer calls, with the processor's nearest cache emptied before each.
fn timed_cold(calls: u32, memory: &mut [u8], call: impl Fn() -> io::Result<()>) -> io::Result<u64> {
    const LINE_BYTES: usize = 64;
    let calls = (calls / COLD_PART).max(1);
    let mut took_ns = 0;
    for _ in 0..calls {
        for line in memory.chunks_mut(LINE_BYTES) {
            line[0] = black_box(line[0]).wrapping_add(1);
        }
        let began = Instant::now();
        call()?;
        took_ns += began.elapsed().as_nanos() as u64;
    }
    Ok(took_ns / u64::from(calls))
}

/// What the process said.
pub(crate) fn read_rounds(text: &str) -> Vec<Round> {
    text.lines().filter_map(numbers).collect()
}

/// Collects how long the calls of [`SEEN`] took according to the recorder.
#[derive(Default)]
pub(crate) struct Took([Vec<u64>; SEEN.len()]);

impl Sink for Took {
    fn on_event(&mut self, event: &Event<'_>) -> io::Result<()> {
        let Event::Called(raw_call) = event else { return Ok(()) };
        let names = |name: &str| raw_call.path.is_some_and(|path| path == name.as_bytes());
        let is_write = i64::from(raw_call.number) == libc::SYS_pwrite64;
        let kind = match raw_call.arguments[3] {
            0 if is_write => 0,
            COLD_OFFSET if is_write => 2,
            _ if names(NAMED) => 1,
            _ if names(COLD_NAMED) => 3,
            _ => return Ok(()),
        };
        self.0[kind].push(raw_call.ended_ns.saturating_sub(raw_call.began_ns));
        Ok(())
    }

    fn idle(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Took {
    /// How long calls of each kind took, in the middle.
    fn middles(self) -> Option<[u64; SEEN.len()]> {
        let [plain, named, cold, cold_named] = self.0.map(middle);
        Some([plain?, named?, cold?, cold_named?])
    }
}

/// What turns of recorded calls cost, each beside what the same calls took without a recorder.
/// They are kept for the machine, as text, so that the next recording need not measure as often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    turns: Vec<Turn>,
    pub(crate) starts: Starts,
}

/// A turn: what each kind of [`SEEN`] takes longer, what of that the recorder sees, and how much
/// more a call takes that is made without the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    whole: [i64; SEEN.len()],
    within: [i64; SEEN.len()],
    dispatched: i64,
}

/// As many turns are kept, the latest.
const KEPT: usize = 16;
/// A turn as text: its numbers.
const NUMBERS: usize = 2 * SEEN.len() + 1;

impl Calibration {
    /// Adds a turn: rounds without the recorder, rounds with it, what it saw of them, and rounds
    /// without it again. Nothing where one of them is missing.
    pub(crate) fn add(
        &mut self,
        before: &[Round],
        recorded: &[Round],
        took: Took,
        after: &[Round],
    ) -> Option<()> {
        let [before, after] = [middles(before)?, middles(after)?];
        let bare: Round = std::array::from_fn(|kind| before[kind].midpoint(after[kind]));
        let (recorded, took) = (middles(recorded)?, took.middles()?);
        let beyond = |took: u64, bare: u64| took.cast_signed() - bare.cast_signed();
        let by_itself = |round: Round| beyond(round[BY_ITSELF], round[0]);
        let turn = Turn {
            whole: SEEN.map(|kind| beyond(recorded[kind], bare[kind])),
            within: std::array::from_fn(|at| beyond(took[at], bare[SEEN[at]])),
            dispatched: by_itself(recorded) - by_itself(bare),
        };
        self.turns.push(turn);
        let surplus = self.turns.len().saturating_sub(KEPT);
        self.turns.drain(..surplus);
        Some(())
    }

    /// Whether there are as many turns as are kept.
    pub(crate) fn is_full(&self) -> bool {
        self.turns.len() >= KEPT
    }

    /// What calls cost: from what those in a row cost in the middle half of the turns to what those
    /// with a cold cache do. None without a turn.
    pub(crate) fn overhead(&self) -> Option<Overhead> {
        let of =
            |figure: &dyn Fn(&Turn) -> i64| middle_half(self.turns.iter().map(figure).collect());
        let part = |warm: usize, cold: usize| {
            let both = |figure: &dyn Fn(&Turn, usize) -> i64| {
                let (warm, cold) =
                    (of(&|turn| figure(turn, warm))?, of(&|turn| figure(turn, cold))?);
                Some(OverheadNs { low: warm.low, high: warm.high.max(cold.high) })
            };
            let overhead_ns = no_less(both(&|turn, kind| turn.whole[kind])?);
            let overhead_within_ns = both(&|turn, kind| turn.within[kind])?;
            Some(NamedOverhead { overhead_ns, overhead_within_ns })
        };
        Some(Overhead {
            plain: part(0, 2)?,
            named: part(1, 3)?,
            dispatched: no_less(of(&|turn| turn.dispatched)?),
            starts: self.starts.overhead(),
        })
    }
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Turn { whole, within, dispatched } in &self.turns {
            let numbers = whole.iter().chain(within).chain([dispatched]).map(i64::to_string);
            writeln!(f, "{}", numbers.collect::<Vec<_>>().join(" "))?;
        }
        self.starts.lines().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl From<&str> for Calibration {
    /// Lines that are no turns are left out.
    fn from(text: &str) -> Self {
        let turn = |line| {
            let numbers: [i64; NUMBERS] = numbers(line)?;
            let part = |from: usize| std::array::from_fn(|at| numbers[from + at]);
            let (whole, within) = (part(0), part(SEEN.len()));
            Some(Turn { whole, within, dispatched: numbers[NUMBERS - 1] })
        };
        let mut turns: Vec<Turn> = text.lines().filter_map(turn).collect();
        turns.truncate(KEPT);
        Self { turns, starts: Starts::read(text) }
    }
}

/// What each kind of call took in the middle of some rounds.
fn middles(rounds: &[Round]) -> Option<Round> {
    let mut found = Round::default();
    for (kind, found) in found.iter_mut().enumerate() {
        *found = middle(rounds.iter().map(|round| round[kind]).collect())?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Rounds in which calls took so long, those with a cold cache 50 ns more.
    fn rounds(took: &[u64]) -> Vec<Round> {
        took.iter().map(|took| [*took, 2 * took, 3 * took, took + 50, 2 * took + 50]).collect()
    }

    fn took(plain: &[u64]) -> Took {
        let of = |factor: u64, more: u64| plain.iter().map(|took| factor * took + more).collect();
        Took([of(1, 0), of(2, 0), of(1, 80), of(2, 80)])
    }

    /// What calls took without a recorder before the first turn, then with it, what the recorder saw
    /// of them, and without it again.
    fn calibration(before: &[u64], turns: &[[&[u64]; 3]]) -> Option<Calibration> {
        let (mut made, mut before) = (Calibration::default(), before);
        for [recorded, raw_call, bare] in turns {
            made.add(&rounds(before), &rounds(recorded), took(raw_call), &rounds(bare))?;
            before = bare;
        }
        Some(made)
    }

    fn overhead(before: &[u64], turns: &[[&[u64]; 3]]) -> Option<Overhead> {
        calibration(before, turns)?.overhead()
    }

    #[test]
    fn a_toll_is_what_calls_took_longer_in_the_middle_of_the_rounds() {
        let bare: &[u64] = &[300, 310, 290, 320, 280];
        let turn = [&[700, 720, 5_000, 710, 690], &[520, 500, 510, 530, 9_000], bare];
        let overhead = overhead(bare, &[turn]).unwrap();
        assert_eq!(overhead.plain.overhead_ns, OverheadNs { low: 410, high: 410 });
        // With a cold cache the recorder sees 30 ns more of it.
        assert_eq!(overhead.plain.overhead_within_ns, OverheadNs { low: 220, high: 250 });
        assert_eq!(overhead.named.overhead_ns, OverheadNs { low: 820, high: 820 });
        assert_eq!(overhead.named.overhead_within_ns, OverheadNs { low: 440, high: 470 });
        assert_eq!(overhead.dispatched, OverheadNs { low: 820, high: 820 });
    }

    /// Fails where a machine that becomes slower makes the overhead larger, or the range of it.
    #[test]
    fn a_turn_is_compared_with_the_calls_just_before_and_after_it() {
        let turn = |bare: u64| [[bare + 250], [bare + 150], [bare + 100]];
        let turns = [300, 400, 500, 600].map(turn);
        let turns = turns.each_ref().map(|turn| turn.each_ref().map(|took| &took[..]));
        let overhead = overhead(&[300], &turns).unwrap();
        assert_eq!(overhead.plain.overhead_ns, OverheadNs { low: 200, high: 200 });
        assert_eq!(overhead.plain.overhead_within_ns, OverheadNs { low: 100, high: 130 });
    }

    #[test]
    fn turns_that_differ_leave_a_range() {
        let turns = [700_u64, 720, 690, 710, 5_000].map(|took| [[took], [took], [300]]);
        let turns = turns.each_ref().map(|turn| turn.each_ref().map(|took| &took[..]));
        let overhead = overhead(&[300], &turns).unwrap();
        assert_eq!(overhead.plain.overhead_ns, OverheadNs { low: 400, high: 420 });
    }

    /// Fails where time that is spent in entering and leaving the kernel is lost: it is part of
    /// what a call takes, and is seen neither within the call nor between two.
    #[test]
    fn calls_that_seem_shorter_than_they_are_have_less_than_nothing_of_the_toll() {
        let overhead = overhead(&[300], &[[&[700], &[200], &[300]]]).unwrap();
        assert_eq!(overhead.plain.overhead_within_ns, OverheadNs { low: -100, high: -70 });
    }

    #[test]
    fn without_figures_there_is_no_toll() {
        assert_eq!(overhead(&[], &[]), None);
        assert_eq!(overhead(&[1], &[]), None);
        assert_eq!(overhead(&[1], &[[&[1], &[], &[1]]]), None);
        let faster = overhead(&[105], &[[&[103], &[101], &[105]]]).unwrap();
        assert_eq!(faster.plain.overhead_ns, OverheadNs { low: 0, high: 0 });
    }

    /// Fails where what is kept for the machine is read as something else, or grows.
    #[test]
    fn turns_are_kept_as_text() {
        let turn: [&[u64]; 3] = [&[700], &[200], &[300]];
        let mut many = calibration(&[300], &[turn; KEPT + 3]).unwrap();
        many.starts.add(&[[1, 2]], &[[4, 9]]);
        assert_eq!(many.turns.len(), KEPT);
        let text = format!("of an older version\n1 2 x\n{many}");
        assert_eq!(Calibration::from(&*text), many);
    }

    #[test]
    fn calls_are_timed_in_rounds() {
        let rounds = read_rounds(&time_calls(3).unwrap());
        assert_eq!(rounds.len(), ROUNDS);
        assert!(rounds.iter().flatten().all(|took| *took > 0));
    }
}
