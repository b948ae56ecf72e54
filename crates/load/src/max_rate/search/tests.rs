#![allow(clippy::unwrap_used)]
use super::*;
use crate::max_rate::{
    UNSHIFTED,
    effort::{CONFIRMED, QUICK},
    interval::RATE_MAX,
};
use std::convert::Infallible;

mod rounding;

fn not_held(client: Option<&str>) -> Outcome {
    Outcome::NotHeld { why: String::from("too fast"), client: client.map(str::to_owned) }
}

/// A simulated server: its capacity, and how each try goes.
struct SimulatedServer<F> {
    capacity: Option<f64>,
    asked_for_capacity: u32,
    attempt: F,
}

impl<F: FnMut(f64) -> Outcome> Trials for SimulatedServer<F> {
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

fn simulated<F: FnMut(f64) -> Outcome>(capacity: f64, attempt: F) -> SimulatedServer<F> {
    SimulatedServer { capacity: Some(capacity), asked_for_capacity: 0, attempt }
}

/// Without a rate from the last time.
fn quick_search(capacity: f64, attempt: impl FnMut(f64) -> Outcome) -> MaxRate {
    search(Effort::Quick, None, UNSHIFTED, &mut simulated(capacity, attempt)).unwrap()
}

fn limited(limit: f64) -> impl Fn(f64) -> Outcome {
    move |rate| if rate <= limit { Outcome::Held } else { not_held(None) }
}

#[test]
fn a_limit_is_found_closely_from_below_and_in_few_tries() {
    for share in [0.1, 0.5, 0.86, 0.97, 1.0, 1.03, 1.1, 1.3, 2.0, 5.0] {
        let limit = 1000.0 * share;
        let outcome = quick_search(1000.0, limited(limit));
        let found = outcome.rate.unwrap();
        assert!(found <= limit && found * (1.0 + QUICK.precision) >= limit, "{found} for {limit}");
        assert_eq!(outcome.limit.as_deref(), Some("too fast"));
        assert_eq!(outcome.client_limited, None);
        let most = if (0.86..=1.3).contains(&share) { 8 } else { 14 };
        assert!(outcome.tries.len() <= most, "{} tries for {limit}", outcome.tries.len());
    }
}

#[test]
fn with_the_rate_of_the_last_time_it_takes_few_tries_and_no_closed_loop() {
    for share in [0.94, 0.97, 1.0, 1.03, 1.06] {
        let mut server = simulated(f64::NAN, limited(1000.0 * share));
        let outcome = search(Effort::Quick, Some(1000.0), UNSHIFTED, &mut server).unwrap();
        let (found, limit) = (outcome.rate.unwrap(), 1000.0 * share);
        assert!(found <= limit && found * (1.0 + QUICK.precision) >= limit, "{found} for {limit}");
        assert!(outcome.tries.len() <= 5, "{} tries for {limit}", outcome.tries.len());
        assert_eq!(server.asked_for_capacity, 0);
    }
}

#[test]
fn a_rate_of_the_last_time_that_is_far_off_does_not_keep_the_highest_from_being_found() {
    for share in [0.001, 0.1, 0.45, 0.6, 1.5, 3.0, 30.0, 1000.0] {
        let limit = 1000.0 * share;
        let mut server = simulated(limit * 1.1, limited(limit));
        let outcome = search(Effort::Quick, Some(1000.0), UNSHIFTED, &mut server).unwrap();
        let found = outcome.rate.unwrap();
        assert!(found <= limit && found * (1.0 + QUICK.precision) >= limit, "{found} for {limit}");
        assert_eq!(server.asked_for_capacity, u32::from(share < 0.5), "{limit}");
        assert!((outcome.tries[0].rate - 1000.0).abs() < 1e-9, "{:?}", outcome.tries);
        let highest = outcome.tries.iter().map(|tried| tried.rate).fold(0.0, f64::max);
        assert!(highest <= 1000.0_f64.max(limit * 3.0), "{highest} for {limit}");
    }
    let mut nothing = SimulatedServer { capacity: None, ..simulated(0.0, |_| not_held(None)) };
    let outcome = search(Effort::Quick, Some(1000.0), UNSHIFTED, &mut nothing).unwrap();
    assert_eq!((outcome.rate, outcome.limit.as_deref()), (None, Some("nothing was answered")));
    let mut stopped = simulated(1000.0, |_| Outcome::Stopped);
    let outcome = search(Effort::Quick, Some(1000.0), UNSHIFTED, &mut stopped).unwrap();
    assert_eq!(outcome.client_limited.as_deref(), Some("it was interrupted"));
    assert_eq!(stopped.asked_for_capacity, 0, "it went on after it was stopped");
}

#[test]
fn one_disturbed_try_does_not_decide() {
    for disturbed in 1..8 {
        let mut count = 0;
        let outcome = quick_search(1000.0, |rate| {
            count += 1;
            if count == disturbed { not_held(None) } else { limited(1100.0)(rate) }
        });
        let found = outcome.rate.unwrap();
        assert!((1060.0..=1100.0).contains(&found), "{found}, disturbed at {disturbed}");
    }
}

#[test]
fn a_client_that_lags_once_is_asked_again_and_one_that_always_does_is_named() {
    let mut count = 0;
    let outcome = quick_search(1000.0, |rate| {
        count += 1;
        if [1, 3].contains(&count) { not_held(Some("lag")) } else { limited(1100.0)(rate) }
    });
    assert!(outcome.rate.unwrap() > 1060.0);
    assert_eq!(outcome.client_limited, None);
    let outcome = quick_search(1000.0, |rate| {
        if rate <= 700.0 { Outcome::Held } else { not_held(Some("starts lagged")) }
    });
    assert!((675.0..=700.0).contains(&outcome.rate.unwrap()));
    assert_eq!(outcome.client_limited.as_deref(), Some("starts lagged"));
}

#[test]
fn a_server_that_holds_nothing_or_everything_ends_the_search() {
    let outcome = quick_search(1000.0, |_| not_held(None));
    assert_eq!(outcome.rate, None);
    assert!(outcome.limit.is_some() && outcome.tries.len() < 8);
    let outcome = quick_search(1000.0, |_| Outcome::Held);
    assert_eq!((outcome.limit, outcome.rate), (None, Some(RATE_MAX)));
    assert!(outcome.tries.len() < QUICK.tries_max);
}

#[test]
fn what_was_stopped_has_no_rate() {
    let mut count = 0;
    let outcome = quick_search(1000.0, |_| {
        count += 1;
        if count < 3 { Outcome::Held } else { Outcome::Stopped }
    });
    assert_eq!(
        (outcome.rate, outcome.client_limited.as_deref()),
        (None, Some("it was interrupted"))
    );
}

#[test]
fn a_try_is_short_but_not_too_small() {
    let seconds = |rate: f64| QUICK.connections_of_try(rate) as f64 / rate;
    assert_eq!(QUICK.connections_of_try(10_000.0), 3500);
    assert_eq!(QUICK.connections_of_try(100.0), 50);
    assert!(seconds(10.0) <= 2.01 && QUICK.connections_of_try(0.5) == 10);
}

#[test]
fn a_server_that_cannot_make_up_its_mind_ends_the_search_too() {
    let mut random = 1_u32;
    for _ in 0..100 {
        let outcome = quick_search(1000.0, |_| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if random >> 31 == 0 { Outcome::Held } else { not_held(Some("lag")) }
        });
        // The last one may be repeated once more.
        assert!(outcome.tries.len() <= QUICK.tries_max + 1, "{}", outcome.tries.len());
    }
}

