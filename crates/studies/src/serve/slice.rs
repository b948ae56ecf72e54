//! One slice: a server started on fresh files, loaded, asked what it did, stopped,
//! and its data checked.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Seek as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::Command;
use std::time::Duration;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing, Ran, Ready, StudyError};
use load::Steps;
use model::integrity::Integrity;
use model::slice::Outcome;
use model::study::Rate;
use process::{Port, Server, StopFlag};
use rustix::fs::{MemfdFlags, memfd_create};

use super::built_in::{self, Account, ServerConfig, Settings};
use super::config::{BuiltIn, Config, Content, ServerKind};
use super::launch::CommandServer;
use super::log_check::{self, Logged};
use super::outcome::{LoadOutcome, refused};
use super::populate::populate;
use super::request::Secret;
use super::running::Running;
use super::spec::{self, LogWhen};
use super::switched::Switched;
use crate::figures_of;
use crate::file::{Standing, keep_open, open_for_reading};
use crate::sqlite::client::WRITES;
use crate::sqlite::database::{self, Expected, Template};
use crate::sqlite::folder::path_in;
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

/// What an arm keeps from slice to slice.
pub(super) struct Kept {
    /// The highest rate found the last time, from where the next search starts: a few
    /// tries then do what takes a dozen from nowhere. A search that starts wrong still
    /// ends right, only later.
    pub(super) max_rate: Option<f64>,
    /// What the database starts from.
    pub(super) template: Template,
}

/// A slice whose server is yet to be started.
pub(super) struct Slice<'a> {
    config: &'a Config,
    kept: &'a mut Kept,
    folder: OwnedFd,
    /// Of a server of the user's, which is given the folder's path.
    standing: Option<Standing>,
}

/// A server that answers.
pub(super) struct Started<'a> {
    slice: Slice<'a>,
    running: Running,
    state: ServerState<'a>,
}

/// The server, with what a built-in one did before the clock started.
#[derive(Clone, Copy)]
enum ServerState<'a> {
    BuiltIn {
        server: &'a BuiltIn,
        before: Account,
        /// Processor time of an empty reply, in nanoseconds, where it was measured.
        empty_ns: Option<f64>,
    },
    Command(&'a CommandServer),
}

/// A server that was loaded.
struct Loaded<'a> {
    started: Started<'a>,
    load: LoadOutcome,
    /// How long the one request took that switched the log on, in nanoseconds.
    logged_ns: Option<f64>,
}

impl<'a> Slice<'a> {
    pub(super) fn new(
        config: &'a Config,
        kept: &'a mut Kept,
        folder: BorrowedFd<'_>,
    ) -> Result<Self, StudyError> {
        let folder = keep_open(folder)?;
        Ok(Self { config, kept, folder, standing: None })
    }

    /// Fills the folder and starts the server on it; one that is built in has a secret.
    fn start(&mut self, port: Port) -> Result<(Server, Option<Secret>), StudyError> {
        let number = port.number();
        match &self.config.server {
            ServerKind::BuiltIn(server) => {
                let template = &mut self.kept.template;
                let answer = populate(&server.content, template, &self.folder)?;
                let secret = Secret::draw().doing("drawing a secret for the server")?;
                let (settings, known) = (server.settings, secret.clone());
                let config = ServerConfig { secret, port: number, answer, settings };
                // The binary runs itself again, as it does for workers.
                let mut command = Command::new("/proc/self/exe");
                process::isolate(&mut command);
                sys::start::start_in(&mut command, self.folder.as_fd());
                command.arg(built_in::COMMAND);
                let input = as_input(&config).doing("writing down what a server does")?;
                let name = format!("the built-in server for {}", server.strategy.name());
                Ok((Server::launch_with_input(command, &name, port, input)?, Some(known)))
            }
            ServerKind::Command(server) => {
                let standing = self.standing.insert(Standing::of(&self.folder)?);
                let shell = server.shell(standing.path(), number);
                Ok((Server::launch(shell, &server.command, port)?, None))
            }
        }
    }

