//! Rank 0's end: it knows the other ranks, and has their workers do what a group is to do.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use host::clock::Clock;
use model::client::Client;
use process::StopFlag;
use process::worker::{Assignment, FromWorker, LocalWorker, WorkerKind};

use crate::clocks::Clocks;
use crate::comm::Comm;
use crate::error::Error;
use crate::message::{FromRank, Mark, OwnPlace, Sight, ToRank, When, written};
use crate::own::OwnFolders;
use crate::tree::{Said, below, branch};
use crate::waiting::{answer, check};

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
    /// Those of the ranks directly below.
    clocks: Clocks,
    /// Rank 0's own worker, once it is needed.
    own: Option<LocalWorker>,
    round: u64,
    /// What was said in this step, of ranks that were not asked for yet.
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
            clocks: Clocks::new(),
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
        state.heard.clear();
        state.round += 1;
        state.round
    }

    /// Gives a rank its part of a round's work, in which the first so many take part.
    pub(crate) fn assign(
        &self,
        rank: usize,
        of: usize,
        round: u64,
        assignment: &Assignment,
    ) -> Result<(), process::Error> {
        if rank > 0 {
            let (unit_ns, assignment) = (self.0.clock.tick_ns(), Cow::Borrowed(assignment));
            return Ok(self.send(rank, &ToRank::Work { round, of, unit_ns, assignment })?);
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

    /// Has the workers of the first ranks start at a moment of this clock; at once where none
    /// is given.
    pub(crate) fn start(
        &self,
        of: usize,
        round: u64,
        at_ns: Option<u64>,
    ) -> Result<(), process::Error> {
        let mut state = self.0.state.borrow_mut();
        state.heard.clear();
        // The one here last, for it hears of it at once.
        let here = at_ns.map(|at_ns| When { at_ns, error_ns: 0 });
        for rank in below(0, of) {
            let when = here.map(|here| state.clocks.theirs(rank, here));
            self.send(rank, &ToRank::Start { round, when })?;
        }
        let at_ns = at_ns.unwrap_or_default();
        state.own.as_mut().map_or(Ok(()), |worker| worker.start_at(at_ns))
    }

    /// What a rank's worker says in this step of a round.
    pub(crate) fn hear(
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
                return Ok(what.map_err(|why| self.failed(rank, why))?);
            }
            let all = self.answer(branch(rank), stop, |message| match message {
                FromRank::Gathered { round: of, all } if of == round => Some(all),
                _ => None,
            })?;
            let heard = &mut self.0.state.borrow_mut().heard;
            for Said { rank, what, same } in all {
                let what = what.and_then(FromWorker::checked);
                heard.extend(same.into_iter().map(|rank| (rank, what.clone())));
                heard.insert(rank, what);
            }
        }
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
            check(0, since, stop)?;
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

    /// Asks the ranks directly below for the time, as far as too little is known of their
    /// clocks.
    pub(crate) fn ask_times(&self, of: usize, stop: &StopFlag) -> Result<(), Error> {
        let ranks = below(0, of);
        let asked = self.0.state.borrow_mut().clocks.ask(&*self.0.comm, ranks, stop);
        asked.map_err(|error| self.named(error))
    }

    /// A rank's next message that is wanted.
    fn answer<T>(
        &self,
        rank: usize,
        stop: &StopFlag,
        wanted: impl FnMut(FromRank) -> Option<T>,
    ) -> Result<T, Error> {
        answer(&*self.0.comm, rank, stop, wanted).map_err(|error| self.named(error))
    }

    /// The same with the machine that the rank is on.
    fn named(&self, error: Error) -> Error {
        match error {
            Error::Rank { rank, why, .. } => self.failed(rank, why),
            other => other,
        }
    }

    fn failed(&self, rank: usize, why: String) -> Error {
        Error::Rank { rank, host: self.host(rank), why }
    }

    fn send(&self, rank: usize, message: &ToRank<'_>) -> Result<(), Error> {
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
