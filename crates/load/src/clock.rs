//! The one clock that everything here is stamped with.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Nanoseconds in a second.
pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// Now, in nanoseconds of the monotonic clock.
///
/// Read through the vdso (some 30 ns), once for each event rather than once
/// for each wake-up: what waits in a batch of events did not happen at once.
#[inline]
pub(crate) fn now_ns() -> u64 {
    to_ns(clock_gettime(ClockId::Monotonic))
}

/// CPU time that the calling thread has used, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    to_ns(clock_gettime(ClockId::ThreadCPUTime))
}

/// The part of it that was spent in the kernel, in the kernel's own estimate.
pub(crate) fn thread_system_ns() -> u64 {
    // SAFETY: a zeroed rusage is valid, and getrusage only writes to it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    usage.ru_stime.tv_sec as u64 * SECOND_NS + usage.ru_stime.tv_usec as u64 * 1000
}

/// CPU time that a process has used in all its threads, those that have ended
/// included, in nanoseconds; `None` when there is no such process.
pub(crate) fn process_cpu_ns(pid: libc::pid_t) -> Option<u64> {
    // SAFETY: a zeroed timespec is valid, and both calls only write to the
    // integers and the timespec that they are given.
    let time = unsafe {
        let mut clock: libc::clockid_t = 0;
        let mut time: libc::timespec = std::mem::zeroed();
        if libc::clock_getcpuclockid(pid, &raw mut clock) != 0
            || libc::clock_gettime(clock, &raw mut time) != 0
        {
            return None;
        }
        time
    };
    Some(time.tv_sec as u64 * SECOND_NS + time.tv_nsec as u64)
}

fn to_ns(time: Timespec) -> u64 {
    time.tv_sec as u64 * SECOND_NS + time.tv_nsec as u64
}

/// The same moment as the system calls want it.
pub(crate) fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / SECOND_NS).cast_signed(), tv_nsec: (ns % SECOND_NS).cast_signed() }
}
