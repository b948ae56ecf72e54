//! Memory stays where it is, whatever the server sends and however long it
//! lasts. One test in a process of its own, for all memory is counted.

#![allow(clippy::unwrap_used)]

#[path = "suite/common/mod.rs"]
mod common;

use common::{OK, closed, open, plan, server, step, take_request};
use iotoll_load::Reuse;
use std::{fs, io::Write, time::Duration};

const BOUND_KIB: u64 = 24 << 10;

fn memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn neither_floods_nor_many_requests_take_memory() {
    let floods = server(|mut stream| {
        take_request(&mut stream);
        let line = [b"X-Filler: ".as_slice(), &[b'x'; 4000], b"\r\n"].concat();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(&line).is_ok() {}
    });
    let endless = server(|mut stream| {
        take_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999999\r\n\r\n");
        while stream.write_all(&[b'x'; 8192]).is_ok() {}
    });
    let honest = server(|mut stream| {
        while take_request(&mut stream) {
            let _ = stream.write_all(OK);
        }
    });
    let mut kept = plan(&format!("http://{honest}/"), closed(4, 2000));
    kept.reuse = Reuse::Always;
    assert_eq!(step(&kept).replies, 2000);
    let before = memory_kib();
    for address in [floods, endless] {
        let mut plan = plan(&format!("http://{address}/"), open(50));
        plan.timeout = Duration::from_millis(500);
        assert_eq!(step(&plan).errors.total, 50);
    }
    kept.steps = closed(4, 40_000);
    assert_eq!(step(&kept).replies, 40_000);
    let grown = memory_kib() - before;
    assert!(grown < BOUND_KIB, "memory grew by {grown} KiB");
}
