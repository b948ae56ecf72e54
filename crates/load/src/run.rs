//! From a plan to what was measured, step by step.

use crate::{
    Address, Error, Event, Plan, Reuse, Schedule, Steps, Version,
    client::{Client, Drive, Ran},
    max_rate::{self, Effort, RateBounds, Search},
    ports::Ports,
    preflight, usage,
};
use host::{
    ports::{PortRules, time_wait_now},
    root::Root,
    sockets::Endpoint,
};
use model::{
    load::{
        ClientUse, LoadPlan, LoadRun, Mode, OwnUse, Preflight, RateSearch, Run, SCHEMA,
        ServerMeter, Step,
    },
    run::Machine,
};
use std::sync::atomic::AtomicBool;

/// Seconds that a step lasts when its connections are not given.
const STEP_S: f64 = 10.0;

/// What a load measured.
#[derive(Debug, Clone)]
pub struct Measured {
    /// What was to be done.
    pub plan: LoadPlan,
    /// Bytes of a request, head and body.
    pub request_bytes: u64,
    /// `Server` header of the first reply that had one.
    pub server_software: Option<String>,
    /// Whether descriptors and ports suffice, as checked before the start.
    pub preflight: Preflight,
    /// The steps, in the order in which they were run.
    pub steps: Vec<Step>,
    /// The search for the highest rate, if there was one.
    pub search: Option<RateSearch>,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

impl Measured {
    /// The record of a run that took place here and then; whether it was
    /// interrupted is known here.
    pub fn into_record(self, run: Run, machine: Machine) -> LoadRun {
        LoadRun {
            schema: SCHEMA.to_owned(),
            run: Run { interrupted: self.interrupted, ..run },
            machine,
            plan: self.plan,
            request_bytes: self.request_bytes,
            server_software: self.server_software,
            preflight: self.preflight,
            steps: self.steps,
            search: self.search,
        }
    }
}

/// Runs a load on the calling thread.
///
/// `server` is measured beside each step. `events` is called on this thread,
/// so it should be quick. When `stop` is set, the load ends within a quarter
/// of a second and what was measured so far is returned, `interrupted`.
pub fn run(
    plan: &Plan,
    server: Option<&dyn ServerMeter>,
    events: &mut dyn FnMut(Event<'_>),
    stop: &AtomicBool,
) -> Result<Measured, Error> {
    let setting = Setting::prepare(plan)?;
    let mut runner = setting.runner(plan, server, stop)?;
    let search = runner.run_all(events)?;
    let Runner { client, steps, interrupted, .. } = runner;
    Ok(Measured {
        plan: recorded(plan, &setting.endpoint),
        request_bytes: client.request_bytes(),
        server_software: client.server_software().map(str::to_owned),
        preflight: setting.preflight,
        steps,
        search,
        interrupted,
    })
}

/// A plan as it is kept in the record.
fn recorded(plan: &Plan, endpoint: &Endpoint) -> LoadPlan {
    let target = &plan.target;
    let (host, port) = match &target.address {
        Address::Tcp(host, port) => (host.clone(), Some(*port)),
        Address::Unix(socket) => (format!("unix:{}", socket.display()), None),
    };
    let (mut rates, mut connections, mut concurrency, mut requests) = (None, None, None, None);
    match &plan.steps {
        Steps::Rates { rates: given, connections: count } => {
            (rates, connections) = (Some(given.clone()), *count);
        }
        Steps::MaxRate { connections: count } => connections = *count,
        Steps::Closed { concurrency: clients, requests: count } => {
            (concurrency, requests) = (Some(*clients), Some(*count));
        }
    }
    let mode = if concurrency.is_some() { Mode::Closed } else { Mode::Open };
    LoadPlan {
        url: target.url.clone(),
        host,
        port,
        path: target.path.clone(),
        address: endpoint.to_string(),
        method: plan.request.method.to_string(),
        http: String::from(match plan.request.version {
            Version::Http10 => "1.0",
            Version::Http11 => "1.1",
        }),
        mode,
        rates,
        connections,
        concurrency,
        requests,
        gap: (mode == Mode::Open).then_some(plan.gap),
        seed: plan.seed,
        timeout_s: plan.timeout.as_secs_f64(),
        requests_per_connection: match plan.reuse {
            Reuse::Never => Some(1),
            Reuse::Requests(n) => Some(n),
            Reuse::Always => None,
        },
    }
}

/// Connections of a step at `rate`.
pub(crate) fn connections_for(rate: f64, given: Option<u64>, seconds: f64) -> u64 {
    given.unwrap_or((rate * seconds).round() as u64).max(1)
}

/// What a load is run with: found before its start.
pub(crate) struct Setting {
    endpoint: Endpoint,
    rules: PortRules,
    preflight: Preflight,
}

impl Setting {
    pub(crate) fn prepare(plan: &Plan) -> Result<Self, Error> {
        let endpoint = plan.target.resolve()?;
        let rules = PortRules::read(&Root::real(), endpoint.is_near());
        let preflight = preflight::check(plan, &endpoint, rules);
        Ok(Self { endpoint, rules, preflight })
    }

    pub(crate) fn runner<'a>(
        &'a self,
        plan: &'a Plan,
        server: Option<&'a dyn ServerMeter>,
        stop: &'a AtomicBool,
    ) -> Result<Runner<'a>, Error> {
        let may_add_sources = self.endpoint.is_loopback_v4();
        let ports = Ports::new(self.rules, may_add_sources, time_wait_now(&Root::real()));
        let client = Client::new(plan, &self.endpoint, ports, stop)?;
        Ok(Runner { plan, client, server, steps: Vec::new(), interrupted: false })
    }
}

