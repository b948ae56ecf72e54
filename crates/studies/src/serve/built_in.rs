//! The built-in server: a listener with a backlog, and a fixed number of threads
//! that each take a connection, answer its one request, and close it.
//!
//! That is how servers with processes or threads for their workers are built
//! (php-fpm, gunicorn, Apache's prefork): file I/O blocks the worker that does it.
//! An event loop would have to hand the same I/O to a pool of threads, and its hop
//! there and back would be part of what is measured. As little as possible is done
//! besides, for what the server itself takes is an overhead on every figure; it is
//! measured as the cost of an empty reply.
//!
//! It answers its own client alone (`request.rs`).

use std::ffi::{CStr, OsString};
use std::fs;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use engine::study::{Doing, StudyError};
use rustix::fs::{CWD, OFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};
use serde::{Deserialize, Serialize};
use sys::sockets::defer_accept;

use super::rendered::Page;
use super::request::{HEAD_BYTES_MAX, Secret, read_request};
use super::spec::LogWhen;
use crate::file::{open_folder, open_for_writing};
use crate::sqlite::client::{Client, Work};
use crate::sqlite::database;
use crate::sqlite::folder::path_in;
use crate::sqlite::spec::Strategy;

/// The hidden command by which the binary serves.
pub(crate) const COMMAND: &str = "__serve";
/// The log's file.
pub(super) const LOG: &CStr = c"app.log";
/// Length of a log line, its newline included.
pub(crate) const LINE_BYTES: usize = 100;
/// One request in so many logs where it is sampled.
pub(super) const SAMPLED: u64 = 100;
/// Asks for nothing but a reply.
pub(super) const EMPTY_PATH: &str = "/empty";
/// Asks for a request that logs, where logging is switched.
pub(super) const SWITCHED_PATH: &str = "/?log";
/// Asks for what was done.
pub(super) const ACCOUNT_PATH: &str = "/account";
/// Between two attempts to take a connection where the first was refused.
const AFTER_REFUSAL: Duration = Duration::from_millis(1);

/// What a server is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ServerConfig {
    /// What each request has to begin with.
    pub(super) secret: Secret,
    pub(super) port: u16,
    pub(super) answer: Answer,
    pub(super) settings: Settings,
}

/// What the parameters of its arm say.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) workers: u64,
    pub(super) backlog: u32,
    pub(super) log_lines: u64,
    pub(super) log_when: LogWhen,
}

/// What it answers with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// Nothing.
    Empty,
    /// The contents of files, with their sizes.
    Page { files: Vec<(OsString, u64)>, rendered: bool },
    /// What is left of the study sqlite's request.
    Sqlite { strategy: Strategy, rows: u64 },
}

/// What was done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Account {
    /// Requests for the page, or whatever it answers with, that were done.
    pub(super) done: u64,
    /// Requests that were refused, having been begun.
    pub(super) refused: u64,
    /// Time in the files, theirs or SQLite's, in nanoseconds.
    pub(super) files_ns: u64,
    /// Log lines that were written.
    pub(super) lines: u64,
    /// Connections that were taken and are not closed, this one aside.
    pub(super) open: u64,
}

/// Serves until it is killed, in the current directory: its folder, which it was started
/// in by descriptor. Standard input has its configuration.
///
/// # Errors
/// Where the configuration cannot be read, or the server cannot listen or work in its folder.
pub(crate) fn serve() -> Result<(), StudyError> {
    let config = serde_json::from_reader(io::stdin().lock()).map_err(io::Error::from);
    let folder = open_folder(CWD, c".").doing("opening the server's folder")?;
    serve_in(&folder, &config.doing("reading a server's configuration")?)
}

fn serve_in(folder: &OwnedFd, config: &ServerConfig) -> Result<(), StudyError> {
    let listener = Arc::new(listener(config)?);
    let counters = Arc::new(Counters::default());
    let workers = (1..=config.settings.workers)
        .map(|number| Worker::new(config, folder, number, &counters))
        .collect::<Result<Vec<_>, _>>()?;
    let started = workers.into_iter().map(|mut worker| {
        let listener = Arc::clone(&listener);
        thread::Builder::new().spawn(move || worker.work(&listener))
    });
    // Where one cannot be started, the others end with the process.
    let started: Vec<_> = started.collect::<io::Result<_>>().doing("starting a worker's thread")?;
    for worker in started {
        // None of them ends, unless it panics, which it has said then.
        let _ = worker.join();
    }
    Ok(())
}