    /// Sees to it that the server answers, and has loaded what it loads late; and of
    /// a server of ours, what it takes for an empty reply.
    fn warm(&self, running: &Running, timer: &SliceTimer) -> Result<ServerState<'a>, StudyError> {
        let url = self.config.url();
        running.try_out(url)?;
        let warming = Steps::Closed { concurrency: self.warming_at_once(), requests: WARMING };
        let warmed = running.load(url, warming, timer)?;
        let server = match &self.config.server {
            ServerKind::BuiltIn(server) => server,
            ServerKind::Command(server) => return Ok(ServerState::Command(server)),
        };
        // One of ours fails only where a file does, and what the log lacks now would be
        // told from nothing later: both counts begin after this.
        if let Some(first) = warmed.first_error {
            return Err(refused(format!("a request failed before the clock started: {first}")));
        }
        let empty_ns = match server.content {
            Content::Empty => None,
            Content::Page { .. } | Content::Sqlite { .. } => self.empty_ns(running, timer)?,
        };
        Ok(ServerState::BuiltIn { server, before: running.settled_account()?, empty_ns })
    }

    /// Requests that write to one database stand in each other's way, and on a slow disk one
    /// may wait for so long that it fails.
    fn warming_at_once(&self) -> u32 {
        match &self.config.server {
            ServerKind::BuiltIn(BuiltIn { content: Content::Sqlite { .. }, .. }) => 1,
            ServerKind::BuiltIn(_) | ServerKind::Command(_) => WARMING_AT_ONCE,
        }
    }

    /// Processor time of an empty reply.
    fn empty_ns(&self, running: &Running, timer: &SliceTimer) -> Result<Option<f64>, StudyError> {
        let rate = match self.config.rate {
            Rate::PerSecond(rate) => (rate.get() as f64).max(EMPTIES_PER_S_MIN),
            Rate::Max => EMPTIES_PER_S_AT_MAX,
        };
        let steps = Steps::Rates { rates: vec![rate], connections: Some(EMPTIES) };
        let step = running.load(built_in::EMPTY_PATH, steps, timer)?;
        let used = step.server.and_then(|used| used.cpu_us_per_reply);
        Ok(used.map(|us| us * 1e3))
    }

    fn load(&mut self, running: &Running, timer: &SliceTimer) -> Result<LoadOutcome, StudyError> {
        let Config { connections, timeout, bounds, rate, .. } = self.config;
        let url = self.config.url();
        let Rate::PerSecond(rate) = rate else {
            let guess = self.kept.max_rate;
            let (found, timeout) = running.max_rate(url, *bounds, guess, timer)?;
            self.kept.max_rate = found.rate.or(guess);
            return LoadOutcome::of_max_rate(found, timeout, *connections);
        };
        let rates = vec![rate.get() as f64];
        let steps = Steps::Rates { rates, connections: Some(*connections) };
        let step = running.load(url, steps, timer)?;
        LoadOutcome::of_step(step, *timeout, *connections)
    }

    /// The one request that switches the log on comes in the midst of the others.
    fn switch_on(&self, running: &Running, stop: &StopFlag) -> Option<Switched> {
        let ServerKind::BuiltIn(server) = &self.config.server else { return None };
        let after_s = match self.config.rate {
            Rate::PerSecond(rate) => self.config.connections as f64 / rate.get() as f64 / 2.0,
            Rate::Max => 0.5,
        };
        let after = Duration::from_secs_f64(after_s);
        server
            .logs_one()
            .then(|| Switched::send(running.address_of(built_in::SWITCHED_PATH), after, stop))
    }
}

/// A server's configuration, as a file that has no name and is read from its beginning.
fn as_input(config: &ServerConfig) -> io::Result<fs::File> {
    let mut file = fs::File::from(memfd_create("iotoll-server", MemfdFlags::CLOEXEC)?);
    file.write_all(&serde_json::to_vec(config)?)?;
    file.rewind()?;
    Ok(file)
}

/// A result, unless the server has exited meanwhile.
fn unless_exited<T>(running: &mut Running, result: Result<T, StudyError>) -> Result<T, StudyError> {
    match running.output_if_exited() {
        Some(output) if !matches!(result, Err(StudyError::Stopped)) => {
            Err(refused(format!("the server exited during the run; its last output:\n  {output}")))
        }
        _ => result,
    }
}

