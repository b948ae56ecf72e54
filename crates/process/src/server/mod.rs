//! Servers: started, awaited, watched and stopped.

mod listening;
mod port;
mod watch;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use host::root::Root;
use host::sockets::{Endpoint, Listeners};
use host::sync_calls::SyncCalls;
use model::address::Address;

use crate::Error;
use crate::last_words::LastWords;
use crate::left::leave_behind;
use crate::supervised::Supervised;

pub use self::port::Port;
pub use self::watch::ServerWatch;

/// Time between two attempts to reach a server that is starting.
const PROBE_EVERY: Duration = Duration::from_millis(10);
/// How long one attempt may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// A server that was started here. Dropping it stops it and everything that
/// it started, and so does the death of this process. What could not be stopped within
/// seconds, [`take_left_behind`](crate::take_left_behind) tells.
#[derive(Debug)]
pub struct Server {
    command: String,
    /// Nothing once it was ended.
    supervised: Option<Supervised>,
    /// Its number is that of the tree's root for as long as it lives.
    supervisor: i32,
    last_words: LastWords,
    syncs: Arc<SyncCalls>,
}

impl Server {
    /// Starts `command` with the shell, `{port}` in it replaced.
    ///
    /// Refuses a port that something already listens on, which would be
    /// loaded in place of the server.
    pub fn start(command: &str, port: impl Into<Port>) -> Result<Self, Error> {
        let port = port.into();
        let command = command.replace("{port}", &port.number().to_string());
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
    pub fn launch(command: Command, shown: &str, port: impl Into<Port>) -> Result<Self, Error> {
        Self::launch_with_input(command, shown, port, Stdio::null())
    }

    /// The same with a standard input, which other users cannot read, unlike arguments.
    pub fn launch_with_input(
        mut command: Command,
        shown: &str,
        port: impl Into<Port>,
        input: impl Into<Stdio>,
    ) -> Result<Self, Error> {
        let port = port.into();
        let error = |why| Error::Failed(format!("server command `{shown}`: {why}"));
        let address = (Ipv4Addr::LOCALHOST, port.number()).into();
        if TcpStream::connect_timeout(&address, PROBE_TIMEOUT).is_ok() {
            let why = format!("something else is already listening on port {}", port.number());
            return Err(error(why));
        }
        // From here on the server may bind it.
        drop(port);
        command.stdin(input).stdout(Stdio::null()).stderr(Stdio::piped());
        let program = command.get_program().display().to_string();
        let not_started = |source: io::Error| error(format!("cannot start {program}: {source}"));
        let counting = SyncCalls::counting(|| Supervised::spawn(&mut command, false));
        let (spawned, syncs) = counting.map_err(not_started)?;
        let mut supervised = spawned.map_err(not_started)?;
        let stderr = supervised.take_stderr();
        let mut server = Self {
            command: shown.to_owned(),
            supervisor: supervised.supervisor(),
            supervised: Some(supervised),
            last_words: LastWords::default(),
            syncs: Arc::new(syncs),
        };
        // Where there is no thread to read it, the server ends as this returns.
        server.last_words = LastWords::of(stderr).map_err(not_started)?;
        Ok(server)
    }

    /// Waits until it accepts connections at an address.
    ///
    /// One of its own processes has to listen there, where that can be seen:
    /// somebody else, who took the port meanwhile or is at an address that was
    /// not looked at before the start, would be loaded in its place.
    pub fn await_ready(
        &mut self,
        address: &Address,
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        let give_up = Instant::now() + patience;
        // Something else is not connected to again and again: its queue may be
        // short, and it is known by then that it is not the server.
        let mut reached = None;
        loop {
            reached = reached.or_else(|| accepting(address));
            if reached.as_ref().is_some_and(|at| self.may_listen_at(at)) {
                return Ok(());
            }
            let waiting = Waiting { address, patience, somebody_else: reached.is_some() };
            if let Some(status) = self.supervised.as_mut().and_then(Supervised::try_wait) {
                let why = status.code().map_or_else(
                    || format!("it ended before it was listening ({status})"),
                    |code| format!("it exited with status {code} before it was listening"),
                );
                self.finish();
                return Err(self.error(why + &waiting.on_somebody_else()));
            }
            if stop.load(Ordering::Relaxed) {
                return Err(self.error(String::from("interrupted before it was listening")));
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
        let Listeners { known, are_all } = self.listeners();
        !are_all || known.iter().any(|own| own.is_reached_by(address))
    }

    /// Where it listens.
    fn listeners(&self) -> Listeners {
        Listeners::of(&Root::real(), &self.watch().processes())
    }

    /// What measures it.
    pub fn watch(&self) -> ServerWatch {
        ServerWatch::under_supervisor(self.supervisor, Arc::clone(&self.syncs))
    }

    /// Whether it is still there.
    pub fn is_running(&mut self) -> bool {
        self.supervised.as_mut().is_some_and(|supervised| supervised.try_wait().is_none())
    }

    /// The last lines that it wrote to standard error.
    pub fn stderr_tail(&self) -> Vec<String> {
        self.last_words.lines()
    }

    fn error(&self, why: String) -> Error {
        let what = format!("server command `{}`", self.command);
        Error::Command { what, why, stderr: self.stderr_tail() }
    }

    /// Stops it with all that it started, and waits until they are gone, or until it is
    /// clear that some will not go: then they are an error.
    pub fn stop(mut self) -> Result<(), Error> {
        match self.finish() {
            left if left.is_empty() => Ok(()),
            left => Err(Error::Failed(format!(
                "server command `{}`: it could not be ended: {}",
                self.command,
                left.join("; ")
            ))),
        }
    }

    /// Stops it, and returns what is left.
    fn finish(&mut self) -> Vec<String> {
        let Some(mut supervised) = self.supervised.take() else { return Vec::new() };
        let left = supervised.end();
        for process in &left {
            leave_behind(format!("server command `{}`: {process}", self.command));
        }
        // Whoever is left has standard error open, too.
        if left.is_empty() {
            self.last_words.await_last();
        }
        left
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.finish();
    }
}

/// A server that is not ready yet.
struct Waiting<'a> {
    address: &'a Address,
    patience: Duration,
    /// Whether the address accepts, though not for the server.
    somebody_else: bool,
}

impl Waiting<'_> {
    fn on_somebody_else(&self) -> String {
        if self.somebody_else {
            return format!("; something else is listening on {}", self.address);
        }
        String::new()
    }

    /// What it came to, and what to do.
    fn in_vain(&self, listeners: &Listeners) -> String {
        let address = self.address;
        let patience_s = self.patience.as_secs_f64();
        let else_there = self.on_somebody_else();
        let elsewhere = listening::elsewhere(&listeners.known, address);
        let remedy = if self.somebody_else && elsewhere.is_empty() {
            ", but no process of the server is. Stop whatever is listening there, or choose another \
             address. A server that listens through a process it did not start (a container's, \
             say) cannot be used"
        } else {
            ""
        };
        format!(
            "it was not listening on {address} within {patience_s} s{else_there}{elsewhere}{remedy}"
        )
    }
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