/// The standard library has no say in the backlog.
fn listener(config: &ServerConfig) -> Result<TcpListener, StudyError> {
    const LISTENING: &str = "listening for connections";
    let kind = (AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC);
    let socket = socket_with(kind.0, kind.1, kind.2, None).doing(LISTENING)?;
    sockopt::set_socket_reuseaddr(&socket, true).doing(LISTENING)?;
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, config.port))).doing(LISTENING)?;
    // A worker is woken when a request has come, not when a connection has and again when its
    // request has, as Apache and nginx ask for.
    defer_accept(socket.as_fd(), 1).doing(LISTENING)?;
    listen(&socket, i32::try_from(config.settings.backlog).unwrap_or(i32::MAX)).doing(LISTENING)?;
    Ok(TcpListener::from(socket))
}

/// What all workers count.
#[derive(Default)]
struct Counters {
    /// Requests begun, by which sampling counts.
    begun: AtomicU64,
    open: AtomicU64,
    done: AtomicU64,
    refused: AtomicU64,
    files_ns: AtomicU64,
    lines: AtomicU64,
}

impl Counters {
    fn add_files_time(&self, began: Instant) {
        self.files_ns.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}

struct Worker {
    secret: Secret,
    work: Job,
    log: Option<Log>,
    counters: Arc<Counters>,
    request: Vec<u8>,
    reply: Vec<u8>,
}

enum Job {
    Empty,
    Page(Page),
    Sqlite(Box<Client>),
}

/// A handle kept open, and what is written to it.
struct Log {
    file: fs::File,
    lines: u64,
    when: LogWhen,
}

impl Worker {
    fn new(
        config: &ServerConfig,
        folder: &OwnedFd,
        number: u64,
        counters: &Arc<Counters>,
    ) -> Result<Self, StudyError> {
        let work = match &config.answer {
            Answer::Empty => Job::Empty,
            Answer::Page { files, rendered } => Job::Page(Page::new(folder, files, *rendered)?),
            Answer::Sqlite { strategy, rows } => {
                let file = path_in(folder, database::NAME);
                let work = Work { author: number, ..Work::new(file, *strategy, *rows) };
                Job::Sqlite(Box::new(Client::ready(work)?))
            }
        };
        let Settings { log_lines: lines, log_when: when, .. } = config.settings;
        let log = (lines > 0).then(|| {
            let file = open_for_writing(folder, LOG, OFlags::APPEND).doing("opening the log")?;
            Ok::<_, StudyError>(Log { file: file.into(), lines, when })
        });
        Ok(Self {
            secret: config.secret.clone(),
            work,
            log: log.transpose()?,
            counters: Arc::clone(counters),
            request: Vec::with_capacity(HEAD_BYTES_MAX),
            reply: Vec::new(),
        })
    }

