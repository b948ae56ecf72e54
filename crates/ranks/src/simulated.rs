//! As many ranks as wanted that are none: all that they would send is made up here, as soon as
//! they are told something, the way that it comes through the tree.
//!
//! What that takes is kept apart, so that the rest of a run's time is what it costs rank 0, but
//! for MPI itself.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::{Duration, Instant};

use host::clock::{monotonic_name, monotonic_ns};
use model::client::Client;
use process::worker::{Assignment, FromWorker, Report, Session, WorkerKind};

use crate::comm::{Comm, Failure};
use crate::message::{FromRank, Greeting, Reading, ToRank, read, written};
use crate::tree::{Said, add_up, below, branch, joined};

/// What simulated workers do.
pub trait Does {
    /// What one reports of each step of its work.
    fn steps(assignment: &Assignment) -> Vec<Report>;
}

/// What went between rank 0 and the others, and what it took to make it up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// From rank 0.
    pub sent_bytes: u64,
    /// To rank 0.
    pub received_bytes: u64,
    /// How long that took which others than rank 0 would have done.
    pub simulating: Duration,
}

/// Rank 0's end of the way to ranks whose workers do as `D`.
pub struct Simulated<D> {
    ranks: usize,
    version: &'static str,
    state: RefCell<State>,
    traffic: Rc<RefCell<Traffic>>,
    _does: PhantomData<D>,
}

#[derive(Default)]
struct State {
    /// What each rank directly below rank 0 has sent.
    sent: HashMap<usize, VecDeque<Vec<u8>>>,
    round: u64,
    of: usize,
    unit_ns: f64,
    /// What each rank has yet to report.
    steps: HashMap<usize, VecDeque<Report>>,
}

impl<D: Does> Simulated<D> {
    /// So many, rank 0 among them, which run this version.
    pub fn new(ranks: usize, version: &'static str) -> Self {
        let (state, traffic) = (RefCell::default(), Rc::default());
        Self { ranks, version, state, traffic, _does: PhantomData }
    }

    /// What rank 0's own worker is.
    pub fn own() -> WorkerKind {
        WorkerKind::Threads(work::<D>)
    }

    /// What goes between them, as it is known at any time.
    pub fn traffic(&self) -> Rc<RefCell<Traffic>> {
        Rc::clone(&self.traffic)
    }

    /// What a rank would do that is told this.
    fn told(&self, rank: usize, message: ToRank<'_>) -> Result<(), Failure> {
        let state = &mut *self.state.borrow_mut();
        match message {
            ToRank::Greet => {
                let greeting =
                    Greeting { version: self.version.to_owned(), machine: machine(rank) };
                state.send(rank, &FromRank::Greeting(greeting))
            }
            ToRank::Time => {
                let reading = Reading { monotonic_ns: monotonic_ns(), clock: monotonic_name() };
                state.send(rank, &FromRank::Time(reading))
            }
            ToRank::Work { round, of, unit_ns, assignment } => {
                (state.round, state.of, state.unit_ns) = (round, of, unit_ns);
                state.steps.insert(rank, D::steps(&assignment).into());
                // They are told in their order, and say nothing before all are ready.
                if rank + 1 < of {
                    return Ok(());
                }
                below(0, of).try_for_each(|branch| state.gather(branch, |_, _| FromWorker::Ready))
            }
            ToRank::Start { round, .. } if round == state.round => {
                state.gather(rank, |state, rank| {
                    let steps = state.steps.get_mut(&rank);
                    let report = steps.and_then(VecDeque::pop_front);
                    FromWorker::Done(Box::new(report.unwrap_or_default()))
                })
            }
            _ => Ok(()),
        }
    }
}

impl State {
    fn send(&mut self, rank: usize, message: &FromRank) -> Result<(), Failure> {
        self.sent.entry(rank).or_default().push_back(written(message)?);
        Ok(())
    }

    /// What comes by a rank directly below rank 0: what all say that are below it, too.
    fn gather(
        &mut self,
        by: usize,
        what: impl Fn(&mut Self, usize) -> FromWorker,
    ) -> Result<(), Failure> {
        let ranks = (1..self.of).filter(|rank| branch(*rank) == by);
        let mut all: Vec<Said> = ranks.map(|rank| Said::of(rank, Ok(what(self, rank)))).collect();
        add_up(&mut all, self.unit_ns);
        self.send(by, &FromRank::Gathered { round: self.round, all: joined(all) })
    }
}

impl<D: Does> Comm for Simulated<D> {
    fn rank(&self) -> usize {
        0
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), Failure> {
        let began = Instant::now();
        self.told(to, read(message)?)?;
        let mut traffic = self.traffic.borrow_mut();
        traffic.sent_bytes += message.len() as u64;
        traffic.simulating += began.elapsed();
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Option<Vec<u8>>, Failure> {
        let mut state = self.state.borrow_mut();
        let message = state.sent.get_mut(&from).and_then(VecDeque::pop_front);
        let bytes = message.as_ref().map_or(0, Vec::len);
        self.traffic.borrow_mut().received_bytes += bytes as u64;
        Ok(message)
    }
}

fn machine(rank: usize) -> Client {
    let name = "simulated".to_owned();
    Client {
        host: format!("node{rank}"),
        kernel: name.clone(),
        cpu: name,
        cpus: 2,
        memory_bytes: 8 << 30,
        mounts: Vec::new(),
    }
}

/// Rank 0's own worker.
fn work<D: Does>(assignment: &Assignment, mut session: Session<'_>) -> Result<Report, String> {
    let mut steps = D::steps(assignment);
    let last = steps.pop().unwrap_or_default();
    let wait = || {
        session.begin()?;
        steps.into_iter().try_for_each(|step| session.report(step))
    };
    wait().map_err(|error| error.to_string())?;
    Ok(last)
}
