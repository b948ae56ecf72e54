//! A filter of system calls (seccomp(2)) that a program is started with.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// One instruction of a filter.
pub type Instruction = libc::sock_filter;

/// Has a program, and all that it starts, make its system calls through a filter.
///
/// Where this process has no rights in its user namespace, the program also gets the attribute that
/// no program gains rights (`no_new_privs`), without which the kernel refuses.
pub fn filter_calls(command: &mut Command, filter: Vec<Instruction>) -> &mut Command {
    let install = move || {
        let program =
            libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
        // SAFETY: the program lives during the call, which copies it.
        let install = || unsafe {
            libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
        };
        if install() == 0 {
            return Ok(());
        }
        if io::Error::last_os_error().raw_os_error() != Some(libc::EACCES) {
            return Err(io::Error::last_os_error());
        }
        rustix::thread::set_no_new_privs(true)?;
        crate::done(install())
    };
    // SAFETY: the closure makes system calls alone, and reads memory that it owns.
    unsafe { command.pre_exec(install) }
}
