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

use perf_event::{Builder, Counter, events::Tracepoint};
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{CWD, Mode, OFlags, openat},
    io::Errno,
    mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen},
};
use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    panic::resume_unwind,
    sync::{Mutex, OnceLock, PoisonError},
    thread,
};

/// The calls that are counted.
const CALLS: [&str; 6] = ["fsync", "fdatasync", "sync_file_range", "msync", "syncfs", "sync"];
/// Where tracefs is usually mounted.
const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Counts syncs, or knows why it cannot.
#[derive(Debug)]
pub(crate) struct Syncs(Result<Mutex<Vec<Counter>>, String>);

impl Syncs {
    /// Not counted, for this reason.
    pub(crate) fn uncounted(why: &str) -> Self {
        Self(Err(why.to_owned()))
    }

    /// Runs `spawn` so that all processes that it starts are counted.
    pub(crate) fn counting<T: Send>(spawn: impl FnOnce() -> T + Send) -> (T, Self) {
        thread::scope(|scope| {
            let spawner = scope.spawn(|| {
                let syncs = Self(open_counters().map(Mutex::new));
                (spawn(), syncs)
            });
            spawner.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// All so far; `None` where they cannot be counted.
    pub(crate) fn count(&self) -> Option<u64> {
        let mut counters = self.0.as_ref().ok()?.lock().unwrap_or_else(PoisonError::into_inner);
        counters.iter_mut().map(|counter| counter.read().ok()).sum()
    }

    /// Why they cannot be counted, and what to do.
    pub(crate) fn why_not(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }
}

impl Drop for Syncs {
    /// The kernel takes some 40 ms to let go of a counter, which nobody need wait for.
    fn drop(&mut self) {
        let counters = std::mem::replace(&mut self.0, Err(String::new()));
        // Without a thread they are closed here.
        let _ = thread::Builder::new().spawn(move || drop(counters));
    }
}

fn open_counters() -> Result<Vec<Counter>, String> {
    // They are the same until the next boot.
    static TRACEPOINTS: OnceLock<Result<Vec<u64>, String>> = OnceLock::new();
    let ids = TRACEPOINTS.get_or_init(tracepoints).as_ref().map_err(Clone::clone)?;
    let open =
        |id: &u64| Builder::new(Tracepoint::with_id(*id)).inherit(true).enabled(true).build();
    ids.iter().map(open).collect::<io::Result<_>>().map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => format!(
            "the kernel does not let this user count system calls ({error}); run as root or set \
             kernel.perf_event_paranoid to 2 or less"
        ),
        _ => format!("the kernel cannot count system calls ({error})"),
    })
}

/// The numbers of the calls' tracepoints.
fn tracepoints() -> Result<Vec<u64>, String> {
    let tracefs = tracefs().map_err(|error| {
        format!(
            "the kernel's list of tracepoints cannot be read ({error}); run as root, or let root \
             mount it for a group of yours: mount -t tracefs -o gid=GROUP,mode=750 tracefs {}",
            MOUNTED[0]
        )
    })?;
    // A call that the kernel does not have cannot be made.
    let ids: Vec<u64> = CALLS.iter().filter_map(|call| id(tracefs.as_fd(), call)).collect();
    if ids.is_empty() {
        return Err(String::from(
            "this kernel has no tracepoints of system calls (CONFIG_FTRACE_SYSCALLS)",
        ));
    }
    Ok(ids)
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
