//! The search for the highest rate, apart from any server: which rate to try
//! next, and when to stop.
//!
//! It brackets the rate from where it begins and closes in on it. Where there
//! is a rate from the last time, it is most likely a few percent away, so that
//! small steps bracket it at once. A guess that is far too low is outgrown,
//! since the steps grow. One that is far too high is given up, because every
//! try beyond what the server can do takes long and leaves it a queue.
//!
//! A disturbance from outside should not decide. The lowest rate that was not
//! held is tried once more in the end, and should it be held then, the search
//! goes on up to the one that was not held before it.

use super::{Effort, MaxRate};
use crate::run::connections_for;
use model::load::Try;

/// No server is faster than this by one core's client.
const RATE_MAX: f64 = 1e6;
/// A try has never fewer connections than these.
const TRY_CONNECTIONS_MIN: f64 = 10.0;
/// Length of the step that confirms.
const CONFIRM_S: f64 = 10.0;
/// A rate that was not confirmed is lowered by this factor …
const STEP_DOWN: f64 = 0.93;
/// … at most so often.
const CONFIRMATIONS_MAX: u32 = 8;
/// So many of the long steps are repeated because of the client.
const CONFIRMATION_REPEATS: u32 = 3;

/// What an effort comes to.
#[derive(Debug, Clone, Copy)]
struct Thoroughness {
    /// Length of a try …
    try_s: f64,
    /// … which has at least so many connections …
    try_connections: f64,
    /// … unless they would take longer than this.
    try_s_max: f64,
    /// The search ends when the gap is smaller than this share of the rate.
    precision: f64,
    /// A search has no more tries than these.
    tries_max: usize,
    /// So many tries are repeated at once because of the client.
    repeats: u32,
    /// So many rates that were not held are tried once more.
    second_looks: u32,
}

const QUICK: Thoroughness = Thoroughness {
    try_s: 0.35,
    try_connections: 50.0,
    try_s_max: 2.0,
    precision: 0.035,
    tries_max: 24,
    repeats: 3,
    second_looks: 1,
};

/// A hundred connections have a 99th percentile, however long they take. Any
/// try in which the client was disturbed is repeated: without a bound on the
/// 99th percentile, a disturbance makes it invalid however small it is.
const CONFIRMED: Thoroughness = Thoroughness {
    try_s: 1.0,
    try_connections: 100.0,
    try_s_max: f64::INFINITY,
    precision: 0.03,
    tries_max: 60,
    repeats: u32::MAX,
    second_looks: 3,
};

impl Thoroughness {
    fn of(effort: Effort) -> Self {
        match effort {
            Effort::Quick => QUICK,
            Effort::Confirmed { .. } => CONFIRMED,
        }
    }

    fn connections_of_try(&self, rate: f64) -> u64 {
        let fewest = self.try_connections.min(rate * self.try_s_max).max(TRY_CONNECTIONS_MIN);
        (rate * self.try_s).max(fewest).round() as u64
    }
}

/// Where a search begins.
#[derive(Debug, Clone, Copy)]
struct Start {
    rate: f64,
    /// The first step away from it; each next one is the square of the one
    /// before …
    step: f64,
    /// … up to this, for what a much too high rate leaves in the server's queue
    /// spoils the tries that follow.
    step_max: f64,
    /// The lowest rate tried, as a share of it.
    lowest_share: f64,
    /// Whether nothing is found when nothing is found from here, so that the
    /// lowest rate gets a second look as well.
    is_last: bool,
}

impl Start {
    /// At what closed loops did.
    fn at_capacity(rate: f64) -> Self {
        Self { rate, step: 1.15, step_max: 3.0, lowest_share: 0.05, is_last: true }
    }

    /// At what was found the last time. One step, halved once, is as precise
    /// as a quick search has to be.
    fn at_last_found(rate: f64) -> Self {
        Self { rate, step: 1.07, step_max: 3.0, lowest_share: 0.5, is_last: false }
    }

