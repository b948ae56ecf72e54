//! Stepping back behind others who use the machine.

use std::io;

/// `IOPRIO_WHO_PROCESS` of `ioprio_set(2)`: one thread, and what it starts from then on.
const WHO_PROCESS: libc::c_int = 1;
/// The class idle, `IOPRIO_CLASS_IDLE`, in the upper bits.
const CLASS_IDLE: libc::c_int = 3 << 13;

/// Has the storage serve this thread, and the threads and processes that it starts from
/// now on, when nobody else wants it. Needs no right. Schedulers that know priorities go by
/// it (`bfq`, `mq-deadline`); with `none` and `kyber` it changes nothing.
///
/// # Errors
/// Where the system refuses, as a container's filter may.
pub fn storage_when_idle() -> io::Result<()> {
    // SAFETY: three numbers, no memory.
    crate::done(unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, CLASS_IDLE) })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn class_of_this_thread() -> libc::c_long {
        // SAFETY: two numbers, no memory.
        unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0) >> 13 }
    }

    #[test]
    fn a_thread_and_those_that_it_starts_are_idle_and_others_are_not() {
        std::thread::spawn(|| {
            storage_when_idle().unwrap();
            assert_eq!(class_of_this_thread(), 3);
            std::thread::spawn(|| assert_eq!(class_of_this_thread(), 3)).join().unwrap();
        })
        .join()
        .unwrap();
        assert_ne!(class_of_this_thread(), 3);
    }
}
