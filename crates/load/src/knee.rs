//! The highest rate that is held within bounds, found in some three seconds.
//!
//! [`Steps::MaxRate`](crate::Steps::MaxRate) takes its time and confirms what
//! it found; this is for one slice of a measurement, which is repeated many
//! times and gains its certainty from that. A closed loop, or the rate found
//! the last time, tells roughly what the server can do; short tries of an open
//! loop then close in on the rate from both sides. The tries are as long as
//! ends the whole in time, longer only where a rate so low gives too few
//! connections for a percentile.
//!
//! Overload shows in a short try by its queue: at a tenth more than the server
//! can do, connections wait for only a tenth of the try at its end, which may
//! well be within the bound. So the queue is looked at too, more closely than
//! a long step needs to.

use crate::{
    Error, Event, Plan, Reuse, ServerWatch, Step, Steps, Try,
    bracket::{self, Capacity, Outcome, Trials},
    run::{Runner, Setting},
};
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
/// The percentile that is bounded.
const QUANTILE: f64 = 0.99;

/// What a rate must keep to for being held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KneeBounds {
    /// 99th percentile of the connection time, from the intended start, of the
    /// connections that got what they asked for.
    pub p99: Duration,
    /// Share of the connections that may get it not, from 0 to 1: those that
    /// failed, and those that were answered with a refusal (a status from 400
    /// on, or not what was expected).
    pub errors_share: f64,
}

/// Where a server's capacity ends.
#[derive(Debug, Clone, Default)]
pub struct Knee {
    /// The highest rate held, in connections per second; `None` when none was.
    pub rate: Option<f64>,
    /// What kept the next higher rate from being held.
    pub limit: Option<String>,
    /// The rates tried, in order.
    pub tries: Vec<Try>,
    /// The step at the highest rate held.
    pub last_held: Option<Step>,
    /// Why the limit is not the server's but this client's; `None` when it is
    /// the server's.
    pub not_ours: Option<String>,
}

/// Looks for the highest rate that the server holds within `bounds`, on the
/// calling thread.
///
/// The steps of `plan` are left out of account. `guess` is the rate that was
/// found the last time, if there was one; the closed loops are then done
/// without, unless half of it is not held any more. `server` is measured
/// beside each try. Takes about three seconds, two with a good guess; more
/// with a server that does fewer than some 150 connections per second, and as
/// long as the timeout whenever a connection is not answered: a timeout of a
/// few times the bound keeps it quick. When `stop` is set it ends soon,
/// without a rate.
pub fn knee(
    plan: &Plan,
    bounds: &KneeBounds,
    guess: Option<f64>,
    server: Option<&ServerWatch>,
    stop: &AtomicBool,
) -> Result<Knee, Error> {
    if plan.reuse == Reuse::Always {
        return Err(Error::Input {
            what: "reuse",
            given: String::from("Always"),
            why: String::from("a connection in an open loop carries a number of requests"),
        });
    }
    if let Some(rate) = guess.filter(|rate| !rate.is_finite() || *rate <= 0.0) {
        return Err(Error::Input {
            what: "guess",
            given: rate.to_string(),
            why: String::from("a rate is more than no connection per second"),
        });
    }
    let mut plan = plan.clone();
    plan.steps = Steps::MaxRate { connections: None };
    let setting = Setting::prepare(&plan)?;
    let runner = setting.runner(&plan, server, stop)?;
    let mut trials = Loads { runner, bounds, number: 0, held: Vec::new() };
    let found = bracket::look(guess, &mut trials)?;
    let last_held = trials.held.into_iter().rev().find(|step| step.rate == found.rate);
    Ok(Knee { last_held, ..found })
}

/// A server asked by loads.
struct Loads<'a> {
    runner: Runner<'a>,
    bounds: &'a KneeBounds,
    /// Of the try, which makes its random gaps its own.
    number: u64,
    held: Vec<Step>,
}

