//! Layouts of a made-up load, with everything in it that a layout can say.

#![allow(clippy::unwrap_used)]

use super::{Layout, render};
use model::load::{
    Bounds, Errors, Gap, InvalidReason, LoadAnalysis, LoadPlan, LoadRun, Mode, OpenConnections,
    PercentileIntervals, Phases, Preflight, RateSearch, ReplyRate, Run, SCHEMA, Sampled, ServerUse,
    Statuses, Step, StepAnalysis, Summary, Times, Try, Until,
};
use model::run::Machine;
use model::slice::Latencies;

fn times(ns: u64) -> Times {
    let latencies = Latencies { buckets: vec![(ns, 20)], max: ns };
    Times { sum_ns: 20 * ns, latencies }
}

fn step() -> Step {
    Step {
        rate: Some(200.0),
        intended: Some(25),
        attempted: 25,
        completed: 20,
        requests: 25,
        replies: 20,
        ended_early: 1,
        sent_again: 2,
        abandoned: 3,
        errors: Errors { total: 5, client_timo: 3, http_5xx: 2, ..Errors::default() },
        first_error: Some("127.0.0.1:80: timed out\nafter 5 s".to_owned()),
        status: Statuses { success: 18, server_error: 2, ..Statuses::default() },
        open_connections: OpenConnections { middle: 1, end: 12, max: 12 },
        sources: 2,
        until: Some(Until { half_width: 0.05, most: 25 }),
        server: Some(server()),
        phases: Phases {
            connection: times(2_000_000),
            connect: times(100_000),
            reply: times(1_900_000),
            ..Phases::default()
        },
        ..Step::default()
    }
}

fn server() -> ServerUse {
    ServerUse {
        processes: 2,
        cpu_ms: 12.0,
        cpu_user_ms: 10.0,
        cpu_system_ms: 2.0,
        cpu_percent: 12.0,
        cpu_us_per_reply: Some(600.0),
        asked_read_bytes: 1_500_000,
        asked_write_bytes: 999,
        read_calls: 30,
        write_calls: 20,
        device_read_bytes: 0,
        device_write_bytes: 4096,
        sync_calls: None,
        sync_note: Some("tracefs cannot be read".to_owned()),
        memory_bytes: 17_700_000,
        memory_is_pss: true,
    }
}

fn analysis() -> LoadAnalysis {
    let summary = |ms: f64| {
        let (mean, min, p50, p90, p99, p999, max) = (ms, ms, ms, ms, ms, ms, ms);
        Some(Summary { count: 20, mean, stddev: 0.0, min, p50, p90, p99, p999, max })
    };
    let reason = InvalidReason::Late { lag_p99_ns: 2e6 };
    let reply_rate = ReplyRate {
        mean: 160.04,
        min: 150.0,
        max: 170.0,
        stddev: 5.0,
        interval_ms: 100.0,
        samples: vec![150.0, 170.0],
    };
    let step = StepAnalysis {
        seconds: 0.125,
        achieved_rate: 200.0,
        connection_ms: summary(2.0),
        connection_from_connect_ms: summary(1.95),
        connect_ms: summary(0.1),
        reply_ms: summary(1.9),
        response_ms: None,
        transfer_ms: None,
        schedule_lag_us: summary(2000.0),
        reply_rate,
        client_cpu_percent: 4.0,
        client_system_percent: 3.0,
        client_spin_percent: 1.0,
        client_cpu_us_per_request: Some(50.0),
        kept_pace: Some(false),
        percentile_intervals: Some(PercentileIntervals {
            of: Sampled::Connection,
            confidence: 0.95,
            p50_ms: Some(Bounds { low: 1.95, high: 2.04 }),
            p90_ms: Some(Bounds { low: 1.91, high: 2.11 }),
            p99_ms: None,
            p999_ms: None,
        }),
        narrow: Some(false),
        valid: false,
        why_invalid: Some(reason.to_string()),
        invalid_reasons: vec![reason],
    };
    LoadAnalysis { steps: vec![step] }
}

