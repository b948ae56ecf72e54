//! The workers of a group, one on each rank.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use host::clock::monotonic_ns;
use process::worker::{Assignment, CLOCK_ERROR, Clients, FromWorker, Transport, path_of};
use process::{Error, StopFlag};

use crate::leader::Leader;
use crate::tree::depth;

/// Long enough for ranks to hear of the start …
const HEAD_START: Duration = Duration::from_millis(2);
/// … each from the one above, which sleeps between two looks.
const HEAD_START_PER_STEP: Duration = Duration::from_micros(500);

/// The workers of the first ranks, for one slice.
struct RankTransport {
    leader: Leader,
    workers: usize,
    round: u64,
    /// Reports are to come of what was started by clocks, of which rank 0 knows its own.
    is_timed: bool,
    is_over: bool,
}

impl Clients for Leader {
    fn count(&self) -> usize {
        self.ranks()
    }

    fn group(&self, workers: usize) -> Box<dyn Transport> {
        let (leader, round) = (self.clone(), self.next_round());
        let workers = workers.min(self.ranks());
        Box::new(RankTransport { leader, workers, round, is_timed: false, is_over: false })
    }

    fn path_to(&self, client: usize, folder: BorrowedFd<'_>) -> io::Result<String> {
        Ok(self.path_on(client, path_of(folder)?))
    }

    fn is_each_ones_own(&self, folder: BorrowedFd<'_>) -> io::Result<bool> {
        Ok(self.is_own(&path_of(folder)?))
    }
}

impl Transport for RankTransport {
    fn workers(&self) -> usize {
        self.workers
    }

    fn assign(&mut self, worker: usize, assignment: &Assignment) -> Result<(), Error> {
        self.leader.assign(worker, self.workers, self.round, assignment)
    }

    /// At one moment, which each is told by its own clock.
    fn start_together(&mut self) -> Result<(), Error> {
        self.leader.ask_times(self.workers, &StopFlag::default())?;
        let head_start = HEAD_START + HEAD_START_PER_STEP * depth(self.workers);
        let at_ns = monotonic_ns() + head_start.as_nanos() as u64;
        self.is_timed = true;
        self.leader.start(self.workers, self.round, Some(at_ns))
    }

    fn go_on(&mut self) -> Result<(), Error> {
        self.leader.start(self.workers, self.round, None)
    }

    fn receive(&mut self, worker: usize, stop: &StopFlag) -> Result<FromWorker, Error> {
        let mut message = self.leader.hear(worker, self.round, stop)?;
        if worker == 0
            && let FromWorker::Done(report) = &mut message
            && std::mem::take(&mut self.is_timed)
        {
            report.figures.insert(CLOCK_ERROR.to_owned(), 0.0);
        }
        Ok(message)
    }

    fn kill(&mut self) {
        self.is_over = true;
        (0..self.workers).for_each(|worker| self.leader.kill(worker));
    }

    /// They stay with their ranks.
    fn release(mut self: Box<Self>) {
        self.is_over = true;
    }
}

impl Drop for RankTransport {
    fn drop(&mut self) {
        if !self.is_over {
            self.kill();
        }
    }
}
