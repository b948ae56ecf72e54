//! Runs libFuzzer, which gives inputs to a target and keeps those that reach new code.
//!
//! A panic does not end the process, so that one defect does not hide the next. A crash, a hang and
//! too much memory do end it; libFuzzer saves the input first.
#![expect(unsafe_code, reason = "libFuzzer is C++, and calls what is here")]

use std::ffi::{CString, c_char, c_int, c_uint};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use iotoll_fuzz::mutate::Form;
use iotoll_fuzz::{Target, findings, outcome};
use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};

use crate::Limits;
use crate::tally::Tally;

/// An input that takes longer hangs, even on a busy machine.
const PATIENCE_S: u32 = 30;
/// Memory that the process may hold.
const RSS_MIB_MAX: u32 = 1024;

/// The target of this process, and its results so far.
struct Session {
    target: Target,
    form: Form,
    limits: Limits,
    findings: PathBuf,
    began: Instant,
    tally: Tally,
}

static SESSION: Mutex<Option<Session>> = Mutex::new(None);

unsafe extern "C" {
    fn LLVMFuzzerRunDriver(
        count: *mut c_int,
        arguments: *mut *mut *mut c_char,
        run: unsafe extern "C" fn(*const u8, usize) -> c_int,
    ) -> c_int;
    /// Of `fuzz_target`.
    fn LLVMFuzzerTestOneInput(data: *const u8, bytes: usize) -> c_int;
}

/// Replaces the C library's. Hash maps are seeded by it, and their order decides which code an input
/// reaches: with random numbers, the same seed would make other inputs each time.
///
/// # Safety
/// There is room for so many bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(room: *mut u8, bytes: usize, _: c_uint) -> isize {
    // SAFETY: the caller's promise.
    unsafe { room.write_bytes(0x5a, bytes) };
    bytes.cast_signed()
}

fuzz_target!(|input: &[u8]| -> Corpus { with_session(|session| session.run(input)) });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let changed = with_session(|session| {
        session.end_in_time();
        session.form.change(&data[..size], seed.into())
    });
    match changed.filter(|changed| changed.len() <= max_size) {
        Some(changed) => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        None => fuzzer_mutate(data, size, max_size),
    }
});

/// Runs the first of these targets until its limits are reached. The folder has its corpus.
pub(crate) fn run(mut targets: Vec<Target>, limits: Limits, seed: u64, folder: &Path) -> ! {
    let target = targets.remove(0);
    let findings = crate::folder("fuzz-findings", &target);
    let arguments = arguments(&target, seed, folder, &findings);
    let form = (target.form)();
    let (began, tally) = (Instant::now(), Tally::default());
    let session = Session { target, form, limits, findings, began, tally };
    *SESSION.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    let text = |text: String| CString::new(text).unwrap_or_default().into_raw();
    let mut arguments: Vec<*mut c_char> = arguments.into_iter().map(text).collect();
    let mut count = arguments.len() as c_int;
    arguments.push(std::ptr::null_mut());
    let mut all = arguments.as_mut_ptr();
    // SAFETY: `count` texts and a null pointer follow each other, and stay until the process ends.
    let code = unsafe { LLVMFuzzerRunDriver(&raw mut count, &raw mut all, LLVMFuzzerTestOneInput) };
    exit(code)
}

fn arguments(target: &Target, seed: u64, folder: &Path, findings: &Path) -> Vec<String> {
    let place = |name: &str| folder.join(name).display().to_string();
    vec![
        target.name.to_owned(),
        // 0 would be the time of day.
        format!("-seed={}", (seed as u32).max(1)),
        format!("-max_len={}", target.bytes_max),
        format!("-timeout={PATIENCE_S}"),
        format!("-report_slow_units={PATIENCE_S}"),
        format!("-rss_limit_mb={RSS_MIB_MAX}"),
        format!("-artifact_prefix={}/", findings.display()),
        format!("-dict={}", place("words")),
        // Inputs may have their full length from the beginning.
        "-len_control=0".to_owned(),
        "-detect_leaks=0".to_owned(),
        "-verbosity=0".to_owned(),
        place("corpus"),
        place("seeds"),
    ]
}

fn with_session<R>(work: impl FnOnce(&mut Session) -> R) -> R {
    let mut session = SESSION.lock().unwrap_or_else(PoisonError::into_inner);
    match session.as_mut() {
        Some(session) => work(session),
        None => exit(1),
    }
}

impl Session {
    fn run(&mut self, input: &[u8]) -> Corpus {
        let outcome = outcome::of(self.target.run, input);
        let after_s = self.began.elapsed().as_secs_f64();
        self.tally.add(&Tally {
            inputs: 1,
            understood: u64::from(matches!(outcome.result, Ok(true))),
            memory_bytes: outcome.memory_bytes,
            longest_s: outcome.took.as_secs_f64(),
        });
        let defect = match outcome.result {
            // An error in one place of a tree remains when another place is changed.
            Ok(false) if self.form.is_tree() => return Corpus::Reject,
            Ok(_) => return Corpus::Keep,
            Err(defect) => defect,
        };
        let after = (after_s, self.tally.inputs);
        if let Err(error) = findings::keep(&self.findings, &defect, input, after) {
            eprintln!("{}: saving a finding: {error}", self.findings.display());
        }
        // Inputs made from it would find the same again.
        Corpus::Reject
    }

    /// Prints the tally and ends the process once a limit is reached. libFuzzer takes an exit within
    /// an input for a crash, so this is called between inputs.
    fn end_in_time(&self) {
        let Self { limits, tally, began, .. } = self;
        if tally.inputs < limits.inputs && began.elapsed().as_secs() < limits.seconds {
            return;
        }
        println!("{}", serde_json::to_string(tally).unwrap_or_default());
        exit(0)
    }
}
