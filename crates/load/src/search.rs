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

/// Why a step was not held; `None` when it was.
fn why_not_held(step: &Step) -> Option<String> {
    if step.errors.total > 0 {
        let (kind, count) = step.errors.named().into_iter().max_by_key(|(_, n)| *n)?;
        return Some(format!("{count} errors ({kind})"));
    }
    if let Some(why) = &step.why_invalid {
        return Some(why.clone());
    }
    (step.kept_pace == Some(false)).then(|| {
        let open = step.open_connections;
        format!("the server fell behind: {} connections open at the end", open.end)
    })
}

/// Looks for the highest rate and keeps the step that confirms it.
pub(crate) fn max_rate(
    runner: &mut Runner<'_>,
    connections: Option<u64>,
    events: &mut dyn FnMut(Event<'_>),
) -> Result<Search, Error> {
    let mut search = Search { max_rate: None, limit: None, tries: Vec::new() };
    let (mut low, mut high) = (0.0, FIRST_RATE);
    while high < RATE_MAX && try_rate(runner, high, &mut search, events)? {
        (low, high) = (high, high * 2.0);
    }
    while low > 0.0 && (high - low) / low > PRECISION && !runner.interrupted {
        let middle = f64::midpoint(low, high);
        if try_rate(runner, middle, &mut search, events)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut rate = low;
    for _ in 0..CONFIRMATIONS_MAX {
        if rate <= 0.0 || runner.interrupted {
            break;
        }
        let count = connections_for(rate, connections, CONFIRM_S);
        let step = numbered(runner, rate, count, &mut search, events)?;
        let why_not = why_not_held(&step);
        search.tries.push(Try {
            rate,
            connections: count,
            held: why_not.is_none(),
            why_not: why_not.clone(),
        });
        match why_not {
            None => {
                search.max_rate = Some(rate);
                runner.keep(step, events);
                break;
            }
            Some(why) => {
                search.limit = Some(why);
                rate *= STEP_DOWN;
            }
        }
    }
    Ok(search)
}

/// Tries a rate, and once more when it was not held.
fn try_rate(
    runner: &mut Runner<'_>,
    rate: f64,
    search: &mut Search,
    events: &mut dyn FnMut(Event<'_>),
) -> Result<bool, Error> {
    let count = connections_for(rate, None, TRY_S).max(TRY_CONNECTIONS_MIN);
    for _ in 0..2 {
        if runner.interrupted {
            return Ok(false);
        }
        let step = numbered(runner, rate, count, search, events)?;
        let why_not = why_not_held(&step);
        let held = why_not.is_none();
        if let Some(why) = &why_not {
            search.limit = Some(why.clone());
        }
        search.tries.push(Try { rate, connections: count, held, why_not });
        if held {
            return Ok(true);
        }
    }
    Ok(false)
}

fn numbered(
    runner: &mut Runner<'_>,
    rate: f64,
    count: u64,
    search: &mut Search,
    events: &mut dyn FnMut(Event<'_>),
) -> Result<Step, Error> {
    let number = search.tries.len();
    events(Event::StepBegins { number: number + 1, of: None, rate: Some(rate), goal: count });
    runner.open_step(rate, count, number as u64, events)
}
