//! How often a server waits for its storage: its calls of fsync(2) and the
//! like, in all of its processes, counted by the kernel.
//!
//! Nothing in `/proc` tells. A counter of a tracepoint (`perf_event_open(2)`
//! on `syscalls/sys_enter_*`) does, and with `inherit` it is handed on to every
//! thread and child from their first instruction on; reading it adds up the
//! living and the dead. It is opened on a thread of its own that starts the
//! server and ends, so that nothing else of this process is counted.
//!
//! The numbers of the tracepoints are files in tracefs. Where that is not
//! mounted a detached mount is made (fsmount(2)), which nobody else sees and
//! which is gone when its descriptor is closed.
//!
//! While it counts, every system call on the machine takes some 20 ns more,
//! and a switch between the server's threads some 200 ns.
//!
//! Not seen are writes to files opened with `O_SYNC` or `O_DSYNC`, which make
//! no such call, and syncs that are asked of an `io_uring`.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::resume_unwind;
use std::thread;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use sys::tracepoint::Counter;
use thiserror::Error;

/// The calls that are counted.
const CALLS: [&str; 6] = ["fsync", "fdatasync", "sync_file_range", "msync", "syncfs", "sync"];
/// Where tracefs is usually mounted.
const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Why syncs cannot be counted, and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UncountedError {
    /// The process was there before the counter.
    #[error(
        "the server was already running; only the syncs of a server that iotoll starts are counted"
    )]
    RanAlready,
    /// This user may not count.
    #[error(
        "the kernel does not let this user count system calls ({0}); run as root or set \
         kernel.perf_event_paranoid to 2 or less"
    )]
    NotPermitted(io::Error),
    /// The kernel refuses for another reason.
    #[error("the kernel cannot count system calls ({0})")]
    Refused(io::Error),
    /// The list of tracepoints cannot be read.
    #[error(
        "the kernel's list of tracepoints cannot be read ({0}); run as root, or let root \
         mount it for a group of yours: mount -t tracefs -o gid=GROUP,mode=750 tracefs {path}",
        path = MOUNTED[0]
    )]
    NoList(io::Error),
    /// There are no such tracepoints.
    #[error("this kernel has no tracepoints of system calls (CONFIG_FTRACE_SYSCALLS)")]
    NoTracepoints,
}

/// Counts syncs, or knows why it cannot.
#[derive(Debug)]
pub struct SyncCalls(Result<Vec<Counter>, UncountedError>);

impl SyncCalls {
    /// Not counted, for this reason.
    pub fn uncounted(why: UncountedError) -> Self {
        Self(Err(why))
    }

    /// Runs `spawn` so that all processes that it starts are counted; an error where it
    /// has no thread to run on.
    pub fn counting<T: Send>(spawn: impl FnOnce() -> T + Send) -> io::Result<(T, Self)> {
        thread::scope(|scope| {
            let spawner = thread::Builder::new().spawn_scoped(scope, || {
                let counters = Self(open_counters());
                (spawn(), counters)
            })?;
            Ok(spawner.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }

    /// All so far; `None` where they cannot be counted.
    pub fn count(&self) -> Option<u64> {
        self.0.as_ref().ok()?.iter().map(|counter| counter.read().ok()).sum()
    }

    /// Why they cannot be counted, and what to do.
    pub fn why_not(&self) -> Option<&UncountedError> {
        self.0.as_ref().err()
    }
}

impl Drop for SyncCalls {
    /// The kernel takes some 40 ms to let go of a counter, which nobody need wait for.
    fn drop(&mut self) {
        let counters = std::mem::replace(&mut self.0, Err(UncountedError::RanAlready));
        // Without a thread they are closed here.
        let _ = thread::Builder::new().spawn(move || drop(counters));
    }
}

fn open_counters() -> Result<Vec<Counter>, UncountedError> {
    let opened = tracepoints()?.into_iter().map(Counter::open).collect::<io::Result<_>>();
    opened.map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => UncountedError::NotPermitted(error),
        _ => UncountedError::Refused(error),
    })
}

/// The numbers of the calls' tracepoints.
fn tracepoints() -> Result<Vec<u64>, UncountedError> {
    let tracefs = tracefs().map_err(|errno| UncountedError::NoList(errno.into()))?;
    // A call that the kernel does not have cannot be made.
    let ids: Vec<u64> = CALLS.iter().filter_map(|call| id(tracefs.as_fd(), call)).collect();
    if ids.is_empty() { Err(UncountedError::NoTracepoints) } else { Ok(ids) }
}

fn id(tracefs: BorrowedFd<'_>, call: &str) -> Option<u64> {
    let path = format!("events/syscalls/sys_enter_{call}/id");
    let file = openat(tracefs, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = String::new();
    File::from(file).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// The root of tracefs.
fn tracefs() -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    for path in MOUNTED {
        match openat(CWD, format!("{path}/events"), flags, Mode::empty()) {
            Ok(_) => return openat(CWD, path, flags, Mode::empty()),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stderr)]

    use std::process::Command;

    use super::*;

    #[test]
    fn the_syncs_of_a_child_are_counted_and_ours_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let sync = |times: usize| {
            let mut command = Command::new("sync");
            command.arg("-d").args(std::iter::repeat_n(folder.path(), times));
            command.status().unwrap().success()
        };
        let (succeeded, calls) = SyncCalls::counting(|| sync(3) && sync(2)).unwrap();
        assert!(succeeded);
        if let Some(why) = calls.why_not() {
            assert_eq!(calls.count(), None);
            eprintln!("SKIPPED: {why}");
            return;
        }
        assert_eq!(calls.count(), Some(5));
        File::open(folder.path()).unwrap().sync_all().unwrap();
        assert_eq!(calls.count(), Some(5));
    }

    #[test]
    fn what_is_not_counted_has_its_reason_and_no_figure() {
        let calls = SyncCalls::uncounted(UncountedError::RanAlready);
        assert_eq!(calls.count(), None);
        assert!(calls.why_not().unwrap().to_string().contains("already running"));
    }
}
