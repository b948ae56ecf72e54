//! One slice: a server started on fresh files, loaded, asked what it did, stopped,
//! and its data checked.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use engine::recorder::{Recorder, StopFlag};
use engine::study::{Doing, StudyError, Task};
use load::{KneeBounds, Server, Steps, free_port};
use model::integrity::Integrity;
use model::study::{Params, Rate};

use super::built_in::{self, Account};
use super::furnish::{self, furnish};
use super::knees::Knees;
use super::launch::{self, Spot};
use super::log_check;
use super::outcome::{Outcome, refused};
use super::running::{Running, failed};
use super::spec;
use super::switched::Switched;
use crate::file::folder_path;
use crate::sqlite::client::WRITES;
use crate::sqlite::database::{self, Expected};
use crate::tree::sync_tree;

/// Requests before the clock starts, for what a server loads only then.
const WARMING: u64 = 20;
/// So many of them at a time.
const WARMING_AT_ONCE: u32 = 4;
/// Empty replies that tell what the built-in server itself takes …
const EMPTIES: u64 = 20;
/// … at the slice's own rate, which must not make them last.
const EMPTIES_PER_S_MIN: f64 = 200.0;
/// A server that is to be taken to its limit is never idle.
const EMPTIES_PER_S_AT_MAX: f64 = 2000.0;

/// A slice's task.
pub(super) struct Slice {
    strategy: &'static str,
    params: Params,
    folder: OwnedFd,
    path: PathBuf,
    running: Option<Running>,
    /// Processor time of an empty reply, in nanoseconds; of a built-in server alone.
    empty_ns: Option<f64>,
    /// What such a server had done before the clock started, and in the end.
    begun_with: Option<Account>,
    ended_with: Option<Account>,
    /// How long the one request took that switched the log on, in nanoseconds.
    logged_ns: Option<f64>,
    outcome: Option<Outcome>,
    evidence: BTreeMap<String, f64>,
}

