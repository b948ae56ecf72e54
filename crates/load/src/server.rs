//! The server beside the client: started, awaited, measured and stopped.

use crate::{Address, Error, Target, keeper};
use host::{
    process::{self, ProcessUse},
    root::Root,
    sockets::{Endpoint, Listeners},
    sync_calls::{SyncCalls, UncountedError},
};
use model::counters::{self, Counters as _};
use model::load::{ServerMeter, ServerUse};
use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Child, ChildStderr, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Last lines of a server's standard error that are kept, and how much of each.
const STDERR_LINES: usize = 12;
const STDERR_LINE_BYTES: u64 = 400;
/// Ports given out that are not given out again so soon.
const PORTS_REMEMBERED: usize = 64;
/// Time between two attempts to reach a server that is starting.
const PROBE_EVERY: Duration = Duration::from_millis(10);
/// How long one attempt may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// A port of this host that nothing listens on, and that was not given out lately:
/// whoever got it may not listen yet.
pub fn free_port() -> Result<u16, Error> {
    static GIVEN_OUT: Mutex<VecDeque<u16>> = Mutex::new(VecDeque::new());
    let failed = |source| Error::System { what: "cannot find a free port", source };
    let mut given_out = GIVEN_OUT.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        if !given_out.contains(&port) {
            given_out.truncate(PORTS_REMEMBERED - 1);
            given_out.push_front(port);
            return Ok(port);
        }
    }
}

/// A server that was started here. Dropping it stops it and everything that
/// it started, and so does the death of this process.
#[derive(Debug)]
pub struct Server {
    command: String,
    child: Child,
    /// The server lives as long as this is open.
    lifeline: Option<OwnedFd>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    reader: Option<thread::JoinHandle<()>>,
    syncs: Arc<SyncCalls>,
}

impl Server {
    /// Starts `command` with the shell, `{port}` in it replaced.
    ///
    /// Refuses a port that something already listens on, which would be
    /// loaded in the server's stead.
    pub fn start(command: &str, port: u16) -> Result<Self, Error> {
        let command = command.replace("{port}", &port.to_string());
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(&command);
        Self::launch(shell, &command, port)
    }

    /// Starts a prepared command as it is: program, arguments, environment
    /// and working directory are the caller's. Its standard input and output
    /// are `/dev/null`, and the end of its standard error is kept. `shown` is
    /// what errors call it.
    ///
    /// Refuses a port that something already listens on, as
    /// [`start`](Self::start) does.
    pub fn launch(mut command: Command, shown: &str, port: u16) -> Result<Self, Error> {
        let error = |why: String| Error::NotStarted { command: shown.to_owned(), why };
        if TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), PROBE_TIMEOUT).is_ok() {
            return Err(error(format!("something else already listens on port {port}")));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let (spawned, syncs) = SyncCalls::counting(|| keeper::spawn(&mut command));
        let (mut child, lifeline) = spawned.map_err(|source| {
            error(format!("cannot start {}: {source}", command.get_program().display()))
        })?;
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let reader = child.stderr.take().map(|pipe| {
            let lines = Arc::clone(&stderr);
            thread::spawn(move || keep_last_lines(pipe, &lines))
        });
        Ok(Self {
            command: shown.to_owned(),
            child,
            lifeline: Some(lifeline),
            stderr,
            reader,
            syncs: Arc::new(syncs),
        })
    }

    /// Waits until it accepts connections at the target's address.
    ///
    /// One of its own processes has to listen there, where that can be seen:
    /// somebody else, who took the port meanwhile or is at an address that was
    /// not looked at before the start, would be loaded in its stead.
    pub fn await_ready(
        &mut self,
        target: &Target,
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        let give_up = Instant::now() + patience;
        // Somebody else is not asked again and again: it may have few places
        // for those who wait, and it is known then that the server is not it.
        let mut reached = None;
        loop {
            reached = reached.or_else(|| accepting(&target.address));
            if reached.as_ref().is_some_and(|at| self.may_listen_at(at)) {
                return Ok(());
            }
            let waiting = Waiting { target, patience, somebody_else: reached.is_some() };
            if let Ok(Some(status)) = self.child.try_wait() {
                let why = status.code().map_or_else(
                    || format!("it ended before it listened ({status})"),
                    |code| format!("it exited with status {code} before it listened"),
                );
                self.finish();
                return Err(self.error(why + &waiting.on_somebody_else()));
            }
            if stop.load(Ordering::Relaxed) {
                return Err(self.error(String::from("interrupted before it listened")));
            }
            if Instant::now() >= give_up {
                let why = waiting.in_vain(&self.listeners());
                self.finish();
                return Err(self.error(why));
            }
            thread::sleep(PROBE_EVERY);
        }
    }

    /// Whether it is the server that accepts there, as far as can be seen.
    fn may_listen_at(&self, address: &Endpoint) -> bool {
        let listeners = self.listeners();
        let reached = |at: &Endpoint| at.is_reached_by(address);
        !listeners.are_all || listeners.known.iter().any(reached)
    }

    /// Where it listens.
    fn listeners(&self) -> Listeners {
        let processes: Vec<i32> = self.watch().processes().collect();
        Listeners::of(&Root::real(), &processes)
    }

    /// What measures it.
    pub fn watch(&self) -> ServerWatch {
        ServerWatch {
            root: self.child.id().cast_signed(),
            without_root: true,
            syncs: Arc::clone(&self.syncs),
        }
    }

    /// Whether it is still there.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The last lines that it wrote to standard error.
    pub fn last_words(&self) -> Vec<String> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn error(&self, why: String) -> Error {
        Error::Server { command: self.command.clone(), why, stderr: self.last_words() }
    }

    /// Stops it with all that it started, and waits until they are gone.
    fn finish(&mut self) {
        drop(self.lifeline.take());
        // Waiting fails only when it has been waited for already.
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.finish();
    }
}

