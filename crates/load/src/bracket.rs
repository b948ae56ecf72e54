//! The search for a server's knee, apart from any server: which rate to try
//! next, and when to stop.
//!
//! It brackets the knee from a guess and closes in on it. The guess is the
//! rate that was found the last time, where there was one: the knee is then
//! most likely a few percent away, so that small steps bracket it at once. A
//! guess that is far too low is outgrown, since the steps grow. One that is
//! far too high is given up for what closed loops tell, because every try
//! beyond what the server can do takes long and leaves it a queue.

use crate::{Knee, Try};

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
/// A search has no more tries than these.
const TRIES_MAX: usize = 24;
/// So many tries are repeated because of the client.
const REPEATS_MAX: u32 = 3;
/// No step is larger, for what a much too high rate leaves in the server's
/// queue spoils the tries that follow.
const STEP_MAX: f64 = 3.0;

/// Where a search begins.
#[derive(Debug, Clone, Copy)]
struct Start {
    rate: f64,
    /// The first step away from it; each next one is the square of the one
    /// before.
    step: f64,
    /// The lowest rate tried, as a share of it.
    lowest_share: f64,
}

impl Start {
    /// At what closed loops did.
    fn at_capacity(rate: f64) -> Self {
        Self { rate, step: 1.15, lowest_share: 0.05 }
    }

    /// At what was found the last time. One step, halved once, is as precise
    /// as a search has to be.
    fn at_last_found(rate: f64) -> Self {
        Self { rate, step: 1.07, lowest_share: 0.5 }
    }
}

/// What a search asks of a server.
pub(crate) trait Trials {
    /// What keeps it from being asked at all.
    type Error;

    /// Roughly what it can do, without a rate being given.
    fn capacity(&mut self) -> Result<Capacity, Self::Error>;

    /// So many connections at a rate.
    fn attempt(&mut self, rate: f64, connections: u64) -> Result<Outcome, Self::Error>;
}

/// What a server can do.
pub(crate) enum Capacity {
    /// Connections per second.
    Rate(f64),
    Nothing {
        why: String,
    },
    Stopped,
}

