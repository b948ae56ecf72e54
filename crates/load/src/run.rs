//! From a plan to what was measured, step by step.

use crate::{
    Address, Error, Event, Plan, Reuse, Steps,
    max_rate::{self, Effort, RateBounds, Search, UNSHIFTED},
    runner::{Prepared, Runner},
    schedule::connections_for,
};
use host::sockets::Endpoint;
use model::{
    load::{LoadPlan, LoadRun, Mode, Preflight, RateSearch, Run, SCHEMA, ServerMeter, Step},
    run::Machine,
};
use std::sync::atomic::AtomicBool;

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
    let prepared = Prepared::new(plan)?;
    let mut runner = prepared.runner(plan, server, stop)?;
    let (steps, search) = run_steps(&plan.steps, &mut runner, events)?;
    let Runner { client, interrupted, .. } = runner;
    Ok(Measured {
        plan: recorded(plan, &prepared.endpoint),
        request_bytes: client.request_bytes(),
        server_software: client.server_software().map(str::to_owned),
        preflight: prepared.preflight,
        steps,
        search,
        interrupted,
    })
}

/// Runs all steps; returns those to keep, and the search if there was one.
fn run_steps(
    steps: &Steps,
    runner: &mut Runner<'_>,
    events: &mut dyn FnMut(Event<'_>),
) -> Result<(Vec<Step>, Option<RateSearch>), Error> {
    match steps {
        Steps::Closed { concurrency, requests } => {
            let begins = Event::StepBegins { number: 1, of: Some(1), rate: None, goal: *requests };
            events(begins);
            let step = runner.closed_step(*concurrency, *requests, events)?;
            events(Event::StepEnds(&step));
            Ok((vec![step], None))
        }
        Steps::Rates { rates, connections } => {
            Ok((run_rates(rates, *connections, runner, events)?, None))
        }
        Steps::MaxRate { connections } => {
            let search = Search {
                bounds: RateBounds::default(),
                effort: Effort::Confirmed { connections: *connections },
            };
            let found = max_rate::with_runner(runner, &search, None, UNSHIFTED, events)?;
            if let Some(step) = &found.last_held {
                events(Event::StepEnds(step));
            }
            let (max_rate, limit, tries) = (found.rate, found.limit, found.tries);
            Ok((Vec::from_iter(found.last_held), Some(RateSearch { max_rate, limit, tries })))
        }
    }
}

/// Runs a step of an open loop for each rate, until it is interrupted.
fn run_rates(
    rates: &[f64],
    connections: Option<u64>,
    runner: &mut Runner<'_>,
    events: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<Step>, Error> {
    let mut steps = Vec::new();
    for (index, &rate) in rates.iter().enumerate() {
        let count = connections_for(rate, connections, runner.step_s());
        events(Event::StepBegins {
            number: index + 1,
            of: Some(rates.len()),
            rate: Some(rate),
            goal: count,
        });
        let step = runner.open_step(rate, count, index as u64, events)?;
        events(Event::StepEnds(&step));
        steps.push(step);
        if runner.interrupted {
            break;
        }
    }
    Ok(steps)
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
    let until = if matches!(plan.steps, Steps::MaxRate { .. }) { None } else { plan.until };
    let mode = if concurrency.is_some() { Mode::Closed } else { Mode::Open };
    LoadPlan {
        url: target.url.clone(),
        host,
        port,
        path: target.path.clone(),
        address: endpoint.to_string(),
        method: plan.request.method.to_string(),
        http: plan.request.version.number().to_owned(),
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
        until,
    }
}
