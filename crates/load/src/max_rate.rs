//! The highest rate that a server holds within bounds.
//!
//! One search serves both who asks for it. [`Effort::Quick`] takes about three
//! seconds, for one slice of a measurement, which is repeated many times and
//! gains its certainty from that: a closed loop, or the rate found the last
//! time, says roughly what the server can do, and short tries of an open loop
//! close in on the rate from both sides. [`Effort::Confirmed`] answers once and
//! for all: it begins where any server can follow, takes longer tries, and ends
//! with a long step at the rate that it found, which has to be held as well.
//!
//! A try is held when no more connections failed than may, the answers came
//! within the bound on their 99th percentile, and the server did not fall
//! behind. The last is judged as in any other step (`analyse/pace.rs`, where the
//! criterion is argued), and is what finds an overload in a short try: at a
//! tenth more than the server can do, connections wait for only a tenth of the
//! try at its end, which may well be within the bound.
//!
//! Without a bound on the 99th percentile nothing says how much of it may be
//! the client's, so that a try has to be valid to be held. With one, what is
//! small beside the bound does not decide, even where it makes a step invalid.

mod effort;
mod interval;
mod search;

pub use effort::Effort;
pub use search::MaxRate;

use crate::{
    Error, Event, Plan, Reuse, Steps, analyse_slice,
    runner::{Prepared, Runner},
};
use model::load::{ServerMeter, Step, StepAnalysis};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use search::{Capacity, Outcome, Trials};
use std::{sync::atomic::AtomicBool, time::Duration};

/// Clients and requests of the first closed loop: few, for there are servers
/// whose queue has five places and who make the sixth client wait for the
/// second that TCP takes to ask again.
const FEW_CLIENTS: u32 = 4;
const FEW_REQUESTS: u64 = 32;
/// Clients and length of the second, for servers that serve many at a time.
const MANY_CLIENTS: u32 = 16;
const CLOSED_S: f64 = 0.3;
/// The lag may be such a share of the bound before the client is suspected.
const LAG_SHARE: f64 = 0.1;
/// The phase of a search that is not one of several.
pub(crate) const UNSHIFTED: f64 = 0.5;
/// The percentile that is bounded.
const QUANTILE: f64 = 0.99;

/// What is searched for, and how thoroughly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// What a rate has to keep to.
    pub bounds: RateBounds,
    /// How thoroughly.
    pub effort: Effort,
}

/// What a rate must keep to for being held, besides a server that keeps pace.
/// By default no connection may fail, and the 99th percentile is not bounded.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RateBounds {
    /// 99th percentile of the connection time, from the intended start, of the
    /// connections that got what they asked for. Where there is none, a step
    /// has to be valid instead.
    pub p99: Option<Duration>,
    /// Share of the connections that may not get it, from 0 to 1: those that
    /// failed, and those that were answered with a refusal (a status from 400
    /// on, or not what was expected).
    pub errors_share: f64,
}

/// Searches for the highest rate that the server holds, on the calling thread.
///
/// The steps of `plan` are left out of account. `guess` is the rate that was
/// found the last time, if there was one; the search then begins there, unless
/// half of it is not held any more. A quick search begins a random step away from
/// it, which the plan's seed decides: give each of several searches a seed of its
/// own, and their rounding is independent. `server` is measured beside each try.
///
/// A quick search takes about three seconds, two with a good guess; more with
/// a server that does fewer than some 150 connections per second, and as long
/// as the timeout whenever a connection is not answered: a timeout of a few
/// times the bound keeps it quick. When `stop` is set it ends soon, without a
/// rate.
pub fn max_rate(
    plan: &Plan,
    search: &Search,
    guess: Option<f64>,
    server: Option<&dyn ServerMeter>,
    stop: &AtomicBool,
) -> Result<MaxRate, Error> {
    if plan.reuse == Reuse::Always {
        let why = "an open loop needs a fixed number of requests per connection";
        return Err(Error::input("reuse", "Always", why));
    }
    if let Some(rate) = guess.filter(|rate| !rate.is_finite() || *rate <= 0.0) {
        let why = "a rate must be positive and finite";
        return Err(Error::input("guess", &rate.to_string(), why));
    }
    let mut plan = plan.clone();
    plan.steps = Steps::MaxRate { connections: None };
    let prepared = Prepared::new(&plan)?;
    let mut runner = prepared.runner(&plan, server, stop)?;
    let phase = ChaCha8Rng::seed_from_u64(plan.seed).random();
    with_runner(&mut runner, search, guess, phase, &mut |_| ())
}

