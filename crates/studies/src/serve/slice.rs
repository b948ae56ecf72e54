//! One slice: a server started on fresh files, loaded, asked what it did, stopped,
//! and its data checked.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use engine::recorder::{Recorder, StopFlag};
use engine::study::{Doing, StudyError, Task};
use load::{KneeBounds, LoadResult, Plan, Server, ServerWatch, Steps, Target, free_port};
use model::integrity::Integrity;
use model::study::{Params, Rate};
use rustix::fs::OFlags;

use super::built_in::{self, Account, Answer, Duty, LogWhen};
use super::fetch::{Reply, fetch};
use super::launch::{self, Spot};
use super::log_check;
use super::outcome::{Outcome, refused};
use super::spec;
use crate::file::{name, open_for_writing, write_whole};
use crate::page::{self, Sets};
use crate::sqlite::client::{WRITES, Work};
use crate::sqlite::database::{self, BUSY_TIMEOUT, Expected};
use crate::tree::sync_tree;

/// How long a server may take until it listens.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long it may take over what an overload has left in its queue.
const PATIENCE_FOR_QUEUES: Duration = Duration::from_secs(60);
/// Requests before the clock starts, for what a server loads only then.
const WARMING: u64 = 20;
/// So many of them at a time.
const WARMING_AT_ONCE: u32 = 4;
/// Empty replies that tell what the built-in server itself takes.
const EMPTIES: u64 = 100;
/// How much of a refusal is passed on.
const SAID_CHARS_MAX: usize = 300;
/// How often, at most, a server is asked whether it is done with what it was asked.
const ASKED_MAX: u32 = 15_000;
/// Between two times.
const ASKED_EVERY: Duration = Duration::from_millis(4);

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
    lines: Option<u64>,
}

/// What a server that does nothing else takes for a reply.
#[derive(Clone, Copy)]
struct OwnToll {
    /// Processor time, in nanoseconds.
    empty_ns: f64,
    /// Against a reply with everything in it.
    percent: f64,
}

