//! `iotoll load` as its users call it: output, exit codes, signals.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use assert_cmd::Command;
use load::analyse_load;
use model::load::LoadRun;
use report::load::{Layout, render};
use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    process::{self, Stdio},
    thread,
    time::Duration,
};

fn iotoll(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("iotoll").unwrap();
    command.arg("load").args(arguments).timeout(Duration::from_secs(120));
    command.env("IOTOLL_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/load-runs"));
    command
}

/// Answers every connection once, or never.
fn server(answers: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut silent = Vec::new();
        for mut stream in listener.incoming().flatten() {
            if answers {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
            } else {
                silent.push(stream);
            }
        }
    });
    format!("http://{address}/")
}

fn output(arguments: &[&str]) -> (i32, String, String) {
    let output = iotoll(arguments).output().unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

/// 192.0.2.1 is an address for documentation: nothing is there, and nothing is sent to it.
#[test]
fn a_server_of_someone_else_is_not_loaded_without_a_word() {
    let far = "http://192.0.2.1/";
    let (code, out, err) = output(&[far, "--rate", "1", "--connections", "1"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("if you are allowed to put load on it, add --remote"), "{err}");
    let (code, _, err) = output(&[far, "--rate", "101", "--remote"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("where the limit is 100") && err.contains("--unlimited"), "{err}");
    let (code, _, err) = output(&["http://127.0.0.1:9/", "--rate", "1000000"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("for a server on this machine"), "{err}");
}

#[test]
fn json_on_standard_output_is_all_that_is_there() {
    let url = server(true);
    let (code, out, err) =
        output(&[&url, "--rate", "100,200", "--connections", "20", "--json", "-"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let result = json(&out);
    assert_eq!(result["schema"], "iotoll.load/2");
    assert_eq!(result["steps"].as_array().unwrap().len(), 2);
    for step in result["steps"].as_array().unwrap() {
        assert_eq!((&step["attempted"], &step["completed"]), (&20.into(), &20.into()));
        for field in
            ["connection_ms", "connect_ms", "response_ms", "transfer_ms", "schedule_lag_us"]
        {
            for figure in ["mean", "p50", "p90", "p99", "p999", "max"] {
                assert!(step[field][figure].is_number(), "{field}.{figure}");
            }
        }
        assert!(step["valid"].is_boolean() && step["server"].is_null());
    }
}

#[test]
fn a_json_file_stands_beside_the_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.json");
    let (url, path) = (server(true), file.to_str().unwrap());
    let arguments = [&url, "--concurrency", "2", "--requests", "30", "--json", path];
    let (code, out, err) = output(&arguments);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("closed loop") && out.contains("30 of 30"), "{out}");
    assert_eq!(json(&fs::read_to_string(file).unwrap())["mode"], "closed");
}

#[test]
fn a_load_ends_by_itself_or_says_that_its_percentiles_are_not_known_so_closely() {
    let url = server(true);
    let arguments =
        [&url, "--concurrency", "1", "--requests", "9000", "--until", "50%", "--json", "-"];
    let (code, out, err) = output(&arguments);
    assert_eq!((code, err.as_str()), (0, ""));
    let result = json(&out);
    let step = &result["steps"][0];
    assert_eq!((&result["until"], &step["until"]["most"]), (&0.5.into(), &9000.into()));
    let ended = step["narrow"].as_bool().unwrap();
    assert!(ended || step["attempted"] == 9000, "{step}");
    assert_eq!(step["subsamples"]["of"], "connection");
    // Where requests of a busy machine depend on each other, they may be worth too few.
    let median = &step["percentile_intervals"]["p50_ms"];
    let p50 = step["connection_ms"]["p50"].as_f64().unwrap();
    let known = ["low", "high"].map(|end| median[end].as_f64());
    if let [Some(low), Some(high)] = known {
        assert!(low <= p50 && p50 <= high, "{low} to {high} about {p50}");
    }
    let again: LoadRun = LoadRun::read(&out).unwrap();
    let text = render(Layout::Plain, &again, &analyse_load(&again));
    assert!(known[0].is_none() || text.contains("95% interval, from"), "{text}");
    assert!(text.to_lowercase().contains("within ±"), "{text}");
    for layout in [Layout::Httperf, Layout::Ab] {
        assert!(!render(layout, &again, &analyse_load(&again)).contains("interval"));
    }
}

#[test]
fn wrong_usage_is_told_and_exits_with_2() {
    let url = server(true);
    let cases: &[(&[&str], &str)] = &[
        (&[&url, "--rate", "1", "--until", "0.5%"], "must be between 1% and 50%"),
        (&[&url, "--rate", "1", "--until", "60%"], "must be between 1% and 50%"),
        (&[&url, "--rate", "1", "--until", "soon"], "`soon` is not a share"),
        (&[&url, "--rate", "max", "--until", "5%"], "find the rate first"),
        (&["https://127.0.0.1/", "--rate", "1"], "https is not supported yet"),
        (&["ftp://127.0.0.1/", "--rate", "1"], "http://"),
        (&[&url], "--rate"),
        (&[&url, "--rate", "0"], "not a rate"),
        (&[&url, "--rate", "-5"], ""),
        (&[&url, "--rate", "max,5"], "cannot be combined"),
        (&[&url, "--rate", "5", "--concurrency", "5", "--requests", "5"], "cannot be used with"),
        (&[&url, "--concurrency", "5"], "--requests"),
        (&[&url, "--rate", "5", "--connections", "0"], "0"),
        (&[&url, "--rate", "5", "--timeout", "soon"], "is not a duration"),
        (&[&url, "--rate", "5", "--timeout", "0s"], "1ms"),
        (&[&url, "--rate", "5", "--expect", "nonsense"], "text:TEXT"),
        (&[&url, "--rate", "5", "-H", "nonsense"], "Name: value"),
        (&[&url, "--rate", "5", "--requests-per-connection", "3"], "--keep-alive"),
        (&["http://127.0.0.1:{port}/", "--rate", "5"], "--serve"),
        (&[&url, "--rate", "5", "--body", "/no/such/file"], "/no/such/file"),
    ];
    for (arguments, word) in cases {
        let (code, out, err) = output(arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(word), "{arguments:?}: {err}");
    }
}

#[test]
fn what_cannot_be_done_exits_with_1() {
    let url = server(true);
    for (arguments, word) in [
        (vec!["http://no.such.host.invalid/", "--rate", "5"], "cannot resolve"),
        (vec![&url, "--rate", "5", "--server-pid", "2147483647"], "no such process"),
        (vec!["http://127.0.0.1:{port}/", "--rate", "5", "--serve", "exit 4"], "status 4"),
    ] {
        let (code, out, err) = output(&arguments);
        assert_eq!((code, out.as_str()), (1, ""), "{arguments:?}: {err}");
        assert!(err.contains(word), "{arguments:?}: {err}");
    }
}

#[test]
fn a_server_that_refuses_is_a_result_and_not_a_failure() {
    let (code, out, _) = output(&["http://127.0.0.1:1/", "--rate", "100", "--connections", "10"]);
    assert_eq!(code, 0);
    assert!(out.contains("ERRORS: 10: 10 connrefused"), "{out}");
}

#[test]
fn the_server_started_for_the_load_is_measured() {
    if process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: python3 is not installed");
        return;
    }
    let (code, out, err) = output(&[
        "http://127.0.0.1:{port}/",
        "--rate",
        "50",
        "--connections",
        "50",
        "--json",
        "-",
        "--serve",
        "exec python3 -m http.server --bind 127.0.0.1 --directory /proc/self/fd {port}",
    ]);
    assert_eq!(code, 0, "{err}");
    let server = &json(&out)["steps"][0]["server"];
    assert!(server["processes"].as_u64() >= Some(1), "{server}");
    assert!(server["memory_bytes"].as_u64() > Some(1 << 20), "{server}");
    assert!(server["asked_write_bytes"].as_u64() > Some(0), "{server}");
}

#[test]
fn want_of_descriptors_makes_a_step_invalid() {
    let binary = assert_cmd::cargo::cargo_bin("iotoll");
    let load = format!(
        "ulimit -n 64; exec {} load {} --rate 200 --connections 200 --timeout 2s --json -",
        binary.display(),
        server(false)
    );
    let output = process::Command::new("sh").arg("-c").arg(load).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let result = json(std::str::from_utf8(&output.stdout).unwrap());
    let step = &result["steps"][0];
    let failed = step["errors"]["fd_unavail"].as_u64().unwrap();
    assert!(failed > 100 && failed < 190, "{step}");
    assert_eq!(step["errors"]["client_timo"].as_u64().unwrap() + failed, 200);
    assert_eq!(step["valid"], false);
    assert!(step["why_invalid"].as_str().unwrap().contains("no file descriptor"), "{step}");
    assert!(result["preflight"]["warnings"][0].as_str().unwrap().contains("file descriptors"));
}

#[test]
fn want_of_ports_makes_a_step_invalid() {
    // In a network of its own, with eleven ports, over IPv6, which has but one
    // loopback address to come from.
    let binary = assert_cmd::cargo::cargo_bin("iotoll");
    let script = format!(
        "ip link set lo up && echo 40000 40010 > /proc/sys/net/ipv4/ip_local_port_range && \
         exec {} load 'http://[::1]:39999/' --rate 200 --connections 100 --timeout 1s --json - \
         --serve 'exec python3 -c \"\nimport socket, time\n\
         s = socket.socket(socket.AF_INET6); s.bind((\\\"::1\\\", 39999)); s.listen(500)\n\
         time.sleep(100)\"'",
        binary.display()
    );
    let possible = process::Command::new("unshare").args(["-n", "true"]).status();
    if !possible.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no right to make a network of our own");
        return;
    }
    let output =
        process::Command::new("unshare").args(["-n", "sh", "-c", &script]).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    let step = &json(std::str::from_utf8(&output.stdout).unwrap())["steps"][0];
    assert!(step["errors"]["addrunavail"].as_u64().unwrap() >= 80, "{step}");
    assert!(step["why_invalid"].as_str().unwrap().contains("no local port"), "{step}");
}

#[test]
fn an_interrupted_load_reports_what_it_has_and_exits_with_130() {
    let mut load = process::Command::new(assert_cmd::cargo::cargo_bin("iotoll"));
    load.args(["load", &server(true), "--rate", "50", "--connections", "100000", "--json", "-"]);
    let mut load = sys::start::default_signals(&mut load).stdout(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    let signal = process::Command::new("kill").args(["-INT", &load.id().to_string()]).status();
    assert!(signal.unwrap().success());
    let mut text = String::new();
    load.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(load.wait().unwrap().code(), Some(130));
    let result = json(&text);
    assert_eq!(result["run"]["interrupted"], true);
    assert!(result["steps"][0]["attempted"].as_u64() > Some(0));
}

/// Runs a load that prints and saves, and prints again what was saved.
fn printed_and_again(layout: &str, arguments: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.json");
    let saving = ["--layout", layout, "--json", file.to_str().unwrap()];
    let (code, printed, err) = output(&[arguments, &saving].concat());
    assert_eq!((code, err.as_str()), (0, ""));
    let saved: LoadRun = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let layout = match layout {
        "httperf" => Layout::Httperf,
        "ab" => Layout::Ab,
        _ => Layout::Plain,
    };
    (printed, render(layout, &saved, &analyse_load(&saved)))
}

#[test]
fn a_saved_load_prints_as_it_was_printed_in_every_layout() {
    let url = server(true) + "x";
    let refused = "http://127.0.0.1:1/";
    let server_pid = process::id().to_string();
    let loads: [&[&str]; 6] = [
        &[&url, "--rate", "200", "--connections", "20", "--server-pid", &server_pid],
        &[&url, "--rate", "300,77.7", "--connections", "50", "--gap", "exponential"],
        &[&url, "--concurrency", "3", "--requests", "31"],
        &[&url, "--concurrency", "3", "--requests", "31", "--keep-alive"],
        &[refused, "--rate", "100", "--connections", "10"],
        &[refused, "--rate", "max"],
    ];
    for load in loads {
        // They wait most of the time.
        thread::scope(|scope| {
            for layout in ["plain", "httperf", "ab"] {
                scope.spawn(move || {
                    let (printed, again) = printed_and_again(layout, load);
                    assert_eq!(printed, again, "{layout} of {load:?}");
                });
            }
        });
    }
}

#[test]
fn every_layout_tells_the_same_figures() {
    let url = server(true) + "x";
    let load = [&url, "--rate", "200", "--connections", "20"];
    let (plain, _) = printed_and_again("plain", &load);
    assert!(plain.contains("20 of 20 connections completed"), "{plain}");
    assert_eq!(plain.lines().find(|line| line.chars().count() > 80), None);
    let (httperf, _) = printed_and_again("httperf", &load);
    assert!(httperf.contains("Total: connections 20 requests 20 replies 20 test-duration"));
    assert!(httperf.contains("\nConnection rate: "), "{httperf}");
    assert!(httperf.contains("Errors: total 0 client-timo 0 socket-timo 0 connrefused 0"));
    assert!(httperf.contains("Reply status: 1xx=0 2xx=20 3xx=0 4xx=0 5xx=0"));
    let (ab, _) = printed_and_again("ab", &load);
    assert!(ab.contains("Complete requests:      20\nFailed requests:        0\n"));
    assert!(ab.contains("Document Path:          /x\n") && ab.contains(" 100%  "));
    assert!(ab.contains("Percentage of the requests"), "{ab}");
}
