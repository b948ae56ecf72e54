//! Connections to a well-behaved server: IPv6 and Unix sockets, HTTP/1.0, a
//! full listen queue, and the timeout of each request.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use crate::common;

use common::{OK, analysed, answer, closed, open, plan, server, server_at, step, take_request};
use iotoll_load::{Reuse, Version};
use std::{
    io::{Read, Write},
    os::unix::net::UnixListener,
    thread,
    time::Duration,
};

#[test]
fn ipv6_and_unix_sockets_are_reached() {
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        let address = server_at("[::1]:0", answer(OK));
        assert_eq!(step(&plan(&format!("http://{address}/"), open(5))).completed, 5);
    } else {
        eprintln!("SKIPPED: no IPv6 on this machine");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 1000];
            let length = stream.read(&mut request).unwrap();
            assert!(request[..length].starts_with(b"GET /page HTTP/1.1\r\nHost: localhost\r\n"));
            stream.write_all(OK).unwrap();
        }
    });
    let url = format!("unix:{}:/page", path.display());
    // More at once than the queue holds, so that some must be tried again.
    let step = step(&plan(&url, closed(300, 2000)));
    assert_eq!((step.completed, step.errors.total), (2000, 0), "{:?}", step.errors);
}

#[test]
fn http_1_0_keeps_connections_where_the_server_agrees() {
    let keeps = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi";
    let address = server(move |mut stream| {
        while take_request(&mut stream) {
            let _ = stream.write_all(keeps);
        }
    });
    let mut plan = plan(&format!("http://{address}/"), closed(2, 20));
    plan.request.version = Version::Http10;
    plan.reuse = Reuse::Always;
    let step = step(&plan);
    assert_eq!((step.replies, step.attempted, step.errors.total), (20, 2, 0));
}

#[test]
fn a_connection_that_is_long_in_coming_is_followed_to_its_end() {
    // The queue has room for two; the others are asked for again by the
    // kernel, a second later, when somebody accepts.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 1).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        for mut stream in listener.incoming().flatten() {
            take_request(&mut stream);
            let _ = stream.write_all(OK);
        }
    });
    let (step, seen) = analysed(&plan(&format!("http://{address}/"), closed(6, 6)));
    assert_eq!((step.completed, step.errors.total), (6, 0), "{:?}", step.errors);
    assert!(seen.connect_ms.unwrap().max > 900.0, "{:?}", seen.connect_ms);
}

#[test]
fn the_timeout_is_each_requests_own_on_a_kept_connection() {
    // Twelve replies of 50 ms each, then one that never comes.
    let address = server(|mut stream| {
        for _ in 0..12 {
            if !take_request(&mut stream) {
                return;
            }
            thread::sleep(Duration::from_millis(50));
            let _ = stream.write_all(OK);
        }
        while take_request(&mut stream) {}
    });
    let mut plan = plan(&format!("http://{address}/"), closed(1, 13));
    plan.reuse = Reuse::Always;
    plan.timeout = Duration::from_millis(500);
    let step = step(&plan);
    assert_eq!((step.replies, step.errors.client_timo, step.errors.total), (12, 1, 1));
    assert_eq!(step.attempted, 1, "it was given up before its time");
}
