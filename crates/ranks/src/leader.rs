//! Rank 0's end: it knows the other ranks, and has their workers do what a group is to do.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use host::clock::{Clock, monotonic_ns};
use model::client::Client;
use process::StopFlag;
use process::worker::{Assignment, FromWorker, LocalWorker, WorkerKind};

use crate::clock::{Offset, Round};
use crate::comm::Comm;
use crate::error::Error;
use crate::idle::Idle;
use crate::message::{FromRank, Mark, OwnPlace, Sight, ToRank, read, written};
use crate::own::OwnFolders;
use crate::tree::{Said, branch};

/// A rank that says nothing for this long will never say anything.
const SILENCE_MAX: Duration = Duration::from_secs(120);
/// How often a rank is asked for the time at once, of which the quickest answer counts.
const ROUNDS: usize = 5;

/// Rank 0, with what it knows of the others.
#[derive(Clone)]
pub struct Leader(Rc<Inner>);

struct Inner {
    comm: Box<dyn Comm>,
    kind: WorkerKind,
    clock: Clock,
    state: RefCell<State>,
}

struct State {
    /// The machine of each rank that has said it.
    machines: Vec<Client>,
    /// How the clock of each stands to ours.
    offsets: Vec<Option<Offset>>,
    /// Rank 0's own worker, once it is needed.
    own: Option<LocalWorker>,
    round: u64,
    /// What was said at the end of the work, of ranks that were not asked for yet.
    heard: HashMap<usize, Result<FromWorker, String>>,
    /// Where they are in places that each machine has its own of.
    own_folders: Vec<OwnFolders>,
}

impl Leader {
    /// Greets all other ranks, and starts workers of this kind when they are needed.
    ///
    /// # Errors
    /// Where one does not answer, or runs another version.
    pub fn greet(comm: Box<dyn Comm>, version: &str, kind: WorkerKind) -> Result<Self, Error> {
        let ranks = comm.ranks();
        let state = State {
            machines: vec![host::machine::as_client()],
            offsets: vec![None; ranks],
            own: None,
            round: 0,
            heard: HashMap::new(),
            own_folders: Vec::new(),
        };
        let (clock, state) = (Clock::new(), RefCell::new(state));
        let leader = Self(Rc::new(Inner { comm, kind, clock, state }));
        for rank in 1..ranks {
            leader.send(rank, &ToRank::Greet)?;
        }
        for rank in 1..ranks {
            let greeting = leader.answer(rank, &StopFlag::default(), |message| match message {
                FromRank::Greeting(greeting) => Some(greeting),
                _ => None,
            })?;
            leader.0.state.borrow_mut().machines.push(greeting.machine);
            if greeting.version != version {
                let theirs = greeting.version;
                return Err(leader.failed(
                    rank,
                    format!(
                        "it runs iotoll {theirs} and rank 0 runs {version}: install the same \
                         version on every machine"
                    ),
                ));
            }
        }
        Ok(leader)
    }

    /// What each other rank sees of the places that were marked, by rank.
    ///
    /// # Errors
    /// Where one does not answer.
    pub fn look(&self, marks: &[Mark]) -> Result<Vec<(usize, Vec<Sight>)>, Error> {
        let others = 1..self.ranks();
        for rank in others.clone() {
            self.send(rank, &ToRank::Look(marks.to_vec()))?;
        }
        let seen = |rank| {
            let sights = self.answer(rank, &StopFlag::default(), |message| match message {
                FromRank::Seen(sights) => Some(sights),
                _ => None,
            })?;
            if sights.len() == marks.len() {
                return Ok((rank, sights));
            }
            let (told, marked) = (sights.len(), marks.len());
            Err(self.failed(rank, format!("it told of {told} places, not {marked}")))
        };
        others.map(seen).collect()
    }

    /// Has each rank say what is mounted at these directories, which `ours` says of this one.
    ///
    /// # Errors
    /// Where one does not answer.
    pub fn describe(&self, directories: &[PathBuf], ours: Vec<String>) -> Result<(), Error> {
        for rank in 1..self.ranks() {
            self.send(rank, &ToRank::Describe(directories.to_vec()))?;
        }
        self.0.state.borrow_mut().machines[0].mounts = ours;
        for rank in 1..self.ranks() {
            let mounts = self.answer(rank, &StopFlag::default(), |message| match message {
                FromRank::Described(mounts) if mounts.len() == directories.len() => Some(mounts),
                _ => None,
            })?;
            self.0.state.borrow_mut().machines[rank].mounts = mounts;
        }
        Ok(())
    }

