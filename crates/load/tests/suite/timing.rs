//! What a step measures: its phases, its schedule, and what it reports when
//! the server, the client or the whole step stops.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{OK, analysed, answer, closed, open, plan, result, server, take_request};
use iotoll_load::{Event, Gap, Mode, Steps, analyse_step, run};
use std::{
    io::Write,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

#[test]
fn phases_are_where_the_time_went() {
    // 30 ms to the first byte, 30 ms more to the last.
    let address = server(|mut stream| {
        take_request(&mut stream);
        thread::sleep(Duration::from_millis(30));
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
        thread::sleep(Duration::from_millis(30));
        let _ = stream.write_all(b"world");
    });
    let (_, seen) = analysed(&plan(&format!("http://{address}/"), open(10)));
    let (response, transfer) = (seen.response_ms.unwrap(), seen.transfer_ms.unwrap());
    let (reply, connection) = (seen.reply_ms.unwrap(), seen.connection_ms.unwrap());
    // A first byte that is seen late takes from the one and gives to the other.
    assert!(response.p50 >= 28.0 && transfer.p50 >= 20.0, "{response:?} {transfer:?}");
    assert!(reply.p50 >= 58.0, "{reply:?}");
    assert!((response.mean + transfer.mean - reply.mean).abs() < 0.01);
    let parts =
        seen.connect_ms.unwrap().mean + reply.mean + seen.schedule_lag_us.unwrap().mean / 1e3;
    assert!(connection.mean >= parts - 0.01, "{connection:?} is less than its parts, {parts}");
}

#[test]
fn a_server_that_stalls_shows_in_the_time_from_the_intended_start() {
    // One connection at a time, 20 ms each: at 100/s half of the load waits.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            take_request(&mut stream);
            thread::sleep(Duration::from_millis(20));
            let _ = stream.write_all(OK);
        }
    });
    let steps = Steps::Rates { rates: vec![100.0], connections: Some(100) };
    let (step, open) = analysed(&plan(&format!("http://{address}/"), steps));
    assert_eq!(step.completed, 100);
    assert!(open.connection_ms.unwrap().max > 800.0, "the queue is hidden");
    assert_eq!(open.kept_pace, Some(false));
    let (_, closed) = analysed(&plan(&format!("http://{address}/"), closed(1, 20)));
    assert!(closed.connection_ms.unwrap().p50 < open.connection_ms.unwrap().p50 / 4.0);
}

#[test]
fn every_connection_is_tried_whatever_the_gaps_and_the_steps_keep_their_order() {
    let address = server(answer(OK));
    for gap in [Gap::Constant, Gap::Uniform, Gap::Exponential] {
        let steps = Steps::Rates { rates: vec![400.0, 100.0], connections: Some(40) };
        let mut plan = plan(&format!("http://{address}/"), steps);
        plan.gap = gap;
        let result = result(&plan);
        assert_eq!(result.plan.mode, Mode::Open);
        let rates: Vec<_> = result.steps.iter().map(|s| s.rate.unwrap() as u64).collect();
        assert_eq!(rates, [400, 100]);
        for step in &result.steps {
            assert_eq!((step.attempted, step.completed), (40, 40));
            assert_eq!(analyse_step(step).schedule_lag_us.unwrap().count, 40);
        }
    }
}

#[test]
fn a_client_that_stalls_makes_up_for_it_and_says_that_its_figures_are_its_own() {
    let plan = plan(&format!("http://{}/", server(answer(OK))), open(200));
    let mut stalled = false;
    let mut events = |event: Event<'_>| {
        if matches!(event, Event::Progress(_)) && !stalled {
            stalled = true;
            thread::sleep(Duration::from_millis(400));
        }
    };
    let result = run(&plan, None, &mut events, &AtomicBool::new(false)).unwrap();
    let step = &result.steps[0];
    assert_eq!((step.attempted, step.completed), (200, 200), "starts were left out");
    let seen = analyse_step(step);
    let lag = seen.schedule_lag_us.unwrap();
    assert!(lag.max > 350_000.0 && lag.count == 200, "{lag:?}");
    // Some 80 of 200 starts were late, and their visitors waited.
    assert!(seen.connection_ms.unwrap().p90 > 200.0, "{:?}", seen.connection_ms);
    assert!(!seen.valid && seen.why_invalid.as_ref().unwrap().contains("lagged"));
    assert!(seen.achieved_rate > 190.0, "the schedule slipped: {}/s", seen.achieved_rate);
}

#[test]
fn a_closed_loop_says_that_it_is_one() {
    let result = result(&plan(&format!("http://{}/", server(answer(OK))), closed(4, 40)));
    let step = &result.steps[0];
    assert_eq!((result.plan.mode, step.concurrency, step.rate), (Mode::Closed, Some(4), None));
    assert!(analyse_step(step).schedule_lag_us.is_none() && step.open_connections.max >= 1);
    assert_eq!((step.replies, step.requests), (40, 40));
}

#[test]
fn an_interrupted_load_returns_what_it_has() {
    let address = server(answer(OK));
    let end = AtomicBool::new(false);
    let mut reports = 0;
    let plan = plan(&format!("http://{address}/"), open(1_000_000));
    let mut events = |event: Event<'_>| {
        if let Event::Progress(progress) = event {
            assert!(progress.attempted > 0);
            reports += 1;
            end.store(reports == 2, Ordering::Relaxed);
        }
    };
    let result = run(&plan, None, &mut events, &end).unwrap();
    assert!(result.interrupted);
    let step = &result.steps[0];
    assert!(!analyse_step(step).valid && step.attempted > 10 && step.attempted < 1_000_000);
    assert_eq!(step.attempted, step.completed + step.errors.total + step.abandoned);
}