impl Slice {
    pub(super) fn new(
        strategy: &str,
        params: &Params,
        folder: OwnedFd,
    ) -> Result<Self, StudyError> {
        let path = folder_path(&folder).doing("finding the folder's path")?;
        let known = spec::SPEC.strategy(strategy);
        let strategy = known.unwrap_or_else(|| unreachable!("the plan knows its strategies")).name;
        Ok(Self {
            strategy,
            params: params.clone(),
            folder,
            path,
            running: None,
            empty_ns: None,
            begun_with: None,
            ended_with: None,
            logged_ns: None,
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
    fn start(&self, port: u16) -> Result<Server, StudyError> {
        let server = if self.is_built_in() {
            let answer = furnish(self.strategy, &self.params, &self.folder, &self.path)?;
            let duty = furnish::duty(answer, &self.params, &self.path, port);
            let duty = serde_json::to_string(&duty).map_err(io::Error::from);
            // The binary runs itself again, as it does for workers.
            let mut command = Command::new("/proc/self/exe");
            command.arg(built_in::COMMAND).arg(duty.doing("writing down the server's duty")?);
            Server::launch(command, &format!("the built-in server for {}", self.strategy), port)
        } else {
            let command = launch::command(&self.params, &Spot { folder: &self.path, port });
            Server::launch(command, self.params.text("command"), port)
        };
        server.map_err(|e| failed(&e))
    }

    /// Sees to it that the server answers, and has loaded what it loads late; and of
    /// a server of ours, what it takes for an empty reply.
    fn warm(&mut self, recorder: &Recorder) -> Result<(), StudyError> {
        let (running, url) = (self.running(), self.url());
        running.try_out(&url)?;
        let warming = Steps::Closed { concurrency: WARMING_AT_ONCE, requests: WARMING };
        running.load(&url, warming, recorder)?;
        if self.is_built_in() && self.strategy != "empty" {
            let rate = match self.params.rate("rate") {
                Rate::PerSecond(rate) => (rate.get() as f64).max(EMPTIES_PER_S_MIN),
                Rate::Max => EMPTIES_PER_S_AT_MAX,
            };
            let steps = Steps::Rates { rates: vec![rate], connections: Some(EMPTIES) };
            let step = running.load(built_in::EMPTY_PATH, steps, recorder)?;
            let used = step.server.and_then(|used| used.cpu_us_per_reply);
            self.empty_ns = used.map(|us| us * 1e3);
        }
        self.begun_with = self.account()?;
        Ok(())
    }

    /// What a server of ours has done so far.
    fn account(&self) -> Result<Option<Account>, StudyError> {
        self.is_built_in().then(|| self.running().settled_account()).transpose()
    }

    fn open_loop(&self, recorder: &Recorder) -> Result<Outcome, StudyError> {
        let connections = self.params.count("connections");
        let Rate::PerSecond(rate) = self.params.rate("rate") else {
            let bounds = KneeBounds {
                p99: self.params.duration("p99_within"),
                errors_share: self.params.count("errors_within") as f64 / 100.0,
            };
            let knees = Knees::of(self.strategy, &self.params, &self.path);
            let guess = knees.last();
            let (knee, timeout) = self.running().knee(&self.url(), &bounds, guess, recorder)?;
            if let Some(rate) = knee.rate {
                knees.note(rate);
            }
            return Outcome::of_knee(knee, timeout, connections);
        };
        let steps = Steps::Rates { rates: vec![rate.get() as f64], connections: Some(connections) };
        let step = self.running().load(&self.url(), steps, recorder)?;
        Outcome::of_step(step, self.params.duration("timeout"), connections)
    }

    /// The one request that switches the log on comes in the midst of the others.
    fn switched(&self, stop: &StopFlag) -> Option<Switched> {
        let when = self.params.choice("log_when");
        let switches =
            self.is_built_in() && self.params.count("log_lines") > 0 && when == "switched";
        let after = match self.params.rate("rate") {
            Rate::PerSecond(rate) => {
                self.params.count("connections") as f64 / rate.get() as f64 / 2.0
            }
            Rate::Max => 0.5,
        };
        let after = Duration::from_secs_f64(after);
        switches.then(|| Switched::send(self.running().port(), after, stop))
    }

    /// What came of something, unless the server has ended meanwhile.
    fn unless_ended<T>(&mut self, came: Result<T, StudyError>) -> Result<T, StudyError> {
        match self.running.as_mut().and_then(Running::last_words) {
            Some(words) if !matches!(came, Err(StudyError::Stopped)) => {
                Err(refused(format!("the server ended under way; its last words:\n  {words}")))
            }
            _ => came,
        }
    }

    fn check_built_in(&mut self) -> Result<Option<Integrity>, StudyError> {
        let Some(account) = self.account()? else { return Ok(None) };
        self.running = None;
        self.ended_with = Some(account);
        let mut checked = Vec::new();
        if self.strategy == "sqlite" {
            let rows = self.params.count("rows");
            let [updates, perhaps] = [account.done, account.refused].map(|n| n * WRITES);
            let expected = Expected { rows, updates, perhaps };
            checked.push(database::account(&furnish::database_file(&self.path), &expected)?);
        }
        let of_request = self.params.count("log_lines");
        if of_request > 0 {
            let log = self.path.join(built_in::LOG);
            checked.push(log_check::account(&log, account.lines, of_request)?);
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
        let server = self.start(port)?;
        let [within, timeout] = ["ready_within", "timeout"].map(|name| self.params.duration(name));
        let running = Running::await_ready(server, port, (within, timeout), recorder.stop_flag());
        recorder.check_stop()?;
        self.running = Some(running?);
        sync_tree(&self.folder)?;
        let warmed = self.warm(recorder);
        self.unless_ended(warmed)
    }

    fn run(&mut self, _operations: u64, recorder: &mut Recorder) -> Result<(), StudyError> {
        let switched = self.switched(recorder.stop_flag());
        let outcome = self.open_loop(recorder);
        let logged = switched.map(Switched::took).transpose();
        // A server that has died refuses connections, which is no finding of its speed.
        let outcome = self.unless_ended(outcome)?;
        self.logged_ns = logged?;
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
            let evidence = self.running().evidence(path);
            self.evidence = self.unless_ended(evidence)?;
        }
        self.running = None;
        Ok(None)
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        let Some(outcome) = &self.outcome else { return Vec::new() };
        let mut figures = outcome.figures();
        if let (Some(empty_ns), Some(full_ns)) = (self.empty_ns, outcome.server_cpu_ns()) {
            let percent = empty_ns * 100.0 / full_ns.max(1.0);
            figures.extend([(spec::EMPTY, empty_ns), (spec::OWN_TOLL, percent)]);
        }
        if let (Some(before), Some(after)) = (self.begun_with, self.ended_with) {
            let done = after.done - before.done;
            let files_ns = (after.files_ns - before.files_ns) as f64 / done.max(1) as f64;
            figures.extend((files_ns > 0.0).then_some((spec::IN_FILES, files_ns)));
        }
        figures.extend(self.logged_ns.map(|ns| (spec::LOGGED, ns)));
        figures
    }

    fn evidence(&self) -> BTreeMap<String, f64> {
        self.evidence.clone()
    }

    fn judged_ns(&self) -> Option<f64> {
        self.outcome.as_ref().map(Outcome::judged_ns)
    }

    fn failed(&self) -> Option<u64> {
        self.outcome.as_ref()?.failed()
    }

    fn tail_untrusted(&self) -> bool {
        self.outcome.as_ref().is_some_and(Outcome::tail_untrusted)
    }

    fn untrusted(&self) -> Option<String> {
        self.outcome.as_ref()?.untrusted()
    }

    fn requested_bytes(&self) -> u64 {
        self.outcome.as_ref().map_or(0, Outcome::requested_bytes)
    }
}
