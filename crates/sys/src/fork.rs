//! A child of this process that runs no program.

use std::io;

/// Runs this in a child, which ends with the exit code that it returns; its process number. What
/// the parent has to tidy up is not tidied up by the child, too.
///
/// # Safety
/// The child has the calling thread alone, and locks that others hold stay locked in it. Either no
/// other thread runs, or the work neither allocates nor takes a lock that one of them may have.
pub unsafe fn in_child(work: impl FnOnce() -> i32) -> io::Result<u32> {
    // SAFETY: the caller's promise.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let code = work();
            // SAFETY: it ends the child at once, and runs nothing of its parent's.
            unsafe { libc::_exit(code) }
        }
        child => Ok(child.cast_unsigned()),
    }
}
