//! Readings taken around each slice.

/// What the process has used so far, all its threads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in its own code.
    pub user_ns: u64,
    /// Processor time in the kernel.
    pub system_ns: u64,
}

impl Usage {
    /// A reading, from getrusage(2).
    pub fn now() -> Self {
        // SAFETY: rusage is plain numbers, for which all zeros is a value, and
        // getrusage writes nothing beyond the struct that it is given.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
            usage
        };
        let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
        Self { user_ns: ns(usage.ru_utime), system_ns: ns(usage.ru_stime) }
    }

    /// What was used since an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}

/// What the devices behind a place have read and written so far, for anyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceBytes {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
}

impl DeviceBytes {
    /// What passed between two readings, where there are both.
    pub fn between(before: Option<Self>, after: Option<Self>) -> Option<Self> {
        let (before, after) = before.zip(after)?;
        Some(Self {
            read: after.read.saturating_sub(before.read),
            written: after.written.saturating_sub(before.written),
        })
    }
}
