//! The highest rate of a server whose capacity is known.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{OK, Refusing, answer, open, plan, server, take_request};
use iotoll_load::{Effort, MaxRate, Plan, RateBounds, Reuse, Search, max_rate};
use std::{
    io::Write,
    net::{SocketAddr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const P99: Duration = Duration::from_millis(250);
const BOUNDS: RateBounds = RateBounds { p99: Some(P99), errors_share: 0.01 };
const QUICK: Search = Search { bounds: BOUNDS, effort: Effort::Quick };

/// How late a metered server may be and still catch up.
const CATCH_UP_MAX: Duration = Duration::from_millis(5);
const BUSY: &[u8] = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";

/// One worker that does a request every `gap` and no sooner: it sleeps to a
/// schedule of its own and catches up after a late wake-up, which therefore
/// costs nothing of its capacity.
fn metered(gap: Duration) -> SocketAddr {
    metered_answering(gap, |_| OK)
}

/// The same, with the reply to each request, by its number.
fn metered_answering(gap: Duration, reply: fn(u64) -> &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut latest = Instant::now();
        for (number, mut stream) in (0..).zip(listener.incoming().flatten()) {
            latest = latest.max(Instant::now()) + gap;
            thread::sleep(latest.saturating_duration_since(Instant::now() + CATCH_UP_MAX));
            if take_request(&mut stream) {
                let _ = stream.write_all(reply(number));
            }
        }
    });
    address
}

/// As long a timeout as a slice of a measurement has.
fn plan_for(address: SocketAddr) -> Plan {
    let mut plan = plan(&format!("http://{address}/"), open(1));
    plan.timeout = P99 * 10;
    plan
}

fn quick_search(plan: &Plan) -> MaxRate {
    search_within(&BOUNDS, None, plan)
}

fn search_within(bounds: &RateBounds, guess: Option<f64>, plan: &Plan) -> MaxRate {
    let search = Search { bounds: *bounds, ..QUICK };
    max_rate(plan, &search, guess, None, &AtomicBool::new(false)).unwrap()
}

#[test]
fn the_highest_rate_of_a_server_of_known_capacity_is_near_it() {
    for capacity in [400.0, 1000.0] {
        let address = metered(Duration::from_secs_f64(1.0 / capacity));
        // It never does more; on a busy machine it may well do less.
        let mut shares = Vec::new();
        while shares.last().is_none_or(|share| *share < 0.85) {
            assert!(shares.len() < 5, "shares of {capacity}: {shares:?}");
            let found = quick_search(&plan_for(address));
            let rate = found.rate.unwrap_or(0.0);
            assert!(rate < capacity * 1.15, "{rate} of {capacity}: {:?}", found.tries);
            assert_eq!(found.last_held.and_then(|step| step.rate), found.rate);
            assert!(found.limit.is_some());
            shares.push(rate / capacity);
        }
    }
}

#[test]
fn with_the_rate_of_the_last_time_the_highest_is_found_again_in_few_tries() {
    let capacity = 1000.0;
    let address = metered(Duration::from_secs_f64(1.0 / capacity));
    let plan = plan_for(address);
    let mut last = quick_search(&plan).rate;
    // Disturbances from outside may lengthen some searches, but not all.
    let mut tries = Vec::new();
    while tries.last().is_none_or(|count| *count > 6) {
        assert!(tries.len() < 8, "{tries:?} tries");
        let found = search_within(&BOUNDS, last, &plan);
        // It begins within half a step of where the last one ended.
        assert!((found.tries[0].rate / last.unwrap()).ln().abs() < 0.04, "{found:?}");
        assert!(found.rate.unwrap_or(0.0) < capacity * 1.15, "{found:?}");
        tries.push(found.tries.len());
        last = found.rate.or(last);
    }
}

#[test]
fn a_server_that_refuses_no_more_than_it_may_has_a_highest_rate() {
    let capacity = 1000.0;
    let refuses_some = |number: u64| if number.is_multiple_of(50) { BUSY } else { OK };
    let address = metered_answering(Duration::from_secs_f64(1.0 / capacity), refuses_some);
    let plan = plan_for(address);
    let found = search_within(&RateBounds { errors_share: 0.05, ..BOUNDS }, None, &plan);
    let step = found.last_held.unwrap();
    assert!(step.errors.http_5xx > 0 && step.errors.http_5xx * 20 <= step.attempted, "{step:?}");
}

#[test]
fn what_a_server_refuses_does_not_raise_the_first_rate_tried() {
    let refuses_most = |number: u64| if number.is_multiple_of(3) { OK } else { BUSY };
    let address = metered_answering(Duration::from_millis(1), refuses_most);
    let found =
        search_within(&RateBounds { errors_share: 0.8, ..BOUNDS }, None, &plan_for(address));
    // It answers a third of a thousand in a second, and refuses the rest.
    assert!(found.tries[0].rate < 600.0, "{:?}", found.tries);
}

#[test]
fn failures_count_against_a_rate_however_fast_they_are() {
    let failing = server(answer(BUSY));
    let found = quick_search(&plan_for(failing));
    assert_eq!((found.rate, found.tries.len()), (None, 0));
    assert!(found.limit.as_ref().unwrap().contains("no connection"), "{found:?}");
    assert!(found.limit.as_ref().unwrap().contains("503"), "{found:?}");
    let nobody = Refusing::new();
    let found = quick_search(&plan(&nobody.url(), open(1)));
    assert_eq!((found.rate, found.tries.len()), (None, 0));
    assert!(found.limit.as_ref().unwrap().contains("no connection"), "{found:?}");
}

#[test]
fn it_can_be_stopped_and_refuses_invalid_input() {
    let address = metered(Duration::from_millis(5));
    let mut plan = plan_for(address);
    let stop = Arc::new(AtomicBool::new(false));
    let setter = Arc::clone(&stop);
    let set = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        setter.store(true, Ordering::Relaxed);
    });
    let found = max_rate(&plan, &QUICK, None, None, &stop).unwrap();
    assert_eq!((found.rate, found.client_limited.as_deref()), (None, Some("it was interrupted")));
    set.join().unwrap();
    plan.reuse = Reuse::Always;
    let refused = max_rate(&plan, &QUICK, None, None, &AtomicBool::new(false)).unwrap_err();
    assert!(refused.is_usage() && refused.to_string().contains("reuse"), "{refused}");
    plan.reuse = Reuse::Never;
    for guess in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused =
            max_rate(&plan, &QUICK, Some(guess), None, &AtomicBool::new(false)).unwrap_err();
        assert!(refused.is_usage() && refused.to_string().contains("guess"), "{refused}");
    }
}