    /// Where any server can follow, doubling from there: what is loaded may
    /// have other users, and is not to be flooded to find out what it can do.
    fn low() -> Self {
        Self { rate: 50.0, step: 2.0, step_max: 2.0, lowest_share: 1.0, is_last: true }
    }
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

/// Why a rate was not held, and what of it was the client's.
type Limit = (String, Option<String>);

/// Searches for the highest rate held, from the one found the last time, where
/// there was one and it leads to one again; and confirms it, where it is to be.
pub(super) fn search<T: Trials>(
    effort: Effort,
    guess: Option<f64>,
    trials: &mut T,
) -> Result<MaxRate, T::Error> {
    let found = search_from_guess(effort, guess, trials)?;
    match effort {
        Effort::Quick => Ok(found),
        Effort::Confirmed { connections } => confirm(found, connections, trials),
    }
}

fn search_from_guess<T: Trials>(
    effort: Effort,
    guess: Option<f64>,
    trials: &mut T,
) -> Result<MaxRate, T::Error> {
    let thoroughness = Thoroughness::of(effort);
    let mut tries = Vec::new();
    if let Some(rate) = guess {
        let found = search_from(Start::at_last_found(rate), &thoroughness, trials)?;
        let found_nothing = found.rate.is_none() && found.limit.is_some();
        if !found_nothing {
            return Ok(found);
        }
        tries = found.tries;
    }
    let mut found = match effort {
        Effort::Quick => match trials.capacity()? {
            Capacity::Rate(rate) => search_from(Start::at_capacity(rate), &thoroughness, trials)?,
            Capacity::Nothing { why } => MaxRate { limit: Some(why), ..MaxRate::default() },
            Capacity::Stopped => interrupted(Vec::new()),
        },
        Effort::Confirmed { .. } => search_from(Start::low(), &thoroughness, trials)?,
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
    let mut repeats = CONFIRMATION_REPEATS;
    for _ in 0..CONFIRMATIONS_MAX {
        let connections = connections_for(rate, given, CONFIRM_S);
        match try_rate(rate, connections, &mut repeats, &mut found.tries, trials)? {
            None => return Ok(interrupted(found.tries)),
            Some(Ok(())) => {
                found.rate = Some(rate);
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

/// The search itself: brackets the rate from `start` and closes in on it.
fn search_from<T: Trials>(
    start: Start,
    thoroughness: &Thoroughness,
    trials: &mut T,
) -> Result<MaxRate, T::Error> {
    let mut tries = Vec::new();
    let mut bracket = Bracket::new(start, thoroughness);
    let mut repeats = thoroughness.repeats;
    while tries.len() < thoroughness.tries_max
        && let Some(rate) = bracket.next_rate()
    {
        let connections = thoroughness.connections_of_try(rate);
        match try_rate(rate, connections, &mut repeats, &mut tries, trials)? {
            None => return Ok(interrupted(tries)),
            Some(Ok(())) => bracket.held(rate),
            Some(Err(limit)) => bracket.not_held.push((rate, limit)),
        }
    }
    let (limit, client_limited) = bracket.not_held.pop().map(|(_, limit)| limit).unzip();
    let client_limited = client_limited.flatten();
    Ok(MaxRate { rate: bracket.low, limit, tries, last_held: None, client_limited })
}

/// What is known of the rate that is searched for.
struct Bracket {
    start: Start,
    step: f64,
    precision: f64,
    /// The highest rate held.
    low: Option<f64>,
    /// The rates not held, each lower than the one before.
    not_held: Vec<(f64, Limit)>,
    second_looks: u32,
    /// The last rate that got a second look.
    looked_again: Option<f64>,
}

impl Bracket {
    fn new(start: Start, thoroughness: &Thoroughness) -> Self {
        Self {
            start: Start { rate: start.rate.min(RATE_MAX), ..start },
            step: start.step,
            precision: thoroughness.precision,
            low: None,
            not_held: Vec::new(),
            second_looks: thoroughness.second_looks,
            looked_again: None,
        }
    }

    /// The rate to try next; `None` when the search is over.
    fn next_rate(&mut self) -> Option<f64> {
        let lowest = self.start.rate * self.start.lowest_share;
        match (self.low, self.not_held.last().map(|(high, _)| *high)) {
            (None, None) => Some(self.start.rate),
            (Some(low), None) if low >= RATE_MAX => None,
            (Some(low), None) => Some((low * self.take_step()).min(RATE_MAX)),
            (None, Some(high)) if high > lowest => Some((high / self.take_step()).max(lowest)),
            (None, Some(high)) => self.start.is_last.then(|| self.look_again(high)).flatten(),
            (Some(low), Some(high)) if high / low > 1.0 + self.precision => {
                Some((low * high).sqrt())
            }
            (Some(_), Some(high)) => self.look_again(high),
        }
    }

    /// The step, of which the next is the square, up to a bound.
    fn take_step(&mut self) -> f64 {
        let this = self.step;
        self.step = (this * this).min(self.start.step_max);
        this
    }

    /// The lowest rate that was not held, unless it has had its second look.
    fn look_again(&mut self, high: f64) -> Option<f64> {
        if self.looked_again == Some(high) {
            return None;
        }
        self.second_looks = self.second_looks.checked_sub(1)?;
        self.looked_again = Some(high);
        self.looked_again
    }

    fn held(&mut self, rate: f64) {
        self.low = Some(rate);
        if self.not_held.pop_if(|(high, _)| rate >= *high).is_some() {
            self.step = self.start.step;
        }
    }
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
