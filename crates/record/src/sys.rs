//! Waiting for processes and reading their memory: what neither std nor rustix has.

use std::io;

/// What became of a process or thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waited {
    pub(crate) thread: u32,
    /// As wait(2) has it.
    pub(crate) status: i32,
    pub(crate) usage: Usage,
}

/// How following a program ended.
#[derive(Debug)]
pub(crate) struct Followed {
    /// The command's end, and what it used.
    pub(crate) end: Option<Waited>,
    /// Why the recording ended before that.
    pub(crate) cut: Option<io::Error>,
}

/// What a process used, with those of its children that it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    /// Pages of mapped files that had to be read.
    pub(crate) major_faults: u64,
}

/// Whom to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    /// Any child or traced thread.
    Any,
    /// This one.
    One(u32),
}

/// Waits for a child or a traced thread (wait4(2) with `__WALL`); nothing where `now` is asked
/// for and there is no news.
pub(crate) fn wait(whom: Whom, now: bool) -> io::Result<Option<Waited>> {
    let which = match whom {
        Whom::Any => -1,
        Whom::One(process) => process.cast_signed(),
    };
    let flags = libc::__WALL | if now { libc::WNOHANG } else { 0 };
    let mut status = 0;
    // SAFETY: rusage is plain numbers, for which all zeros is a value; the call writes to the
    // two variables alone, which outlive it.
    let (thread, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(which, &raw mut status, flags, &raw mut usage), usage)
    };
    match thread {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        thread => {
            Ok(Some(Waited { thread: thread.cast_unsigned(), status, usage: Usage::of(&usage) }))
        }
    }
}

/// Waits for a child of ours to its end, whatever signals come meanwhile.
pub(crate) fn wait_for_end(process: u32) -> io::Result<Waited> {
    loop {
        match wait(Whom::One(process), false) {
            Ok(Some(waited)) if !libc::WIFSTOPPED(waited.status) => return Ok(waited),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Usage {
    /// What was used since an earlier reading.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
        }
    }

    fn of(usage: &libc::rusage) -> Self {
        let ns =
            |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        Self {
            user_ns: ns(usage.ru_utime),
            system_ns: ns(usage.ru_stime),
            major_faults: usage.ru_majflt as u64,
        }
    }
}

/// Copies memory of another process into `into`; how many bytes there were.
pub(crate) fn read_memory(thread: u32, address: u64, into: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: into.len() };
    // SAFETY: the call writes at most as many bytes as `into` has, which it borrows for
    // itself; the other address is of another process, and is checked by the kernel.
    let read = unsafe {
        libc::process_vm_readv(thread.cast_signed(), &raw const local, 1, &raw const remote, 1, 0)
    };
    usize::try_from(read).unwrap_or(0)
}

/// Copies a string that ends with 0 into `into`; its length without that, or nothing where it
/// cannot be read or does not end.
pub(crate) fn read_string(thread: u32, address: u64, into: &mut [u8]) -> Option<usize> {
    /// A read that goes beyond what is mapped reads nothing: none goes beyond a page.
    const PAGE: u64 = 4096;
    /// Most paths are shorter.
    const STEP: u64 = 256;
    if address == 0 {
        return None;
    }
    let mut length = 0;
    while length < into.len() {
        let from = address.wrapping_add(length as u64);
        let step = (PAGE - from % PAGE).min(STEP).min((into.len() - length) as u64) as usize;
        let read = read_memory(thread, from, &mut into[length..length + step]);
        if let Some(end) = into[length..length + read].iter().position(|byte| *byte == 0) {
            return Some(length + end);
        }
        if read < step {
            return None;
        }
        length += read;
    }
    None
}

/// A sum in the proportion of two counts; all of it outside the kernel where neither is known.
pub(crate) fn share(sum: u64, user: u64, system: u64) -> (u64, u64) {
    let whole = u128::from(user) + u128::from(system);
    if whole == 0 {
        return (sum, 0);
    }
    let within = (u128::from(sum) * u128::from(system) / whole) as u64;
    (sum - within, within)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::process::Command;

    use super::*;

    #[test]
    fn memory_and_strings_are_read_up_to_their_end() {
        let me = std::process::id();
        let text = [&b"a path"[..], &[b'x'; 5000], b"\0"].concat();
        let mut into = vec![0; 8192];
        assert_eq!(read_string(me, text.as_ptr() as u64, &mut into), Some(5006));
        assert_eq!(into[..6], text[..6]);
        assert_eq!(read_string(me, text.as_ptr() as u64, &mut into[..100]), None);
        assert_eq!(read_string(me, 0, &mut into), None);
        assert_eq!(read_string(me, 8, &mut into), None);
        assert_eq!(read_memory(me, text.as_ptr() as u64, &mut into[..3]), 3);
    }

    #[test]
    // What is tested waits for it.
    #[allow(clippy::zombie_processes)]
    fn a_childs_end_is_told_with_what_it_used() {
        let child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        let waited = wait_for_end(child.id()).unwrap();
        assert_eq!((waited.thread, libc::WEXITSTATUS(waited.status)), (child.id(), 7));
        assert!(waited.usage.user_ns + waited.usage.system_ns > 0);
        assert!(wait(Whom::One(child.id()), true).is_err());
    }

    #[test]
    fn time_is_shared_as_ticks_are() {
        assert_eq!(share(100, 1, 3), (25, 75));
        assert_eq!(share(100, 0, 0), (100, 0));
        assert_eq!(share(u64::MAX, u64::MAX, u64::MAX), (u64::MAX / 2 + 1, u64::MAX / 2));
    }
}
