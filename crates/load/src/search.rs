//! The highest rate that is held.
//!
//! Short tries double the rate until one is not held; the gap between the last
//! rate held and the first one not held is then halved until it is small; and
//! a long step confirms the rate that came out, or lowers it. Held means: no
//! errors, a valid step (so the lag is in bounds), and a server that keeps
//! pace rather than letting its queue grow. A try that was not held is tried
//! once more, for a disturbance from outside should not decide.

use crate::{
    Error, Event, Search, Step, Try,
    run::{Runner, connections_for},
};

/// The rate of the first try.
const FIRST_RATE: f64 = 50.0;
/// No server is faster than this by one core's client.
const RATE_MAX: f64 = 1e6;
/// Length of a try.
const TRY_S: f64 = 1.0;
/// A try has at least so many connections, to have a 99th percentile.
const TRY_CONNECTIONS_MIN: u64 = 100;
/// Length of the step that confirms.
const CONFIRM_S: f64 = 10.0;
/// The search ends when the gap is smaller than this share of the rate.
const PRECISION: f64 = 0.03;
/// A rate that was not confirmed is lowered by this factor …
const STEP_DOWN: f64 = 0.93;
/// … at most so often.
const CONFIRMATIONS_MAX: u32 = 8;

/// Looks for the highest rate and keeps the step that confirms it.
pub(crate) fn max_rate(
    runner: &mut Runner<'_>,
    connections: Option<u64>,
    events: &mut dyn FnMut(Event<'_>),
) -> Result<Search, Error> {
    let mut number = 0;
    look_for_max(|rate, confirming| {
        if runner.interrupted {
            return Ok(None);
        }
        number += 1;
        let count = if confirming {
            connections_for(rate, connections, CONFIRM_S)
        } else {
            connections_for(rate, None, TRY_S).max(TRY_CONNECTIONS_MIN)
        };
        let (index, of) = (number as usize, None);
        events(Event::StepBegins { number: index, of, rate: Some(rate), goal: count });
        let step = runner.open_step(rate, count, number, events)?;
        let why_not = why_not_held(&step);
        let held = why_not.is_none();
        if confirming && held {
            runner.keep(step, events);
        }
        Ok(Some(Try { rate, connections: count, held, why_not }))
    })
}

/// Why a step was not held; `None` when it was.
fn why_not_held(step: &Step) -> Option<String> {
    if let Some((kind, count)) = step.errors.named().into_iter().max_by_key(|(_, n)| *n) {
        return Some(format!("{count} errors ({kind})"));
    }
    if let Some(why) = &step.why_invalid {
        return Some(why.clone());
    }
    (step.kept_pace == Some(false)).then(|| {
        let open = step.open_connections;
        format!("the server fell behind: {} connections were open at the end", open.end)
    })
}

/// The search itself. `attempt` runs a step at a rate, long when it is to
/// confirm; `None` from it ends the search.
fn look_for_max<E>(
    mut attempt: impl FnMut(f64, bool) -> Result<Option<Try>, E>,
) -> Result<Search, E> {
    let mut search = Search { max_rate: None, limit: None, tries: Vec::new() };
    let (mut low, mut high) = (0.0, FIRST_RATE);
    while high < RATE_MAX && holds(&mut search, high, &mut attempt)? {
        (low, high) = (high, high * 2.0);
    }
    while low > 0.0 && (high - low) / low > PRECISION {
        let middle = f64::midpoint(low, high);
        if holds(&mut search, middle, &mut attempt)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut rate = low;
    for _ in 0..CONFIRMATIONS_MAX {
        if rate <= 0.0 {
            break;
        }
        let Some(tried) = attempt(rate, true)? else { break };
        if note(&mut search, tried) {
            search.max_rate = Some(rate);
            break;
        }
        rate *= STEP_DOWN;
    }
    Ok(search)
}

/// Tries a rate, and once more when it was not held.
fn holds<E>(
    search: &mut Search,
    rate: f64,
    attempt: &mut impl FnMut(f64, bool) -> Result<Option<Try>, E>,
) -> Result<bool, E> {
    for _ in 0..2 {
        let Some(tried) = attempt(rate, false)? else { return Ok(false) };
        if note(search, tried) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Keeps a try; true when it was held.
fn note(search: &mut Search, tried: Try) -> bool {
    let held = tried.held;
    if !held {
        search.limit.clone_from(&tried.why_not);
    }
    search.tries.push(tried);
    held
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::convert::Infallible;

    fn look(mut held: impl FnMut(f64, bool) -> bool) -> Search {
        look_for_max(|rate, confirming| {
            let held = held(rate, confirming);
            let why_not = (!held).then(|| String::from("too fast"));
            Ok::<_, Infallible>(Some(Try { rate, connections: 1, held, why_not }))
        })
        .unwrap()
    }

    #[test]
    fn the_limit_is_found_closely_and_from_below() {
        for limit in [50.0, 77.0, 200.0, 12_345.0] {
            let search = look(|rate, _| rate <= limit);
            let found = search.max_rate.unwrap();
            assert!(found <= limit && found > limit * (1.0 - PRECISION), "{found} for {limit}");
            assert_eq!(search.limit.as_deref(), Some("too fast"));
            assert!(search.tries.len() < 40);
        }
    }

    #[test]
    fn one_disturbed_try_does_not_decide() {
        let mut count = 0;
        let search = look(|rate, _| {
            count += 1;
            count != 2 && rate <= 1000.0
        });
        assert!(search.max_rate.unwrap() > 950.0);
    }

    #[test]
    fn what_short_tries_hold_but_a_long_one_does_not_is_lowered() {
        let search = look(|rate, confirming| rate <= if confirming { 700.0 } else { 1000.0 });
        let found = search.max_rate.unwrap();
        assert!(found <= 700.0 && found > 600.0, "{found}");
    }

    #[test]
    fn a_server_that_holds_nothing_has_no_rate_and_the_search_ends() {
        let search = look(|_, _| false);
        assert_eq!((search.max_rate, search.tries.len()), (None, 2));
        let search = look(|_, _| true);
        assert!(search.max_rate.unwrap() >= RATE_MAX / 2.0);
    }
}
