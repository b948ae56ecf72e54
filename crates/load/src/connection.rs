//! One connection: connecting, sending, reading replies, and closing.

use crate::{
    Expect, Reuse,
    expect::Check,
    malformed::Malformed,
    meter::{Meter, Timestamps},
    outcome::{Counter, counter_of},
    response::{Ending, Progress, Reply},
    socket,
    until::sampled,
};
use host::clock::monotonic_ns as now_ns;
use rustix::{
    event::epoll::EventFlags,
    fd::{AsFd, OwnedFd},
    io::Errno,
};
use std::fmt;

/// Bytes read at once, by all connections in turn from one buffer.
const BUFFER_BYTES: usize = 64 << 10;
/// Reads of one connection before others get their turn.
const READS_MAX: u32 = 8;

/// What all connections of a step share.
pub(crate) struct Shared {
    /// The request where the connection is to be kept …
    pub(crate) request_keep: Vec<u8>,
    /// … and where it is to be closed.
    pub(crate) request_last: Vec<u8>,
    pub(crate) reuse: Reuse,
    pub(crate) timeout_ns: u64,
    pub(crate) expect: Expect,
    pub(crate) bodiless: bool,
    pub(crate) first_body: Option<u128>,
    pub(crate) server_software: Option<String>,
    pub(crate) meter: Meter,
    /// Requests not yet given to a connection; `None` in an open loop, where
    /// every connection brings its own.
    pub(crate) requests_left: Option<u64>,
    buffer: Box<[u8]>,
}

impl Shared {
    pub(crate) fn new(plan: &crate::Plan) -> Self {
        Self {
            request_keep: plan.request.to_bytes(&plan.target, false),
            request_last: plan.request.to_bytes(&plan.target, true),
            reuse: plan.reuse,
            timeout_ns: plan.timeout.as_nanos() as u64,
            expect: plan.expect.clone(),
            bodiless: plan.request.method == http::Method::HEAD,
            first_body: None,
            server_software: None,
            meter: Meter::new(0, sampled(plan.reuse)),
            requests_left: None,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
        }
    }

    /// A meter of a step that begins then.
    pub(crate) fn new_meter(&self, start_ns: u64) -> Meter {
        Meter::new(start_ns, sampled(self.reuse))
    }

