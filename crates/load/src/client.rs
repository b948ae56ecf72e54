//! The event loop: one thread that starts connections on time and follows
//! each through its phases.
//!
//! It speaks to epoll itself rather than through mio, whose timeouts are whole
//! milliseconds and which watches every socket for writing too: a connection
//! on this host can be written to as soon as `connect` returns, so that it is
//! watched for reading only, once, and costs seven system calls in all.
//!
//! Starting what is due comes before everything else and is looked at between
//! any two events, so that a burst of replies delays no start by more than the
//! handling of one of them.

use crate::{
    Error, Event, Plan, Progress, Schedule,
    connection::{Connection, End, Failure, Next, Shared, Watched},
    deadlines::{Deadlines, Delay},
    id::Id,
    pacer::{ALARM, Pacer},
    ports::{Ports, Source},
    schedule::Drive,
    socket,
    until::{Looks, OpenCounts},
    usage::until_now,
};
use host::{
    clock::{SECOND_NS, monotonic_ns as now_ns},
    sockets::Endpoint,
    usage::of_thread,
};
use model::load::{ClientUse, ServerMeter, Step};
use rustix::{
    event::epoll::{self, EventFlags},
    fd::AsFd,
    io::Errno,
};
use std::sync::atomic::{AtomicBool, Ordering};
use sys::scheduling::LowLatencyScheduling;

/// How long the server is given to close first after its last reply.
const LINGER_NS: u64 = SECOND_NS / 10;
/// How soon a `unix:` socket whose queue is full is tried again.
const RETRY_NS: u64 = SECOND_NS / 1000;
/// Starts made up for in a row before replies get a look again.
const BURST: u32 = 8;
/// Time between two reports of progress.
const PROGRESS_NS: u64 = SECOND_NS / 4;
/// The first start is this far away, so that it is not late itself.
const LEAD_NS: u64 = SECOND_NS / 500;

#[derive(Default)]
struct Slot {
    generation: u32,
    connection: Option<Box<Connection>>,
}

/// What is still to be started.
#[derive(Default)]
struct Starts {
    schedule: Option<Box<Schedule>>,
    /// The next intended start; `None` when there is none.
    next_ns: Option<u64>,
    begin_ns: u64,
    half: u64,
    /// Open connections over time, for a step that a look ends.
    open: OpenCounts,
    concurrency: u64,
}

/// The client, kept from step to step.
pub(crate) struct Client<'a> {
    endpoint: &'a Endpoint,
    near: bool,
    no_delay: bool,
    shared: Shared,
    pacer: Pacer,
    ports: Ports,
    slots: Vec<Slot>,
    free: Vec<u32>,
    open: u64,
    lingering: u64,
    deadlines: Deadlines,
    lingers: Delay<Id>,
    retries: Delay<(u64, u64)>,
    retrying: u64,
    again: Vec<Id>,
    starts: Starts,
    stop: &'a AtomicBool,
}

impl<'a> Client<'a> {
    pub(crate) fn new(
        plan: &Plan,
        endpoint: &'a Endpoint,
        ports: Ports,
        stop: &'a AtomicBool,
    ) -> Result<Self, Error> {
        let shared = Shared::new(plan);
        Ok(Self {
            endpoint,
            near: endpoint.is_near(),
            // Without it, Nagle's algorithm may hold back the end of a request
            // that takes more than one segment.
            no_delay: shared.request_keep.len() > 1000,
            shared,
            pacer: Pacer::new()?,
            ports,
            slots: Vec::new(),
            free: Vec::new(),
            open: 0,
            lingering: 0,
            deadlines: Deadlines::default(),
            lingers: Delay::new(LINGER_NS),
            retries: Delay::new(RETRY_NS),
            retrying: 0,
            again: Vec::new(),
            starts: Starts::default(),
            stop,
        })
    }

    pub(crate) fn server_software(&self) -> Option<&str> {
        self.shared.server_software.as_deref()
    }

    pub(crate) fn request_bytes(&self) -> u64 {
        self.shared.request_last.len() as u64
    }

