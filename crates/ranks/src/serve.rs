//! What a rank does that is not rank 0: it answers, and keeps a worker process, between
//! which and rank 0 it passes on what they say.
//!
//! The rank does no I/O in places itself. Its worker may be stuck in the kernel on storage
//! that does not respond, and the rank still answers.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::clock::{Clock, monotonic_ns};
use process::StopFlag;
use process::worker::{FromWorker, LocalWorker, WorkerKind};

use crate::comm::Comm;
use crate::error::Error;
use crate::gathering::Gathering;
use crate::idle::Idle;
use crate::message::{FromRank, Greeting, Mark, OwnPlace, Sight, ToRank, read, written};

/// While a worker works, nothing is expected from rank 0 but the order to end it.
const WORKING: Duration = Duration::from_millis(10);
/// More than a mark has.
const MARK_BYTES_MAX: u64 = 256;

/// What a rank knows of places.
pub trait Here {
    /// What is mounted at a directory, and how.
    fn mounted_at(&mut self, directory: &Path) -> String;

    /// Makes a folder of this rank's own in a place, which stays until the rank ends; why not,
    /// where it cannot.
    fn open(&mut self, place: &OwnPlace) -> Result<PathBuf, String>;
}

/// Answers rank 0 until that says to end, with workers of this kind.
///
/// # Errors
/// Where messages cannot be carried, or are not ours.
pub fn serve(
    comm: &dyn Comm,
    version: &str,
    kind: WorkerKind,
    here: &mut dyn Here,
) -> Result<(), Error> {
    let (clock, stop) = (Clock::new(), StopFlag::default());
    let mut rank =
        Rank { comm, version, kind, here, clock, stop, worker: None, round: 0, gathering: None };
    let mut idle = Idle::new();
    loop {
        if let Some(bytes) = comm.receive(0)? {
            if rank.answer(read(&bytes)?)? == Next::End {
                return Ok(());
            }
            idle = Idle::new();
        } else if rank.gather()? || rank.pass_on(&idle)? {
            idle = Idle::new();
        }
    }
}

#[derive(PartialEq)]
enum Next {
    Message,
    End,
}

struct Rank<'a> {
    comm: &'a dyn Comm,
    version: &'a str,
    kind: WorkerKind,
    here: &'a mut dyn Here,
    clock: Clock,
    stop: StopFlag,
    worker: Option<LocalWorker>,
    round: u64,
    /// From the start on, until all below have reported.
    gathering: Option<Gathering>,
}

impl Rank<'_> {
    fn answer(&mut self, message: ToRank) -> Result<Next, Error> {
        match message {
            ToRank::Greet => {
                let (version, machine) = (self.version.to_owned(), host::machine::as_client());
                self.send(0, &FromRank::Greeting(Greeting { version, machine }))?;
            }
            ToRank::Look(marks) => {
                self.send(0, &FromRank::Seen(marks.iter().map(seen).collect()))?;
            }
            ToRank::Describe(directories) => {
                let mounts = directories.iter().map(|path| self.here.mounted_at(path)).collect();
                self.send(0, &FromRank::Described(mounts))?;
            }
            ToRank::Open(place) => {
                let opened = self.here.open(&place);
                self.send(0, &FromRank::Opened(opened))?;
            }
            ToRank::Time => self.send(0, &FromRank::Time(monotonic_ns()))?,
            ToRank::Work { round, assignment } => {
                self.round = round;
                self.gathering = None;
                self.with_worker(|worker| worker.assign(&assignment))?;
            }
            ToRank::Start { round, at_ns, of, unit_ns } if round == self.round => {
                self.gathering = Some(Gathering::begin(self.comm.rank(), of, unit_ns));
                self.with_worker(|worker| worker.start_at(at_ns))?;
            }
            ToRank::Start { .. } => {}
            ToRank::Kill => {
                self.worker = None;
                self.gathering = None;
            }
            ToRank::End => return Ok(Next::End),
        }
        Ok(Next::Message)
    }

    /// Tells the worker something; one that was not there is started. Rank 0 hears of one
    /// that cannot be.
    fn with_worker(
        &mut self,
        tell: impl FnOnce(&mut LocalWorker) -> Result<(), process::Error>,
    ) -> Result<(), Error> {
        let worker = match self.worker.take() {
            Some(worker) => Ok(worker),
            None => LocalWorker::start(self.kind, &self.clock, &self.stop),
        };
        match worker.and_then(|mut worker| tell(&mut worker).map(|()| worker)) {
            Ok(worker) => {
                self.worker = Some(worker);
                Ok(())
            }
            Err(error) => self.say(Err(error.to_string())),
        }
    }

    /// Passes on what the worker says, or waits a while; whether it said anything.
    fn pass_on(&mut self, idle: &Idle) -> Result<bool, Error> {
        let Some(worker) = &mut self.worker else {
            idle.wait();
            return Ok(false);
        };
        let is_at_work = self.gathering.as_ref().is_some_and(Gathering::lacks_own);
        let patience = if is_at_work { WORKING } else { idle.pause() };
        match worker.receive_within(patience) {
            Ok(None) => Ok(false),
            Ok(Some(message)) => self.say(Ok(message)).map(|()| true),
            Err(error) => {
                self.worker = None;
                self.say(Err(error.to_string())).map(|()| true)
            }
        }
    }

    /// Says what the worker says: to rank 0 before it is started, and then together with the
    /// ranks below.
    fn say(&mut self, what: Result<FromWorker, String>) -> Result<(), Error> {
        match &mut self.gathering {
            None => self.send(0, &FromRank::Worker { round: self.round, what }),
            Some(gathering) => {
                gathering.add_own(what);
                self.hand_up()
            }
        }
    }

    /// Takes in what ranks below say; whether any did.
    fn gather(&mut self) -> Result<bool, Error> {
        let Some(gathering) = &mut self.gathering else { return Ok(false) };
        let mut has_any = false;
        for rank in gathering.awaited() {
            let Some(bytes) = self.comm.receive(rank)? else { continue };
            has_any = true;
            // Others are of a round that was given up.
            if let FromRank::Gathered { round, all } = read(&bytes)?
                && round == self.round
            {
                gathering.add(rank, all);
            }
        }
        self.hand_up()?;
        Ok(has_any)
    }

    /// Hands on what was gathered, once it is whole.
    fn hand_up(&mut self) -> Result<(), Error> {
        let Some(gathering) = self.gathering.take_if(|gathering| gathering.is_whole()) else {
            return Ok(());
        };
        let (above, all) = gathering.finish();
        self.send(above, &FromRank::Gathered { round: self.round, all })
    }

    fn send(&self, to: usize, message: &FromRank) -> Result<(), Error> {
        Ok(self.comm.send(to, &written(message)?)?)
    }
}

/// What is seen from here of a place that rank 0 has marked.
fn seen(mark: &Mark) -> Sight {
    match fs::metadata(&mark.place) {
        Err(error) => return Sight::Missing(error.to_string()),
        Ok(found) if !found.is_dir() => return Sight::Missing("not a directory".to_owned()),
        Ok(_) => {}
    }
    let mut content = String::new();
    let read = fs::File::open(&mark.file)
        .and_then(|file| file.take(MARK_BYTES_MAX).read_to_string(&mut content));
    if read.is_ok() && content == mark.content { Sight::Same } else { Sight::Another }
}
