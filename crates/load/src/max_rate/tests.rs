#![allow(clippy::unwrap_used)]
use super::*;
use crate::{
    meter::{Meter, Timestamps},
    outcome::Counter,
};
use model::load::{ClientUse, OwnUse, Sampled};
use std::convert::Infallible;

const RATE: f64 = 1000.0;
const BOUNDS: RateBounds = RateBounds { p99: Some(Duration::from_millis(250)), errors_share: 0.05 };

/// Of a hundred connections so many that time out, and so many refused at
/// once; the others take as long as is said.
fn step(timed_out: u64, refused: u64, took: Duration) -> Step {
    let mut meter = Meter::new(0, Sampled::Connection);
    meter.step.attempted = 100;
    for _ in 0..timed_out {
        meter.failure(|errors| &mut errors.client_timo, String::new);
    }
    for _ in 0..refused {
        meter.failure(|errors| &mut errors.http_5xx, String::new);
        meter.connection(&Timestamps { last_byte: 1000, refused: true, ..Timestamps::default() });
    }
    for _ in timed_out + refused..100 {
        let last_byte = took.as_nanos() as u64;
        meter.connection(&Timestamps { last_byte, ..Timestamps::default() });
    }
    step_of(meter)
}

/// A step that was never run, of a second.
fn step_of(meter: Meter) -> Step {
    let idle = OwnUse { wall_ns: 1_000_000_000, ..OwnUse::default() };
    let client = ClientUse { active: idle, whole: idle };
    let end_ns = meter.start_ns + idle.wall_ns;
    let step = meter.into_step(end_ns);
    Step { rate: Some(RATE), intended: Some(step.attempted), sources: 1, client, ..step }
}

fn not_held(step: &Step, bounds: &RateBounds) -> Option<String> {
    why_not_held(step, &analyse_slice(step), bounds)
}

fn why(timed_out: u64, refused: u64, took_ms: u64) -> Option<String> {
    not_held(&step(timed_out, refused, Duration::from_millis(took_ms)), &BOUNDS)
}

#[test]
fn failures_within_their_own_bound_leave_the_p99_to_the_others() {
    assert_eq!(why(2, 0, 100), None);
    assert_eq!(why(2, 3, 100), None);
    // That refusals are quick does not make the answers so.
    assert_eq!(why(0, 2, 300).as_deref(), Some("p99 was 300 ms"));
    let failed = "6 of 100 connections failed (client-timo, http-5xx)";
    assert_eq!(why(3, 3, 100).as_deref(), Some(failed));
    let all = RateBounds { errors_share: 1.0, ..BOUNDS };
    assert!(not_held(&step(0, 100, Duration::ZERO), &all).is_some());
}

#[test]
fn a_client_that_runs_out_of_descriptors_or_ports_may_be_why() {
    let is_client = |counter: Counter| {
        let mut meter = Meter::new(0, Sampled::Connection);
        meter.failure(counter, String::new);
        client_may_be_why(&step_of(meter), &BOUNDS)
    };
    assert!(!is_client(|errors| &mut errors.client_timo));
    assert!(is_client(|errors| &mut errors.fd_unavail));
    assert!(is_client(|errors| &mut errors.ftab_full));
    assert!(is_client(|errors| &mut errors.addrunavail));
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
fn a_server_that_loses_some_has_a_rate_where_losing_some_is_allowed() {
    let found = search::search(Effort::Quick, None, UNSHIFTED, &mut Lossy { limit: RATE }).unwrap();
    assert!((960.0..=RATE).contains(&found.rate.unwrap()), "{found:?}");
    assert_eq!(found.limit.as_deref(), Some("p99 was 300 ms"));
}

#[test]
fn what_a_server_refuses_is_none_of_its_capacity() {
    let rate = answered_rate(&step(10, 50, Duration::from_millis(1)));
    assert!((rate - 40.0).abs() < 1e-6, "{rate}");
}

#[test]
fn without_a_bound_on_the_p99_a_try_has_to_be_valid_and_may_take_its_time() {
    let within = RateBounds::default();
    let slow = step(0, 0, Duration::from_millis(300));
    assert_eq!(not_held(&slow, &within), None);
    assert!(matches!(judged(&slow, &within), Outcome::Held));
    let mut late = step(0, 0, Duration::from_millis(300));
    late.phases.lag = late.phases.connection.clone();
    let why = not_held(&late, &within).unwrap();
    assert!(why.contains("lagged"), "{why}");
    let Outcome::NotHeld { client, .. } = judged(&late, &within) else { panic!("it was held") };
    assert_eq!(client, Some(why));
    // Any failure counts, and it is not this client's where it was on time.
    let Outcome::NotHeld { why, client } = judged(&step(1, 0, Duration::ZERO), &within) else {
        panic!("it was held")
    };
    assert_eq!((why.as_str(), client), ("1 of 100 connections failed (client-timo)", None));
}

#[test]
fn a_try_is_not_held_where_the_server_fell_behind() {
    for bounds in [BOUNDS, RateBounds::default()] {
        let mut step = step(0, 0, Duration::from_millis(1));
        assert_eq!(not_held(&step, &bounds), None);
        (step.open_connections.middle, step.open_connections.end) = (10, 20);
        let why = not_held(&step, &bounds).unwrap();
        assert!(
            why.contains(
                "fell behind: open connections rose from 10 in the middle of the try to 20"
            ),
            "{why}"
        );
    }
}