    /// Runs one step to the end of its last connection. Also whether it ended by itself before
    /// everything was started.
    pub(crate) fn run(
        &mut self,
        drive: Drive,
        mut looks: Option<Looks>,
        server: Option<&dyn ServerMeter>,
        events: &mut dyn FnMut(Event<'_>),
    ) -> Result<(Step, bool), Error> {
        let used_by_server = server.map(ServerMeter::begin);
        let scheduling = LowLatencyScheduling::of_this_thread();
        let begin_ns = self.begin(drive);
        let mut narrow = false;
        let before = of_thread();
        let mut active = None;
        let mut report_ns = begin_ns + PROGRESS_NS;
        while !self.stop.load(Ordering::Relaxed) {
            self.start_due();
            let now = now_ns();
            self.give_up_due(now);
            if active.is_none() && !self.has_starts() {
                active = Some(until_now(before, self.pacer.spin_ns));
            }
            if now >= report_ns {
                report_ns = now + PROGRESS_NS;
                events(Event::Progress(Progress::new(&self.shared.meter, self.open, now)));
            }
            if self.is_over() {
                break;
            }
            self.wait(now, report_ns).map_err(Error::system("cannot wait for events"))?;
            self.follow_events();
            let subsamples = &self.shared.meter.subsamples;
            if self.has_starts() && looks.as_mut().is_some_and(|looks| looks.end_step(subsamples)) {
                narrow = true;
                self.stop_starting();
            }
        }
        let whole = until_now(before, self.pacer.spin_ns);
        let interrupted = !self.is_over();
        self.abandon();
        let idle = self.shared.new_meter(0);
        let meter = std::mem::replace(&mut self.shared.meter, idle);
        let end_ns = now_ns();
        drop(scheduling);
        let server = used_by_server.map(|used| used(meter.step.replies));
        let client = ClientUse { active: active.unwrap_or(whole), whole };
        let sources = self.ports.sources();
        Ok((Step { interrupted, sources, client, server, ..meter.into_step(end_ns) }, narrow))
    }

    /// Starts nothing more: the step ends with what is open.
    fn stop_starting(&mut self) {
        let (starts, meter) = (&mut self.starts, &mut self.shared.meter);
        meter.step.open_connections.end = self.open;
        meter.step.open_connections.middle = starts.open.after(meter.step.attempted / 2);
        (starts.schedule, starts.next_ns) = (None, None);
        self.shared.requests_left = self.shared.requests_left.map(|_| 0);
    }

    /// Sets a step up; returns when it begins.
    fn begin(&mut self, drive: Drive) -> u64 {
        let lead_ns = if matches!(drive, Drive::Open(_)) { LEAD_NS } else { 0 };
        let begin_ns = now_ns() + lead_ns;
        self.shared.meter = self.shared.new_meter(begin_ns);
        self.starts.begin_ns = begin_ns;
        self.starts.open = OpenCounts::default();
        match drive {
            Drive::Open(mut schedule) => {
                self.pacer.begin_step(schedule.mean_gap_ns());
                self.shared.requests_left = None;
                self.starts.half = schedule.left() / 2;
                self.starts.next_ns = schedule.next().map(|at| begin_ns + at);
                self.starts.schedule = Some(schedule);
            }
            Drive::Closed { concurrency, requests } => {
                self.pacer.begin_step(0);
                self.shared.requests_left = Some(requests);
                self.starts.concurrency = u64::from(concurrency);
                self.starts.next_ns = None;
                self.starts.schedule = None;
            }
        }
        begin_ns
    }

    /// Waits until there is something to do.
    fn wait(&mut self, now: u64, report_ns: u64) -> Result<(), Errno> {
        let start_ns = match self.shared.requests_left {
            None => self.starts.next_ns.unwrap_or(u64::MAX),
            Some(_) if self.closed_wants_start() => 0,
            Some(_) => u64::MAX,
        };
        let other_ns = if self.again.is_empty() { self.next_other(report_ns) } else { 0 };
        self.pacer.wait(now, start_ns, other_ns)
    }

    /// Sees to what happened.
    fn follow_events(&mut self) {
        for i in 0..self.pacer.events.len() {
            self.start_due();
            let event = self.pacer.events[i];
            let (flags, data) = (event.flags, event.data.u64());
            if data != ALARM {
                self.on_event(Id::from_data(data), Some(flags));
            }
        }
        for id in std::mem::take(&mut self.again) {
            self.start_due();
            self.on_event(id, None);
        }
    }

    fn next_other(&self, report_ns: u64) -> u64 {
        [self.deadlines.next_ns(), self.lingers.next_ns(), self.retries.next_ns()]
            .into_iter()
            .flatten()
            .fold(report_ns, u64::min)
    }

    fn has_starts(&self) -> bool {
        match self.shared.requests_left {
            None => self.starts.next_ns.is_some(),
            Some(left) => left > 0,
        }
    }

    fn is_over(&self) -> bool {
        !self.has_starts() && self.open == 0 && self.retrying == 0
    }

    fn closed_wants_start(&self) -> bool {
        let busy = self.open - self.lingering + self.retrying;
        self.shared.requests_left.is_some_and(|left| left > 0) && busy < self.starts.concurrency
    }

    /// Starts what is due. What could not be started in time is made up for
    /// here; nothing is ever left out.
    #[inline]
    fn start_due(&mut self) {
        for _ in 0..BURST {
            if self.starts.next_ns.is_none() && !self.closed_wants_start() {
                return;
            }
            let now = now_ns();
            match self.starts.next_ns {
                Some(intended) if intended <= now => self.start_open(intended, now),
                None => {
                    self.shared.requests_left = self.shared.requests_left.map(|left| left - 1);
                    self.shared.meter.step.attempted += 1;
                    self.shared.meter.step.last_start_ns = now;
                    self.connect(now, now);
                }
                Some(_) => return,
            }
        }
    }

    fn start_open(&mut self, intended: u64, now: u64) {
        self.shared.meter.phases.lag.record(now - intended);
        let step = &mut self.shared.meter.step;
        step.attempted += 1;
        step.last_start_ns = now;
        self.starts.open.note(step.attempted, self.open);
        if step.attempted == self.starts.half {
            step.open_connections.middle = self.open;
        }
        let base = self.starts.begin_ns;
        self.starts.next_ns =
            self.starts.schedule.as_mut().and_then(Iterator::next).map(|at| base + at);
        if self.starts.next_ns.is_none() {
            step.open_connections.end = self.open;
        }
        self.connect(intended, now);
    }

    fn connect(&mut self, intended: u64, begun: u64) {
        let source = self.ports.next_source(begun, self.open);
        let mut socket = self.open_socket(source);
        if matches!(socket, Err(Errno::ADDRNOTAVAIL)) && self.ports.add_source() {
            let source = self.ports.next_source(begun, self.open);
            socket = self.open_socket(source);
        }
        let mut connection = match socket {
            Ok(socket) => Connection::new(socket, intended, begun, &mut self.shared),
            // A `unix:` socket whose queue is full says so instead of waiting.
            Err(Errno::AGAIN) => {
                self.retries.push(now_ns(), (intended, begun));
                self.retrying += 1;
                return;
            }
            Err(errno) => {
                self.shared.meter.step.requests += 1;
                self.count(&Failure::System("connecting", errno));
                return;
            }
        };
        let next = if self.near { connection.send_at_once(&mut self.shared) } else { Next::Wait };
        let id = self.place(connection);
        self.follow(id, next);
    }

    fn open_socket(&self, source: Source) -> Result<rustix::fd::OwnedFd, Errno> {
        let socket = socket::open(self.endpoint, source, self.no_delay)?;
        socket::begin_connect(socket.as_fd(), self.endpoint)?;
        Ok(socket)
    }

    /// Gives a connection its slot.
    fn place(&mut self, connection: Connection) -> Id {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        self.deadlines.arm(slot, connection.deadline_ns);
        let place = &mut self.slots[slot as usize];
        place.generation = place.generation.wrapping_add(1);
        place.connection = Some(Box::new(connection));
        self.open += 1;
        let most = &mut self.shared.meter.step.open_connections.max;
        *most = (*most).max(self.open);
        Id { slot, generation: place.generation }
    }

    fn on_event(&mut self, id: Id, flags: Option<EventFlags>) {
        let Some(slot) = self.slots.get_mut(id.slot as usize) else { return };
        if slot.generation != id.generation {
            return;
        }
        let Some(connection) = &mut slot.connection else { return };
        let next = match flags {
            Some(flags) => connection.on_event(&mut self.shared, flags),
            None => connection.read(&mut self.shared),
        };
        self.follow(id, next);
    }

    /// Does what is due to a connection after something happened on it.
    fn follow(&mut self, id: Id, next: Next) {
        match next {
            Next::End(end) => return self.end(id, end),
            Next::ReadAgain => self.again.push(id),
            Next::Linger => {
                self.lingering += 1;
                self.lingers.push(now_ns(), id);
            }
            Next::Wait => {}
        }
        if let Err(errno) = self.watch(id) {
            self.end(id, End::Failed(Failure::System("adding the connection to epoll", errno)));
        }
    }

    /// Has epoll report events of the connection: reading once and for
    /// all, writing when it has to be waited for.
    fn watch(&mut self, id: Id) -> Result<(), Errno> {
        let Some(connection) = &mut self.slots[id.slot as usize].connection else {
            return Ok(());
        };
        let needed = connection.needs();
        if connection.watched >= needed {
            return Ok(());
        }
        let mut flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        flags.set(EventFlags::OUT, needed == Watched::Both);
        let (epoll, socket) = (self.pacer.epoll(), connection.socket.as_fd());
        let result = match connection.watched {
            Watched::Not => epoll::add(epoll, socket, id.to_data(), flags),
            Watched::Reading | Watched::Both => epoll::modify(epoll, socket, id.to_data(), flags),
        };
        connection.watched = needed;
        result
    }

    /// Ends a connection. Closing the socket also takes it out of epoll.
    fn end(&mut self, id: Id, end: End) {
        let Some(connection) = self.slots[id.slot as usize].connection.take() else { return };
        self.free.push(id.slot);
        self.open -= 1;
        self.lingering -= u64::from(connection.is_lingering());
        match end {
            End::Completed { closed_first } => {
                self.shared.meter.connection(&connection.times);
                if closed_first {
                    self.ports.closed_first(now_ns());
                }
            }
            End::Crossed => self.crossed(&connection),
            End::Failed(failure) => self.count(&failure),
        }
    }

    /// A kept connection was closed while a request was on its way. Nothing
    /// of the server's was broken: RFC 9112, section 9.3.1, has the client ask
    /// again on another connection.
    fn crossed(&mut self, connection: &Connection) {
        let meter = &mut self.shared.meter;
        meter.connection(&connection.times);
        meter.step.requests -= 1;
        match &mut self.shared.requests_left {
            Some(left) => {
                *left += 1;
                meter.step.sent_again += 1;
            }
            None => meter.step.ended_early += 1,
        }
    }

    fn count(&mut self, failure: &Failure) {
        let endpoint = self.endpoint;
        self.shared.meter.failure(failure.counter(), || format!("{endpoint}: {failure}"));
    }

    /// Ends what has waited long enough.
    fn give_up_due(&mut self, now: u64) {
        let slots = &self.slots;
        let deadline_of = |slot: u32| {
            let connection = slots[slot as usize].connection.as_ref()?;
            (!connection.is_lingering()).then_some(connection.deadline_ns)
        };
        let mut due = Vec::new();
        while let Some(slot) = self.deadlines.pop_due(now, deadline_of) {
            due.push(slot);
        }
        for slot in due {
            let place = &self.slots[slot as usize];
            if let Some(connection) = &place.connection {
                let failure = connection.timed_out();
                self.ports.closed_first(now);
                self.end(Id { slot, generation: place.generation }, End::Failed(failure));
            }
        }
        while let Some(id) = self.lingers.pop_due(now) {
            if self.slots[id.slot as usize].generation == id.generation {
                self.end(id, End::Completed { closed_first: true });
            }
        }
        while let Some((intended, begun)) = self.retries.pop_due(now) {
            self.retrying -= 1;
            if now - begun >= self.shared.timeout_ns {
                self.shared.meter.step.requests += 1;
                self.shared.meter.failure(|errors| &mut errors.client_timo, || {
                    format!(
                        "{}: the server's listen queue stayed full for longer than the timeout; \
                         lower the rate, or raise the server's backlog",
                        self.endpoint
                    )
                });
            } else {
                self.connect(intended, begun);
            }
        }
    }

    /// Closes what is still open when the load is interrupted.
    fn abandon(&mut self) {
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if slot.connection.take().is_some() {
                self.free.push(index as u32);
                self.shared.meter.step.abandoned += 1;
            }
        }
        self.shared.meter.step.abandoned += self.retrying;
        (self.open, self.lingering, self.retrying) = (0, 0, 0);
        self.retries.clear();
        self.again.clear();
        self.starts.next_ns = None;
    }
}
