//! The highest rate that is held within bounds, found in some three seconds.
//!
//! [`Steps::MaxRate`](crate::Steps::MaxRate) takes its time and confirms what
//! it found; this is for one slice of a measurement, which is repeated many
//! times and gains its certainty from that. A closed loop tells roughly what
//! the server can do; short tries of an open loop then close in on the rate
//! from both sides. The tries are as long as ends the whole in time, longer
//! only where a rate so low gives too few connections for a percentile.
//!
//! Overload shows in a short try by its queue: at a tenth more than the server
//! can do, connections wait for only a tenth of the try at its end, which may
//! well be within the bound. So the queue is looked at too, more closely than
//! a long step needs to.

use crate::{
    Error, Event, Plan, Reuse, ServerWatch, Step, Steps, Try,
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
/// Length of a try …
const TRY_S: f64 = 0.35;
/// … which has at least so many connections …
const TRY_CONNECTIONS: f64 = 50.0;
/// … unless they would take longer than this …
const TRY_S_MAX: f64 = 2.0;
/// … but never fewer than these.
const TRY_CONNECTIONS_MIN: f64 = 10.0;
/// The search ends when the gap is smaller than this share of the rate.
const PRECISION: f64 = 0.035;
/// The first step away from what the closed loop did; each next one is the
/// square of the one before.
const FIRST_STEP: f64 = 1.15;
/// The lowest rate tried, as a share of it.
const LOWEST_SHARE: f64 = 0.05;
/// A search has no more tries than these.
const TRIES_MAX: usize = 24;
/// So many tries are repeated because of the client.
const REPEATS_MAX: u32 = 3;
/// The lag may be such a share of the bound before the client is suspected.
const LAG_SHARE: f64 = 0.1;
/// The percentile that is bounded.
const QUANTILE: f64 = 0.99;

/// What a rate must keep to for being held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KneeBounds {
    /// 99th percentile of the connection time, from the intended start. A
    /// connection that failed counts as one that took the whole timeout.
    pub p99: Duration,
    /// Share of the connections that may fail, from 0 to 1.
    pub errors_share: f64,
}