/// A confirmed search; `holds` is given the rate and whether the try confirms it.
fn confirmed(mut holds: impl FnMut(f64, bool) -> bool) -> MaxRate {
    struct Server<F>(F);
    impl<F: FnMut(f64, bool) -> bool> Trials for Server<F> {
        type Error = Infallible;

        fn capacity(&mut self) -> Result<Capacity, Infallible> {
            panic!("a closed loop floods what others may be using")
        }

        fn attempt(&mut self, rate: f64, connections: u64) -> Result<Outcome, Infallible> {
            let confirming = connections as f64 / rate > 0.9 * CONFIRM_S;
            Ok(if (self.0)(rate, confirming) { Outcome::Held } else { not_held(None) })
        }
    }
    let effort = Effort::Confirmed { connections: None };
    search(effort, None, UNSHIFTED, &mut Server(&mut holds)).unwrap()
}

#[test]
fn the_limit_is_found_closely_and_from_below() {
    for limit in [50.0, 77.0, 200.0, 12_345.0] {
        let outcome = confirmed(|rate, _| rate <= limit);
        let found = outcome.rate.unwrap();
        assert!(found <= limit && found > limit * (1.0 - CONFIRMED.precision), "{found}, {limit}");
        assert_eq!(outcome.limit.as_deref(), Some("too fast"));
        assert!(outcome.tries.len() < 40);
        let highest = outcome.tries.iter().map(|tried| tried.rate).fold(0.0, f64::max);
        assert!(highest <= limit * 2.0, "{highest} for {limit}");
        let last = outcome.tries.last().unwrap();
        assert!(last.held && last.connections as f64 >= 9.9 * found, "{last:?}");
    }
}