/// How a try went.
pub(crate) enum Outcome {
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

/// Looks for the highest rate held, from the one found the last time, where
/// there was one and it leads to one again.
pub(crate) fn look<T: Trials>(guess: Option<f64>, trials: &mut T) -> Result<Knee, T::Error> {
    let mut tries = Vec::new();
    if let Some(rate) = guess {
        let knee = look_from(Start::at_last_found(rate), trials)?;
        let found_nothing = knee.rate.is_none() && knee.limit.is_some();
        if !found_nothing {
            return Ok(knee);
        }
        tries = knee.tries;
    }
    let mut knee = match trials.capacity()? {
        Capacity::Rate(rate) => look_from(Start::at_capacity(rate), trials)?,
        Capacity::Nothing { why } => Knee { limit: Some(why), ..Knee::default() },
        Capacity::Stopped => interrupted(Vec::new()),
    };
    tries.append(&mut knee.tries);
    Ok(Knee { tries, ..knee })
}

fn interrupted(tries: Vec<Try>) -> Knee {
    Knee { tries, not_ours: Some(String::from("it was interrupted")), ..Knee::default() }
}

/// The search itself: brackets the knee from `start` and closes in on it.
///
/// A disturbance from outside should not decide: the lowest rate that was not
/// held is tried once more in the end, and should it be held then, the search
/// goes on up to the one that was not held before it.
fn look_from<T: Trials>(start: Start, trials: &mut T) -> Result<Knee, T::Error> {
    let mut tries = Vec::new();
    let mut low: Option<f64> = None;
    // Each lower than the one before.
    let mut not_held: Vec<(f64, Limit)> = Vec::new();
    let mut confirmed = false;
    let mut repeats = REPEATS_MAX;
    let mut step = start.step;
    let lowest = start.rate * start.lowest_share;
    while tries.len() < TRIES_MAX {
        let rate = match (low, not_held.last()) {
            (None, None) => start.rate,
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
        match try_rate(rate, &mut repeats, &mut tries, trials)? {
            None => return Ok(interrupted(tries)),
            Some(Ok(())) => {
                low = Some(rate);
                if not_held.pop_if(|(high, _)| rate >= *high).is_some() {
                    step = start.step;
                }
            }
            Some(Err(limit)) => not_held.push((rate, limit)),
        }
    }
    let (limit, not_ours) = not_held.pop().map(|(_, limit)| limit).unzip();
    Ok(Knee { rate: low, limit, tries, last_held: None, not_ours: not_ours.flatten() })
}

/// The step, of which the next is the square, up to a bound.
fn take_step(step: &mut f64) -> f64 {
    let this = *step;
    *step = (this * this).min(STEP_MAX);
    this
}

/// Tries a rate, and once more when it was not held while the client was not
/// up to it either, while there are `repeats`. `None` when it was stopped.
fn try_rate<T: Trials>(
    rate: f64,
    repeats: &mut u32,
    tries: &mut Vec<Try>,
    trials: &mut T,
) -> Result<Option<Result<(), Limit>>, T::Error> {
    let connections = connections_of_try(rate);
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

fn connections_of_try(rate: f64) -> u64 {
    let fewest = TRY_CONNECTIONS.min(rate * TRY_S_MAX).max(TRY_CONNECTIONS_MIN);
    (rate * TRY_S).max(fewest).round() as u64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::convert::Infallible;

    fn not_held(client: Option<&str>) -> Outcome {
        Outcome::NotHeld { why: String::from("too fast"), client: client.map(str::to_owned) }
    }

    /// A server that is not there: its capacity, and how each try goes.
    struct Planted<F> {
        capacity: Option<f64>,
        asked_for_capacity: u32,
        attempt: F,
    }

    impl<F: FnMut(f64) -> Outcome> Trials for Planted<F> {
        type Error = Infallible;

        fn capacity(&mut self) -> Result<Capacity, Infallible> {
            self.asked_for_capacity += 1;
            let why = String::from("nothing was answered");
            Ok(self.capacity.map_or(Capacity::Nothing { why }, Capacity::Rate))
        }

        fn attempt(&mut self, rate: f64, _: u64) -> Result<Outcome, Infallible> {
            Ok((self.attempt)(rate))
        }
    }

    fn planted<F: FnMut(f64) -> Outcome>(capacity: f64, attempt: F) -> Planted<F> {
        Planted { capacity: Some(capacity), asked_for_capacity: 0, attempt }
    }

    /// Without a rate from the last time.
    fn look(capacity: f64, attempt: impl FnMut(f64) -> Outcome) -> Knee {
        super::look(None, &mut planted(capacity, attempt)).unwrap()
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
    fn with_the_rate_of_the_last_time_it_takes_few_tries_and_no_closed_loop() {
        for share in [0.94, 0.97, 1.0, 1.03, 1.06] {
            let mut server = planted(f64::NAN, limited(1000.0 * share));
            let knee = super::look(Some(1000.0), &mut server).unwrap();
            let (found, limit) = (knee.rate.unwrap(), 1000.0 * share);
            assert!(found <= limit && found * (1.0 + PRECISION) >= limit, "{found} for {limit}");
            assert!(knee.tries.len() <= 5, "{} tries for {limit}", knee.tries.len());
            assert_eq!(server.asked_for_capacity, 0);
        }
    }

    #[test]
    fn a_rate_of_the_last_time_that_is_far_off_does_not_keep_the_knee_from_being_found() {
        for share in [0.001, 0.1, 0.45, 0.6, 1.5, 3.0, 30.0, 1000.0] {
            let limit = 1000.0 * share;
            let mut server = planted(limit * 1.1, limited(limit));
            let knee = super::look(Some(1000.0), &mut server).unwrap();
            let found = knee.rate.unwrap();
            assert!(found <= limit && found * (1.0 + PRECISION) >= limit, "{found} for {limit}");
            assert_eq!(server.asked_for_capacity, u32::from(share < 0.5), "{limit}");
            assert!((knee.tries[0].rate - 1000.0).abs() < 1e-9, "{:?}", knee.tries);
            let highest = knee.tries.iter().map(|tried| tried.rate).fold(0.0, f64::max);
            assert!(highest <= 1000.0_f64.max(limit * STEP_MAX), "{highest} for {limit}");
        }
        let mut nothing = Planted { capacity: None, ..planted(0.0, |_| not_held(None)) };
        let knee = super::look(Some(1000.0), &mut nothing).unwrap();
        assert_eq!((knee.rate, knee.limit.as_deref()), (None, Some("nothing was answered")));
        let mut stopped = planted(1000.0, |_| Outcome::Stopped);
        let knee = super::look(Some(1000.0), &mut stopped).unwrap();
        assert_eq!(knee.not_ours.as_deref(), Some("it was interrupted"));
        assert_eq!(stopped.asked_for_capacity, 0, "it went on after it was stopped");
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
