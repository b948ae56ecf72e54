//! From a plan to a result, step by step.

use crate::{
    Error, Event, Gap, LoadResult, Mode, Plan, Preflight, Reuse, SCHEMA, Schedule, Search,
    ServerWatch, Step, Steps, Summary,
    client::{Client, Drive, Ran},
    ports::Ports,
    preflight, search,
    validity::{self, Facts, Reason},
};
use host::{
    ports::{PortRules, time_wait_now},
    root::Root,
    sockets::Endpoint,
};
use std::sync::atomic::AtomicBool;

/// Seconds that a step lasts when its connections are not given.
const STEP_S: f64 = 10.0;

/// Runs a load on the calling thread.
///
/// `server` is measured beside each step. `events` is called on this thread,
/// so it should be quick. When `stop` is set, the load ends within a quarter
/// of a second and what was measured so far is returned, `interrupted`.
pub fn run(
    plan: &Plan,
    server: Option<&ServerWatch>,
    events: &mut dyn FnMut(Event<'_>),
    stop: &AtomicBool,
) -> Result<LoadResult, Error> {
    let setting = Setting::prepare(plan)?;
    let mut runner = setting.runner(plan, server, stop)?;
    let search = runner.run_all(events)?;
    let Runner { client, steps, interrupted, .. } = runner;
    let mode = mode(plan);
    Ok(LoadResult {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        url: plan.target.url.clone(),
        address: setting.endpoint.to_string(),
        mode,
        gap: (mode == Mode::Open).then_some(plan.gap),
        seed: plan.seed,
        timeout_s: plan.timeout.as_secs_f64(),
        requests_per_connection: match plan.reuse {
            Reuse::Never => Some(1),
            Reuse::Requests(n) => Some(n),
            Reuse::Always => None,
        },
        request_bytes: client.request_bytes(),
        server_software: client.server_software().map(str::to_owned),
        preflight: setting.preflight,
        steps,
        search,
        interrupted,
    })
}

fn mode(plan: &Plan) -> Mode {
    match plan.steps {
        Steps::Closed { .. } => Mode::Closed,
        Steps::Rates { .. } | Steps::MaxRate { .. } => Mode::Open,
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
        server: Option<&'a ServerWatch>,
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
    server: Option<&'a ServerWatch>,
    steps: Vec<Step>,
    pub(crate) interrupted: bool,
}

impl Runner<'_> {
    fn run_all(&mut self, events: &mut dyn FnMut(Event<'_>)) -> Result<Option<Search>, Error> {
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
                return search::max_rate(self, *connections, events).map(Some);
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
        let gap: Gap = self.plan.gap;
        let schedule = Schedule::new(rate, count, gap, self.plan.seed.wrapping_add(number));
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
        let before = self.server.map(ServerWatch::sample);
        let ran = self.client.run(drive, events)?;
        let used = self
            .server
            .zip(before)
            .map(|(server, before)| server.used_since(&before, ran.meter.replies));
        self.interrupted |= ran.interrupted;
        let mut step = figures(ran, rate, concurrency, intended);
        step.server = used;
        Ok(step)
    }
}

/// A step's figures from what was counted.
fn figures(ran: Ran, rate: Option<f64>, concurrency: Option<u32>, intended: Option<u64>) -> Step {
    let Ran { meter, end_ns, active, whole, sources, interrupted } = ran;
    let length_ns = end_ns.saturating_sub(meter.start_ns).max(1);
    let replied_ns = meter.last_reply_ns.saturating_sub(meter.start_ns);
    let reasons = why_invalid(&meter, intended, &active, &whole, interrupted);
    let phases = meter.phases;
    let ms = |histogram| Summary::of(histogram, 1e6);
    let percent = |ns: u64| ns as f64 * 100.0 / whole.wall_ns.max(1) as f64;
    let started_ns = meter.last_start_ns.saturating_sub(meter.start_ns);
    Step {
        rate,
        concurrency,
        intended,
        attempted: meter.attempted,
        completed: meter.completed,
        requests: meter.requests,
        replies: meter.replies,
        ended_early: meter.ended_early,
        sent_again: meter.sent_again,
        abandoned: meter.abandoned,
        seconds: length_ns as f64 / 1e9,
        achieved_rate: started_rate(meter.attempted, started_ns, length_ns),
        connection_ms: ms(&phases.connection),
        connection_from_connect_ms: ms(&phases.connection_from_connect),
        connect_ms: ms(&phases.connect),
        reply_ms: ms(&phases.reply),
        response_ms: ms(&phases.response),
        transfer_ms: ms(&phases.transfer),
        schedule_lag_us: Summary::of(&phases.lag, 1e3),
        reply_rate: meter.series.rates(meter.replies, replied_ns),
        open_connections: meter.open,
        client_cpu_percent: percent(whole.cpu_ns),
        client_system_percent: percent(whole.system_ns.min(whole.cpu_ns)),
        client_spin_percent: percent(whole.spin_ns),
        client_cpu_us_per_request: (meter.requests > 0)
            .then(|| whole.cpu_ns as f64 / 1e3 / meter.requests as f64),
        sources,
        server: None,
        kept_pace: rate.and_then(|rate| {
            kept_pace(rate, meter.attempted, meter.open.middle, meter.open.end, &phases)
        }),
        merely_late: validity::merely_late(&reasons),
        valid: reasons.is_empty(),
        why_invalid: validity::in_words(&reasons),
        first_error: meter.errors.first.clone(),
        errors: meter.errors,
        status: meter.status,
        bytes: meter.bytes,
        phases,
    }
}

/// Connections started per second; the last start ends the last gap.
fn started_rate(attempted: u64, started_ns: u64, length_ns: u64) -> f64 {
    if attempted > 1 && started_ns > 0 {
        (attempted - 1) as f64 * 1e9 / started_ns as f64
    } else {
        attempted as f64 * 1e9 / length_ns as f64
    }
}

fn why_invalid(
    meter: &crate::meter::Meter,
    intended: Option<u64>,
    active: &crate::usage::OwnUse,
    whole: &crate::usage::OwnUse,
    interrupted: bool,
) -> Vec<Reason> {
    // A step that is over at once says nothing about how busy the core was.
    let span = if active.wall_ns < 100_000_000 { whole } else { active };
    let busy_ns = (span.cpu_ns + span.delayed_ns).saturating_sub(span.spin_ns);
    let (errors, phases) = (&meter.errors, &meter.phases);
    let without_descriptor = errors.fd_unavail + errors.ftab_full;
    validity::reasons(&Facts {
        intended,
        started: meter.attempted - (without_descriptor + errors.addrunavail).min(meter.attempted),
        lag_p99_ns: (phases.lag.count() > 0).then(|| phases.lag.quantile(0.99)),
        connection_p50_ns: (phases.connection.count() > 0).then(|| phases.connection.quantile(0.5)),
        without_descriptor,
        without_port: errors.addrunavail,
        busy_percent: busy_ns as f64 * 100.0 / span.wall_ns.max(1) as f64,
        interrupted,
    })
}

/// Whether as many connections ended as began in the second half.
///
/// What is open at a time in a steady state is a random number with the
/// square root of its mean as its spread, of which three times is allowed
/// for. A half that is shorter than a single connection cannot tell.
fn kept_pace(
    rate: f64,
    attempted: u64,
    middle: u64,
    end: u64,
    phases: &crate::Phases,
) -> Option<bool> {
    let half = attempted as f64 / 2.0;
    let shortest_ns = phases.connection.buckets().next().map_or(f64::MAX, |(value, _)| value);
    if half / rate * 1e9 < shortest_ns {
        return None;
    }
    let growth = end as f64 - middle as f64;
    Some(growth <= 0.01 * half + 3.0 * (middle as f64).sqrt() + 2.0)
}

/// The figures of a step that was never run.
#[cfg(test)]
pub(crate) fn step_of(meter: crate::meter::Meter, rate: f64, length: std::time::Duration) -> Step {
    let idle = crate::usage::OwnUse {
        wall_ns: length.as_nanos() as u64,
        cpu_ns: 0,
        system_ns: 0,
        spin_ns: 0,
        delayed_ns: 0,
    };
    let (end_ns, intended) = (meter.start_ns + idle.wall_ns, meter.attempted);
    let ran = Ran { meter, end_ns, active: idle, whole: idle, sources: 1, interrupted: false };
    figures(ran, Some(rate), None, Some(intended))
}
