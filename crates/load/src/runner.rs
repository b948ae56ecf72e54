//! One step of a load: sets the client up, runs a step on it and counts it.

use crate::{
    Error, Event, Plan, Schedule,
    client::Client,
    ports::Ports,
    preflight, reach,
    schedule::Drive,
    target::reachable,
    until::{self, LONGEST_S, Looks},
};
use host::{
    ports::{PortRules, time_wait_now},
    root::Root,
    sockets::Endpoint,
};
use model::load::{Preflight, ServerMeter, Step};
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
        let looks = until.map(Looks::new);
        let (step, narrow) = self.client.run(drive, looks, self.server, events)?;
        let intended = if narrow { Some(step.attempted) } else { intended };
        let intended = intended.filter(|_| rate.is_some());
        self.interrupted |= step.interrupted;
        Ok(Step { rate, concurrency, intended, until, ..step })
    }
}