    /// Gives a connection one request more, if there is one for it.
    fn take_request(&mut self, already: u64) -> bool {
        let allowed = match self.reuse {
            Reuse::Never => already == 0,
            Reuse::Requests(n) => already < n,
            Reuse::Always => true,
        };
        match &mut self.requests_left {
            _ if !allowed => false,
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Connecting,
    Sending,
    Waiting,
    /// All is done; the server closes, so that it keeps the port.
    Lingering,
}

/// What the client does next with a connection on which something happened.
#[derive(Debug)]
pub(crate) enum Next {
    /// Wait for its next event.
    Wait,
    /// Read more from it, after the other connections had their turn.
    ReadAgain,
    /// Give the server time to close it; all is done.
    Linger,
    /// End it.
    End(End),
}

/// How a connection ended.
#[derive(Debug)]
pub(crate) enum End {
    /// With all that it should carry; `closed_first` by us.
    Completed { closed_first: bool },
    /// A request crossed with the server's closing of the kept connection.
    Crossed,
    /// With an error.
    Failed(Failure),
}

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Failure {
    System(&'static str, Errno),
    Timeout(&'static str),
    Closed,
    Malformed(&'static str),
    Short { body_bytes: u64 },
}

impl Failure {
    pub(crate) fn counter(&self) -> Counter {
        match self {
            Self::System(_, errno) => counter_of(*errno),
            Self::Timeout(_) => |errors| &mut errors.client_timo,
            Self::Closed => |errors| &mut errors.closed,
            Self::Malformed(_) => |errors| &mut errors.malformed,
            Self::Short { .. } => |errors| &mut errors.short_body,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(doing, errno) => write!(f, "{doing}: {errno}"),
            Self::Timeout(doing) => write!(f, "{doing} took longer than the timeout"),
            Self::Closed => write!(f, "the server closed the connection without a reply"),
            Self::Malformed(why) => write!(f, "invalid HTTP reply: {why}"),
            Self::Short { body_bytes } => {
                write!(f, "the server closed the connection after {body_bytes} bytes of the body")
            }
        }
    }
}

impl From<Failure> for Next {
    fn from(failure: Failure) -> Self {
        Self::End(End::Failed(failure))
    }
}

/// Which events of a connection epoll reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Watched {
    Not,
    /// When there is something to read.
    Reading,
    /// Also when it can be written to.
    Both,
}

/// One connection.
pub(crate) struct Connection {
    pub(crate) socket: OwnedFd,
    state: State,
    pub(crate) times: Timestamps,
    /// When to give up.
    pub(crate) deadline_ns: u64,
    pub(crate) watched: Watched,
    written: usize,
    requests: u64,
    replies: u64,
    asked_to_close: bool,
    /// The server has sent all that it will.
    fin: bool,
    reply: Reply,
    check: Check,
}

impl Connection {
    pub(crate) fn new(socket: OwnedFd, intended: u64, begun: u64, shared: &mut Shared) -> Self {
        let mut connection = Self {
            socket,
            state: State::Connecting,
            times: Timestamps { intended, begun, ..Timestamps::default() },
            deadline_ns: begun + shared.timeout_ns,
            watched: Watched::Not,
            written: 0,
            requests: 0,
            replies: 0,
            asked_to_close: false,
            fin: false,
            reply: Reply::new(shared.bodiless),
            check: Check::new(&shared.expect),
        };
        connection.load_request(shared);
        connection
    }

    /// Which events it needs.
    pub(crate) fn needs(&self) -> Watched {
        match self.state {
            State::Connecting | State::Sending => Watched::Both,
            State::Waiting | State::Lingering => Watched::Reading,
        }
    }

    pub(crate) fn is_lingering(&self) -> bool {
        self.state == State::Lingering
    }

    pub(crate) fn timed_out(&self) -> Failure {
        Failure::Timeout(match self.state {
            State::Connecting => "connecting",
            State::Sending => "sending the request",
            State::Waiting if !self.reply.began() => "waiting for a reply",
            State::Waiting | State::Lingering => "receiving the reply",
        })
    }

    /// Sends without waiting for the event that it is connected. On this
    /// host it is connected when `connect` returns; where it does not, nothing is
    /// lost but one system call.
    pub(crate) fn send_at_once(&mut self, shared: &mut Shared) -> Next {
        let connected = now_ns();
        match socket::send_some(self.socket.as_fd(), self.request(shared)) {
            Err(Errno::AGAIN | Errno::INTR) => Next::Wait,
            Err(errno) => Failure::System("connecting", errno).into(),
            Ok(n) => {
                self.written = n;
                self.stands(connected, shared);
                self.send(shared)
            }
        }
    }

    /// Goes on after the events in `flags`.
    pub(crate) fn on_event(&mut self, shared: &mut Shared, flags: EventFlags) -> Next {
        let over = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
        self.fin |= flags.intersects(over);
        if self.state == State::Connecting {
            if !flags.intersects(EventFlags::OUT | over) {
                return Next::Wait;
            }
            if let Err(errno) = socket::take_error(self.socket.as_fd()) {
                return Failure::System("connecting", errno).into();
            }
            self.stands(now_ns(), shared);
        }
        if self.state == State::Sending
            && let next @ (Next::End(_) | Next::Linger) = self.send(shared)
        {
            return next;
        }
        if flags.intersects(EventFlags::IN | over) { self.read(shared) } else { Next::Wait }
    }

    /// Notes that the connection stands.
    fn stands(&mut self, now: u64, shared: &mut Shared) {
        self.times.connected = now;
        shared.meter.phases.connect.record(now - self.times.begun);
        self.state = State::Sending;
    }

    fn request<'a>(&self, shared: &'a Shared) -> &'a [u8] {
        let all = if self.asked_to_close { &shared.request_last } else { &shared.request_keep };
        &all[self.written..]
    }

    fn load_request(&mut self, shared: &mut Shared) {
        self.requests += 1;
        self.written = 0;
        self.asked_to_close = match shared.reuse {
            Reuse::Never => true,
            Reuse::Requests(n) => self.requests >= n,
            Reuse::Always => false,
        };
        self.reply.wants_server = shared.server_software.is_none();
        shared.meter.step.requests += 1;
    }

    fn send(&mut self, shared: &mut Shared) -> Next {
        loop {
            let rest = self.request(shared);
            if rest.is_empty() {
                break;
            }
            match socket::send_some(self.socket.as_fd(), rest) {
                Ok(n) => self.written += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Next::Wait,
                // The server wants no more; it may have said why.
                Err(Errno::PIPE) => break,
                Err(errno) if self.replies > 0 && errno == Errno::CONNRESET => {
                    return Next::End(End::Crossed);
                }
                Err(errno) => return Failure::System("sending the request", errno).into(),
            }
        }
        self.times.sent = now_ns();
        shared.meter.step.bytes.sent += self.written as u64;
        self.state = State::Waiting;
        Next::Wait
    }

    /// Reads what has come.
    pub(crate) fn read(&mut self, shared: &mut Shared) -> Next {
        for _ in 0..READS_MAX {
            let length = match socket::receive(self.socket.as_fd(), &mut shared.buffer) {
                Ok(0) => return self.at_end(shared),
                Ok(n) => n,
                Err(Errno::AGAIN) => return Next::Wait,
                Err(Errno::INTR) => continue,
                Err(errno) => return self.broken(errno),
            };
            if self.state == State::Lingering {
                return Failure::Malformed("data after its end").into();
            }
            let now = now_ns();
            if !self.reply.began() {
                self.times.first_byte = now;
            }
            match self.feed(shared, length) {
                Err(Malformed(why)) => return Failure::Malformed(why).into(),
                Ok(Progress::Done(used)) if used < length => {
                    return Failure::Malformed("data after its end").into();
                }
                Ok(Progress::Done(_)) => return self.complete(now, shared),
                // A short read emptied the socket; an end still to come is an
                // event of its own, unless there has been one already.
                Ok(Progress::More) if length < BUFFER_BYTES && !self.fin => return Next::Wait,
                Ok(Progress::More) => {}
            }
        }
        Next::ReadAgain
    }

    fn feed(&mut self, shared: &mut Shared, length: usize) -> Result<Progress, Malformed> {
        let Shared { buffer, expect, .. } = shared;
        let check = &mut self.check;
        self.reply.feed(&buffer[..length], &mut |body| check.update(expect, body))
    }

    /// The server has closed.
    fn at_end(&mut self, shared: &mut Shared) -> Next {
        self.fin = true;
        if self.state == State::Lingering {
            return Next::End(End::Completed { closed_first: false });
        }
        match self.reply.end() {
            Ending::Complete => self.complete(now_ns(), shared),
            Ending::NoReply if self.replies > 0 && !self.reply.began() => Next::End(End::Crossed),
            Ending::NoReply => Failure::Closed.into(),
            Ending::Short => Failure::Short { body_bytes: self.reply.body_bytes }.into(),
        }
    }

    /// Reading failed.
    fn broken(&mut self, errno: Errno) -> Next {
        if self.state == State::Lingering {
            return Next::End(End::Completed { closed_first: false });
        }
        if self.replies > 0 && !self.reply.began() && errno == Errno::CONNRESET {
            return Next::End(End::Crossed);
        }
        Failure::System("receiving the reply", errno).into()
    }

    /// A reply has come whole.
    fn complete(&mut self, now: u64, shared: &mut Shared) -> Next {
        self.times.last_byte = now;
        if self.state == State::Sending {
            // The server answered before it had heard all.
            self.times.sent = self.times.first_byte;
        }
        self.replies += 1;
        self.count_reply(shared);
        let lives = self.reply.keep_alive && !self.fin && self.state == State::Waiting;
        let whole = match shared.reuse {
            Reuse::Requests(n) => self.requests >= n,
            Reuse::Never | Reuse::Always => true,
        };
        if lives && shared.take_request(self.requests) {
            self.reply.reset();
            self.load_request(shared);
            self.check = Check::new(&shared.expect);
            self.deadline_ns = now + shared.timeout_ns;
            self.state = State::Sending;
            return self.send(shared);
        }
        if !lives && !whole {
            shared.meter.step.ended_early += 1;
        }
        if self.fin {
            return Next::End(End::Completed { closed_first: false });
        }
        if self.asked_to_close || !self.reply.keep_alive {
            self.state = State::Lingering;
            return Next::Linger;
        }
        Next::End(End::Completed { closed_first: true })
    }

    fn count_reply(&mut self, shared: &mut Shared) {
        let status = self.reply.status;
        let meter = &mut shared.meter;
        meter.reply(&self.times, status);
        meter.step.bytes.received_heads += self.reply.head_bytes;
        meter.step.bytes.received_bodies += self.reply.body_bytes;
        if let Some(server) = self.reply.server.take() {
            shared.server_software.get_or_insert(server);
        }
        let check = std::mem::replace(&mut self.check, Check::Nothing);
        let (counter, text): (Counter, _) = match status {
            400..=499 => (|errors| &mut errors.http_4xx, format!("status {status}")),
            500..=599 => (|errors| &mut errors.http_5xx, format!("status {status}")),
            _ if !check.holds(&shared.expect, &mut shared.first_body) => (
                |errors| &mut errors.unexpected_body,
                format!("unexpected body of {} bytes", self.reply.body_bytes),
            ),
            _ => return,
        };
        meter.failure(counter, || text);
        self.times.refused = true;
    }
}