/// The same on a runner that exists already, with its events. `phase`, from 0 to 1, shifts
/// the rates that a quick search tries.
pub(crate) fn with_runner(
    runner: &mut Runner<'_>,
    search: &Search,
    guess: Option<f64>,
    phase: f64,
    events: &mut dyn FnMut(Event<'_>),
) -> Result<MaxRate, Error> {
    let bounds = &search.bounds;
    let mut trials = LoadTrials { runner, bounds, events, number: 0, last_held: None };
    let found = search::search(search.effort, guess, phase, &mut trials)?;
    let last_held = trials.last_held.filter(|step| step.rate == found.rate);
    Ok(MaxRate { last_held, ..found })
}

/// A server that is tried by loading it.
struct LoadTrials<'a, 'r> {
    runner: &'a mut Runner<'r>,
    bounds: &'a RateBounds,
    events: &'a mut dyn FnMut(Event<'_>),
    /// Of the try, which makes its random gaps its own.
    number: u64,
    last_held: Option<Step>,
}

impl Trials for LoadTrials<'_, '_> {
    type Error = Error;

    /// The better of two closed loops that are short whatever the server's
    /// speed.
    fn capacity(&mut self) -> Result<Capacity, Error> {
        let few = self.runner.closed_step(FEW_CLIENTS, FEW_REQUESTS, self.events)?;
        if self.runner.interrupted {
            return Ok(Capacity::Stopped);
        }
        if answered(&few) == 0 {
            let first = few.first_error.unwrap_or_default();
            let why = format!("no connection was answered in a closed loop: {first}");
            return Ok(Capacity::Nothing { why });
        }
        let requests = few.requests as f64 / seconds(&few) * CLOSED_S;
        let requests = FEW_REQUESTS.max(requests as u64);
        let many = self.runner.closed_step(MANY_CLIENTS, requests, self.events)?;
        Ok(Capacity::Rate(answered_rate(&few).max(answered_rate(&many))))
    }

    fn attempt(&mut self, rate: f64, connections: u64) -> Result<Outcome, Error> {
        if self.runner.interrupted {
            return Ok(Outcome::Stopped);
        }
        self.number += 1;
        let (number, of) = (self.number as usize, None);
        (self.events)(Event::StepBegins { number, of, rate: Some(rate), goal: connections });
        let tried = self.runner.open_step(rate, connections, self.number, self.events)?;
        if self.runner.interrupted {
            return Ok(Outcome::Stopped);
        }
        let outcome = judged(&tried, self.bounds);
        if matches!(outcome, Outcome::Held) {
            self.last_held = Some(tried);
        }
        Ok(outcome)
    }
}

/// Connections that got what they asked for.
fn answered(step: &Step) -> u64 {
    step.phases.answered.count()
}

/// Of them, in a second: a server that refuses quickly can do no more for it.
fn answered_rate(step: &Step) -> f64 {
    answered(step) as f64 / seconds(step)
}

fn seconds(step: &Step) -> f64 {
    step.length_ns.max(1) as f64 / 1e9
}

fn judged(step: &Step, bounds: &RateBounds) -> Outcome {
    let seen = analyse_slice(step);
    let Some(why) = why_not_held(step, &seen, bounds) else { return Outcome::Held };
    let client = if client_may_be_why(step, bounds) { seen.why_invalid } else { None };
    Outcome::NotHeld { why, client }
}

/// Why a try was not held; `None` when it was.
fn why_not_held(step: &Step, seen: &StepAnalysis, bounds: &RateBounds) -> Option<String> {
    let all = step.attempted;
    let failed = all.saturating_sub(answered(step));
    if failed == all || failed as f64 > bounds.errors_share * all as f64 {
        let kinds: Vec<&str> = step.errors.named().iter().map(|(kind, _)| *kind).collect();
        return Some(format!("{failed} of {all} connections failed ({})", kinds.join(", ")));
    }
    match bounds.p99 {
        Some(bound) => {
            let p99_ns = step.phases.answered.quantile(QUANTILE);
            if p99_ns > bound.as_nanos() as f64 {
                let ms = p99_ns / 1e6;
                let shown = if ms < 10.0 { format!("{ms:.2}") } else { format!("{ms:.0}") };
                return Some(format!("p99 was {shown} ms"));
            }
        }
        None if !seen.valid => return seen.why_invalid.clone(),
        None => {}
    }
    let open = step.open_connections;
    (seen.kept_pace == Some(false)).then(|| {
        format!(
            "the server fell behind: open connections rose from {} in the middle of the try to \
             {} at its end",
            open.middle, open.end
        )
    })
}

/// Whether this client may be why a step was not held. The client looks
/// whether a start is due between any two things that it does, so that nothing
/// else that it does is late by more than the lag.
fn client_may_be_why(step: &Step, bounds: &RateBounds) -> bool {
    let errors = &step.errors;
    let lag_ns = step.phases.lag.quantile(QUANTILE);
    bounds.p99.is_none_or(|bound| lag_ns > LAG_SHARE * bound.as_nanos() as f64)
        || errors.fd_unavail + errors.ftab_full + errors.addrunavail > 0
}

#[cfg(test)]
mod tests;
