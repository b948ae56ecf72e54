//! The processor's cycle counter, and the processor time of others.

/// The cycle counter, which every x86-64 processor has. Whether its ticks are of one length, and
/// the same on all processors, is for the caller to know.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn cycles() -> u64 {
    // SAFETY: it reads a register, and Linux lets every program do so unless it asks otherwise.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Processor time in nanoseconds that a process has used in all its threads, those that have
/// ended included; `None` when there is no such process.
pub fn process_cpu_ns(pid: i32) -> Option<u64> {
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
    Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
