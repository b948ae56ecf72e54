//! What processes and threads used (getrusage(2)).

/// Whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// This process, all threads together.
    Process,
    /// The children that it has waited for, with those that these waited for.
    Children,
    /// The calling thread.
    Thread,
}

/// Times, faults and switches so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// On a processor, outside the kernel.
    pub user_ns: u64,
    /// Within it.
    pub system_ns: u64,
    /// Pages that were mapped without reading them from anywhere.
    pub minor_faults: u64,
    /// Pages of mapped files that had to be read.
    pub major_faults: u64,
    /// Times that a processor was given up.
    pub voluntary_switches: u64,
    /// Times that it was taken away.
    pub involuntary_switches: u64,
    /// The most memory that it had at a time, in KiB.
    pub memory_max_kib: u64,
}

impl Usage {
    /// So far.
    pub fn of(user: User) -> Self {
        let who = match user {
            User::Process => libc::RUSAGE_SELF,
            User::Children => libc::RUSAGE_CHILDREN,
            User::Thread => libc::RUSAGE_THREAD,
        };
        // SAFETY: rusage is plain numbers, for which all zeros is a value, and getrusage writes
        // nothing beyond the struct that it is given.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &raw mut usage);
            usage
        };
        Self::read(&usage)
    }

    pub(crate) fn read(usage: &libc::rusage) -> Self {
        let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
        Self {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
            memory_max_kib: usage.ru_maxrss as u64,
        }
    }
}
