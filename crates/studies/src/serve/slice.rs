//! One slice: a server started on fresh files, loaded, asked what it did, stopped,
//! and its data checked.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use engine::recorder::Recorder;
use engine::study::{Doing, StudyError, Task};
use load::{KneeBounds, Server, Steps, free_port};
use model::integrity::Integrity;
use model::study::{Params, Rate};

use super::built_in::{self, Answer};
use super::fetch::{Reply, fetch};
use super::furnish::{self, furnish};
use super::launch::{self, Spot};
use super::log_check;
use super::outcome::{Outcome, refused};
use super::running::{PATIENCE, Running, failed};
use super::spec;
use crate::sqlite::client::WRITES;
use crate::sqlite::database::{self, Expected};
use crate::tree::sync_tree;

/// Requests before the clock starts, for what a server loads only then.
const WARMING: u64 = 20;
/// So many of them at a time.
const WARMING_AT_ONCE: u32 = 4;
/// Empty replies that tell what the built-in server itself takes.
const EMPTIES: u64 = 100;

/// A slice's task.
pub(super) struct Slice {
    strategy: &'static str,
    params: Params,
    folder: OwnedFd,
    path: PathBuf,
    running: Option<Running>,
    /// Of a built-in server alone.
    own_toll: Option<OwnToll>,
    outcome: Option<Outcome>,
    evidence: BTreeMap<String, f64>,
}

/// What a server that does nothing else takes for a reply.
#[derive(Clone, Copy)]
struct OwnToll {
    /// Processor time, in nanoseconds.
    empty_ns: f64,
    /// Against a reply with everything in it.
    percent: f64,
}

impl Slice {
    pub(super) fn new(
        strategy: &str,
        params: &Params,
        folder: OwnedFd,
    ) -> Result<Self, StudyError> {
        // Servers, theirs and ours, open files by path.
        let path = std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd()));
        let path = path.doing("finding the folder's path")?;
        let known = spec::SPEC.strategy(strategy);
        let strategy = known.unwrap_or_else(|| unreachable!("the plan knows its strategies")).name;
        Ok(Self {
            strategy,
            params: params.clone(),
            folder,
            path,
            running: None,
            own_toll: None,
            outcome: None,
            evidence: BTreeMap::new(),
        })
    }

    fn is_built_in(&self) -> bool {
        self.strategy != "command"
    }

    fn url(&self) -> String {
        if self.is_built_in() { "/".to_owned() } else { launch::url(&self.params) }
    }

    fn running(&self) -> &Running {
        self.running.as_ref().unwrap_or_else(|| unreachable!("the slice is made ready first"))
    }

    /// Fills the folder and starts the server on it.
    fn start(&self, port: u16, recorder: &Recorder) -> Result<Server, StudyError> {
        let server = if self.is_built_in() {
            let answer = furnish(self.strategy, &self.params, &self.folder, &self.path)?;
            sync_tree(&self.folder)?;
            self.start_built_in(answer, port)?
        } else {
            let spot = Spot { folder: &self.path, port };
            launch::prepare(&self.params, &spot, recorder.stop_flag())?;
            sync_tree(&self.folder)?;
            let text = self.params.text("command");
            Server::launch(launch::command(text, &self.params, &spot), text, port)
        };
        server.map_err(|e| failed(&e))
    }

    /// The binary runs itself again, as it does for workers.
    fn start_built_in(
        &self,
        answer: Answer,
        port: u16,
    ) -> Result<Result<Server, load::Error>, StudyError> {
        let duty = serde_json::to_string(&furnish::duty(answer, &self.params, &self.path, port));
        let duty = duty.map_err(io::Error::from).doing("writing down the server's duty")?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(built_in::COMMAND).arg(duty);
        let shown = format!("the built-in server for {}", self.strategy);
        Ok(Server::launch(command, &shown, port))
    }

    /// Sees to it that the server answers, and has loaded what it loads late.
    fn warm(&mut self, recorder: &Recorder) -> Result<(), StudyError> {
        let (running, url) = (self.running(), self.url());
        running.try_out(&url)?;
        let warming = Steps::Closed { concurrency: WARMING_AT_ONCE, requests: WARMING };
        running.load(&url, warming, recorder)?;
        if self.is_built_in() {
            let empty_ns = running.cpu_ns_each(built_in::EMPTY_PATH, EMPTIES, recorder)?;
            let full_ns = running.cpu_ns_each(&url, WARMING, recorder)?;
            self.own_toll = empty_ns.zip(full_ns).map(|(empty_ns, full_ns)| OwnToll {
                empty_ns,
                percent: empty_ns * 100.0 / full_ns.max(1.0),
            });
        }
        Ok(())
    }

    fn open_loop(&self, recorder: &Recorder) -> Result<Outcome, StudyError> {
        let connections = self.params.count("connections");
        let Rate::PerSecond(rate) = self.params.rate("rate") else {
            let bounds = KneeBounds {
                p99: self.params.duration("p99_within"),
                errors_share: self.params.count("errors_within") as f64 / 100.0,
            };
            let (knee, timeout) = self.running().knee(&self.url(), &bounds, recorder)?;
            return Outcome::of_knee(knee, timeout, connections);
        };
        let steps = Steps::Rates { rates: vec![rate.get() as f64], connections: Some(connections) };
        let step = self.running().load(&self.url(), steps, recorder)?;
        Outcome::of_step(step, self.params.duration("timeout"), connections)
    }

    /// Sends the one request that switches the log on, in the midst of the others.
    fn switched(&self) -> Option<thread::JoinHandle<io::Result<Reply>>> {
        let when = self.params.choice("log_when");
        let switches =
            self.is_built_in() && self.params.count("log_lines") > 0 && when == "switched";
        let half = match self.params.rate("rate") {
            Rate::PerSecond(rate) => {
                self.params.count("connections") as f64 / rate.get() as f64 / 2.0
            }
            Rate::Max => 0.5,
        };
        let port = self.running().port();
        switches.then(|| {
            thread::spawn(move || {
                thread::sleep(Duration::from_secs_f64(half));
                fetch(port, built_in::SWITCHED_PATH, PATIENCE)
            })
        })
    }

    /// A server that ended under way has said why.
    fn with_last_words(&mut self, error: StudyError) -> StudyError {
        let words = self.running.as_mut().and_then(Running::last_words);
        match (error, words) {
            (StudyError::Stopped, _) => StudyError::Stopped,
            (error, None) => error,
            (_, Some(words)) => {
                refused(format!("the server ended under way; its last words:\n  {words}"))
            }
        }
    }

    fn check_built_in(&mut self) -> Result<Option<Integrity>, StudyError> {
        let account = self.running().settled_account()?;
        self.running = None;
        let mut checked = Vec::new();
        if self.strategy == "sqlite" {
            let rows = self.params.count("rows");
            let expected = Expected { rows, updates: account.done * WRITES };
            checked.push(database::account(&furnish::database_file(&self.path), &expected)?);
        }
        if self.params.count("log_lines") > 0 {
            checked.push(log_check::account(&self.path.join(built_in::LOG), account.lines)?);
        }
        Ok(checked.into_iter().reduce(Integrity::and))
    }
}

