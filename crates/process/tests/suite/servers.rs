//! The server's process: started, refused, measured, and never left behind.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::address;
use iotoll_process::{Error, Port, Server, ServerWatch};
use model::address::Address;
use std::{
    fs,
    net::TcpListener,
    os::unix::net::UnixListener,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(60);

fn why(command: &str, patience: Duration) -> String {
    let port = Port::reserve().unwrap();
    let address = address(port.number());
    let mut server = Server::start(command, port).unwrap();
    let error = server.await_ready(&address, patience, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, Error::Command { .. }));
    error.to_string()
}

#[test]
fn a_server_that_exits_is_reported_with_its_last_words() {
    let text = why("echo one >&2; echo cannot bind >&2; exit 3", PATIENCE);
    assert!(text.contains("exited with status 3") && text.contains("cannot bind"), "{text}");
    let text = why("no-such-program-here {port}", PATIENCE);
    assert!(text.contains("status 127") && text.contains("not found"), "{text}");
    let text = why("kill -9 $$", PATIENCE);
    assert!(text.contains("status 137") && text.contains("wrote nothing"), "{text}");
}

#[test]
fn a_server_that_never_listens_is_reported_and_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let command = format!("echo $$ > {}; echo waiting >&2; sleep 1000", pid_file.display());
    let text = why(&command, Duration::from_millis(500));
    assert!(text.contains("was not listening on 127.0.0.1:") && text.contains("waiting"), "{text}");
    assert_gone(pid_in(&pid_file));
}

const LISTENS: &str = "import socket, time; s = socket.create_server(('127.0.0.1', PORT)); \
    time.sleep(1000)";

#[test]
fn a_server_that_listens_elsewhere_is_told_where() {
    let other = Port::reserve().unwrap().number();
    let command = format!("python3 -c \"{}\"", LISTENS.replace("PORT", &other.to_string()));
    // A child of a child, as a server's workers are.
    let text = why(&format!("({command}; true); true"), Duration::from_secs(3));
    let said =
        format!("it is listening on 127.0.0.1:{other} instead: put {{port}} into its command");
    assert!(text.contains(&said), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let command = format!(
        "exec python3 -c \"import socket, time; s = socket.socket(socket.AF_UNIX); \
         s.bind('{}'); s.listen(); time.sleep(1000)\"",
        path.display()
    );
    let text = why(&command, Duration::from_secs(3));
    let said = format!("it is listening on unix:{} instead: make it listen on 127", path.display());
    assert!(text.contains(&said) && text.contains(", or load it at that address"), "{text}");
}

/// What becomes of a server while somebody else listens on its port, who came
/// after the look whether it is free.
fn why_beside_another(command: &str, patience: Duration) -> String {
    let port = Port::reserve().unwrap().number();
    let mut server = Server::start(command, port).unwrap();
    let _another = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let error = server.await_ready(&address(port), patience, &AtomicBool::new(false)).unwrap_err();
    error.to_string().replace(&port.to_string(), "PORT")
}

#[test]
fn somebody_else_is_not_taken_for_the_server() {
    let text = why_beside_another("sleep 1000", Duration::from_millis(300));
    let said = "was not listening on 127.0.0.1:PORT within 0.3 s; something else is listening \
                on 127.0.0.1:PORT, but no process of the server is";
    assert!(text.contains(said), "{text}");
    let text = why_beside_another("sleep 0.3; echo in use >&2; exit 1", PATIENCE);
    let said = "status 1 before it was listening; something else is listening on 127.0.0.1:PORT";
    assert!(text.contains(said) && text.contains("in use"), "{text}");
    let command = format!("python3 -c \"{}\"", LISTENS.replace("PORT", "0"));
    let text = why_beside_another(&command, Duration::from_secs(3));
    let said = "something else is listening on 127.0.0.1:PORT; it is listening on 127.0.0.1:";
    assert!(text.contains(said) && text.contains("put {port} into its command"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _another = UnixListener::bind(&path).unwrap();
    let mut server = Server::start("sleep 1000", Port::reserve().unwrap()).unwrap();
    let address = Address::Unix(path);
    let patience = Duration::from_millis(300);
    let error = server.await_ready(&address, patience, &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("something else is listening on"), "{error}");
}

#[test]
fn a_server_that_waits_for_its_port_is_awaited() {
    let port = Port::reserve().unwrap().number();
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.py");
    let tries = "import socket, time\n\
        while True:\n    \
            try:\n        s = socket.create_server(('127.0.0.1', PORT))\n        break\n    \
            except OSError: time.sleep(0.02)\n\
        time.sleep(1000)\n";
    fs::write(&script, tries.replace("PORT", &port.to_string())).unwrap();
    let command = format!("python3 {}", script.display());
    let mut server = Server::start(&command, port).unwrap();
    let another = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let gone = Arc::new(AtomicBool::new(false));
    let says = Arc::clone(&gone);
    let leaves = thread::spawn(move || {
        thread::sleep(Duration::from_millis(500));
        says.store(true, Ordering::Relaxed);
        drop(another);
    });
    server.await_ready(&address(port), PATIENCE, &AtomicBool::new(false)).unwrap();
    assert!(gone.load(Ordering::Relaxed), "somebody else was taken for it");
    leaves.join().unwrap();
}

#[test]
fn a_server_that_becomes_a_daemon_is_awaited_and_watched() {
    let port = Port::reserve().unwrap().number();
    let listens = LISTENS.replace("PORT", &port.to_string());
    // It forks twice, in a session of its own, while its first process ends.
    let command = format!("setsid sh -c 'python3 -c \"$0\" &' \"{listens}\"; exit 0");
    let mut server = Server::start(&command, port).unwrap();
    server.await_ready(&address(port), PATIENCE, &AtomicBool::new(false)).unwrap();
    let watch = server.watch();
    assert_eq!(watch.used_since(&watch.sample(), 0).processes, 1);
    drop(server);
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "it still listens");
}

#[test]
fn a_port_that_is_taken_is_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = Server::start("sleep 1000", port).unwrap_err().to_string();
    // Nothing was started that could have said anything.
    assert!(error.ends_with(&format!("already listening on port {port}")), "{error}");
}

#[test]
fn a_prepared_command_runs_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    // What a shell would take apart, expand or run.
    let cwd = folder.path().join("a 'b' $HOME; exit 7");
    fs::create_dir(&cwd).unwrap();
    let mut command = Command::new("python3");
    command.args(["-c", "import os, sys, time; open(sys.argv[1], 'w').write(os.environ['A'])\n"]);
    command.arg("c \"d\" *").env("A", "42").current_dir(&cwd);
    let server = Server::launch(command, "mine", Port::reserve().unwrap()).unwrap();
    assert_eq!(pid_in(&cwd.join("c \"d\" *")), 42);
    drop(server);
}