#[test]
fn one_disturbed_try_does_not_decide_what_is_confirmed() {
    for disturbed in 1..12 {
        let mut count = 0;
        let outcome = confirmed(|rate, _| {
            count += 1;
            count != disturbed && rate <= 1000.0
        });
        assert!(outcome.rate.unwrap() > 950.0, "{outcome:?}, disturbed at {disturbed}");
    }
}

#[test]
fn a_client_that_is_often_disturbed_is_asked_again_each_time() {
    let mut count = 0;
    let mut server = simulated(f64::NAN, |rate| {
        count += 1;
        if count % 2 == 1 { not_held(Some("lag")) } else { limited(1000.0)(rate) }
    });
    let effort = Effort::Confirmed { connections: None };
    let outcome = search(effort, None, UNSHIFTED, &mut server).unwrap();
    assert!(outcome.rate.unwrap() > 970.0 && outcome.rate.unwrap() <= 1000.0, "{outcome:?}");
}

#[test]
fn what_short_tries_hold_but_a_long_one_does_not_is_lowered() {
    let outcome = confirmed(|rate, confirming| rate <= if confirming { 700.0 } else { 1000.0 });
    let found = outcome.rate.unwrap();
    assert!(found <= 700.0 && found > 600.0, "{found}");
    let outcome = confirmed(|_, confirming| !confirming);
    assert_eq!((outcome.rate, outcome.limit.as_deref()), (None, Some("too fast")));
}

#[test]
fn a_server_that_holds_nothing_has_no_rate_and_the_search_ends() {
    let outcome = confirmed(|_, _| false);
    assert_eq!((outcome.rate, outcome.tries.len()), (None, 2));
    let outcome = confirmed(|_, _| true);
    assert!(outcome.rate.unwrap() >= RATE_MAX / 2.0);
}

#[test]
fn the_step_that_confirms_has_the_connections_that_were_given() {
    let effort = Effort::Confirmed { connections: Some(7) };
    let mut server = simulated(f64::NAN, limited(300.0));
    let outcome = search(effort, Some(290.0), UNSHIFTED, &mut server).unwrap();
    assert!((outcome.tries[0].rate - 290.0).abs() < 1e-9, "{:?}", outcome.tries);
    assert_eq!(outcome.tries.last().unwrap().connections, 7);
    assert_eq!(outcome.rate, Some(outcome.tries.last().unwrap().rate));
}