impl Task for Slice {
    fn ready(&mut self, _operations: u64, recorder: &Recorder) -> Result<(), StudyError> {
        let port = match self.params.count("port") {
            0 => free_port().map_err(|e| failed(&e))?,
            given => given as u16,
        };
        let server = self.start(port, recorder)?;
        let timeout = self.params.duration("timeout");
        let running = Running::await_ready(server, port, timeout, recorder.stop_flag());
        recorder.check_stop()?;
        self.running = Some(running?);
        self.warm(recorder).map_err(|e| self.with_last_words(e))
    }

    fn run(&mut self, _operations: u64, recorder: &mut Recorder) -> Result<(), StudyError> {
        let switched = self.switched();
        let outcome = self.open_loop(recorder);
        let switched = switched.map(thread::JoinHandle::join);
        let outcome = outcome.map_err(|e| self.with_last_words(e))?;
        if let Some(Ok(Err(error))) = switched {
            return Err(refused(format!("the request that switches the log on failed: {error}")));
        }
        outcome.tell(recorder);
        self.outcome = Some(outcome);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StudyError> {
        sync_tree(&self.folder)
    }

    fn check(&mut self) -> Result<Option<Integrity>, StudyError> {
        if self.is_built_in() {
            return self.check_built_in();
        }
        let path = self.params.text("evidence");
        if !path.is_empty() {
            self.evidence = self.running().evidence(path)?;
        }
        self.running = None;
        Ok(None)
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        let mut figures = self.outcome.as_ref().map(Outcome::figures).unwrap_or_default();
        if let Some(OwnToll { empty_ns, percent }) = self.own_toll {
            figures.extend([(spec::EMPTY, empty_ns), (spec::OWN_TOLL, percent)]);
        }
        figures
    }

    fn evidence(&self) -> BTreeMap<String, f64> {
        self.evidence.clone()
    }

    fn judged_ns(&self) -> Option<f64> {
        self.outcome.as_ref().map(Outcome::judged_ns)
    }

    fn failed(&self) -> Option<u64> {
        self.outcome.as_ref().map(Outcome::failed)
    }

    fn untrusted(&self) -> Option<String> {
        self.outcome.as_ref()?.untrusted()
    }

    fn requested_bytes(&self) -> u64 {
        self.outcome.as_ref().map_or(0, Outcome::requested_bytes)
    }
}
