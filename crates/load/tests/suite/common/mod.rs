//! A server that does whatever a test wants, a connection at a time.

#![allow(clippy::unwrap_used, dead_code)]

use iotoll_load::{Event, Measured, Plan, Step, StepAnalysis, Steps, Target, analyse_step, run};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    os::fd::OwnedFd,
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};

/// Serves every connection by `behave`, each in a thread of its own, for as
/// long as the test lives.
pub(crate) fn server(behave: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    server_at("127.0.0.1:0", behave)
}

pub(crate) fn server_at(
    address: &str,
    behave: impl Fn(TcpStream) + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind(address).unwrap();
    let address = listener.local_addr().unwrap();
    let behave = Arc::new(behave);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let behave = Arc::clone(&behave);
            thread::spawn(move || behave(stream));
        }
    });
    address
}

/// Reads a request up to the blank line; false when the client has closed.
pub(crate) fn take_request(stream: &mut TcpStream) -> bool {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => seen.push(byte[0]),
            _ => return false,
        }
    }
    true
}

/// Answers one request with these bytes and closes.
pub(crate) fn answer(bytes: &'static [u8]) -> impl Fn(TcpStream) {
    move |mut stream| {
        if take_request(&mut stream) {
            let _ = stream.write_all(bytes);
        }
    }
}

/// An address that refuses connections for as long as this lives.
pub(crate) struct Refusing {
    _socket: OwnedFd,
    address: SocketAddr,
}

impl Refusing {
    pub(crate) fn new() -> Self {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
        bind(&socket, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
        let address = getsockname(&socket).unwrap().try_into().unwrap();
        Self { _socket: socket, address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

pub(crate) fn plan(url: &str, steps: Steps) -> Plan {
    let mut plan = Plan::new(Target::parse(url).unwrap(), steps);
    plan.timeout = Duration::from_secs(20);
    plan
}

/// So many connections at 200 per second.
pub(crate) fn open(connections: u64) -> Steps {
    Steps::Rates { rates: vec![200.0], connections: Some(connections) }
}

pub(crate) fn closed(concurrency: u32, requests: u64) -> Steps {
    Steps::Closed { concurrency, requests }
}

pub(crate) fn result(plan: &Plan) -> Measured {
    run(plan, None, &mut |_: Event<'_>| (), &AtomicBool::new(false)).unwrap()
}

/// Runs a plan of one step.
pub(crate) fn step(plan: &Plan) -> Step {
    let step = result(plan).steps.remove(0);
    let e = &step.errors;
    let kinds = e.client_timo
        + e.socket_timo
        + e.connrefused
        + e.connreset
        + e.fd_unavail
        + e.addrunavail
        + e.ftab_full
        + e.other
        + e.closed
        + e.malformed
        + e.short_body
        + e.unexpected_body
        + e.http_4xx
        + e.http_5xx;
    assert_eq!(kinds, e.total, "{e:?}");
    assert_eq!(step.first_error.is_some(), e.total > 0);
    step
}

/// Runs a plan of one step, and says what follows from it.
pub(crate) fn analysed(plan: &Plan) -> (Step, StepAnalysis) {
    let step = step(plan);
    let seen = analyse_step(&step);
    (step, seen)
}
