//! Running a program that may hang: it is ended then, and what it hung on is told.
//!
//! What it prints goes to files, since a pipe is open for as long as anything that it left
//! behind has it.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Seek as _};
use std::process::{Child, Command, ExitStatus, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// Several times what the longest takes on a slow machine, and a fraction of what whoever waits
/// for all of them has.
const LONGEST: Duration = Duration::from_secs(15 * 60);
const EACH: Duration = Duration::from_millis(20);

/// Runs it to its end, and gives what it printed.
///
/// # Errors
/// Where it cannot be started, or hangs: with its processes and what it printed until then.
pub fn output(command: &mut Command) -> Result<Output> {
    output_within(command, LONGEST)
}

fn output_within(command: &mut Command, longest: Duration) -> Result<Output> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let mut child = command.spawn()?;
    let ended = wait(&mut child, longest)?;
    let read = |file: &mut fs::File| -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let (stdout, stderr) = (read(&mut stdout)?, read(&mut stderr)?);
    match ended {
        Ok(status) => Ok(Output { status, stdout, stderr }),
        Err(processes) => bail!(
            "it hung: it was ended after {} s, when there were\n{processes}\n{}{}",
            longest.as_secs(),
            String::from_utf8_lossy(&stdout),
            String::from_utf8_lossy(&stderr)
        ),
    }
}

/// How it ended by itself, or the processes that there were when it was ended.
fn wait(child: &mut Child, longest: Duration) -> Result<Result<ExitStatus, String>> {
    let until = Instant::now() + longest;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(Ok(status));
        }
        sleep(EACH);
    }
    let below = below(child.id())?;
    let told = below.iter().map(Process::told).collect();
    for process in below {
        if let Some(pid) = Pid::from_raw(process.pid.cast_signed()) {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    child.wait().context("waiting for what was killed")?;
    Ok(Err(told))
}

struct Process {
    pid: u32,
    parent: u32,
    words: String,
}

impl Process {
    fn all() -> Result<Vec<Self>> {
        let names =
            fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names.filter_map(|name| Self::read(name.parse().ok()?)).collect())
    }

    /// Nothing where it has ended.
    fn read(pid: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        Some(Self { pid, parent: parent.trim().parse().ok()?, words })
    }

    /// Its command, and what each of its threads waits for. Tests name their threads.
    fn told(&self) -> String {
        let mut told = format!("{} (of {}): {}\n", self.pid, self.parent, self.words);
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid));
        for thread in threads.into_iter().flatten().flatten() {
            let read = |name| fs::read_to_string(thread.path().join(name)).unwrap_or_default();
            let (name, waits, call) = (read("comm"), read("wchan"), read("syscall"));
            let _ = writeln!(told, "    {}: {waits}: {}", name.trim_end(), call.trim_end());
        }
        told
    }
}

/// A process with all that it started and whose parents are there still.
fn below(root: u32) -> Result<Vec<Process>> {
    let all = Process::all()?;
    let mut found = vec![root];
    let mut seen = 0;
    while let Some(parent) = found.get(seen) {
        let children = all.iter().filter(|process| process.parent == *parent);
        found.extend(children.map(|child| child.pid).collect::<Vec<_>>());
        seen += 1;
    }
    Ok(all.into_iter().filter(|process| found.contains(&process.pid)).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shell(script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        shell
    }

    /// Fails where what is left behind holds up whoever waits for the program alone.
    #[test]
    fn what_ends_is_not_waited_for_beyond_its_end() {
        let began = Instant::now();
        let output = output(&mut shell("sleep 60 & echo out; echo err >&2; exit 3")).unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!((output.stdout, output.stderr), (b"out\n".to_vec(), b"err\n".to_vec()));
        assert!(began.elapsed() < Duration::from_secs(50));
    }

    #[test]
    fn what_hangs_is_ended_with_all_that_it_started_and_told() {
        let mut hangs = shell("echo began; sleep 61.5; true");
        let told = output_within(&mut hangs, Duration::from_millis(500)).unwrap_err().to_string();
        assert!(told.contains("it hung") && told.contains("began"), "{told}");
        assert!(told.contains("sleep 61.5"), "{told}");
        let is_left = || {
            let all = Process::all().unwrap();
            all.iter().any(|process| process.words.contains("sleep 61.5 "))
        };
        // What was killed ends a moment later, on a busy machine.
        let until = Instant::now() + Duration::from_secs(50);
        while is_left() && Instant::now() < until {
            sleep(EACH);
        }
        assert!(!is_left());
    }
}
