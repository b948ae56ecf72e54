//! One step of a load: sets the client up, runs a step on it and counts it.

use crate::{
    Error, Event, Plan, Schedule,
    client::Client,
    ports::Ports,
    preflight, reach,
    step::{Drive, FinishedStep},
    target::reachable,
    until::{self, LONGEST_S, Looks},
    usage,
};
use host::{
    ports::{PortRules, time_wait_now},
    root::Root,
    sockets::Endpoint,
};
use model::load::{ClientUse, OwnUse, Preflight, ServerMeter, Step};
use std::sync::atomic::AtomicBool;

/// Seconds that a step lasts when its connections are not given.
const STEP_S: f64 = 10.0;

/// What a load is run with: found before its start.
pub(crate) struct Prepared {
    pub(crate) endpoint: Endpoint,
    rules: PortRules,
    pub(crate) preflight: Preflight,
}

impl Prepared {
    pub(crate) fn new(plan: &Plan) -> Result<Self, Error> {
        let all = plan.target.endpoints()?;
        reach::check(plan, &all)?;
        let endpoint = reachable(&all).clone();
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
        Ok(Runner { plan, client, server, interrupted: false })
    }
}

/// Runs one step after another on the same client.
pub(crate) struct Runner<'a> {
    plan: &'a Plan,
    pub(crate) client: Client<'a>,
    server: Option<&'a dyn ServerMeter>,
    pub(crate) interrupted: bool,
}

impl Runner<'_> {
    /// Seconds that a step lasts at most when its connections are not given.
    pub(crate) fn step_s(&self) -> f64 {
        if self.plan.until.is_some() { LONGEST_S } else { STEP_S }
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

    fn step(
        &mut self,
        drive: Drive,
        rate: Option<f64>,
        concurrency: Option<u32>,
        intended: Option<u64>,
        events: &mut dyn FnMut(Event<'_>),
    ) -> Result<Step, Error> {
        let goal = match &drive {
            Drive::Open(schedule) => schedule.left(),
            Drive::Closed { requests, .. } => *requests,
        };
        let until = until::until(self.plan, goal);
        let used = self.server.map(ServerMeter::begin);
        let finished = self.client.run(drive, until.map(Looks::new), events)?;
        let intended = if finished.narrow { Some(finished.meter.attempted) } else { intended };
        let intended = intended.filter(|_| rate.is_some());
        let server = used.map(|used| used(finished.meter.replies));
        self.interrupted |= finished.interrupted;
        Ok(Step { rate, concurrency, intended, server, until, ..counted(finished) })
    }
}

/// A step as it was counted.
fn counted(finished: FinishedStep) -> Step {
    let FinishedStep { meter, end_ns, active, whole, sources, interrupted, narrow: _ } = finished;
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
        subsamples: meter.subsamples.to_subsamples(),
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
    let finished = FinishedStep {
        meter,
        end_ns,
        active: idle,
        whole: idle,
        sources: 1,
        interrupted: false,
        narrow: false,
    };
    Step { rate: Some(rate), intended, ..counted(finished) }
}