    /// Has each other rank make a folder of its own in a place, in which rank 0 has one.
    ///
    /// # Errors
    /// Where one does not answer, or cannot.
    pub fn open_own(&self, place: &OwnPlace, of_leader: PathBuf) -> Result<(), Error> {
        for rank in 1..self.ranks() {
            self.send(rank, &ToRank::Open(place.clone()))?;
        }
        let mut of_others = Vec::new();
        for rank in 1..self.ranks() {
            let opened = self.answer(rank, &StopFlag::default(), |message| match message {
                FromRank::Opened(opened) => Some(opened),
                _ => None,
            })?;
            of_others.push(opened.map_err(|why| self.failed(rank, why))?);
        }
        self.0.state.borrow_mut().own_folders.push(OwnFolders { of_leader, of_others });
        Ok(())
    }

    /// Where a rank has a folder of rank 0's.
    pub(crate) fn path_on(&self, rank: usize, folder: String) -> String {
        let state = self.0.state.borrow();
        let own = state.own_folders.iter().find_map(|own| own.standing_for(&folder, rank));
        own.unwrap_or(folder)
    }

    /// Whether it is in a place that each machine has its own of.
    pub(crate) fn is_own(&self, folder: &str) -> bool {
        self.0.state.borrow().own_folders.iter().any(|own| own.have(folder))
    }

    /// How many ranks there are, this one among them.
    pub fn ranks(&self) -> usize {
        self.0.comm.ranks()
    }

    /// The machine that a rank runs on.
    pub fn host(&self, rank: usize) -> String {
        let state = self.0.state.borrow();
        state.machines.get(rank).map(|machine| machine.host.clone()).unwrap_or_default()
    }

    /// The machines of all, in the order of their ranks.
    pub fn clients(&self) -> Vec<Client> {
        self.0.state.borrow().machines.clone()
    }

    /// A round of work begins, of which messages are told from those of others.
    pub(crate) fn next_round(&self) -> u64 {
        let mut state = self.0.state.borrow_mut();
        state.round += 1;
        state.round
    }

    pub(crate) fn assign(
        &self,
        rank: usize,
        round: u64,
        assignment: &Assignment,
    ) -> Result<(), process::Error> {
        if rank > 0 {
            let assignment = assignment.clone();
            return Ok(self.send(rank, &ToRank::Work { round, assignment })?);
        }
        let mut state = self.0.state.borrow_mut();
        let mut worker = match state.own.take() {
            Some(worker) => worker,
            None => LocalWorker::start(self.0.kind, &self.0.clock, &StopFlag::default())?,
        };
        worker.assign(assignment)?;
        state.own = Some(worker);
        Ok(())
    }

    /// Has the workers of the first ranks start at a moment of this clock; at once where that
    /// is 0.
    pub(crate) fn start(&self, of: usize, round: u64, at_ns: u64) -> Result<(), process::Error> {
        self.0.state.borrow_mut().heard.clear();
        let unit_ns = self.0.clock.tick_ns();
        // The one here last, for it hears of it at once.
        for rank in (1..of).rev() {
            let at_ns = if at_ns == 0 { 0 } else { self.offset(rank).theirs(at_ns) };
            self.send(rank, &ToRank::Start { round, at_ns, of, unit_ns })?;
        }
        let mut state = self.0.state.borrow_mut();
        state.own.as_mut().map_or(Ok(()), |worker| worker.start_at(at_ns))
    }

    /// What a worker says in that round before it is started.
    pub(crate) fn hear_ready(
        &self,
        rank: usize,
        round: u64,
        stop: &StopFlag,
    ) -> Result<FromWorker, process::Error> {
        if rank == 0 {
            return self.hear_own(stop);
        }
        let what = self.answer(rank, stop, |message| match message {
            FromRank::Worker { round: of, what } if of == round => Some(what),
            _ => None,
        })?;
        Ok(self.checked(rank, what)?)
    }

    /// What a worker says in that round once it was started.
    pub(crate) fn hear_end(
        &self,
        rank: usize,
        round: u64,
        stop: &StopFlag,
    ) -> Result<FromWorker, process::Error> {
        if rank == 0 {
            return self.hear_own(stop);
        }
        loop {
            let heard = self.0.state.borrow_mut().heard.remove(&rank);
            if let Some(what) = heard {
                return Ok(self.checked(rank, what)?);
            }
            let all = self.answer(branch(rank), stop, |message| match message {
                FromRank::Gathered { round: of, all } if of == round => Some(all),
                _ => None,
            })?;
            let all = all.into_iter().map(|Said { rank, what }| (rank, what));
            self.0.state.borrow_mut().heard.extend(all);
        }
    }

