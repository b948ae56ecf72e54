//! Programs that are started with the signals as a terminal would have them.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Signals that have a meaning in every program, below those of real time (signal(7)).
const STANDARD: std::ops::Range<libc::c_int> = 1..32;

/// Has a program start with the default action for every signal. Who ignores one hands
/// that on: a shell without job control starts what it runs in the background with SIGINT
/// and SIGQUIT ignored, and so would a test be that was started there.
pub fn default_signals(command: &mut Command) -> &mut Command {
    let reset = || {
        for signal in STANDARD {
            // SAFETY: the default action runs no code of this process. SIGKILL and SIGSTOP,
            // which always have it, are refused, which is as good.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes system calls alone.
    unsafe { command.pre_exec(reset) }
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
            // SAFETY: between fork and exec the closure makes two system calls.
            unsafe {
                command.arg("/proc/self/status").pre_exec(|| {
                    libc::signal(libc::SIGINT, libc::SIG_IGN);
                    libc::signal(libc::SIGQUIT, libc::SIG_IGN);
                    Ok(())
                })
            };
            command
        };
        assert_eq!(ignored(&mut ignoring()), 0b110);
        assert_eq!(ignored(default_signals(&mut ignoring())), 0);
    }
}
