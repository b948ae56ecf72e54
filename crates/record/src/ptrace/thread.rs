//! A thread that is followed, and what is read of it while it is stopped.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::thread::gettid;
use sys::wait::{read_memory, read_string};

use crate::privileges;
use crate::processor_time::share;
use crate::raw_call::{RawCall, RawWaits};
use crate::shared::{PATH_BYTES, VECTOR_BYTES, VECTOR_MAX};
use crate::table::{Role, Row};

/// One thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    pub(super) process: u32,
    /// The call that it is in.
    pub(super) within: Option<Within>,
    /// Its processor time when it was about to end, how long it needed a processor, and when that was.
    pub(super) used: (u64, u64),
    pub(super) needed_ns: [u64; 2],
    pub(super) ends_ns: Option<u64>,
}

impl Thread {
    pub(super) fn of(process: u32) -> Self {
        Self { process, within: None, used: (0, 0), needed_ns: [0; 2], ends_ns: None }
    }
}

/// A call that has not returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Within {
    pub(super) number: u32,
    pub(super) arguments: [u64; 6],
    pub(super) began_ns: u64,
    /// When the thread went on after it was last stopped in it.
    pub(super) let_go_ns: u64,
}

/// Room for what is read of a call.
pub(super) struct Memory {
    path: Vec<u8>,
    to: Vec<u8>,
    block: [u8; VECTOR_MAX * VECTOR_BYTES],
}

impl Memory {
    pub(super) fn new() -> Self {
        let room = || vec![0; PATH_BYTES];
        Self { path: room(), to: room(), block: [0; VECTOR_MAX * VECTOR_BYTES] }
    }

    /// A call that has returned, with what its pointers lead to.
    pub(super) fn read(
        &mut self,
        thread: u32,
        row: &Row,
        within: Within,
        ended_ns: u64,
        result: i64,
    ) -> RawCall<'_> {
        let arguments = within.arguments;
        let string = |role, into: &mut [u8]| {
            let at = row.find(|of| of == role)?;
            read_string(thread, arguments[at], into)
        };
        let path = string(Role::Path, &mut self.path);
        let to = string(Role::To, &mut self.to);
        let block = row.block().map_or(0, |(at, role)| {
            let bytes = match role {
                Role::Block(bytes) => usize::from(bytes),
                _ => (arguments[at + 1] as usize).min(VECTOR_MAX) * VECTOR_BYTES,
            };
            if arguments[at] == 0 {
                return 0;
            }
            read_memory(thread, arguments[at], &mut self.block[..bytes])
        });
        RawCall {
            thread,
            number: within.number,
            began_ns: within.began_ns,
            ended_ns,
            // The tracer's own stops are all that it could see.
            waits: RawWaits::default(),
            arguments,
            result,
            path: path.map(|length| &self.path[..length]),
            to: to.map(|length| &self.to[..length]),
            block: &self.block[..block],
            dispatched: 0,
        }
    }

    /// Whether a thread is about to become a program that has more rights.
    pub(super) fn becomes_privileged(&mut self, thread: u32, within: &Within) -> bool {
        let [first, second, ..] = within.arguments;
        let (folder, path) = match i64::from(within.number) {
            libc::SYS_execve => (libc::AT_FDCWD, first),
            libc::SYS_execveat => (first as i32, second),
            _ => return false,
        };
        let Some(length) = read_string(thread, path, &mut self.path) else { return false };
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(&self.path[..length]));
        let through = |name: String| PathBuf::from(format!("/proc/{thread}/{name}"));
        let file = match path.strip_prefix("/") {
            Ok(rest) => through("root".to_owned()).join(rest),
            Err(_) if folder == libc::AT_FDCWD => through("cwd".to_owned()).join(path),
            Err(_) => through(format!("fd/{folder}")).join(path),
        };
        privileges::gives_rights(&file)
    }
}

/// The kernel's counters of a thread.
pub(super) struct Counts {
    /// For how long it was on a processor, and waited for one.
    ran_ns: u64,
    queued_ns: u64,
    /// How often it waited for a page that was read.
    major_faults: u64,
    /// Its ticks outside and within the kernel.
    user: u64,
    system: u64,
}

impl Counts {
    /// Reads them; a counter that cannot be read is 0.
    pub(super) fn of(process: u32, thread: u32) -> Self {
        let read = |name| {
            fs::read_to_string(format!("/proc/{process}/task/{thread}/{name}")).unwrap_or_default()
        };
        let number = |text: Option<&str>| text.and_then(|text| text.parse().ok()).unwrap_or(0);
        let schedstat = read("schedstat");
        let mut times = schedstat.split(' ');
        let [ran_ns, queued_ns] = [(); 2].map(|()| number(times.next()));
        let stat = read("stat");
        let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
        let mut fields = fields.split(' ').skip(9);
        let [major_faults, user, system] = [0, 1, 0].map(|skipped| number(fields.nth(skipped)));
        Self { ran_ns, queued_ns, major_faults, user, system }
    }

    /// For how long this thread was on a processor or waited for one.
    pub(super) fn own_needed_ns() -> u64 {
        let thread = gettid().as_raw_nonzero().get().cast_unsigned();
        Self::of(std::process::id(), thread).needed_ns()[0]
    }

    /// Processor time outside and within the kernel: the scheduler's own sum, divided as the ticks of
    /// either are.
    pub(super) fn used(&self) -> (u64, u64) {
        share(self.ran_ns, self.user, self.system)
    }

    /// For how long it was on a processor or waited for one, and without that wait: both with what it may
    /// have waited at most for pages that were read.
    pub(super) fn needed_ns(&self) -> [u64; 2] {
        /// A disk that is busy.
        const PAGE_NS: u64 = 20_000_000;
        let surely_ns = self.ran_ns.saturating_add(self.major_faults.saturating_mul(PAGE_NS));
        [surely_ns.saturating_add(self.queued_ns), surely_ns]
    }
}

/// The program that a process runs.
pub(super) fn program(process: u32) -> Vec<u8> {
    let program = fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    program.as_os_str().as_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_used_its_time() {
        let me = std::process::id();
        let counts = Counts::of(me, me);
        let (user, system) = counts.used();
        assert!(user + system > 0);
        assert!(counts.needed_ns().iter().all(|needed| *needed >= user + system));
    }
}
