//! Servers that misbehave, each in one way: the load ends, in bounded memory,
//! and counts what happened under the right name.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{OK, answer, closed, open, plan, server, step, take_request};
use iotoll_load::{Errors, Expect, Reuse, Step};
use rustix::net::sockopt::set_socket_linger;
use std::{
    io::Write,
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

const SHORT: Duration = Duration::from_millis(400);

/// Loads a server with ten connections.
fn load(behave: impl Fn(TcpStream) + Send + Sync + 'static) -> Step {
    step(&plan(&format!("http://{}/", server(behave)), open(10)))
}

/// The same with a timeout that is meant to be reached. Elsewhere it is long,
/// for a busy machine must not make one kind of error into another.
fn load_briefly(behave: impl Fn(TcpStream) + Send + Sync + 'static) -> Step {
    let mut plan = plan(&format!("http://{}/", server(behave)), open(10));
    plan.timeout = SHORT;
    step(&plan)
}

/// Asserts that all ten connections failed, under the kind that `get` reads.
fn all_failed(step: &Step, get: fn(&Errors) -> u64) {
    assert_eq!((get(&step.errors), step.errors.total), (10, 10), "{:?}", step.errors);
    assert_eq!((step.attempted, step.completed), (10, 0));
    assert_eq!(step.phases.connection.count(), 0, "a failed connection has no time");
}

fn all_answered(step: &Step) {
    assert_eq!((step.errors.total, step.completed, step.replies), (0, 10, 10), "{:?}", step.errors);
}

#[test]
fn headers_without_end_are_malformed() {
    let step = load(|mut stream| {
        take_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        let line = [b"X-Filler: ".as_slice(), &[b'x'; 4000], b"\r\n"].concat();
        while stream.write_all(&line).is_ok() {}
    });
    all_failed(&step, |e| e.malformed);
}

#[test]
fn a_header_line_without_end_is_malformed() {
    all_failed(
        &load(|mut stream| {
            take_request(&mut stream);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }),
        |e| e.malformed,
    );
}

#[test]
fn a_body_without_end_is_ended_by_the_timeout_and_delays_no_start() {
    let step = load_briefly(|mut stream| {
        take_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999999\r\n\r\n");
        while stream.write_all(&[b'x'; 8192]).is_ok() {}
    });
    all_failed(&step, |e| e.client_timo);
}

#[test]
fn chunks_without_end_are_ended_by_the_timeout() {
    let step = load_briefly(|mut stream| {
        take_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        while stream.write_all(b"5\r\nhello\r\n").is_ok() {
            thread::sleep(Duration::from_millis(5));
        }
    });
    all_failed(&step, |e| e.client_timo);
}

#[test]
fn a_body_shorter_than_its_length_is_short() {
    all_failed(&load(answer(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello")), |e| {
        e.short_body
    });
    all_failed(
        &load(answer(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")),
        |e| e.short_body,
    );
}

#[test]
fn a_body_longer_than_its_length_is_malformed_also_when_the_rest_comes_late() {
    all_failed(&load(answer(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello")), |e| {
        e.malformed
    });
    let late = load(|mut stream| {
        take_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhe");
        thread::sleep(Duration::from_millis(20));
        let _ = stream.write_all(b"llo");
    });
    assert_eq!((late.errors.malformed, late.errors.total), (10, 10), "{:?}", late.errors);
    assert_eq!(late.completed, 0);
}

#[test]
fn two_lengths_or_garbage_are_malformed() {
    for reply in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"[..],
        b"\x16\x03\x01\x02\x00 this is not HTTP",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
    ] {
        all_failed(&load(answer(reply)), |e| e.malformed);
    }
}

#[test]
fn a_slow_drip_of_a_head_or_a_body_ends_with_the_timeout() {
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n",
    ] {
        let step = load_briefly(move |mut stream| {
            take_request(&mut stream);
            let drip = text.bytes().chain(std::iter::repeat(b'x'));
            for byte in drip {
                if stream.write_all(&[byte]).is_err() {
                    return;
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        all_failed(&step, |e| e.client_timo);
    }
}

#[test]
fn a_reset_in_the_middle_is_a_reset() {
    let step = load(|mut stream| {
        take_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello");
        thread::sleep(Duration::from_millis(20));
        set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    });
    all_failed(&step, |e| e.connreset);
}

#[test]
fn no_reply_ends_with_the_timeout() {
    let step = load_briefly(|mut stream| while take_request(&mut stream) {});
    all_failed(&step, |e| e.client_timo);
    assert!(step.first_error.unwrap().contains("waiting for a reply"));
}

#[test]
fn a_queue_that_is_full_ends_with_the_timeout() {
    // Nobody accepts; the kernel leaves what does not fit unanswered.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 1).unwrap();
    let mut plan = plan(&format!("http://{}/", listener.local_addr().unwrap()), open(10));
    plan.timeout = SHORT;
    all_failed(&step(&plan), |e| e.client_timo);
}

#[test]
fn closing_without_a_reply_is_not_a_reset() {
    all_failed(&load(answer(b"")), |e| e.closed);
    all_failed(&load(answer(b"HTTP/1.1 200 OK\r\nConte")), |e| e.closed);
}

#[test]
fn nobody_listening_is_refused() {
    let nobody = common::Refusing::new();
    all_failed(&step(&plan(&nobody.url(), open(10))), |e| e.connrefused);
    let gone = step(&plan("unix:/nonexistent/socket", open(10)));
    all_failed(&gone, |e| e.connrefused);
    let closed_loop = step(&plan(&nobody.url(), closed(4, 10)));
    all_failed(&closed_loop, |e| e.connrefused);
}

#[test]
fn statuses_and_bodies_are_counted_beside_the_connections() {
    let missing = load(answer(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
    assert_eq!((missing.errors.http_4xx, missing.status.client_error), (10, 10));
    assert_eq!(missing.completed, 10);
    let broken = load(answer(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"));
    assert_eq!((broken.errors.http_5xx, broken.status.server_error), (10, 10));
    let mut plan = plan(&format!("http://{}/", server(answer(OK))), open(10));
    for (expect, wrong) in [("text:ell", 0), ("text:elk", 10), ("first", 0)] {
        plan.expect = Expect::parse(expect).unwrap();
        assert_eq!(step(&plan).errors.unexpected_body, wrong, "{expect}");
    }
}

#[test]
fn a_body_that_changes_is_told_from_the_first() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let count = AtomicU32::new(0);
    let address = server(move |mut stream| {
        take_request(&mut stream);
        let number = count.fetch_add(1, Ordering::Relaxed).min(7);
        let _ = write!(stream, "HTTP/1.0 200 OK\r\n\r\n{}", number / 7);
    });
    let mut plan = plan(&format!("http://{address}/"), closed(1, 10));
    plan.expect = Expect::First;
    assert_eq!(step(&plan).errors.unexpected_body, 3);
}

#[test]
fn interim_replies_are_no_replies() {
    all_answered(&load(answer(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
    )));
    let step = load_briefly(|mut stream| {
        take_request(&mut stream);
        while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_ok() {}
    });
    all_failed(&step, |e| e.client_timo);
}

#[test]
fn a_body_that_ends_with_the_connection_is_whole() {
    let step = load(answer(b"HTTP/1.0 200 OK\r\n\r\nhello"));
    all_answered(&step);
    assert_eq!(step.bytes.received_bodies, 50);
}

#[test]
fn a_server_that_never_closes_is_not_waited_for() {
    let step = load(|mut stream| {
        while take_request(&mut stream) {
            let _ = stream.write_all(OK);
        }
    });
    all_answered(&step);
    let p50_ns = step.phases.connection.quantile(0.5);
    assert!(p50_ns < 1e8, "the wait for the close was counted");
}

/// Answers so many requests on a connection, then closes without a word.
fn limited(requests: u32) -> impl Fn(TcpStream) {
    move |mut stream| {
        for _ in 0..requests {
            if !take_request(&mut stream) {
                return;
            }
            let _ = stream.write_all(OK);
        }
    }
}

#[test]
fn kept_connections_that_the_server_ends_are_replaced() {
    let mut plan = plan(&format!("http://{}/", server(limited(3))), closed(2, 60));
    plan.reuse = Reuse::Always;
    let step = step(&plan);
    assert_eq!((step.replies, step.errors.total), (60, 0), "{:?}", step.errors);
    assert!(step.attempted >= 20, "{} connections for 60 requests", step.attempted);
}

#[test]
fn kept_connections_carry_their_requests_or_say_that_they_could_not() {
    let mut plan = plan(&format!("http://{}/", server(limited(100))), open(10));
    plan.reuse = Reuse::Requests(5);
    let whole = step(&plan);
    assert_eq!((whole.completed, whole.replies, whole.ended_early), (10, 50, 0));
    plan.target = iotoll_load::Target::parse(&format!("http://{}/", server(limited(3)))).unwrap();
    let cut = step(&plan);
    assert_eq!((cut.completed, cut.replies, cut.ended_early, cut.errors.total), (10, 30, 10, 0));
}

#[test]
fn a_large_body_is_sent_whole_and_an_early_answer_is_heard() {
    let address = server(|mut stream| {
        use std::io::Read;
        take_request(&mut stream);
        let mut body = vec![0; 3_000_000];
        let whole = stream.read_exact(&mut body).is_ok() && body.iter().all(|b| *b == b'x');
        let _ = stream.write_all(if whole { OK } else { b"HTTP/1.0 500 No\r\n\r\n" });
    });
    let mut plan = plan(&format!("http://{address}/"), closed(2, 10));
    plan.request.method = http::Method::POST;
    plan.request.body = vec![b'x'; 3_000_000];
    all_answered(&step(&plan));
    let early = server(|mut stream| {
        take_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
        thread::sleep(Duration::from_millis(300));
    });
    plan.target = iotoll_load::Target::parse(&format!("http://{early}/")).unwrap();
    let step = step(&plan);
    assert_eq!((step.errors.http_4xx, step.errors.total), (10, 10), "{:?}", step.errors);
}
