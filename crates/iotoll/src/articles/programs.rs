//! Whether programs are installed, found out by commands for the shell.

use std::env;
use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Debian keeps servers where the search path of others than root does not lead.
const SYSTEM_PATHS: &str = ":/usr/sbin:/sbin";
/// A program that takes longer to say that it is there is as good as missing.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOKED_AT_EVERY: Duration = Duration::from_millis(5);

/// Whether a command for the shell succeeds.
pub(crate) fn succeeds(test: &str) -> bool {
    let mut path = env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    path.push(SYSTEM_PATHS);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", test]).env("PATH", path);
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = shell.spawn() else { return false };
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => sleep(LOOKED_AT_EVERY),
            Err(_) => break,
        }
    }
    // Whatever keeps it, nobody waits for it any more.
    let _ = child.kill();
    let _ = child.wait();
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_there_or_is_not() {
        assert!(succeeds("command -v sh"));
        assert!(!succeeds("command -v no-such-program-anywhere"));
        assert!(!succeeds("exit 3"));
    }
}