impl Trials for Loads<'_> {
    type Error = Error;

    /// The better of two closed loops that are short whatever the server's
    /// speed.
    fn capacity(&mut self) -> Result<Capacity, Error> {
        let quiet: &mut dyn FnMut(Event<'_>) = &mut |_| ();
        let few = self.runner.closed_step(FEW_CLIENTS, FEW_REQUESTS, quiet)?;
        if self.runner.interrupted {
            return Ok(Capacity::Stopped);
        }
        if answered(&few) == 0 {
            let first = few.first_error.unwrap_or_default();
            let why = format!("no connection of a closed loop was answered: {first}");
            return Ok(Capacity::Nothing { why });
        }
        let requests = few.requests as f64 / few.seconds * CLOSED_S;
        let requests = FEW_REQUESTS.max(requests as u64);
        let many = self.runner.closed_step(MANY_CLIENTS, requests, quiet)?;
        Ok(Capacity::Rate(answered_rate(&few).max(answered_rate(&many))))
    }

    fn attempt(&mut self, rate: f64, connections: u64) -> Result<Outcome, Error> {
        self.number += 1;
        let tried = self.runner.open_step(rate, connections, self.number, &mut |_| ())?;
        if self.runner.interrupted {
            return Ok(Outcome::Stopped);
        }
        let outcome = judged(&tried, self.bounds);
        if matches!(outcome, Outcome::Held) {
            self.held.push(tried);
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
    answered(step) as f64 / step.seconds
}

fn judged(step: &Step, bounds: &KneeBounds) -> Outcome {
    let Some(why) = why_not_held(step, bounds) else { return Outcome::Held };
    let client = if client_may_be_why(step, bounds) { step.why_invalid.clone() } else { None };
    Outcome::NotHeld { why, client }
}

/// Why a try was not held; `None` when it was.
fn why_not_held(step: &Step, bounds: &KneeBounds) -> Option<String> {
    let all = step.attempted;
    let failed = all.saturating_sub(answered(step));
    if failed == all || failed as f64 > bounds.errors_share * all as f64 {
        let kinds: Vec<&str> = step.errors.named().iter().map(|(kind, _)| *kind).collect();
        return Some(format!("{failed} of {all} connections failed ({})", kinds.join(", ")));
    }
    let p99_ns = step.phases.answered.quantile(QUANTILE);
    if p99_ns > bounds.p99.as_nanos() as f64 {
        let ms = p99_ns / 1e6;
        let shown = if ms < 10.0 { format!("{ms:.2}") } else { format!("{ms:.0}") };
        return Some(format!("p99 was {shown} ms"));
    }
    let open = step.open_connections;
    fell_behind(step).then(|| {
        format!(
            "the server fell behind: {} connections were open when half had been started, {} \
             when all had",
            open.middle, open.end
        )
    })
}

/// Whether this client may be why a step was not held. The client looks
/// whether a start is due between any two things that it does, so that nothing
/// else that it does is late by more than the lag; and what is small beside
/// the bound does not decide, even where it makes the step invalid.
fn client_may_be_why(step: &Step, bounds: &KneeBounds) -> bool {
    let lag_ms = step.schedule_lag_us.map_or(0.0, |lag| lag.p99 / 1e3);
    let errors = &step.errors;
    lag_ms > LAG_SHARE * bounds.p99.as_secs_f64() * 1e3
        || errors.fd_unavail + errors.ftab_full + errors.addrunavail > 0
}

/// Whether the queue grew in the second half by more than chance explains: by
/// one and a half times the spread of what is open, where `run::kept_pace`
/// allows for three to be sure. That finds 5% too much at 1000 connections per
/// second and 10% at 400; where there are so few that it takes 20%, the bound
/// on the p99 has to tell.
fn fell_behind(step: &Step) -> bool {
    let open = step.open_connections;
    let half = step.attempted as f64 / 2.0;
    let growth = open.end as f64 - open.middle as f64;
    step.kept_pace.is_some() && growth > 0.01 * half + 1.5 * (open.middle as f64).sqrt() + 2.0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{
        ErrorKind,
        meter::{Meter, Times},
        run::step_of,
    };
    use std::convert::Infallible;

    const RATE: f64 = 1000.0;
    const BOUNDS: KneeBounds = KneeBounds { p99: Duration::from_millis(250), errors_share: 0.05 };

    /// Of a hundred connections so many that time out, and so many refused at
    /// once; the others take as long as is said.
    fn step(timed_out: u64, refused: u64, took: Duration) -> Step {
        let mut meter = Meter::new(0);
        meter.attempted = 100;
        for _ in 0..timed_out {
            meter.errors.add(ErrorKind::ClientTimo, String::new);
        }
        for _ in 0..refused {
            meter.errors.add(ErrorKind::Http5xx, String::new);
            meter.connection(&Times { last_byte: 1000, refused: true, ..Times::default() });
        }
        for _ in timed_out + refused..100 {
            let last_byte = took.as_nanos() as u64;
            meter.connection(&Times { last_byte, ..Times::default() });
        }
        step_of(meter, RATE, Duration::from_secs(1))
    }

    fn why(timed_out: u64, refused: u64, took_ms: u64) -> Option<String> {
        why_not_held(&step(timed_out, refused, Duration::from_millis(took_ms)), &BOUNDS)
    }

    #[test]
    fn failures_within_their_own_bound_leave_the_p99_to_the_others() {
        assert_eq!(why(2, 0, 100), None);
        assert_eq!(why(2, 3, 100), None);
        // That refusals are quick does not make the answers so.
        assert_eq!(why(0, 2, 300).as_deref(), Some("p99 was 300 ms"));
        let failed = "6 of 100 connections failed (client-timo, http-5xx)";
        assert_eq!(why(3, 3, 100).as_deref(), Some(failed));
        let all = KneeBounds { errors_share: 1.0, ..BOUNDS };
        assert!(why_not_held(&step(0, 100, Duration::ZERO), &all).is_some());
    }

    /// Loses two of a hundred connections at any rate, and is slow beyond one.
    struct Lossy {
        limit: f64,
    }

    impl Trials for Lossy {
        type Error = Infallible;

        fn capacity(&mut self) -> Result<Capacity, Infallible> {
            Ok(Capacity::Rate(self.limit))
        }

        fn attempt(&mut self, rate: f64, _: u64) -> Result<Outcome, Infallible> {
            let took_ms = if rate <= self.limit { 100 } else { 300 };
            Ok(judged(&step(2, 0, Duration::from_millis(took_ms)), &BOUNDS))
        }
    }

    #[test]
    fn a_server_that_loses_some_has_a_knee_where_losing_some_is_allowed() {
        let knee = bracket::look(None, &mut Lossy { limit: RATE }).unwrap();
        assert!((960.0..=RATE).contains(&knee.rate.unwrap()), "{knee:?}");
        assert_eq!(knee.limit.as_deref(), Some("p99 was 300 ms"));
    }

    #[test]
    fn what_a_server_refuses_is_none_of_its_capacity() {
        let rate = answered_rate(&step(10, 50, Duration::from_millis(1)));
        assert!((rate - 40.0).abs() < 1e-6, "{rate}");
    }
}