/// A server that listens.
struct Running {
    server: Server,
    watch: ServerWatch,
    port: u16,
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
            lines: None,
        })
    }

    fn is_built_in(&self) -> bool {
        self.strategy != "command"
    }

    /// Puts into the folder what the server works on.
    fn furnish(&self, spot: &Spot<'_>, stop: &StopFlag) -> Result<Answer, StudyError> {
        match self.strategy {
            "page" => {
                let folder = self.folder.try_clone().doing("keeping the folder open")?;
                let parts = page::parts(&self.params).map_err(StudyError::Unsuited)?;
                let mut sets = Sets::new(folder, parts);
                sets.make(1)?;
                let files = sets.files(0).iter();
                let file = |f: &page::PageFile| (f.path.to_string_lossy().into_owned(), f.bytes);
                Ok(Answer::Page(files.map(file).collect()))
            }
            "sqlite" => {
                const MAKING: &str = "making the database";
                let file = open_for_writing(&self.folder, &name(database::NAME), OFlags::EXCL);
                let rows = self.params.count("rows");
                write_whole(file.doing(MAKING)?, &database::template(rows)?, MAKING)?;
                Ok(Answer::Sqlite(self.database_work()))
            }
            "command" => launch::prepare(&self.params, spot, stop).map(|()| Answer::Empty),
            _ => Ok(Answer::Empty),
        }
    }

    fn database_work(&self) -> Work {
        Work {
            file: self.path.join(database::NAME),
            strategy: self.params.choice("database").to_owned(),
            author: 1,
            rows: self.params.count("rows"),
            requests: 0,
            connects_each_time: false,
            busy_timeout: BUSY_TIMEOUT,
        }
    }

    fn launch(&self, answer: Answer, spot: &Spot<'_>) -> Result<Server, StudyError> {
        let server = if self.is_built_in() {
            let duty = serde_json::to_string(&self.duty(answer, spot.port));
            let duty = duty.map_err(io::Error::from).doing("writing down the server's duty")?;
            // The binary runs itself again, as it does for workers.
            let mut command = Command::new("/proc/self/exe");
            command.arg(built_in::COMMAND).arg(duty);
            Server::launch(command, &format!("the built-in server for {}", self.strategy), spot.port)
        } else {
            let text = self.params.text("command");
            Server::launch(launch::command(text, &self.params, spot), text, spot.port)
        };
        server.map_err(failed)
    }

    fn duty(&self, answer: Answer, port: u16) -> Duty {
        Duty {
            folder: self.path.clone(),
            port,
            backlog: self.params.count("backlog") as u32,
            workers: self.params.count("workers"),
            answer,
            log_lines: self.params.count("log_lines"),
            log_when: match self.params.choice("log_when") {
                "sampled" => LogWhen::Sampled,
                "switched" => LogWhen::Switched,
                _ => LogWhen::Always,
            },
        }
    }

    fn url(&self) -> String {
        if self.is_built_in() { "/".to_owned() } else { launch::url(&self.params) }
    }

    fn plan(&self, path: &str, steps: Steps) -> Result<Plan, StudyError> {
        let port = self.running().port;
        let mut plan = Plan::new(target(port, path)?, steps);
        plan.timeout = self.params.duration("timeout");
        Ok(plan)
    }

    fn running(&self) -> &Running {
        self.running.as_ref().unwrap_or_else(|| unreachable!("the slice is made ready first"))
    }

    /// A load of which little is wanted.
    fn load(
        &self,
        path: &str,
        steps: Steps,
        recorder: &Recorder,
    ) -> Result<LoadResult, StudyError> {
        let plan = self.plan(path, steps)?;
        let stop = recorder.stop_flag();
        let result = load::run(&plan, Some(&self.running().watch), &mut |_| (), stop);
        recorder.check_stop()?;
        result.map_err(failed)
    }

    /// Sees to it that the server answers, and has loaded what it loads late.
    fn warm(&mut self, recorder: &Recorder) -> Result<(), StudyError> {
        let reply = self.ask(&self.url(), PATIENCE)?;
        if !(200..300).contains(&reply.status) {
            let said: String = words_of(&reply.body).chars().take(SAID_CHARS_MAX).collect();
            return Err(refused(format!(
                "it answers {} with status {}: {said}",
                self.url(),
                reply.status
            )));
        }
        let warming = Steps::Closed { concurrency: WARMING_AT_ONCE, requests: WARMING };
        self.load(&self.url(), warming, recorder)?;
        if self.is_built_in() {
            let empty_ns = self.cpu_ns_each(built_in::EMPTY_PATH, EMPTIES, recorder)?;
            let full_ns = self.cpu_ns_each(&self.url(), WARMING, recorder)?;
            self.own_toll = empty_ns.zip(full_ns).map(|(empty_ns, full_ns)| OwnToll {
                empty_ns,
                percent: empty_ns * 100.0 / full_ns.max(1.0),
            });
        }
        Ok(())
    }

    /// The server's processor time for each of some replies, one after the other.
    fn cpu_ns_each(
        &self,
        path: &str,
        requests: u64,
        recorder: &Recorder,
    ) -> Result<Option<f64>, StudyError> {
        let result = self.load(path, Steps::Closed { concurrency: 1, requests }, recorder)?;
        let used = result.steps.first().and_then(|step| step.server.as_ref());
        Ok(used.and_then(|used| used.cpu_us_per_reply).map(|us| us * 1e3))
    }

    fn ask(&self, path: &str, patience: Duration) -> Result<Reply, StudyError> {
        fetch(self.running().port, path, patience)
            .map_err(|e| refused(format!("it does not answer {path}: {e}")))
    }

    fn open_loop(&self, recorder: &Recorder) -> Result<Outcome, StudyError> {
        let operations = self.params.count("connections");
        let timeout = self.params.duration("timeout");
        let Rate::PerSecond(rate) = self.params.rate("rate") else {
            return self.knee(recorder);
        };
        let rate = rate.get() as f64;
        let steps = Steps::Rates { rates: vec![rate], connections: Some(operations) };
        let mut result = self.load(&self.url(), steps, recorder)?;
        let step = result.steps.pop().ok_or_else(|| refused("no step was run".to_owned()))?;
        Outcome::of_step(step, timeout, operations)
    }

    fn knee(&self, recorder: &Recorder) -> Result<Outcome, StudyError> {
        let bounds = KneeBounds {
            p99: self.params.duration("p99_within"),
            errors_share: self.params.count("errors_within") as f64 / 100.0,
        };
        let steps = Steps::MaxRate { connections: None };
        let mut plan = self.plan(&self.url(), steps)?;
        // Whoever waits for ten times the bound has shown that it is not kept.
        plan.timeout = plan.timeout.min(bounds.p99 * 10);
        let timeout = plan.timeout;
        let stop = recorder.stop_flag();
        let knee = load::knee(&plan, &bounds, Some(&self.running().watch), stop);
        recorder.check_stop()?;
        Outcome::of_knee(knee.map_err(failed)?, timeout, self.params.count("connections"))
    }

    /// Sends the one request that switches the log on, in the midst of the others.
    fn switched(&self) -> Option<thread::JoinHandle<io::Result<Reply>>> {
        let logs = self.params.count("log_lines") > 0 && self.params.choice("log_when") == "switched";
        let port = self.running().port;
        let half_s = match self.params.rate("rate") {
            Rate::PerSecond(rate) => self.params.count("connections") as f64 / rate.get() as f64 / 2.0,
            Rate::Max => 0.5,
        };
        (self.is_built_in() && logs).then(|| {
            thread::spawn(move || {
                thread::sleep(Duration::from_secs_f64(half_s));
                fetch(port, built_in::SWITCHED_PATH, PATIENCE)
            })
        })
    }

    /// Asks a server of ours what it did, once it is done with all that it was asked.
    fn settled_account(&self) -> Result<Account, StudyError> {
        let mut before = None;
        for _ in 0..ASKED_MAX {
            let reply = self.ask(built_in::ACCOUNT_PATH, PATIENCE_FOR_QUEUES)?;
            let account: Account = serde_json::from_str(&reply.body)
                .map_err(|e| refused(format!("its account does not read: {e}")))?;
            if account.open == 0 && before == Some(account) {
                return Ok(account);
            }
            before = Some(account);
            thread::sleep(ASKED_EVERY);
        }
        Err(refused("it did not come to an end with what it was asked".to_owned()))
    }

    /// Asks a server of the user's for its evidence, if there is any to be had.
    fn gather_evidence(&mut self) -> Result<(), StudyError> {
        let path = self.params.text("evidence");
        if path.is_empty() {
            return Ok(());
        }
        let reply = self.ask(path, PATIENCE_FOR_QUEUES)?;
        let read: Result<BTreeMap<String, f64>, _> = serde_json::from_str(reply.body.trim());
        self.evidence = read.map_err(|e| {
            refused(format!("its evidence at {path} is not a JSON object of numbers: {e}"))
        })?;
        Ok(())
    }

    fn check_built_in(&mut self) -> Result<Option<Integrity>, StudyError> {
        let account = self.settled_account()?;
        self.running = None;
        let mut checked = Vec::new();
        if self.strategy == "sqlite" {
            let rows = self.params.count("rows");
            let expected = Expected { rows, updates: account.done * WRITES };
            checked.push(database::account(&self.path.join(database::NAME), &expected)?);
        }
        if self.params.count("log_lines") > 0 {
            self.lines = Some(account.lines);
            checked.push(log_check::account(&self.path.join(built_in::LOG), account.lines)?);
        }
        Ok(checked.into_iter().reduce(Integrity::and))
    }
}