/// Where a server's capacity ends.
#[derive(Debug, Clone)]
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
/// The steps of `plan` are left out of account. `server` is measured beside
/// each try. Takes about three seconds, more with a server that does fewer
/// than some 150 connections per second, and as long as the timeout whenever
/// a connection is not answered: a timeout of a few times the bound keeps it
/// quick. When `stop` is set it ends soon, without a
/// rate.
pub fn knee(
    plan: &Plan,
    bounds: &KneeBounds,
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
    let mut plan = plan.clone();
    plan.steps = Steps::MaxRate { connections: None };
    let setting = Setting::prepare(&plan)?;
    let mut runner = setting.runner(&plan, server, stop)?;
    let quiet: &mut dyn FnMut(Event<'_>) = &mut |_| ();

    let guess = match capacity(&mut runner, quiet)? {
        Ok(guess) => guess,
        Err(limit) => {
            let not_ours = runner.interrupted.then(interrupted);
            let (limit, tries) = (Some(limit), Vec::new());
            return Ok(Knee { rate: None, limit, tries, last_held: None, not_ours });
        }
    };
    let mut held_steps = Vec::new();
    let mut number = 0;
    let found = look_for_knee(guess, |rate| {
        number += 1;
        let tried = runner.open_step(rate, connections_of_try(rate), number, quiet)?;
        if runner.interrupted {
            return Ok(Outcome::Stopped);
        }
        let Some(why) = why_not_held(&tried, bounds, plan.timeout) else {
            held_steps.push(tried);
            return Ok(Outcome::Held);
        };
        let client = if client_may_be_why(&tried, bounds) { tried.why_invalid } else { None };
        Ok(Outcome::NotHeld { why, client })
    })?;
    let last_held = held_steps.into_iter().rev().find(|step| step.rate == found.rate);
    Ok(Knee { last_held, ..found })
}

fn interrupted() -> String {
    String::from("it was interrupted")
}

/// Connections per second in two closed loops that are short whatever the
/// server's speed, the better of the two; or why there were none.
fn capacity(
    runner: &mut Runner<'_>,
    quiet: &mut dyn FnMut(Event<'_>),
) -> Result<Result<f64, String>, Error> {
    let rate = |step: &Step| step.completed as f64 / step.seconds;
    let few = runner.closed_step(FEW_CLIENTS, FEW_REQUESTS, quiet)?;
    if few.completed == 0 || runner.interrupted {
        let first = few.first_error.unwrap_or_default();
        return Ok(Err(format!("no connection of a closed loop was answered: {first}")));
    }
    let requests = few.requests as f64 / few.seconds * CLOSED_S;
    let many = runner.closed_step(MANY_CLIENTS, FEW_REQUESTS.max(requests as u64), quiet)?;
    Ok(Ok(rate(&few).max(rate(&many))))
}

fn connections_of_try(rate: f64) -> u64 {
    let fewest = TRY_CONNECTIONS.min(rate * TRY_S_MAX).max(TRY_CONNECTIONS_MIN);
    (rate * TRY_S).max(fewest).round() as u64
}

/// Why a try was not held; `None` when it was.
fn why_not_held(step: &Step, bounds: &KneeBounds, timeout: Duration) -> Option<String> {
    let (failed, all) = (step.errors.total, step.attempted);
    if failed as f64 > bounds.errors_share * all as f64 {
        let kinds: Vec<&str> = step.errors.named().iter().map(|(kind, _)| *kind).collect();
        return Some(format!("{failed} of {all} connections failed ({})", kinds.join(", ")));
    }
    let mut times = step.phases.connection.clone();
    times.record_many(timeout.as_nanos() as u64, failed);
    let p99_ns = times.quantile(QUANTILE);
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

/// How a try went.
enum Outcome {
    Held,
    NotHeld {
        why: String,
        /// What was wrong with this client meanwhile, which makes it say
        /// nothing of the server.
        client: Option<String>,
    },
    Stopped,
}

/// Why a rate was not held, and what of it was the client's.
type Limit = (String, Option<String>);

/// The search itself: brackets the knee from `guess` and closes in on it.
///
/// A disturbance from outside should not decide: the lowest rate that was not
/// held is tried once more in the end, and should it be held then, the search
/// goes on up to the one that was not held before it.
fn look_for_knee<E>(
    guess: f64,
    mut attempt: impl FnMut(f64) -> Result<Outcome, E>,
) -> Result<Knee, E> {
    let mut tries = Vec::new();
    let mut low: Option<f64> = None;
    // Each lower than the one before.
    let mut not_held: Vec<(f64, Limit)> = Vec::new();
    let mut confirmed = false;
    let mut repeats = REPEATS_MAX;
    let mut step = FIRST_STEP;
    let lowest = guess * LOWEST_SHARE;
    while tries.len() < TRIES_MAX {
        let rate = match (low, not_held.last()) {
            (None, None) => guess,
            (Some(low), None) => low * take_step(&mut step),
            (None, Some((high, _))) if *high <= lowest => break,
            (None, Some((high, _))) => (high / take_step(&mut step)).max(lowest),
            (Some(low), Some((high, _))) if high / low > 1.0 + PRECISION => (low * high).sqrt(),
            (Some(_), Some(_)) if confirmed => break,
            (Some(_), Some((high, _))) => {
                confirmed = true;
                *high
            }
        };
        match try_rate(rate, &mut repeats, &mut tries, &mut attempt)? {
            None => {
                let not_ours = Some(interrupted());
                return Ok(Knee { rate: None, limit: None, tries, last_held: None, not_ours });
            }
            Some(Ok(())) => {
                low = Some(rate);
                if not_held.pop_if(|(high, _)| rate >= *high).is_some() {
                    step = FIRST_STEP;
                }
            }
            Some(Err(limit)) => not_held.push((rate, limit)),
        }
    }
    let (limit, not_ours) = not_held.pop().map(|(_, limit)| limit).unzip();
    Ok(Knee { rate: low, limit, tries, last_held: None, not_ours: not_ours.flatten() })
}

/// The step, of which the next is the square.
fn take_step(step: &mut f64) -> f64 {
    let this = *step;
    *step *= this;
    this
}

/// Tries a rate, and once more when it was not held while the client was not
/// up to it either, while there are `repeats`. `None` when it was stopped.
fn try_rate<E>(
    rate: f64,
    repeats: &mut u32,
    tries: &mut Vec<Try>,
    attempt: &mut impl FnMut(f64) -> Result<Outcome, E>,
) -> Result<Option<Result<(), Limit>>, E> {
    let mut again = *repeats > 0;
    loop {
        let outcome = attempt(rate)?;
        let why_not = match &outcome {
            Outcome::Stopped => return Ok(None),
            Outcome::Held => None,
            Outcome::NotHeld { why, .. } => Some(why.clone()),
        };
        let held = why_not.is_none();
        tries.push(Try { rate, connections: connections_of_try(rate), held, why_not });
        match outcome {
            Outcome::NotHeld { client: Some(_), .. } if again => {
                again = false;
                *repeats -= 1;
            }
            Outcome::NotHeld { why, client } => return Ok(Some(Err((why, client)))),
            Outcome::Held | Outcome::Stopped => return Ok(Some(Ok(()))),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::convert::Infallible;

    fn not_held(client: Option<&str>) -> Outcome {
        Outcome::NotHeld { why: String::from("too fast"), client: client.map(str::to_owned) }
    }

    fn look(guess: f64, mut attempt: impl FnMut(f64) -> Outcome) -> Knee {
        look_for_knee(guess, |rate| Ok::<_, Infallible>(attempt(rate))).unwrap()
    }

    fn limited(limit: f64) -> impl Fn(f64) -> Outcome {
        move |rate| if rate <= limit { Outcome::Held } else { not_held(None) }
    }

    #[test]
    fn a_planted_limit_is_found_closely_from_below_and_in_few_tries() {
        for share in [0.1, 0.5, 0.86, 0.97, 1.0, 1.03, 1.1, 1.3, 2.0, 5.0] {
            let limit = 1000.0 * share;
            let knee = look(1000.0, limited(limit));
            let found = knee.rate.unwrap();
            assert!(found <= limit && found * (1.0 + PRECISION) >= limit, "{found} for {limit}");
            assert_eq!(knee.limit.as_deref(), Some("too fast"));
            assert_eq!(knee.not_ours, None);
            let most = if (0.86..=1.3).contains(&share) { 8 } else { 14 };
            assert!(knee.tries.len() <= most, "{} tries for {limit}", knee.tries.len());
        }
    }

    #[test]
    fn one_disturbed_try_does_not_decide() {
        for disturbed in 1..8 {
            let mut count = 0;
            let knee = look(1000.0, |rate| {
                count += 1;
                if count == disturbed { not_held(None) } else { limited(1100.0)(rate) }
            });
            let found = knee.rate.unwrap();
            assert!((1060.0..=1100.0).contains(&found), "{found}, disturbed at {disturbed}");
        }
    }

    #[test]
    fn a_client_that_lags_once_is_asked_again_and_one_that_always_does_is_named() {
        let mut count = 0;
        let knee = look(1000.0, |rate| {
            count += 1;
            if [1, 3].contains(&count) { not_held(Some("lag")) } else { limited(1100.0)(rate) }
        });
        assert!(knee.rate.unwrap() > 1060.0);
        assert_eq!(knee.not_ours, None);
        let knee = look(1000.0, |rate| {
            if rate <= 700.0 { Outcome::Held } else { not_held(Some("starts lagged")) }
        });
        assert!((675.0..=700.0).contains(&knee.rate.unwrap()));
        assert_eq!(knee.not_ours.as_deref(), Some("starts lagged"));
    }

    #[test]
    fn a_server_that_holds_nothing_or_everything_ends_the_search() {
        let knee = look(1000.0, |_| not_held(None));
        assert_eq!(knee.rate, None);
        assert!(knee.limit.is_some() && knee.tries.len() < 8);
        let knee = look(1000.0, |_| Outcome::Held);
        assert_eq!((knee.limit, knee.tries.len()), (None, TRIES_MAX));
    }

    #[test]
    fn what_was_stopped_has_no_rate() {
        let mut count = 0;
        let knee = look(1000.0, |_| {
            count += 1;
            if count < 3 { Outcome::Held } else { Outcome::Stopped }
        });
        assert_eq!((knee.rate, knee.not_ours.as_deref()), (None, Some("it was interrupted")));
    }

    #[test]
    fn a_try_is_short_but_not_too_small() {
        let seconds = |rate: f64| connections_of_try(rate) as f64 / rate;
        assert_eq!(connections_of_try(10_000.0), 3500);
        assert_eq!(connections_of_try(100.0), 50);
        assert!(seconds(10.0) <= 2.01 && connections_of_try(0.5) == 10);
    }
}
