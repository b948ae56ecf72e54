//! What a rank does that is not rank 0: it answers, and keeps a worker process, between
//! which and rank 0 it passes on what they say.
//!
//! The rank does no I/O in places itself. Its worker may be stuck in the kernel on storage
//! that does not respond, and the rank still answers.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::clock::Clock;
use process::StopFlag;
use process::worker::{CLOCK_ERROR, FromWorker, LocalWorker, WorkerKind};

use crate::clocks::Clocks;
use crate::comm::Comm;
use crate::error::Error;
use crate::gathering::Gathering;
use crate::idle::Idle;
use crate::message::{FromRank, Greeting, Mark, OwnPlace, Sight, ToRank, When, read, written};
use crate::tree::{above, below};

/// While a worker works, nothing is expected from rank 0 but the order to end it.
const WORKING: Duration = Duration::from_millis(10);
/// While all are ready, the start is about to come.
const STARTING: Duration = Duration::from_micros(50);
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
    let mut rank = Rank {
        comm,
        version,
        kind,
        here,
        clock: Clock::new(),
        clocks: Clocks::new(),
        stop: StopFlag::default(),
        worker: None,
        work: None,
    };
    let mut idle = Idle::new();
    loop {
        if let Some(bytes) = rank.told()? {
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
    clocks: Clocks,
    stop: StopFlag,
    worker: Option<LocalWorker>,
    work: Option<Work>,
}

/// What this rank and those below it are doing.
struct Work {
    round: u64,
    of: usize,
    unit_ns: f64,
    step: Step,
    /// By how much this clock may be off from what rank 0 thinks, until that was reported.
    error_ns: Option<u64>,
    /// Until all below have said what they say in this step.
    gathering: Option<Gathering>,
    /// Why there is no worker any more.
    lost: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Step {
    /// Workers make ready.
    Preparing,
    /// They work.
    Working,
}

impl Rank<'_> {
    /// The next message of rank 0 or of the rank above.
    fn told(&self) -> Result<Option<Vec<u8>>, Error> {
        if let Some(bytes) = self.comm.receive(0)? {
            return Ok(Some(bytes));
        }
        let above = above(self.comm.rank());
        if above == 0 { Ok(None) } else { Ok(self.comm.receive(above)?) }
    }

    fn answer(&mut self, message: ToRank<'_>) -> Result<Next, Error> {
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
            ToRank::Time => {
                let reading = self.clocks.reading();
                self.send(above(self.comm.rank()), &FromRank::Time(reading))?;
            }
            ToRank::Work { round, of, unit_ns, assignment } => {
                let gathering = Some(Gathering::begin(self.comm.rank(), of, unit_ns));
                let (step, error_ns, lost) = (Step::Preparing, None, None);
                self.work = Some(Work { round, of, unit_ns, step, error_ns, gathering, lost });
                self.with_worker(|worker| worker.assign(&assignment))?;
            }
            ToRank::Start { round, when } => self.start(round, when)?,
            ToRank::Kill => (self.worker, self.work) = (None, None),
            ToRank::End => return Ok(Next::End),
        }
        Ok(Next::Message)
    }

    /// Tells the worker to start and the ranks below, these first, for the worker hears of it
    /// at once.
    fn start(&mut self, round: u64, when: Option<When>) -> Result<(), Error> {
        let Some(work) = self.work.as_mut().filter(|work| work.round == round) else {
            return Ok(());
        };
        let rank = self.comm.rank();
        for rank in below(rank, work.of) {
            let when = when.map(|here| self.clocks.theirs(rank, here));
            self.comm.send(rank, &written(&ToRank::Start { round, when })?)?;
        }
        work.step = Step::Working;
        work.error_ns = when.map(|when| when.error_ns);
        work.gathering = Some(Gathering::begin(rank, work.of, work.unit_ns));
        match work.lost.take() {
            Some(why) => self.say(Err(why)),
            None => self.with_worker(|worker| worker.start_at(when.map_or(0, |when| when.at_ns))),
        }
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
        let patience = self.patience(idle);
        let Some(worker) = &mut self.worker else {
            idle.wait();
            return Ok(false);
        };
        match worker.receive_within(patience) {
            Ok(None) => Ok(false),
            Ok(Some(message)) => self.say(Ok(message)).map(|()| true),
            Err(error) => {
                self.worker = None;
                self.say(Err(error.to_string())).map(|()| true)
            }
        }
    }

    /// How long to listen to the worker alone.
    fn patience(&self, idle: &Idle) -> Duration {
        match &self.work {
            Some(Work { step: Step::Working, gathering: Some(gathering), .. })
                if gathering.lacks_own() =>
            {
                WORKING
            }
            Some(Work { step: Step::Preparing, gathering: None, .. }) => idle.pause().min(STARTING),
            _ => idle.pause(),
        }
    }

    /// Says what the worker says, together with the ranks below.
    fn say(&mut self, what: Result<FromWorker, String>) -> Result<(), Error> {
        let Some(work) = &mut self.work else { return Ok(()) };
        match &mut work.gathering {
            // After its last word there is none but that it ended.
            None => work.lost = work.lost.take().or(what.err()),
            Some(gathering) => gathering.add_own(with_error(what, &mut work.error_ns)),
        }
        self.hand_up()
    }

    /// Takes in what ranks below say; whether any did.
    fn gather(&mut self) -> Result<bool, Error> {
        let Some(work) = &mut self.work else { return Ok(false) };
        let Some(gathering) = &mut work.gathering else { return Ok(false) };
        let mut has_any = false;
        for rank in gathering.awaited() {
            let Some(bytes) = self.comm.receive(rank)? else { continue };
            has_any = true;
            // Others are of a round that was given up.
            if let FromRank::Gathered { round, all } = read(&bytes)?
                && round == work.round
            {
                gathering.add(rank, all);
            }
        }
        self.hand_up()?;
        Ok(has_any)
    }

    /// Hands on what was gathered, once it is whole. Before a start, the clocks of those below
    /// are known then: they wait, too.
    fn hand_up(&mut self) -> Result<(), Error> {
        let Some(work) = &mut self.work else { return Ok(()) };
        let Some(gathering) = work.gathering.take_if(|gathering| gathering.is_whole()) else {
            return Ok(());
        };
        if work.step == Step::Preparing {
            let ranks = below(self.comm.rank(), work.of);
            self.clocks.ask(self.comm, ranks, &self.stop)?;
        }
        let (round, (above, all)) = (work.round, gathering.finish());
        self.send(above, &FromRank::Gathered { round, all })
    }

    fn send(&self, to: usize, message: &FromRank) -> Result<(), Error> {
        Ok(self.comm.send(to, &written(message)?)?)
    }
}

/// What a worker says, with by how much its clock may be off where it was started by one.
fn with_error(
    what: Result<FromWorker, String>,
    error_ns: &mut Option<u64>,
) -> Result<FromWorker, String> {
    what.map(|message| match (message, error_ns.take()) {
        (FromWorker::Done(mut report), Some(error_ns)) => {
            report.figures.insert(CLOCK_ERROR.to_owned(), error_ns as f64);
            FromWorker::Done(report)
        }
        (message, _) => message,
    })
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