/// Runs steps and keeps them.
pub(crate) struct Runner<'a> {
    plan: &'a Plan,
    client: Client<'a>,
    server: Option<&'a dyn ServerMeter>,
    steps: Vec<Step>,
    pub(crate) interrupted: bool,
}

impl Runner<'_> {
    fn run_all(&mut self, events: &mut dyn FnMut(Event<'_>)) -> Result<Option<RateSearch>, Error> {
        match &self.plan.steps {
            Steps::Closed { concurrency, requests } => {
                let begins =
                    Event::StepBegins { number: 1, of: Some(1), rate: None, goal: *requests };
                events(begins);
                let step = self.closed_step(*concurrency, *requests, events)?;
                self.keep(step, events);
            }
            Steps::Rates { rates, connections } => {
                for (index, &rate) in rates.iter().enumerate() {
                    let count = connections_for(rate, *connections, STEP_S);
                    events(Event::StepBegins {
                        number: index + 1,
                        of: Some(rates.len()),
                        rate: Some(rate),
                        goal: count,
                    });
                    let step = self.open_step(rate, count, index as u64, events)?;
                    self.keep(step, events);
                    if self.interrupted {
                        break;
                    }
                }
            }
            Steps::MaxRate { connections } => {
                let search = Search {
                    bounds: RateBounds::default(),
                    effort: Effort::Confirmed { connections: *connections },
                };
                let found = max_rate::with_runner(self, &search, None, events)?;
                if let Some(step) = found.last_held {
                    self.keep(step, events);
                }
                let (max_rate, limit, tries) = (found.rate, found.limit, found.tries);
                return Ok(Some(RateSearch { max_rate, limit, tries }));
            }
        }
        Ok(None)
    }

    /// One step of an open loop; `number` makes its random gaps its own.
    pub(crate) fn open_step(
        &mut self,
        rate: f64,
        count: u64,
        number: u64,
        events: &mut dyn FnMut(Event<'_>),
    ) -> Result<Step, Error> {
        let schedule =
            Schedule::new(rate, count, self.plan.gap, self.plan.seed.wrapping_add(number));
        self.step(Drive::Open(Box::new(schedule)), Some(rate), None, Some(count), events)
    }

    /// One step of a closed loop.
    pub(crate) fn closed_step(
        &mut self,
        concurrency: u32,
        requests: u64,
        events: &mut dyn FnMut(Event<'_>),
    ) -> Result<Step, Error> {
        self.step(Drive::Closed { concurrency, requests }, None, Some(concurrency), None, events)
    }

    /// Keeps a step for the result.
    pub(crate) fn keep(&mut self, step: Step, events: &mut dyn FnMut(Event<'_>)) {
        events(Event::StepEnds(&step));
        self.steps.push(step);
    }

    fn step(
        &mut self,
        drive: Drive,
        rate: Option<f64>,
        concurrency: Option<u32>,
        intended: Option<u64>,
        events: &mut dyn FnMut(Event<'_>),
    ) -> Result<Step, Error> {
        let used = self.server.map(ServerMeter::begin);
        let ran = self.client.run(drive, events)?;
        let server = used.map(|used| used(ran.meter.replies));
        self.interrupted |= ran.interrupted;
        Ok(Step { rate, concurrency, intended, server, ..counted(ran) })
    }
}

/// A step as it was counted.
fn counted(ran: Ran) -> Step {
    let Ran { meter, end_ns, active, whole, sources, interrupted } = ran;
    let since_start = |ns: u64| ns.saturating_sub(meter.start_ns);
    Step {
        attempted: meter.attempted,
        completed: meter.completed,
        requests: meter.requests,
        replies: meter.replies,
        ended_early: meter.ended_early,
        sent_again: meter.sent_again,
        abandoned: meter.abandoned,
        interrupted,
        length_ns: since_start(end_ns).max(1),
        last_start_ns: since_start(meter.last_start_ns),
        last_reply_ns: since_start(meter.last_reply_ns),
        errors: meter.errors.counts,
        first_error: meter.errors.first,
        status: meter.status,
        bytes: meter.bytes,
        open_connections: meter.open,
        sources,
        client: ClientUse { active: own_use(&active), whole: own_use(&whole) },
        reply_counts: meter.series.into_counts(),
        phases: meter.phases.to_phases(),
        ..Step::default()
    }
}

fn own_use(used: &usage::OwnUse) -> OwnUse {
    OwnUse {
        wall_ns: used.wall_ns,
        cpu_ns: used.cpu_ns,
        system_ns: used.system_ns,
        spin_ns: used.spin_ns,
        delayed_ns: used.delayed_ns,
    }
}

/// A step that was never run.
#[cfg(test)]
pub(crate) fn step_of(meter: crate::meter::Meter, rate: f64, length: std::time::Duration) -> Step {
    let idle = usage::OwnUse {
        wall_ns: length.as_nanos() as u64,
        cpu_ns: 0,
        system_ns: 0,
        spin_ns: 0,
        delayed_ns: 0,
    };
    let (end_ns, intended) = (meter.start_ns + idle.wall_ns, Some(meter.attempted));
    let ran = Ran { meter, end_ns, active: idle, whole: idle, sources: 1, interrupted: false };
    Step { rate: Some(rate), intended, ..counted(ran) }
}