    fn work(&mut self, listener: &TcpListener) {
        loop {
            let Ok((stream, _)) = listener.accept() else {
                // One that is gone again before it was taken is nobody's error; a want
                // of descriptors lasts a while.
                thread::sleep(AFTER_REFUSAL);
                continue;
            };
            self.counters.open.fetch_add(1, Ordering::AcqRel);
            // Nor is one that breaks: its client knows.
            let _ = self.answer(stream);
            self.counters.open.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn answer(&mut self, mut stream: TcpStream) -> io::Result<()> {
        let asked = read_request(&mut stream, &mut self.request, &self.secret)?;
        let Some(path) = asked else {
            reply(&mut self.reply, "404 Not Found", b"");
            return stream.write_all(&self.reply);
        };
        match path.as_str() {
            EMPTY_PATH => reply(&mut self.reply, "200 OK", b""),
            ACCOUNT_PATH => {
                let account = serde_json::to_vec(&self.account()).map_err(io::Error::from)?;
                reply(&mut self.reply, "200 OK", &account);
            }
            _ => {
                let count = self.counters.begun.fetch_add(1, Ordering::Relaxed);
                let outcome = self.perform().and_then(|()| self.write_log(&path, count));
                match outcome {
                    Ok(()) => _ = self.counters.done.fetch_add(1, Ordering::Release),
                    Err(error) => {
                        self.counters.refused.fetch_add(1, Ordering::Release);
                        let text = format!("{error}\n");
                        reply(&mut self.reply, "500 Internal Server Error", text.as_bytes());
                    }
                }
            }
        }
        stream.write_all(&self.reply)
    }

    fn account(&self) -> Account {
        Account {
            open: self.counters.open.load(Ordering::Acquire).saturating_sub(1),
            done: self.counters.done.load(Ordering::Acquire),
            refused: self.counters.refused.load(Ordering::Acquire),
            files_ns: self.counters.files_ns.load(Ordering::Acquire),
            lines: self.counters.lines.load(Ordering::Acquire),
        }
    }

    /// Does what the request asks for, and puts the reply together.
    fn perform(&mut self) -> Result<(), StudyError> {
        match &mut self.work {
            Job::Empty => reply(&mut self.reply, "200 OK", b""),
            Job::Page(page) => {
                let began = Instant::now();
                page.read()?;
                self.counters.add_files_time(began);
                reply(&mut self.reply, "200 OK", page.made()?);
            }
            Job::Sqlite(client) => {
                let began = Instant::now();
                client.answer()?;
                self.counters.add_files_time(began);
                reply(&mut self.reply, "200 OK", b"ok\n");
            }
        }
        Ok(())
    }

    fn write_log(&mut self, path: &str, request: u64) -> Result<(), StudyError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        let wanted = match log.when {
            LogWhen::Always => true,
            LogWhen::Sampled => request.is_multiple_of(SAMPLED),
            LogWhen::Switched => path == SWITCHED_PATH,
        };
        if !wanted {
            return Ok(());
        }
        for number in 0..log.lines {
            log.file.write_all(&line(request, number)).doing("writing to the log")?;
        }
        self.counters.lines.fetch_add(log.lines, Ordering::Release);
        Ok(())
    }
}

/// Puts a reply in place of the one before.
fn reply(into: &mut Vec<u8>, status: &str, body: &[u8]) {
    into.clear();
    let length = body.len();
    // Writing to a vector cannot fail.
    let _ =
        write!(into, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    into.extend_from_slice(body);
}

/// A log line, whose number and request are in it.
pub(crate) fn line(request: u64, number: u64) -> [u8; LINE_BYTES] {
    let mut line = [b'.'; LINE_BYTES];
    // It fits, whatever the numbers: 20 digits each at the most.
    let _ = write!(&mut line[..], "request {request} line {number} ");
    line[LINE_BYTES - 1] = b'\n';
    line
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Read as _;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use super::super::fetch::{Reply, fetch};
    use super::super::log_check;
    use super::super::request::PATIENCE;
    use super::*;

    fn config(answer: Answer, log_lines: u64, log_when: LogWhen) -> ServerConfig {
        let port = process::Port::reserve().unwrap().number();
        let secret = Secret::draw().unwrap();
        let settings = Settings { backlog: 8, workers: 2, log_lines, log_when };
        ServerConfig { secret, port, answer, settings }
    }

    /// A server in a thread of this test, which ends with the test.
    fn serving(folder: &Path, answer: Answer, lines: u64, when: LogWhen) -> (u16, Secret) {
        let folder = fs::File::open(folder).unwrap().into();
        let config = config(answer, lines, when);
        let (port, secret) = (config.port, config.secret.clone());
        thread::spawn(move || serve_in(&folder, &config));
        let waited = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(waited.elapsed() < Duration::from_secs(30), "it does not listen");
            thread::sleep(Duration::from_millis(1));
        }
        (port, secret)
    }

    fn get((port, secret): &(u16, Secret), path: &str) -> Reply {
        fetch(*port, &secret.before(path), PATIENCE, &AtomicBool::new(false)).unwrap()
    }

    fn settled(server: &(u16, Secret)) -> Account {
        let mut before = None;
        loop {
            let account: Account = serde_json::from_str(&get(server, ACCOUNT_PATH).body).unwrap();
            if account.open == 0 && before == Some(account) {
                return account;
            }
            before = Some(account);
        }
    }

    #[test]
    fn a_page_is_what_its_files_say_and_a_lost_file_is_a_server_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("part"), "a part").unwrap();
        let answer = Answer::Page { files: vec![("part".into(), 6)], rendered: true };
        let server = serving(folder.path(), answer, 0, LogWhen::Always);
        let reply = get(&server, "/");
        assert_eq!(reply.status, 200);
        assert!(reply.body.contains("<section>a part</section>"), "{}", reply.body);
        let empty = get(&server, EMPTY_PATH);
        assert_eq!((empty.status, empty.body.as_str()), (200, ""));
        fs::remove_file(folder.path().join("part")).unwrap();
        let reply = get(&server, "/");
        assert_eq!(reply.status, 500);
        assert!(reply.body.contains("opening a page's file"), "{}", reply.body);
        let Account { done, refused, files_ns, .. } = settled(&server);
        assert_eq!((done, refused), (1, 1));
        assert!(files_ns > 0);
    }