#[test]
fn a_prepared_command_that_cannot_be_started_or_ends_is_called_by_its_name() {
    let launch =
        |program: &str, port: u16| Server::launch(Command::new(program), "my server", port);
    let port = Port::reserve().unwrap().number();
    let error = launch("/no/such/program", port).unwrap_err().to_string();
    assert!(error.contains("`my server`: cannot start /no/such/program: No such file"), "{error}");
    assert!(!error.contains("standard error"), "{error}");
    let mut server = launch("false", port).unwrap();
    let error = server.await_ready(&address(port), PATIENCE, &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("`my server`: it exited with status 1"), "{error}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = launch("true", port).unwrap_err().to_string();
    assert!(error.contains(&format!("already listening on port {port}")), "{error}");
}

fn pid_in(path: &Path) -> i32 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(pid) = fs::read_to_string(path).ok().and_then(|t| t.trim().parse().ok()) {
            return pid;
        }
        assert!(Instant::now() < deadline, "{} was never written", path.display());
        thread::sleep(Duration::from_millis(10));
    }
}

fn is_there(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn assert_gone(pid: i32) {
    let deadline = Instant::now() + PATIENCE;
    while is_there(pid) {
        assert!(Instant::now() < deadline, "process {pid} was left behind");
        thread::sleep(Duration::from_millis(10));
    }
}

/// A process that ignores requests to stop, in a session of its own, whose
/// parent is gone: as hard to find and to stop as a daemon.
fn stubborn(pid_file: &Path) -> String {
    format!(
        "setsid sh -c 'trap \"\" TERM INT HUP; echo $$ > {}; while :; do sleep 1; done' & sleep 1000",
        pid_file.display()
    )
}

#[test]
fn stopping_a_server_stops_what_became_a_daemon_too() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let server = Server::start(&stubborn(&pid_file), Port::reserve().unwrap()).unwrap();
    let pid = pid_in(&pid_file);
    assert!(is_there(pid));
    drop(server);
    assert!(!is_there(pid), "dropping did not wait for its end");
}

/// Run again by the test below, as a process that is killed.
#[test]
fn the_one_to_be_killed() {
    let Some(pid_file) = std::env::var_os("IOTOLL_TEST_PID_FILE") else { return };
    let _server = Server::start(&stubborn(Path::new(&pid_file)), Port::reserve().unwrap()).unwrap();
    thread::sleep(PATIENCE);
}

#[test]
fn killing_the_client_with_signal_9_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let mut client = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "servers::the_one_to_be_killed"])
        .env("IOTOLL_TEST_PID_FILE", &pid_file)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = pid_in(&pid_file);
    assert!(is_there(pid));
    client.kill().unwrap();
    client.wait().unwrap();
    assert_gone(pid);
}

#[test]
fn what_children_use_is_counted_while_they_live_and_afterwards() {
    let port = Port::reserve().unwrap();
    // A child that is waited for, and one that lives on.
    let work = "dd if=/dev/zero of=/dev/null bs=1M count=100 2>/dev/null";
    let server = Server::start(&format!("sleep 0.3; {work}; ({work}; sleep 1000)"), port).unwrap();
    let watch = server.watch();
    let before = watch.sample();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let used = watch.used_since(&before, 2);
        if used.asked_read_bytes >= 200 << 20 && used.asked_write_bytes >= 200 << 20 {
            assert!(used.processes >= 2 && used.memory_bytes > 0, "{used:?}");
            return;
        }
        assert!(Instant::now() < deadline, "{used:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_process_that_is_not_there_cannot_be_watched() {
    for pid in [-1, 0, i32::MAX] {
        let error = ServerWatch::of(pid).unwrap_err().to_string();
        assert!(error.contains("no such process"), "{error}");
    }
    assert!(ServerWatch::of(std::process::id().cast_signed()).is_ok());
}