fn run() -> LoadRun {
    LoadRun {
        schema: SCHEMA.to_owned(),
        run: Run { interrupted: true, ..Run::default() },
        machine: Machine {
            kernel: String::new(),
            cpu: String::new(),
            cpus: 1,
            memory_bytes: 0,
            memory_limit_bytes: None,
        },
        plan: LoadPlan {
            url: "http://[::1]:8080/x?y".to_owned(),
            host: "::1".to_owned(),
            port: Some(8080),
            path: "/x?y".to_owned(),
            address: "[::1]:8080".to_owned(),
            method: "GET".to_owned(),
            http: "1.1".to_owned(),
            mode: Mode::Open,
            rates: None,
            connections: None,
            concurrency: None,
            requests: None,
            gap: Some(Gap::Uniform),
            seed: 1,
            timeout_s: 5.0,
            requests_per_connection: Some(3),
            until: Some(0.05),
        },
        request_bytes: 106,
        server_software: Some("made/1.0".to_owned()),
        preflight: Preflight { warnings: vec!["few ports".to_owned()], ..Preflight::default() },
        steps: vec![step()],
        search: Some(RateSearch {
            max_rate: Some(200.0),
            limit: Some("p99 was 300 ms".to_owned()),
            tries: vec![
                Try { rate: 400.0, connections: 400, held: false, why_not: None },
                Try { rate: 200.0, connections: 25, held: true, why_not: None },
            ],
        }),
    }
}

#[test]
fn the_plain_layout_says_everything_within_80_columns() {
    let text = render(Layout::Plain, &run(), &analysis());
    assert_eq!(text, include_str!("tests/plain.txt"));
    assert_eq!(text.lines().find(|line| line.chars().count() > 80), None);
}

#[test]
fn a_servers_name_neither_moves_the_cursor_nor_begins_a_line() {
    let mut run = run();
    run.server_software = Some("x\u{1b}[2J\u{7}\nERRORS: none".to_owned());
    for layout in [Layout::Plain, Layout::Httperf, Layout::Ab] {
        let text = render(layout, &run, &analysis());
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("ERRORS: none")), "{text}");
    }
}

#[test]
fn a_closed_loop_warns_of_what_it_hides() {
    let mut run = run();
    (run.plan.mode, run.plan.gap) = (Mode::Closed, None);
    (run.steps[0].rate, run.steps[0].concurrency) = (None, Some(4));
    let text = render(Layout::Plain, &run, &analysis());
    assert!(
        text.contains("closed loop, 3 requests per connection: clients send nothing"),
        "{text}"
    );
    assert!(text.contains("4 clients: 20 of 25") && !text.contains("from intended"), "{text}");
    assert_eq!(text.lines().find(|line| line.chars().count() > 80), None);
}

#[test]
fn httperf_counts_no_status_as_an_error_and_all_its_kinds() {
    let text = render(Layout::Httperf, &run(), &analysis());
    for line in [
        "Total: connections 25 requests 25 replies 20 test-duration 0.125 s",
        "Connection time [ms]: min 1.9 avg 1.9 max 1.9 median 1.9 stddev 0.0",
        "Reply rate [replies/s]: min 150.0 avg 160.0 max 170.0 stddev 5.0 (2 samples)",
        "Reply status: 1xx=0 2xx=18 3xx=0 4xx=0 5xx=2",
        "Errors: total 3 client-timo 3 socket-timo 0 connrefused 0 connreset 0",
        "INVALID: starts lagged by 2.0 ms (p99)",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
    }
}

#[test]
fn ab_names_host_and_path_and_counts_no_status_as_a_failure() {
    let mut run = run();
    let text = render(Layout::Ab, &run, &analysis());
    for line in [
        "Server Software:        made/1.0",
        "Server Hostname:        ::1",
        "Server Port:            8080",
        "Document Path:          /x?y",
        "Complete requests:      20",
        "Failed requests:        3",
        "Non-2xx responses:      2",
        "Total:          2    2   0.0      2       2",
        "  99%      2",
        "INVALID: starts lagged by 2.0 ms (p99)",
    ] {
        assert!(text.lines().any(|found| found == line), "{line:?} is not in {text}");
    }
    (run.plan.host, run.plan.port) = ("unix:/run/app.sock".to_owned(), None);
    let text = render(Layout::Ab, &run, &analysis());
    assert!(text.contains("Hostname:        unix:/run/app.sock\nServer Port:            0\n"));
}
