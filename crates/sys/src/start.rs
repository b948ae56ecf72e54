//! What a program is started with, set between fork and exec: system calls alone, which touch no
//! memory that a lock might guard.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Signal, chdir, fchdir, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::move_into_link_name_space;

/// Signals that have a meaning in every program, below those of real time (signal(7)).
const STANDARD: std::ops::Range<libc::c_int> = 1..32;

/// Has a program be killed when the thread that starts it ends.
pub fn end_with_parent(command: &mut Command) -> &mut Command {
    let parent = getpid();
    let ask = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have died before.
        if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH.into()) }
    };
    // SAFETY: the closure makes two system calls.
    unsafe { command.pre_exec(ask) }
}

/// Has a program start in a folder that is open, wherever it stands by then.
pub fn start_in<'a>(command: &'a mut Command, folder: BorrowedFd<'_>) -> &'a mut Command {
    let folder = folder.as_raw_fd();
    // SAFETY: the closure makes one system call. Should the descriptor be closed by then, the call
    // fails, and so does starting the program.
    unsafe { command.pre_exec(move || Ok(fchdir(BorrowedFd::borrow_raw(folder))?)) }
}

/// Has a program start in other namespaces, in their order, and in a folder that is named as it is
/// there.
pub fn start_within(
    command: &mut Command,
    namespaces: Vec<OwnedFd>,
    folder: CString,
) -> &mut Command {
    let enter = move || {
        for namespace in &namespaces {
            move_into_link_name_space(namespace.as_fd(), None)?;
        }
        Ok(chdir(&folder)?)
    };
    // SAFETY: the closure makes system calls alone, and reads memory that it owns.
    unsafe { command.pre_exec(enter) }
}

/// Has a program be traced by the thread that starts it.
pub fn be_traced(command: &mut Command) -> &mut Command {
    // SAFETY: the closure makes one system call, and ptrace(2) ignores the other arguments.
    unsafe { command.pre_exec(|| crate::done(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0))) }
}

/// Has a program start with the default action for every signal. Who ignores one hands
/// that on: a shell without job control starts what it runs in the background with SIGINT
/// and SIGQUIT ignored, and so would a test be that was started there.
pub fn default_signals(command: &mut Command) -> &mut Command {
    set_signals(command, STANDARD, libc::SIG_DFL)
}

/// Has a program start with these signals ignored.
pub fn ignore_signals(
    command: &mut Command,
    signals: impl IntoIterator<Item = i32> + Clone + Send + Sync + 'static,
) -> &mut Command {
    set_signals(command, signals, libc::SIG_IGN)
}

fn set_signals(
    command: &mut Command,
    signals: impl IntoIterator<Item = i32> + Clone + Send + Sync + 'static,
    action: libc::sighandler_t,
) -> &mut Command {
    let set = move || -> io::Result<()> {
        for signal in signals.clone() {
            // SAFETY: neither action runs code of this process. SIGKILL and SIGSTOP, which always
            // have the default, are refused, which is as good.
            unsafe { libc::signal(signal, action) };
        }
        Ok(())
    };
    // SAFETY: the closure makes system calls alone.
    unsafe { command.pre_exec(set) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// What of the two a program was started with that says so itself.
    fn ignored(command: &mut Command) -> u64 {
        let output = command.output().unwrap();
        let status = String::from_utf8(output.stdout).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap() & 0b110
    }

    #[test]
    fn what_the_starter_ignores_is_not_handed_on() {
        let ignoring = || {
            let mut command = Command::new("cat");
            ignore_signals(command.arg("/proc/self/status"), [libc::SIGINT, libc::SIGQUIT]);
            command
        };
        assert_eq!(ignored(&mut ignoring()), 0b110);
        assert_eq!(ignored(default_signals(&mut ignoring())), 0);
    }
}
