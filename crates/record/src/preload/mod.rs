//! A library in the program itself, which needs no rights: `LD_PRELOAD` gives it to the command and
//! to all that it starts, and it writes their calls into a ring that this process reads.
//!
//! The library (`library/`) has functions in place of libc's for the calls that programs make most.
//! All others, those of libc itself and of anything else in the process, raise a signal that the
//! library catches (syscall user dispatch, prctl(2)): these cost more. Nothing of it depends on this
//! process, so that a recorder may be killed at any time; library and ring are files in memory,
//! which end with whoever uses them.
//!
//! Static programs, those of another C library or word size, in Go, and those with rights of their
//! own do not take it. They run as ever, and are counted.
#![expect(unsafe_code, reason = "one call, of which the kernel is asked whether it has it")]

#[cfg(feature = "fuzz")]
pub mod fuzz;
mod layout;
mod memory;
mod preload_support;
mod ring;
mod times;
mod timing_program;
mod tree;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::fs::fstat;
use rustix::process::{DumpableBehavior, dumpable_behavior};
use trace::Entry;

use self::ring::Ring;
use self::times::Times;
pub(crate) use self::timing_program::TimingProgram;
use self::tree::Tree;
use crate::error::Error;
use crate::followed::Followed;
use crate::pace::{RING_BYTES, until_end};
use crate::raw_call::{Event, Sink};
use crate::shared::{LIBRARY_MARK, OWN_PATH_BYTES, RING_MARK};
use crate::start::Held;

/// As `build.rs` made it; empty where it cannot be made.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/preload.so"));
const VARIABLE: &str = "LD_PRELOAD";
/// For so long a record is waited for that a process is writing which goes on.
const LAST_WAIT: Duration = Duration::from_millis(5);

/// The library, and what it writes to.
pub(crate) struct Preload {
    library: OwnedFd,
    ring: Ring,
    times: Times,
}

impl Preload {
    /// Makes the library's file, or says why it cannot be used for a program.
    pub(crate) fn new(program: Option<&Path>) -> Result<Self, String> {
        may_be_used()?;
        if let Some(why) = program.and_then(preload_support::refusal) {
            return Err(why);
        }
        Self::make().map_err(|error| format!("its files cannot be made ({error})"))
    }

    fn make() -> io::Result<Self> {
        let (library, times) = (memory::file("iotoll-library")?, Times::new());
        let ring = Ring::new(&fstat(&library)?, times.by_cycles())?;
        let mut bytes = LIBRARY.to_vec();
        put_path(&mut bytes, LIBRARY_MARK, library.as_raw_fd())?;
        put_path(&mut bytes, RING_MARK, ring.number())?;
        memory::write(&library, &bytes)?;
        Ok(Self { library, ring, times })
    }

    /// Has a command take the library, before those that it is given anyway.
    pub(crate) fn prepare(&self, command: &mut Command) {
        let mut value = OsString::from(path(self.library.as_raw_fd()));
        if let Some(others) = std::env::var_os(VARIABLE).filter(|others| !others.is_empty()) {
            value.push(":");
            value.push(others);
        }
        command.env(VARIABLE, value);
    }

    /// Runs a command to its end.
    pub(crate) fn record<S: Sink>(&mut self, held: Held, sink: &mut S) -> Result<Followed, Error> {
        let first = held.process();
        let mut tree = Tree::of(first, held.became_at().unwrap_or_default());
        self.ring.open(true);
        let drain = |sink: &mut S| self.drain(&mut tree, sink, false);
        let followed = until_end(held, RING_BYTES, sink, drain)?;
        // Nobody needs to write any more.
        self.ring.open(false);
        let mut followed = followed.until_end_of(first)?;
        if let (Some(end), None) = (&followed.end, &followed.cut) {
            followed.cut = self.finish(&mut tree, sink, (first, end.status)).err();
        }
        Ok(followed)
    }

    fn finish<S: Sink>(
        &mut self,
        tree: &mut Tree,
        sink: &mut S,
        (first, status): (u32, i32),
    ) -> io::Result<()> {
        std::thread::sleep(LAST_WAIT);
        self.drain(tree, sink, true)?;
        tree.reaped(host::clock::monotonic_ns(), first, status, sink)?;
        tree.finish(sink)
    }

    /// Reads what is in the ring; how many bytes that was.
    fn drain<S: Sink>(&mut self, tree: &mut Tree, sink: &mut S, is_end: bool) -> io::Result<u64> {
        self.times.compare();
        let times = &self.times;
        let bytes = self.ring.drain(is_end, |record| match layout::record(record) {
            Some(record) => tree.on_event(record, times, sink),
            None => Ok(()),
        })?;
        match self.ring.lost() {
            0 => {}
            count => sink.on_event(&Event::Entry(Entry::Lost { count }))?,
        }
        Ok(bytes)
    }
}

/// Where others find a file of this process's.
fn path(descriptor: i32) -> String {
    format!("/proc/{}/fd/{descriptor}", std::process::id())
}

/// Writes a path into the library.
fn put_path(library: &mut [u8], mark: &str, descriptor: i32) -> io::Result<()> {
    let damaged = || io::Error::other("the library is damaged");
    let at = library
        .windows(mark.len())
        .position(|window| window == mark.as_bytes())
        .ok_or_else(damaged)?;
    let room = library.get_mut(at..at + OWN_PATH_BYTES).ok_or_else(damaged)?;
    let path = path(descriptor);
    room.fill(0);
    room[..path.len()].copy_from_slice(path.as_bytes());
    Ok(())
}

/// Whether the kernel has what the library needs, and lets others find its files.
fn may_be_used() -> Result<(), String> {
    const PR_SET_SYSCALL_USER_DISPATCH: libc::c_int = 59;
    const OFF: libc::c_ulong = 0;
    if LIBRARY.is_empty() {
        return Err("it is written for x86-64".to_owned());
    }
    // SAFETY: it ends what this thread does not do, and takes no pointer.
    let known = unsafe { libc::prctl(PR_SET_SYSCALL_USER_DISPATCH, OFF, OFF, OFF, OFF) } == 0;
    if !known {
        return Err(
            "the kernel has no syscall user dispatch, which came with Linux 5.11".to_owned()
        );
    }
    if !matches!(dumpable_behavior(), Ok(DumpableBehavior::Dumpable)) {
        return Err("this program's own file may not be read by this user".to_owned());
    }
    Ok(())
}