/// A server that is not ready yet.
struct Waiting<'a> {
    target: &'a Target,
    patience: Duration,
    /// Whether the address accepts, though not for the server.
    somebody_else: bool,
}

impl Waiting<'_> {
    fn on_somebody_else(&self) -> String {
        if self.somebody_else {
            return format!("; something else listens on {}", self.target.address);
        }
        String::new()
    }

    /// What it came to, and what to do.
    fn in_vain(&self, listeners: &Listeners) -> String {
        let address = &self.target.address;
        let patience_s = self.patience.as_secs_f64();
        let else_there = self.on_somebody_else();
        let elsewhere = listens_elsewhere(&listeners.known, address);
        let remedy = if self.somebody_else && elsewhere.is_empty() {
            ", and none of its processes does; end that or choose another address, and have the \
             server listen by itself rather than through a process that it did not start \
             (a container's, say)"
        } else {
            ""
        };
        format!(
            "it did not listen on {address} within {patience_s} s{else_there}{elsewhere}{remedy}"
        )
    }
}

/// Words about where it listens instead of where it should, and what to do.
fn listens_elsewhere(places: &[Endpoint], wanted: &Address) -> String {
    let Some(first) = places.first() else { return String::new() };
    let all: Vec<String> = places.iter().map(ToString::to_string).collect();
    let remedy = match (first, wanted) {
        (Endpoint::Tcp(address), Address::Tcp(_, port)) if address.port() != *port => {
            String::from("give its command {port}")
        }
        _ => format!("have it listen on {wanted}, or load it there"),
    };
    format!("; it listens on {} instead; {remedy}", all.join(" and "))
}

/// Where somebody accepts connections to an address, if anybody does.
fn accepting(address: &Address) -> Option<Endpoint> {
    match address {
        Address::Unix(path) => {
            UnixStream::connect(path).is_ok().then(|| Endpoint::Unix(path.clone()))
        }
        Address::Tcp(host, port) => {
            let mut all = (host.as_str(), *port).to_socket_addrs().ok()?;
            let accepts = |a: &SocketAddr| TcpStream::connect_timeout(a, PROBE_TIMEOUT).is_ok();
            all.find(accepts).map(Endpoint::Tcp)
        }
    }
}