impl<'a> Slice<'a> {
    /// With a server that answers.
    pub(super) fn started(mut self, timer: &SliceTimer) -> Result<Started<'a>, StudyError> {
        let port = match self.config.port {
            None => Port::reserve()?,
            Some(port) => Port::from(port),
        };
        let number = port.number();
        let (server, secret) = self.start(port)?;
        let patience = (self.config.ready_within, self.config.timeout);
        let running = Running::await_ready(server, number, secret, patience, timer.stop_flag());
        timer.check_stop()?;
        let mut running = running?;
        sync_tree(&self.folder)?;
        let warmed = self.warm(&running, timer);
        let state = unless_exited(&mut running, warmed)?;
        Ok(Started { slice: self, running, state })
    }
}

impl<'a> Ready<'a> for Started<'a> {
    fn run(mut self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { slice, running, .. } = &mut *self;
        let switched = slice.switch_on(running, timer.stop_flag());
        let load = slice.load(running, timer);
        let logged = switched.map(Switched::took).transpose();
        // A server that has died refuses connections, which is no finding of its speed.
        let load = unless_exited(running, load)?;
        let logged_ns = logged?;
        load.record(timer);
        Ok(Box::new(Loaded { started: *self, load, logged_ns }))
    }
}

impl Ran for Loaded<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        sync_tree(&self.started.slice.folder)
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let Self { started: Started { slice, mut running, state }, load, logged_ns } = *self;
        let outcome = load.slice();
        let (server, before, empty_ns) = match state {
            ServerState::BuiltIn { server, before, empty_ns } => (server, before, empty_ns),
            ServerState::Command(server) => {
                let evidence = evidence(server, &mut running)?;
                slice.standing.as_ref().map_or(Ok(()), Standing::check)?;
                running.stop()?;
                return Ok(Outcome { evidence, ..outcome });
            }
        };
        let account = running.settled_account()?;
        // What it wrote is checked once it has ended.
        running.stop()?;
        let mut figures = outcome.figures;
        let own = own_figures(before, account, empty_ns.zip(load.server_cpu_ns()));
        figures.extend(figures_of(own.into_iter().chain(logged_ns.map(|ns| (spec::LOGGED, ns)))));
        let integrity = check(server, account, &slice.folder)?;
        Ok(Outcome { integrity, figures, ..outcome })
    }
}

/// What a server of the user's tells of itself, where it was asked to.
fn evidence(
    server: &CommandServer,
    running: &mut Running,
) -> Result<BTreeMap<String, f64>, StudyError> {
    let Some(path) = &server.evidence else { return Ok(BTreeMap::new()) };
    let evidence = running.evidence(path);
    unless_exited(running, evidence)
}

/// What a server of ours did between two accounts, and what its processor time for an
/// empty reply and for a full one come to.
fn own_figures(
    before: Account,
    after: Account,
    cpu_ns: Option<(f64, f64)>,
) -> Vec<(&'static str, f64)> {
    let mut figures = Vec::new();
    if let Some((empty_ns, full_ns)) = cpu_ns {
        let percent = empty_ns * 100.0 / full_ns.max(1.0);
        figures.extend([(spec::EMPTY, empty_ns), (spec::OWN_TOLL, percent)]);
    }
    let done = after.done - before.done;
    let files_ns = (after.files_ns - before.files_ns) as f64 / done.max(1) as f64;
    figures.extend((files_ns > 0.0).then_some((spec::IN_FILES, files_ns)));
    figures
}

/// Checks what a server of ours says that it wrote.
fn check(
    server: &BuiltIn,
    account: Account,
    folder: &OwnedFd,
) -> Result<Option<Integrity>, StudyError> {
    let mut checked = Vec::new();
    if let Content::Sqlite { rows, .. } = server.content {
        let [updates, perhaps] = [account.done, account.refused].map(|n| n * WRITES);
        let expected = Expected { rows, updates, perhaps };
        checked.push(database::account(&path_in(folder, database::NAME), &expected)?);
    }
    let Settings { log_lines, log_when, .. } = server.settings;
    if log_lines > 0 {
        let log = open_for_reading(folder, built_in::LOG).doing("opening the log")?;
        let logged = Logged {
            lines: account.lines,
            requests: account.done + account.refused,
            every: if log_when == LogWhen::Sampled { built_in::SAMPLED } else { 1 },
            of_request: log_lines,
        };
        checked.push(log_check::account(log.into(), logged)?);
    }
    Ok(checked.into_iter().reduce(Integrity::and))
}