    #[test]
    fn a_request_without_the_secret_gets_nothing_and_counts_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("part"), "a part").unwrap();
        let answer = Answer::Page { files: vec![("part".into(), 6)], rendered: true };
        let server = serving(folder.path(), answer, 1, LogWhen::Always);
        for path in ["/", "/part", EMPTY_PATH, SWITCHED_PATH, ACCOUNT_PATH] {
            let reply = fetch(server.0, path, PATIENCE, &AtomicBool::new(false)).unwrap();
            assert_eq!((reply.status, reply.body.as_str()), (404, ""), "{path}");
        }
        assert_eq!(settled(&server), Account::default());
        assert_eq!(fs::read(folder.path().join("app.log")).unwrap(), b"");
    }

    #[test]
    fn lines_are_written_when_they_should_be_and_all_are_there() {
        for (when, lines) in
            [(LogWhen::Always, 203 * 2), (LogWhen::Sampled, 3 * 2), (LogWhen::Switched, 2)]
        {
            let folder = tempfile::tempdir().unwrap();
            let server = serving(folder.path(), Answer::Empty, 2, when);
            for _ in 0..202 {
                get(&server, "/");
            }
            get(&server, SWITCHED_PATH);
            let account = settled(&server);
            assert_eq!((account.done, account.lines), (203, lines), "{when:?}");
            let every = if when == LogWhen::Sampled { SAMPLED } else { 1 };
            let logged = log_check::Logged { lines, requests: 203, every, of_request: 2 };
            let log = fs::File::open(folder.path().join("app.log")).unwrap();
            assert!(log_check::account(log, logged).unwrap().is_intact());
        }
    }

    #[test]
    fn a_log_that_is_a_link_is_not_written_to() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let target = other.path().join("canary");
        fs::write(&target, "untouched").unwrap();
        std::os::unix::fs::symlink(&target, folder.path().join("app.log")).unwrap();
        let folder = fs::File::open(folder.path()).unwrap().into();
        let config = config(Answer::Empty, 1, LogWhen::Always);
        let serving = thread::spawn(move || serve_in(&folder, &config));
        let waited = Instant::now();
        while !serving.is_finished() {
            assert!(waited.elapsed() < Duration::from_secs(30), "it opened the log and serves");
            thread::sleep(Duration::from_millis(1));
        }
        let refusal = serving.join().unwrap().unwrap_err().to_string();
        assert!(refusal.contains("opening the log"), "{refusal}");
        assert_eq!(fs::read_to_string(target).unwrap(), "untouched");
    }

    #[test]
    fn what_is_not_a_request_is_dropped_and_the_next_one_answered() {
        let folder = tempfile::tempdir().unwrap();
        let (port, secret) = serving(folder.path(), Answer::Empty, 0, LogWhen::Always);
        for nonsense in [&b"\x16\x03\x01\x02"[..], b"GET", &vec![b'a'; HEAD_BYTES_MAX + 1]] {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
            let _ = stream.write_all(nonsense);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let mut reply = Vec::new();
            let _ = stream.read_to_end(&mut reply);
            assert_eq!(reply, b"");
        }
        // A head in two parts is waited for.
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        write!(stream, "GET {} HTTP/1.1\r\n", secret.before("/")).unwrap();
        thread::sleep(Duration::from_millis(20));
        stream.write_all(b"\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        assert!(reply.starts_with("HTTP/1.1 200 OK"), "{reply}");
    }
}
