//! The worker's end of the pipes, for workers written in Rust.

use std::io::{self, BufRead, Read as _, Write};

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::ClockId;

use super::lines::LINE_BYTES_MAX;
use super::message::ToWorker;
use super::protocol::{Assignment, FromWorker, Report};
use crate::StopFlag;
use host::clock::{Clock, monotonic_ns, timespec};

/// Sleeping wakes late by this much at the most, ordinarily; the rest is spun.
const SPIN_NS: u64 = 60_000;

/// Does an assignment in a worker: makes ready, waits for the start with
/// [`Session::start`], works and reports; an error in words where it cannot.
pub type Work = fn(&Assignment, Session<'_>) -> Result<Report, String>;

/// What a worker has beside its assignment.
pub struct Session<'a> {
    /// Set when the run should end.
    pub stop: &'a StopFlag,
    /// What to time with.
    pub clock: Clock,
    /// Says something to the group, and waits until that has it go on.
    say: &'a mut dyn FnMut(FromWorker) -> io::Result<Started>,
}

impl Session<'_> {
    /// Says that all is ready, and waits until the group is started.
    pub fn start(mut self) -> io::Result<Started> {
        self.begin()
    }

    /// The same for work in several parts.
    pub fn begin(&mut self) -> io::Result<Started> {
        (self.say)(FromWorker::Ready)
    }

    /// Reports on a part of the work, and waits until the group goes on to the next: with
    /// [`pause`](super::RunningGroup::pause) and [`go_on`](super::WorkerGroup::go_on).
    pub fn report(&mut self, part: Report) -> io::Result<()> {
        (self.say)(FromWorker::Done(Box::new(part))).map(drop)
    }
}

/// The moment at which a group was started, by the clock of whoever asks.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    monotonic_ns: u64,
}

impl Started {
    /// Now, for work that nobody else shares.
    pub fn now() -> Self {
        Self { monotonic_ns: monotonic_ns() }
    }

    /// How long that is ago, in nanoseconds.
    pub fn elapsed_ns(self) -> u64 {
        monotonic_ns().saturating_sub(self.monotonic_ns)
    }
}

/// Works until the group closes the pipe.
pub fn serve(
    mut reader: impl BufRead,
    mut writer: impl Write,
    stop: &StopFlag,
    work: Work,
) -> io::Result<()> {
    while let Some(message) = receive(&mut reader)? {
        // A start without work before it belongs to work that failed.
        let ToWorker::Work { clock, assignment } = message else { continue };
        let mut say = |said: FromWorker| {
            send(&mut writer, &said)?;
            match receive(&mut reader)? {
                Some(ToWorker::Start(at_ns)) => Ok(wait_until(at_ns)),
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        };
        let session = Session { stop, clock: Clock::told(clock), say: &mut say };
        let answer = match work(&assignment, session) {
            Ok(report) => FromWorker::Done(Box::new(report)),
            Err(why) => FromWorker::Failed(why),
        };
        send(&mut writer, &answer)?;
    }
    Ok(())
}

/// Sleeps, then spins, until `CLOCK_MONOTONIC` shows so many nanoseconds.
fn wait_until(at_ns: u64) -> Started {
    let waking = timespec(at_ns.saturating_sub(SPIN_NS));
    while let Err(Errno::INTR) = clock_nanosleep_absolute(ClockId::Monotonic, &waking) {}
    while monotonic_ns() < at_ns {
        std::hint::spin_loop();
    }
    Started { monotonic_ns: at_ns }
}

fn receive(reader: &mut impl BufRead) -> io::Result<Option<ToWorker>> {
    let mut line = String::new();
    if reader.take(LINE_BYTES_MAX as u64).read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&line)?))
}

fn send(writer: &mut impl Write, message: &FromWorker) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    writer.write_all(&line)?;
    writer.flush()
}