    fn checked(&self, rank: usize, what: Result<FromWorker, String>) -> Result<FromWorker, Error> {
        what.and_then(FromWorker::checked).map_err(|why| self.failed(rank, why))
    }

    fn hear_own(&self, stop: &StopFlag) -> Result<FromWorker, process::Error> {
        let since = Instant::now();
        loop {
            let mut state = self.0.state.borrow_mut();
            let Some(worker) = &mut state.own else { return Err(process::Error::Stopped) };
            match worker.receive_within(Duration::from_millis(10)) {
                Ok(Some(message)) => return Ok(message),
                Ok(None) => {}
                Err(error) => {
                    state.own = None;
                    return Err(error);
                }
            }
            drop(state);
            self.check(0, since, stop)?;
        }
    }

    /// Ends a worker, whatever it does.
    pub(crate) fn kill(&self, rank: usize) {
        if rank == 0 {
            self.0.state.borrow_mut().own = None;
        } else {
            // One that cannot be told is gone.
            let _ = self.send(rank, &ToRank::Kill);
        }
    }

    /// Takes the time of ranks anew of which it is not known well enough any more.
    pub(crate) fn take_times(&self, ranks: usize, stop: &StopFlag) -> Result<(), Error> {
        for rank in 1..ranks {
            let known = self.0.state.borrow().offsets[rank];
            if known.is_none_or(|offset| offset.is_stale(monotonic_ns())) {
                let rounds: Result<Vec<_>, _> =
                    (0..ROUNDS).map(|_| self.ask_time(rank, stop)).collect();
                self.0.state.borrow_mut().offsets[rank] = Offset::of(&rounds?);
            }
        }
        Ok(())
    }

    fn ask_time(&self, rank: usize, stop: &StopFlag) -> Result<Round, Error> {
        let asked_ns = monotonic_ns();
        self.send(rank, &ToRank::Time)?;
        let theirs_ns = self.answer(rank, stop, |message| match message {
            FromRank::Time(ns) => Some(ns),
            _ => None,
        })?;
        Ok(Round { asked_ns, theirs_ns, answered_ns: monotonic_ns() })
    }

    /// By how much a rank's clock may be off from what is thought.
    pub(crate) fn clock_error_ns(&self, rank: usize) -> u64 {
        if rank == 0 { 0 } else { self.offset(rank).error_ns(monotonic_ns()) }
    }

    fn offset(&self, rank: usize) -> Offset {
        self.0.state.borrow().offsets[rank].unwrap_or_default()
    }

    /// A rank's next message that is wanted; others are of rounds that were given up.
    fn answer<T>(
        &self,
        rank: usize,
        stop: &StopFlag,
        mut wanted: impl FnMut(FromRank) -> Option<T>,
    ) -> Result<T, Error> {
        let (since, mut idle) = (Instant::now(), Idle::new());
        loop {
            let Some(bytes) = self.0.comm.receive(rank)? else {
                self.check(rank, since, stop)?;
                idle.wait();
                continue;
            };
            let message = read(&bytes).map_err(|why| self.failed(rank, why.to_string()))?;
            if let Some(found) = wanted(message) {
                return Ok(found);
            }
            idle = Idle::new();
        }
    }

    /// An error where the run should end, or a rank has been silent for too long.
    fn check(&self, rank: usize, since: Instant, stop: &StopFlag) -> Result<(), Error> {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        if since.elapsed() > SILENCE_MAX {
            let seconds = SILENCE_MAX.as_secs();
            return Err(self.failed(rank, format!("it sent nothing for {seconds} s")));
        }
        Ok(())
    }

    fn failed(&self, rank: usize, why: String) -> Error {
        Error::Rank { rank, host: self.host(rank), why }
    }

    fn send(&self, rank: usize, message: &ToRank) -> Result<(), Error> {
        Ok(self.0.comm.send(rank, &written(message)?)?)
    }
}

impl fmt::Debug for Leader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leader").field("ranks", &self.ranks()).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    /// All ranks end with rank 0; one that cannot be told is gone.
    fn drop(&mut self) {
        let Ok(end) = written(&ToRank::End) else { return };
        for rank in 1..self.comm.ranks() {
            let _ = self.comm.send(rank, &end);
        }
    }
}
