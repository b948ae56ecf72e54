//! A command that comes to its end by itself.

use std::io::{self, Read as _};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use model::spent::Spent;

use crate::Error;
use crate::last_words::LastWords;
use crate::left::leave_behind;
use crate::supervised::{Supervised, Waited};

/// The status of what SIGKILL ended, as a shell tells it.
const KILLED: i32 = 128 + 9;

/// A command that was started here, and is to end by itself. Dropping it ends it and
/// everything that it started, and so does the death of this process.
#[derive(Debug)]
pub struct Program {
    command: String,
    /// Nothing once all of it has ended.
    supervised: Option<Supervised>,
    spent: Spent,
    left_others: bool,
    /// As a shell tells it, once it has ended.
    status: i32,
    output: Option<JoinHandle<io::Result<Vec<u8>>>>,
    last_words: LastWords,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its exit status as a shell tells it: 128 and the signal's number where one ended it.
    pub status: i32,
    /// What it wrote to standard output; empty where nobody asked.
    pub output: Vec<u8>,
    /// The last lines that it wrote to standard error.
    pub stderr: Vec<String>,
    /// Whether it left others behind that had to be ended.
    pub left_others: bool,
}

impl Program {
    /// Starts a prepared command; `shown` is what errors call it. Its standard input is
    /// `/dev/null`, and so is its standard output unless up to `output_max` bytes of it are
    /// asked for.
    pub fn start(command: Command, shown: &str, output_max: Option<u64>) -> Result<Self, Error> {
        Self::begin(command, shown, output_max, false)
    }

    /// The same of one that has ended once its first process has: what that leaves behind, such as a
    /// daemon, is ended and does not count.
    pub fn start_alone(
        command: Command,
        shown: &str,
        output_max: Option<u64>,
    ) -> Result<Self, Error> {
        Self::begin(command, shown, output_max, true)
    }

    fn begin(
        mut command: Command,
        shown: &str,
        output_max: Option<u64>,
        alone: bool,
    ) -> Result<Self, Error> {
        let stdout = if output_max.is_some() { Stdio::piped() } else { Stdio::null() };
        command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
        let path = command.get_program().display().to_string();
        let not_started = |source: io::Error| Error::Command {
            what: format!("command `{shown}`"),
            why: format!("cannot start {path}: {source}"),
            stderr: Vec::new(),
        };
        let mut supervised = Supervised::spawn(&mut command, alone).map_err(not_started)?;
        let (stdout, stderr) = (supervised.take_stdout(), supervised.take_stderr());
        let mut program = Self {
            command: shown.to_owned(),
            supervised: Some(supervised),
            spent: Spent::default(),
            left_others: false,
            status: 0,
            output: None,
            last_words: LastWords::default(),
        };
        // Where there is no thread to read them, the program ends as this returns.
        program.last_words = LastWords::of(stderr).map_err(not_started)?;
        if let (Some(pipe), Some(max)) = (stdout, output_max) {
            let reader = thread::Builder::new().spawn(move || read_up_to(pipe, max));
            program.output = Some(reader.map_err(not_started)?);
        }
        Ok(program)
    }

    /// Waits until it, and everything that it started, has ended, and no longer: what it
    /// wrote, [`finish`](Self::finish) waits for. How long it took, without what starting it took
    /// here.
    pub fn wait(&mut self, patience: Duration, stop: &AtomicBool) -> Result<Duration, Error> {
        let Some(supervised) = &mut self.supervised else { return Ok(self.took()) };
        match supervised.await_end(Instant::now() + patience, stop) {
            Ok(Waited::Ended(status)) => {
                // The keeper is killed only from outside.
                self.status = status.code().unwrap_or(KILLED);
                self.spent = supervised.moments().spent();
                self.left_others = supervised.moments().left_others();
                self.supervised = None;
                Ok(self.took())
            }
            Ok(Waited::Stopped) => Err(Error::Stopped),
            Ok(Waited::TooLong) => {
                let seconds = patience.as_secs_f64();
                Err(self.error(format!(
                    "it, or something that it started, had not ended after {seconds} s"
                )))
            }
            Err(source) => Err(self.error(format!("cannot wait for its end: {source}"))),
        }
    }

    fn took(&self) -> Duration {
        Duration::from_nanos(self.spent.elapsed_ns)
    }

    /// What it used, once it has ended: times, faults and switches, without what starting it used here.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// How it ended, and what it wrote.
    pub fn finish(mut self) -> Result<Ended, Error> {
        self.last_words.await_last();
        let output = match self.output.take().map(JoinHandle::join) {
            None => Vec::new(),
            Some(Ok(Ok(output))) => output,
            Some(Ok(Err(error))) => return Err(self.error(error.to_string())),
            // It does not panic.
            Some(Err(_)) => return Err(Error::Stopped),
        };
        let (status, left_others) = (self.status, self.left_others);
        Ok(Ended { status, output, stderr: self.last_words.lines(), left_others })
    }

    fn error(&self, why: String) -> Error {
        let what = format!("command `{}`", self.command);
        Error::Command { what, why, stderr: self.last_words.lines() }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let Some(mut supervised) = self.supervised.take() else { return };
        for process in supervised.end() {
            leave_behind(format!("command `{}`: {process}", self.command));
        }
    }
}

/// Reads all of it, so that nobody blocks on it.
fn read_up_to(mut pipe: ChildStdout, max: u64) -> io::Result<Vec<u8>> {
    let mut output = Vec::new();
    pipe.by_ref().take(max).read_to_end(&mut output)?;
    let more = io::copy(&mut pipe, &mut io::sink())?;
    if more > 0 {
        return Err(io::Error::other(format!(
            "it wrote more than {max} bytes to standard output, which is as much as is compared"
        )));
    }
    Ok(output)
}
