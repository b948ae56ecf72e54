//! The search for the highest rate, apart from any server: it takes the rates
//! from the [`Interval`], has each tried, and ends when the interval is narrow
//! enough.
//!
//! A disturbance from outside should not decide. The lowest rate that was not
//! held is tried once more in the end, and should it be held then, the search
//! goes on up to the one that was not held before it.

use super::{
    effort::{Effort, Parameters},
    interval::{Interval, Limit, Start},
};
use crate::schedule::connections_for;
use model::load::{Step, Try};

/// Length of the step that confirms.
const CONFIRM_S: f64 = 10.0;
/// A rate that was not confirmed is lowered by this factor …
const STEP_DOWN: f64 = 0.93;
/// … at most so often.
const CONFIRMATIONS_MAX: u32 = 8;
/// So many of the long steps are repeated because of the client.
const CONFIRMATION_REPEATS: u32 = 3;

/// Where a server's capacity ends.
#[derive(Debug, Clone, Default)]
pub struct MaxRate {
    /// The highest rate held, in connections per second; `None` when none was.
    pub rate: Option<f64>,
    /// The middle, on a logarithmic scale, between that and the lowest rate not held: where
    /// the capacity lies as likely above as below. It is the rate itself where it was
    /// confirmed or no higher one was not held.
    pub estimate: Option<f64>,
    /// What kept the next higher rate from being held.
    pub limit: Option<String>,
    /// The rates tried, in order.
    pub tries: Vec<Try>,
    /// The last step at the highest rate held.
    pub last_held: Option<Step>,
    /// Why the limit is this client's and not the server's; `None` when it is
    /// the server's.
    pub client_limited: Option<String>,
}

/// What a search asks of a server.
pub(super) trait Trials {
    /// What keeps it from being asked at all.
    type Error;

    /// Roughly what it can do, without a rate being given.
    fn capacity(&mut self) -> Result<Capacity, Self::Error>;

    /// So many connections at a rate.
    fn attempt(&mut self, rate: f64, connections: u64) -> Result<Outcome, Self::Error>;
}

/// What a server can do.
pub(super) enum Capacity {
    /// Connections per second.
    Rate(f64),
    Nothing {
        why: String,
    },
    Stopped,
}

/// How a try went.
pub(super) enum Outcome {
    Held,
    NotHeld {
        why: String,
        /// What was wrong with this client meanwhile, which makes it say
        /// nothing of the server.
        client: Option<String>,
    },
    Stopped,
}

/// Searches for the highest rate held, from the one found the last time, where
/// there was one and it leads to one again; and confirms it, where it is to be. `phase`,
/// from 0 to 1, shifts the rates that a quick search tries.
pub(super) fn search<T: Trials>(
    effort: Effort,
    guess: Option<f64>,
    phase: f64,
    trials: &mut T,
) -> Result<MaxRate, T::Error> {
    let found = search_from_guess(effort, guess, phase, trials)?;
    match effort {
        Effort::Quick => Ok(found),
        Effort::Confirmed { connections } => confirm(found, connections, trials),
    }
}

fn search_from_guess<T: Trials>(
    effort: Effort,
    guess: Option<f64>,
    phase: f64,
    trials: &mut T,
) -> Result<MaxRate, T::Error> {
    let parameters = Parameters::of(effort);
    let mut tries = Vec::new();
    if let Some(rate) = guess {
        let found = search_from(Start::at_last_found(rate).dithered(phase), &parameters, trials)?;
        let found_nothing = found.rate.is_none() && found.limit.is_some();
        if !found_nothing {
            return Ok(found);
        }
        tries = found.tries;
    }
    let mut found = match effort {
        Effort::Quick => match trials.capacity()? {
            Capacity::Rate(rate) => {
                search_from(Start::at_capacity(rate).dithered(phase), &parameters, trials)?
            }
            Capacity::Nothing { why } => MaxRate { limit: Some(why), ..MaxRate::default() },
            Capacity::Stopped => interrupted(Vec::new()),
        },
        Effort::Confirmed { .. } => search_from(Start::low(), &parameters, trials)?,
    };
    tries.append(&mut found.tries);
    Ok(MaxRate { tries, ..found })
}

fn interrupted(tries: Vec<Try>) -> MaxRate {
    let why = String::from("it was interrupted");
    MaxRate { tries, client_limited: Some(why), ..MaxRate::default() }
}

/// Holds the rate that was found for longer, or a lower one.
fn confirm<T: Trials>(
    mut found: MaxRate,
    given: Option<u64>,
    trials: &mut T,
) -> Result<MaxRate, T::Error> {
    let Some(mut rate) = found.rate.take() else { return Ok(found) };
    found.estimate = None;
    let mut repeats = CONFIRMATION_REPEATS;
    for _ in 0..CONFIRMATIONS_MAX {
        let connections = connections_for(rate, given, CONFIRM_S);
        match try_rate(rate, connections, &mut repeats, &mut found.tries, trials)? {
            None => return Ok(interrupted(found.tries)),
            Some(Ok(())) => {
                (found.rate, found.estimate) = (Some(rate), Some(rate));
                break;
            }
            Some(Err((why, client))) => {
                (found.limit, found.client_limited) = (Some(why), client);
            }
        }
        rate *= STEP_DOWN;
    }
    Ok(found)
}

/// The search itself: encloses the rate from `start` on and narrows the interval.
fn search_from<T: Trials>(
    start: Start,
    parameters: &Parameters,
    trials: &mut T,
) -> Result<MaxRate, T::Error> {
    let mut tries = Vec::new();
    let mut interval = Interval::new(start, parameters);
    let mut repeats = parameters.repeats;
    while tries.len() < parameters.tries_max
        && let Some(rate) = interval.next_rate()
    {
        let connections = parameters.connections_of_try(rate);
        match try_rate(rate, connections, &mut repeats, &mut tries, trials)? {
            None => return Ok(interrupted(tries)),
            Some(Ok(())) => interval.held(rate),
            Some(Err(limit)) => interval.not_held.push((rate, limit)),
        }
    }
    let estimate = interval.estimate();
    let (limit, client_limited) = interval.not_held.pop().map(|(_, limit)| limit).unzip();
    let client_limited = client_limited.flatten();
    Ok(MaxRate { rate: interval.low, estimate, limit, tries, last_held: None, client_limited })
}

/// Tries a rate, and once more when it was not held while the client was not
/// up to it either, while there are `repeats`. `None` when it was stopped.
fn try_rate<T: Trials>(
    rate: f64,
    connections: u64,
    repeats: &mut u32,
    tries: &mut Vec<Try>,
    trials: &mut T,
) -> Result<Option<Result<(), Limit>>, T::Error> {
    let mut again = *repeats > 0;
    loop {
        let outcome = trials.attempt(rate, connections)?;
        let why_not = match &outcome {
            Outcome::Stopped => return Ok(None),
            Outcome::Held => None,
            Outcome::NotHeld { why, .. } => Some(why.clone()),
        };
        let held = why_not.is_none();
        tries.push(Try { rate, connections, held, why_not });
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
mod tests;
