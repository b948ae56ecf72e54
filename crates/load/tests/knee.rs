//! The knee of a server whose capacity is known.

#![allow(clippy::unwrap_used)]

mod common;

use common::{OK, answer, open, plan, server, take_request};
use iotoll_load::{Knee, KneeBounds, Plan, Reuse, free_port, knee};
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

const BOUNDS: KneeBounds = KneeBounds { p99: Duration::from_millis(250), errors_share: 0.01 };

/// One worker that does a request every `gap` and no sooner: it sleeps to a
/// schedule of its own, so that a late wake-up costs nothing of its capacity.
fn metered(gap: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut free_at = Instant::now();
        for mut stream in listener.incoming().flatten() {
            free_at = free_at.max(Instant::now()) + gap;
            thread::sleep(free_at.saturating_duration_since(Instant::now()));
            if take_request(&mut stream) {
                let _ = stream.write_all(OK);
            }
        }
    });
    address
}

fn look(plan: &Plan) -> Knee {
    knee(plan, &BOUNDS, None, &AtomicBool::new(false)).unwrap()
}

#[test]
fn the_knee_of_a_server_of_known_capacity_is_near_it() {
    for capacity in [400.0, 1000.0] {
        let address = metered(Duration::from_secs_f64(1.0 / capacity));
        // It never does more; on a busy machine it may well do less.
        let mut shares = Vec::new();
        while shares.last().is_none_or(|share| *share < 0.85) {
            assert!(shares.len() < 5, "shares of {capacity}: {shares:?}");
            let knee = look(&plan(&format!("http://{address}/"), open(1)));
            let rate = knee.rate.unwrap_or(0.0);
            assert!(rate < capacity * 1.15, "{rate} of {capacity}: {:?}", knee.tries);
            assert_eq!(knee.last_held.and_then(|step| step.rate), knee.rate);
            assert!(knee.limit.is_some());
            shares.push(rate / capacity);
        }
    }
}

#[test]
fn failures_count_against_a_rate_however_fast_they_are() {
    let failing = server(answer(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"));
    let knee = look(&plan(&format!("http://{failing}/"), open(1)));
    assert_eq!(knee.rate, None);
    assert!(knee.limit.as_ref().unwrap().contains("connections failed (http-5xx)"), "{knee:?}");
    let nobody = format!("http://127.0.0.1:{}/", free_port().unwrap());
    let knee = look(&plan(&nobody, open(1)));
    assert_eq!((knee.rate, knee.tries.len()), (None, 0));
    assert!(knee.limit.as_ref().unwrap().contains("no connection"), "{knee:?}");
}

#[test]
fn it_can_be_stopped_and_refuses_connections_without_end() {
    let address = metered(Duration::from_millis(5));
    let mut plan = plan(&format!("http://{address}/"), open(1));
    let stop = Arc::new(AtomicBool::new(false));
    let setter = Arc::clone(&stop);
    let set = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        setter.store(true, Ordering::Relaxed);
    });
    let found = knee(&plan, &BOUNDS, None, &stop).unwrap();
    assert_eq!((found.rate, found.not_ours.as_deref()), (None, Some("it was interrupted")));
    set.join().unwrap();
    plan.reuse = Reuse::Always;
    assert!(knee(&plan, &BOUNDS, None, &AtomicBool::new(false)).is_err());
}
