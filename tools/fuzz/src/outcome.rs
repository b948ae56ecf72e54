//! Gives an input to a target, and catches its panics.

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::allocations;

/// Reading an input may hold no more memory.
const MEMORY_BYTES_MAX: usize = 64 << 20;
/// Messages of panics are cut to this length.
const MESSAGE_CHARS_MAX: usize = 300;
/// Our sources' folders, as panics name them.
const OURS: [&str; 2] = ["crates/", "tools/"];
/// Checks of targets stand in a few functions: their message belongs to the place.
const CHECKS: &str = "tools/";

thread_local! {
    static RUNS_INPUT: Cell<bool> = const { Cell::new(false) };
    static PANIC: RefCell<Option<Defect>> = const { RefCell::new(None) };
}

/// A defect that an input shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defect {
    /// The place in the code, or the limit that was exceeded. Two of one place are one defect.
    pub place: String,
    /// The panic's message.
    pub message: String,
}

/// The result of one input.
#[derive(Debug)]
pub struct Outcome {
    /// Whether it was understood, or the defect that it shows.
    pub result: Result<bool, Defect>,
    /// The most memory that was held meanwhile.
    pub memory_bytes: usize,
    /// How long it took.
    pub took: Duration,
}

/// Runs a target on an input.
pub fn of(run: fn(&[u8]) -> bool, input: &[u8]) -> Outcome {
    listen();
    let began = Instant::now();
    RUNS_INPUT.set(true);
    let (result, memory_bytes) =
        allocations::most_held(|| catch_unwind(AssertUnwindSafe(|| run(input))));
    RUNS_INPUT.set(false);
    let took = began.elapsed();
    let unknown = || Defect { place: "a panic".to_owned(), message: "nobody heard it".to_owned() };
    let result = result.map_err(|_| PANIC.take().unwrap_or_else(unknown));
    let result = match result {
        Ok(_) if memory_bytes > MEMORY_BYTES_MAX => Err(Defect {
            place: "memory".to_owned(),
            message: format!("{memory_bytes} bytes for an input of {}", input.len()),
        }),
        result => result,
    };
    Outcome { result, memory_bytes, took }
}

/// Keeps the messages of inputs' panics. Other panics are printed as before.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if RUNS_INPUT.get() { PANIC.set(Some(defect(panic))) } else { others(panic) }
        }));
    });
}

fn defect(panic: &PanicHookInfo<'_>) -> Defect {
    let payload = panic.payload();
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = message.unwrap_or("no reason given");
    let location = panic.location().map_or_else(String::new, ToString::to_string);
    let is_ours = |place: &str| OURS.iter().any(|folder| place.starts_with(folder));
    let place = if location.starts_with(CHECKS) {
        let kind = message.split(':').next().unwrap_or_default();
        format!("{location} {}", kind.chars().take(60).collect::<String>())
    } else if is_ours(&location) {
        location
    } else {
        caller().unwrap_or(location)
    };
    Defect { place, message: message.chars().take(MESSAGE_CHARS_MAX).collect() }
}

/// The innermost function of ours, where a library panicked.
fn caller() -> Option<String> {
    let whole = Backtrace::force_capture().to_string();
    let at = whole.lines().filter_map(|line| line.trim().strip_prefix("at "));
    let ours = |line: &str| line.find("crates/").map(|from| line[from..].to_owned());
    at.filter(|line| !line.contains("/.cargo/")).find_map(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(run: fn(&[u8]) -> bool) -> Option<String> {
        of(run, b"input").result.err().map(|defect| defect.place)
    }

    #[test]
    fn a_panic_is_a_finding_at_its_place() {
        let found = place(|input| {
            assert!(input.is_empty(), "a check: {input:?}");
            true
        });
        let found = found.expect("it panics");
        assert!(found.contains("outcome.rs:") && found.ends_with(" a check"), "{found}");
        assert_eq!(place(|_| true), None);
        assert!(matches!(of(|_| false, b"").result, Ok(false)));
    }

    #[test]
    fn too_much_memory_is_a_finding() {
        let found = place(|_| Vec::<u8>::with_capacity(MEMORY_BYTES_MAX + 1).is_empty());
        assert_eq!(found.as_deref(), Some("memory"));
        assert_eq!(place(|_| Vec::<u8>::with_capacity(MEMORY_BYTES_MAX / 2).is_empty()), None);
    }
}
