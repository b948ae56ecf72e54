//! What the process used, all its threads together.

use std::ops::Sub;

use anyhow::{Context as _, Result};

/// Since it was started.
#[derive(Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) cpu_ns: u64,
    /// What it had the kernel write to devices.
    pub(crate) written_bytes: u64,
}

impl Usage {
    pub(crate) fn now() -> Result<Self> {
        let io = std::fs::read_to_string("/proc/self/io").context("/proc/self/io")?;
        let mut lines = io.lines().filter_map(|line| line.split_once(": "));
        let written = lines.find(|(name, _)| *name == "write_bytes");
        let (_, written) = written.context("/proc/self/io has no write_bytes")?;
        Ok(Self { cpu_ns: cpu_ns()?, written_bytes: written.parse()? })
    }
}

impl Sub for Usage {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns - before.cpu_ns,
            written_bytes: self.written_bytes - before.written_bytes,
        }
    }
}

fn cpu_ns() -> Result<u64> {
    let mut spent = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to `spent` alone, which is there.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut spent) };
    anyhow::ensure!(done == 0, "the process's clock: {}", std::io::Error::last_os_error());
    Ok(spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64)
}
