//! A child of this process that computes and can do nothing else.
//!
//! What comes from a stranger is read, analysed and turned into text in such a child, and this
//! process gets nothing from it but bytes. A child is stronger than a thread: code that took over
//! a thread would have the memory of the others, and with it their rights.
//!
//! The child is forked without running a program. It has everything that this process has parsed
//! and opened, so nothing need be handed over, and it takes a fraction of a millisecond.
#![expect(unsafe_code, reason = "only what the child does makes it safe to fork")]

use std::fmt::Display;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitStatus;
use std::thread::{self, Builder};

use host::confinement::confine_thread;
use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitOptions, set_parent_process_death_signal, waitpid};
use sys::fork::in_child;

use crate::error::Error;

/// Runs this in a confined child, and gives back the texts that it returns. A panic there
/// reports itself there and goes on here.
///
/// No other thread may run: the child has the calling thread alone, and locks that others hold
/// would stay locked in it.
pub fn in_confined_child(work: impl FnOnce() -> Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Error> {
    let (reader, writer) = io::pipe().map_err(no_child)?;
    let mut reader = Some(reader);
    let readers = &mut reader;
    let work = move || {
        drop(readers.take());
        answer(writer, work)
    };
    // SAFETY: this process has a single thread, by this function's contract, so that no lock is
    // held by a thread that the child does not have. What the work owns is dropped here: its
    // descriptors are the child's now, and a pipe that it gives up is to notice that.
    let child = unsafe { in_child(work) }.map_err(no_child)?;
    let texts = reader.and_then(texts);
    let ended = ended(child).map_err(no_child)?;
    match (ended.code(), texts) {
        (Some(DONE), Some(texts)) => Ok(texts),
        (Some(PANICKED), _) => resume_unwind(Box::new("a child panicked")),
        _ => Err(Error::Failed(format!(
            "the process that was reading it ended before it was done ({ended}); if the kernel \
             killed it for want of memory (dmesg says so), free some memory and try again"
        ))),
    }
}

fn no_child(error: impl Display) -> Error {
    Error::Failed(format!("cannot start a process to read it in: {error}"))
}

const DONE: i32 = 0;
const UNHEARD: i32 = 1;
/// As the standard library ends a process.
const PANICKED: i32 = 101;

/// The child's part: its exit code.
fn answer(mut writer: PipeWriter, work: impl FnOnce() -> Vec<Vec<u8>>) -> i32 {
    // Without the parent, nobody is left to read what it says.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    confine_thread();
    let Ok(texts) = catch_unwind(AssertUnwindSafe(work)) else { return PANICKED };
    let mut write = |text: Vec<u8>| {
        writer.write_all(&(text.len() as u64).to_le_bytes())?;
        writer.write_all(&text)
    };
    if texts.into_iter().try_for_each(&mut write).is_ok() { DONE } else { UNHEARD }
}

/// Waits for the child's end.
fn ended(child: u32) -> io::Result<ExitStatus> {
    let child = Pid::from_raw(child.cast_signed());
    let waited = retry_on_intr(|| waitpid(child, WaitOptions::empty()))?;
    let status = waited.ok_or(io::ErrorKind::WouldBlock)?.1;
    Ok(ExitStatus::from_raw(status.as_raw()))
}

/// What the child wrote; nothing where it stopped in the middle.
fn texts(mut reader: PipeReader) -> Option<Vec<Vec<u8>>> {
    let mut texts = Vec::new();
    loop {
        let mut length = [0; 8];
        match reader.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Some(texts),
            read => read.ok()?,
        }
        let length = u64::from_le_bytes(length);
        let mut text = Vec::new();
        // Its length is believed once that many bytes are there.
        let read = reader.by_ref().take(length).read_to_end(&mut text).ok()?;
        if read as u64 != length {
            return None;
        }
        texts.push(text);
    }
}

/// Runs this in a confined thread of this process, for work whose result is more than text.
///
/// A result that is handed over as text would have to be read again here, by the same code that
/// was to be confined. A thread hands over the value itself. It keeps a mistake of that code from
/// files and networks; it does not keep code that took over the process from the other threads.
pub fn in_confined_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    thread::scope(|scope| {
        let confined = || {
            confine_thread();
            work()
        };
        let thread = Builder::new().spawn_scoped(scope, confined).map_err(no_child)?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}