impl Task for Slice {
    fn ready(&mut self, _operations: u64, recorder: &Recorder) -> Result<(), StudyError> {
        let port = match self.params.count("port") {
            0 => free_port().map_err(failed)?,
            given => given as u16,
        };
        let path = self.path.clone();
        let spot = Spot { folder: &path, port };
        let answer = self.furnish(&spot, recorder.stop_flag())?;
        sync_tree(&self.folder)?;
        let mut server = self.launch(answer, &spot)?;
        let ready = server.await_ready(&target(port, "/")?, PATIENCE, recorder.stop_flag());
        recorder.check_stop()?;
        ready.map_err(failed)?;
        let watch = server.watch();
        self.running = Some(Running { server, watch, port });
        self.warm(recorder)
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
        self.gather_evidence()?;
        self.running = None;
        Ok(None)
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        let Some(outcome) = &self.outcome else { return Vec::new() };
        let mut figures = outcome.figures();
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

impl Slice {
    /// A server that ended under way has said why.
    fn with_last_words(&mut self, error: StudyError) -> StudyError {
        let Some(running) = self.running.as_mut() else { return error };
        if matches!(error, StudyError::Stopped) || running.server.is_running() {
            return error;
        }
        let words = running.server.last_words().join("\n  ");
        refused(format!("the server ended under way; its last words:\n  {words}"))
    }
}

fn target(port: u16, path: &str) -> Result<Target, StudyError> {
    Target::parse(&format!("http://127.0.0.1:{port}{path}")).map_err(failed)
}

/// A page's words, without its tags and the space between them.
fn words_of(body: &str) -> String {
    let mut within_tag = false;
    let text: String = body
        .chars()
        .map(|c| {
            let shown = !within_tag && c != '<';
            within_tag = c == '<' || within_tag && c != '>';
            if shown { c } else { ' ' }
        })
        .collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What `load` could not do, in its words.
fn failed(error: load::Error) -> StudyError {
    StudyError::Worker(error.to_string())
}
