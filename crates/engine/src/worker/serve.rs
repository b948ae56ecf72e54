//! A worker's side of the protocol, for workers written in Rust.

use std::io::{self, BufRead, Write};
use std::time::Duration;

use super::protocol::{FromWorker, ToWorker};
use super::team::Work;
use crate::recorder::StopFlag;
use host::clock::monotonic_ns;

/// Sleeping wakes late by this much at the most, ordinarily; the rest is spun.
const SPIN: Duration = Duration::from_micros(60);

/// Does work until the crew closes the pipe.
pub fn serve(
    mut from_crew: impl BufRead,
    mut to_crew: impl Write,
    stop: &StopFlag,
    work: Work,
) -> io::Result<()> {
    while let Some(told) = hear(&mut from_crew)? {
        // A start without work before it belongs to work that failed.
        let ToWorker::Work(ticket) = told else { continue };
        let mut started = || {
            say(&mut to_crew, &FromWorker::Ready)?;
            match hear(&mut from_crew)? {
                Some(ToWorker::Start(at_ns)) => {
                    wait_until(at_ns);
                    Ok(())
                }
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        };
        let answer = match work(&ticket, stop, &mut started) {
            Ok(report) => FromWorker::Done(Box::new(report)),
            Err(why) => FromWorker::Failed(why),
        };
        say(&mut to_crew, &answer)?;
    }
    Ok(())
}

/// Sleeps, then spins, until `CLOCK_MONOTONIC` shows so many nanoseconds.
fn wait_until(at_ns: u64) {
    let left = Duration::from_nanos(at_ns.saturating_sub(monotonic_ns()));
    std::thread::sleep(left.saturating_sub(SPIN));
    while monotonic_ns() < at_ns {
        std::hint::spin_loop();
    }
}

fn hear(from: &mut impl BufRead) -> io::Result<Option<ToWorker>> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&line)?))
}

fn say(to: &mut impl Write, what: &FromWorker) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}
