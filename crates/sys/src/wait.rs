//! Waiting for processes, traced threads among them, and reading their memory.

use std::io;

use crate::usage::Usage;

/// What became of a process or thread.
#[derive(Clone, Copy, Debug)]
pub struct Waited {
    /// Which.
    pub thread: u32,
    /// As wait(2) has it.
    pub status: i32,
    /// What it used, with those of its children that it waited for.
    pub usage: Usage,
}

/// Waits for this child or traced thread, or for any (wait4(2) with `__WALL`); nothing where `now`
/// is asked for and there is no news.
pub fn wait(one: Option<u32>, now: bool) -> io::Result<Option<Waited>> {
    let which = one.map_or(-1, u32::cast_signed);
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
            Ok(Some(Waited { thread: thread.cast_unsigned(), status, usage: Usage::read(&usage) }))
        }
    }
}

/// Waits for a child of ours to its end, whatever signals come meanwhile.
pub fn wait_for_end(process: u32) -> io::Result<Waited> {
    loop {
        match wait(Some(process), false) {
            Ok(Some(waited)) if !libc::WIFSTOPPED(waited.status) => return Ok(waited),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Copies memory of another process into `into`; how many bytes there were.
pub fn read_memory(thread: u32, address: u64, into: &mut [u8]) -> usize {
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
pub fn read_string(thread: u32, address: u64, into: &mut [u8]) -> Option<usize> {
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
        assert!(wait(Some(child.id()), true).is_err());
    }
}
