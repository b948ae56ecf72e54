//! Running a target's inputs, and what becomes of them.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::memory;
use super::target::{Inputs, Target};

/// An input that takes longer hangs, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often to look for one that does.
const LOOK: Duration = Duration::from_millis(2);
/// What reading an input may hold at most.
const MEMORY_BYTES_MAX: usize = 64 << 20;
/// More findings than this are the same few.
const FINDINGS_MAX: usize = 100;
/// Stands for a thread that has no input.
const NONE: u64 = u64::MAX;

thread_local! {
    static RUNS_INPUT: Cell<bool> = const { Cell::new(false) };
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// What must not be.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) number: u64,
    pub(super) input: Vec<u8>,
    /// Where in the code, or what was exceeded.
    pub(super) place: String,
    pub(super) what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, place, what, input } = self;
        write!(f, "{place}: {what} (input {number}, {} bytes)", input.len())
    }
}

/// What became of a target's inputs.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) inputs: u64,
    pub(super) understood: u64,
    pub(super) memory_bytes: usize,
    pub(super) longest: Duration,
    pub(super) findings: Vec<Finding>,
}

impl Tally {
    pub(super) fn add(&mut self, other: Self) {
        self.inputs += other.inputs;
        self.understood += other.understood;
        self.memory_bytes = self.memory_bytes.max(other.memory_bytes);
        self.longest = self.longest.max(other.longest);
        self.findings.extend(other.findings);
    }
}

/// The input that a thread has, and since when: milliseconds from the beginning.
struct Doing {
    number: AtomicU64,
    since_ms: AtomicU64,
}

/// The inputs that all threads run together.
struct Round<'a> {
    inputs: Inputs<'a>,
    run: fn(&[u8]) -> bool,
    seed: u64,
    count: u64,
    next: AtomicU64,
    began: Instant,
    all: Mutex<Tally>,
}

/// Runs so many inputs on all processors; calls `hangs` with one that does not end, and
/// which keeps this from returning.
pub(super) fn run(target: &Target, seed: u64, count: u64, hangs: impl Fn(&Finding)) -> Tally {
    listen();
    let round = &Round {
        inputs: target.prepare(),
        run: target.run,
        seed,
        count,
        next: AtomicU64::new(0),
        began: Instant::now(),
        all: Mutex::default(),
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let idle = || Doing { number: AtomicU64::new(NONE), since_ms: AtomicU64::new(0) };
    let doing: Vec<Doing> = (0..threads).map(|_| idle()).collect();
    thread::scope(|scope| {
        let spawn = |doing| scope.spawn(move || round.work(doing));
        let workers: Vec<_> = doing.iter().map(spawn).collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(LOOK);
            doing.iter().filter_map(|doing| round.hang(doing)).for_each(|hang| hangs(&hang));
        }
    });
    std::mem::take(&mut *round.all.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Round<'_> {
    fn work(&self, doing: &Doing) {
        let mut tally = Tally::default();
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.count {
                break;
            }
            doing.since_ms.store(self.began.elapsed().as_millis() as u64, Ordering::Relaxed);
            doing.number.store(number, Ordering::Release);
            one(self.inputs.input(self.seed, number), self.run, number, &mut tally);
        }
        doing.number.store(NONE, Ordering::Release);
        self.all.lock().unwrap_or_else(PoisonError::into_inner).add(tally);
    }

    /// What a thread does, where it takes too long.
    fn hang(&self, doing: &Doing) -> Option<Finding> {
        let number = doing.number.load(Ordering::Acquire);
        let since = Duration::from_millis(doing.since_ms.load(Ordering::Relaxed));
        let hangs = number != NONE && self.began.elapsed().saturating_sub(since) > PATIENCE;
        hangs.then(|| Finding {
            number,
            input: self.inputs.input(self.seed, number),
            place: "a hang".to_owned(),
            what: format!("no end within {PATIENCE:?}"),
        })
    }
}

/// Runs one input, and notes what became of it.
fn one(input: Vec<u8>, run: fn(&[u8]) -> bool, number: u64, tally: &mut Tally) {
    let began = Instant::now();
    RUNS_INPUT.set(true);
    let (result, bytes) = memory::most_held(|| catch_unwind(AssertUnwindSafe(|| run(&input))));
    RUNS_INPUT.set(false);
    tally.longest = tally.longest.max(began.elapsed());
    tally.inputs += 1;
    tally.understood += u64::from(*result.as_ref().unwrap_or(&false));
    tally.memory_bytes = tally.memory_bytes.max(bytes);
    let panic = PANIC.take().filter(|_| result.is_err());
    let over = (bytes > MEMORY_BYTES_MAX).then(|| ("memory".to_owned(), format!("{bytes} bytes")));
    if let Some((place, what)) = panic.or(over)
        && tally.findings.len() < FINDINGS_MAX
    {
        tally.findings.push(Finding { number, input, place, what });
    }
}

/// Has what inputs' panics say kept for whoever catches them, and others told as ever.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if RUNS_INPUT.get() { remember(panic) } else { others(panic) }
        }));
    });
}

fn remember(panic: &std::panic::PanicHookInfo<'_>) {
    let place = panic.location().map_or_else(String::new, ToString::to_string);
    let payload = panic.payload();
    let what = payload.downcast_ref::<&str>().copied();
    let what = what.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let what = what.unwrap_or("no reason given");
    PANIC.set(Some((place, what.chars().take(300).collect())));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(run: fn(&[u8]) -> bool) -> Target {
        let seeds = || vec![b"seed 12".to_vec()];
        Target { name: "made", share: 1, is_json: false, seeds, words: &["word"], run }
    }

    fn tally(run: fn(&[u8]) -> bool) -> Tally {
        super::run(&target(run), 1, 2000, |_| std::process::exit(1))
    }

    #[test]
    fn a_panic_and_too_much_memory_are_found_with_their_inputs() {
        let panics = tally(|input| {
            assert!(!input.windows(4).any(|part| part == b"word"), "the word");
            true
        });
        let first = &panics.findings[0];
        assert!(first.what.contains("the word") && first.place.contains("outcome.rs"), "{first:?}");
        assert_eq!(target(|_| true).prepare().input(1, first.number), first.input);
        assert!(panics.understood < panics.inputs && panics.inputs == 2000);
        let holds = tally(|input| Vec::<u8>::with_capacity(input.len().min(200) << 20).is_empty());
        assert!(holds.findings.iter().any(|finding| finding.place == "memory"));
        assert!(tally(|input| input.len() > 3).findings.is_empty());
    }
}