/// Reads a pipe to its end, so that nobody blocks on it, keeping the end.
fn keep_last_lines(pipe: ChildStderr, lines: &Mutex<VecDeque<String>>) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        match pipe.by_ref().take(STDERR_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == STDERR_LINES {
            lines.pop_front();
        }
        lines.push_back(String::from_utf8_lossy(&line).trim_end().to_owned());
    }
}

/// Measures a process with its descendants.
#[derive(Debug, Clone)]
pub struct ServerWatch {
    root: i32,
    /// The root is our keeper, which is none of the server.
    without_root: bool,
    syncs: Arc<SyncCalls>,
}

/// What the processes of a server have used until some moment.
#[derive(Debug, Clone)]
pub struct ServerSample {
    at: Instant,
    used: ProcessUse,
    sync_calls: Option<u64>,
}

impl ServerWatch {
    /// Watches a process that runs already.
    pub fn of(pid: i32) -> Result<Self, Error> {
        if pid <= 0 || !process::is_alive(&Root::real(), pid) {
            return Err(Error::ServerPid { pid, why: String::from("there is no such process") });
        }
        if let Err(source) = process::check_io(&Root::real(), pid) {
            let why = format!("its I/O cannot be read ({source}); run as its user or as root");
            return Err(Error::ServerPid { pid, why });
        }
        let syncs = SyncCalls::uncounted(UncountedError::RanAlready);
        Ok(Self { root: pid, without_root: false, syncs: Arc::new(syncs) })
    }

    /// Why the syncs of this server cannot be counted, and what to do about
    /// it; `None` when they are counted.
    pub fn sync_note(&self) -> Option<String> {
        self.syncs.why_not().map(ToString::to_string)
    }

    fn processes(&self) -> impl Iterator<Item = i32> {
        process::tree(&Root::real(), self.root).into_iter().skip(usize::from(self.without_root))
    }

    /// Reads all counters now.
    pub fn sample(&self) -> ServerSample {
        let root = Root::real();
        let processes = process::tree(&root, self.root).into_iter();
        let used = counters::sum(processes.filter_map(|pid| ProcessUse::read(&root, pid)));
        ServerSample { at: Instant::now(), used, sync_calls: self.syncs.count() }
    }

    /// What was used since `before`, in which there were so many replies.
    pub fn used_since(&self, before: &ServerSample, replies: u64) -> ServerUse {
        let now = self.sample();
        let used = now.used.since(before.used);
        let cpu_ms = used.cpu_ns as f64 / 1e6;
        let wall_ms = (now.at - before.at).as_secs_f64().max(1e-9) * 1e3;
        let memory_of = |pid| process::memory_bytes(&Root::real(), pid);
        let memory: Vec<(u64, bool)> = self.processes().map(memory_of).collect();
        ServerUse {
            processes: memory.len() as u64,
            cpu_ms,
            cpu_user_ms: used.user_ns as f64 / 1e6,
            cpu_system_ms: used.system_ns as f64 / 1e6,
            cpu_percent: cpu_ms * 100.0 / wall_ms,
            cpu_us_per_reply: (replies > 0).then(|| cpu_ms * 1e3 / replies as f64),
            asked_read_bytes: used.calls.read_bytes,
            asked_write_bytes: used.calls.written_bytes,
            read_calls: used.calls.reads,
            write_calls: used.calls.writes,
            device_read_bytes: used.calls.storage_read_bytes,
            device_write_bytes: used.calls.storage_dirtied_bytes,
            sync_calls: now
                .sync_calls
                .zip(before.sync_calls)
                .map(|(now, before)| now.saturating_sub(before)),
            sync_note: self.sync_note(),
            memory_bytes: memory.iter().map(|(bytes, _)| bytes).sum(),
            memory_is_pss: memory.iter().all(|(_, pss)| *pss),
        }
    }
}

impl ServerMeter for ServerWatch {
    fn begin(&self) -> Box<dyn FnOnce(u64) -> ServerUse + '_> {
        let before = self.sample();
        Box::new(move |replies| self.used_since(&before, replies))
    }
}
