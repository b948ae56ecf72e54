//! The study `serve` through the built binary: servers of its own, a server of the
//! user's, and every way in which that one can be wrong.

#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

use crate::common;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Places, assert_fails, entries, iotoll, place, run, stderr, stdout};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A web server in Python, as short as can be: it serves the folder that it is in,
/// and refuses every second request where the variant is `faulty`.
const SERVER: &str = r"
import http.server, itertools, os
number = itertools.count()
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if os.environ['IOTOLL_VARIANT'] == 'faulty' and self.path == '/' and next(number) % 2:
            return self.send_error(503)
        super().do_GET()
address = ('127.0.0.1', int(os.environ['IOTOLL_PORT']))
http.server.ThreadingHTTPServer(address, Handler).serve_forever()
";

fn has_python() -> bool {
    let found = std::process::Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: a server of the user's, for want of python3");
    }
    found
}

fn run_serve(places: &Places, budget: &str, more: &[&str]) -> Output {
    let [disk, ram] = places.args();
    run([&["compare", &disk, &ram, "--study", "serve", "--budget", budget], more].concat())
}

/// A run of so many blocks in both places.
fn measured(blocks: u64, more: &[&str]) -> Value {
    let places = Places::new();
    measured_at(&places, &places.args(), blocks, more)
}

fn measured_at(places: &Places, at: &[String], blocks: u64, more: &[&str]) -> Value {
    let at: Vec<&str> = at.iter().map(String::as_str).collect();
    let many = blocks.to_string();
    let given = ["--study", "serve", "--budget", "100s", "--blocks", &many, "--json", "-"];
    let output = run([&["compare"], &at[..], &given, more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    places.assert_empty();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = arms(&result).all(|arm| arm["slices"].as_u64() >= Some(blocks));
    assert!(all, "100 s did not suffice for {blocks} blocks");
    result
}

fn arms(result: &Value) -> impl Iterator<Item = &Value> {
    result["arms"].as_array().unwrap().iter()
}

fn evidence(arm: &Value, name: &str) -> f64 {
    arm["evidence"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {arm:#}"))
}

fn metric(arm: &Value, name: &str) -> f64 {
    arm["metrics"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {arm:#}"))
}

#[test]
fn a_page_is_judged_by_its_median_and_no_connection_fails() {
    let result = measured(6, &["--set", "serve.rate=100,200", "--set", "serve.connections=20"]);
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/result-2.json");
    let schema = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mistakes: Vec<String> = validator.iter_errors(&result).map(|e| e.to_string()).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
    assert_eq!(arms(&result).count(), 4);
    for (index, arm) in arms(&result).enumerate() {
        let slices = result["slices"].as_array().unwrap().iter();
        let compared = slices.filter(|s| s["arm"] == index && s["phase"]["block"].is_u64());
        let scores = compared.map(|s| s["outcome"]["score_ns"].as_f64().unwrap());
        let mut scores: Vec<f64> = scores.collect();
        scores.sort_by(f64::total_cmp);
        // Of slices' medians, and so far from what a stalled connection takes.
        // All arms' together are settled so that ratios add up, which moves one a little.
        let (least, most) = (0.9 * scores[0], 1.1 * scores[scores.len() - 1]);
        let typical = arm["toll_ns"].as_f64().unwrap();
        assert!((least..=most).contains(&typical), "{typical} {scores:?}");
        assert!(metric(arm, "errors_percent") == 0.0, "{arm:#}");
        // A file is read by at least one call.
        assert!(metric(arm, "read_calls_per_connection") >= 5.0, "{arm:#}");
        assert!(metric(arm, "response_p50_ns") > 0.0 && metric(arm, "server_memory_bytes") > 0.0);
    }
    for comparison in result["comparisons"].as_array().unwrap() {
        assert_eq!(comparison["errors"]["verdict"], "same", "{comparison:#}");
        assert!(comparison["errors"]["share_at_most"].as_f64() < Some(0.2));
    }
}

#[test]
fn what_sqlite_was_told_and_what_was_logged_is_all_there() {
    let set = ["--set", "serve.rate=50", "--set", "serve.connections=10"];
    let strategy = ["--strategy", "sqlite", "--set", "serve.log_lines=0,2"];
    let result = measured(1, &[&set[..], &strategy].concat());
    for arm in arms(&result) {
        let integrity = &arm["integrity"];
        for broken in ["lost", "torn", "overwritten", "foreign", "duplicated"] {
            assert_eq!(integrity[broken], 0, "{arm:#}");
        }
        // Rows of the table, and updates and lines of at least the timed requests.
        let slices = arm["slices"].as_u64().unwrap();
        let lines = if arm["params"]["log_lines"] == "2" { 20 } else { 0 };
        assert!(integrity["records"].as_u64().unwrap() >= slices * (100 + 100 + lines), "{arm:#}");
    }
    let by_lines = result["comparisons"].as_array().unwrap().iter();
    let by_lines = by_lines.filter(|c| c["axis"] == "strategy");
    assert_eq!(by_lines.count(), 2, "each place, with and without lines");
}

#[test]
fn logging_may_be_sampled_or_switched_on_for_one_request() {
    let set = ["--strategy", "empty", "--set", "serve.log_lines=3", "--set", "serve.rate=400"];
    let when = ["--set", "serve.log_when=always,sampled,switched"];
    let result = measured(1, &[&set[..], &when].concat());
    for arm in arms(&result) {
        let (slices, records) = (&arm["slices"], &arm["integrity"]["records"]);
        let a_slice = records.as_u64().unwrap() / slices.as_u64().unwrap();
        // A hundred timed requests and 21 before them.
        let expected = match arm["params"]["log_when"].as_str().unwrap() {
            "always" => 121 * 3,
            "sampled" => 2 * 3,
            _ => 3,
        };
        assert_eq!(a_slice, expected, "{arm:#}");
        assert_eq!(arm["integrity"]["lost"], 0);
    }
}

#[test]
fn the_highest_rate_is_what_places_are_judged_by_where_it_is_asked_for() {
    let places = Places::new();
    let ram = place("ram", places.ram.path());
    let set = ["--strategy", "empty", "--set", "serve.rate=max", "--set", "serve.workers=1"];
    let budget = ["--budget", "20s", "--json", "-"];
    let output = run([&["compare", &ram, "--study", "serve"], &set[..], &budget].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    for arm in arms(&result) {
        let rate = metric(arm, "highest_rate_per_s");
        assert!(rate > 1.0, "{arm:#}");
        let typical = arm["toll_ns"].as_f64().unwrap();
        // One is the median of what the other is the mean of, over a few slices.
        assert!(typical * rate / 1e9 > 0.3 && typical * rate / 1e9 < 3.0, "{typical} {rate}");
    }
}

#[test]
fn a_server_of_the_users_is_prepared_asked_for_evidence_and_judged_by_its_errors() {
    if !has_python() {
        return;
    }
    let script = tempfile::tempdir().unwrap();
    fs::write(script.path().join("server.py"), SERVER).unwrap();
    let plan = script.path().join("plan.toml");
    let text = "
[[study]]
name = 'serve'
strategy = 'command'
prepare = '''echo fine > {place}/index.html; echo '{\"hits\": 3}' > {place}/evidence'''
command = 'cd {place} && exec python3 {plan}/server.py {port}'
variant = ['sound', 'faulty']
# Quoted, for else the shell would take it apart.
evidence = '/evidence'
rate = 200
connections = 20
";
    // Only the environment names the variant, which is why the plan must name it.
    fs::write(&plan, text.replace("{port}'", "{port} {variant}'")).unwrap();
    let places = Places::new();
    let given = ["--plan", plan.to_str().unwrap(), "--allow-commands", "--threshold", "1%"];
    let result = measured_at(&places, &places.args()[1..], 14, &given);
    for arm in arms(&result) {
        assert!((evidence(arm, "hits") - 3.0).abs() < 1e-9);
        let faulty = arm["params"]["variant"] == "faulty";
        let errors = metric(arm, "errors_percent");
        assert!(if faulty { errors > 30.0 } else { errors == 0.0 }, "{errors} {arm:#}");
        // A refusal is quick, and must not make a server fast.
        let p90 = arm["time_per_op_ns"]["p90"].as_f64().unwrap();
        assert_eq!(p90 > 4e9, faulty, "{arm:#}");
    }
    let of_variants = result["comparisons"].as_array().unwrap().iter();
    for comparison in of_variants.filter(|c| c["axis"] == "strategy") {
        assert_eq!(comparison["errors"]["verdict"], "slower", "{comparison:#}");
    }
}

/// What a wrong command is answered with.
fn fails_with(command: &str, more: &[&str], code: i32, says: &[&str]) {
    let places = Places::new();
    let ram = place("ram", places.ram.path());
    let command = format!("serve.command={command}");
    let args = ["compare", &ram, "--study", "serve", "--strategy", "command", "--set", &command];
    let output = run([&args[..], more].concat());
    assert_fails(&output, code, says);
    places.assert_empty();
}

#[test]
fn a_command_that_cannot_be_meant_is_wrong_usage() {
    fails_with("", &[], 2, &["no command to start the server", "serve.command="]);
    fails_with("php -S 127.0.0.1:80", &[], 2, &["no {port}", "serve.port"]);
    fails_with("x {port}", &["--set", "serve.variant=a"], 2, &["{variant}"]);
    fails_with("x {port}", &["--set", "serve.url=a"], 2, &["begin it with /"]);
    fails_with("x {port}", &["--set", "serve.log_lines=1"], 2, &["log_lines", "built-in"]);
    fails_with("x {port}", &["--set", "serve.url=/a b"], 2, &["cannot be asked for"]);
    fails_with("x {port}", &["--set", "serve.p99_within=10s"], 2, &["longer than the timeout"]);
    let places = Places::new();
    for (set, says) in [
        ("serve.set=/no/such/folder", "/no/such/folder cannot be read"),
        ("serve.set=/etc/passwd", "name a directory"),
        ("serve.command=x {port}", "add --strategy command"),
        ("serve.timeout=1h", "from 100ms to 60s"),
    ] {
        assert_fails(&run_serve(&places, "4s", &["--set", set]), 2, &[says]);
    }
    places.assert_empty();
}

#[test]
fn each_of_several_variants_is_an_arm() {
    let places = Places::new();
    let ram = place("ram", places.ram.path());
    let serve = ["--study", "serve", "--strategy", "command", "--dry-run"];
    let command = ["--set", "serve.command=serve {variant} {port}"];
    let arms = |variants: &[&str]| {
        let output = run([&["compare", &ram], &serve[..], &command, variants].concat());
        let text = stdout(&output);
        text.lines().find(|line| line.contains("measured  ")).unwrap().trim().to_owned()
    };
    let two = "measured  command; with variant plain, buffered; on ram (2 combinations)";
    assert!(arms(&["--set", "serve.variant=plain,buffered"]).starts_with(two));
    let again = ["--set", "serve.variant=plain", "--set", "serve.variant=buffered"];
    assert!(arms(&again).starts_with(two), "{}", arms(&again));
    let how = "write {variant} where it belongs";
    fails_with("x {port}", &["--set", "serve.variant=plain,buffered"], 2, &[how]);
    let built_in = run(["compare", &ram, "--study", "serve", "--set", "serve.variant=a,b"]);
    assert_fails(&built_in, 2, &["variant was given", "add --strategy command"]);
}

#[test]
fn a_command_that_ends_or_fails_to_prepare_is_told_with_its_last_words() {
    let wrong = "echo no such option >&2; exit 7 # {port}";
    fails_with(wrong, &[], 1, &["nothing could be measured", "status 7", "no such option"]);
    let prepare = ["--set", "serve.prepare=echo no disk left >&2; exit 3"];
    fails_with(
        "sleep 9 # {port}",
        &prepare,
        1,
        &["preparing the folder ended with status 3", "no disk left"],
    );
}

#[test]
fn a_server_that_exits_under_load_is_told_with_its_last_output() {
    if !has_python() {
        return;
    }
    let dying = "python3 -c '
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    count = 0
    def do_GET(self):
        Handler.count += 1
        if Handler.count > 60:
            print(\"out of everything\", file=sys.stderr, flush=True)
            os._exit(9)
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer((\"127.0.0.1\", {port}), Handler).serve_forever()'";
    fails_with(dying, &[], 1, &["the server exited during the run", "out of everything"]);
}

#[test]
fn a_port_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let set = format!("serve.port={port}");
    fails_with("sleep 9", &["--set", &set], 1, &["already listening on port", &port.to_string()]);
}

#[test]
fn a_server_that_refuses_or_listens_elsewhere_is_told() {
    if !has_python() {
        return;
    }
    let at = |port: &str| format!("cd {{place}}; exec python3 -m http.server -b 127.0.0.1 {port}");
    let nothing = ["--set", "serve.url=/nothing"];
    fails_with(&at("{port}"), &nothing, 1, &["answers /nothing with status 404", "File not found"]);
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let elsewhere = elsewhere.to_string();
    fails_with(
        &format!("{} # {{port}}", at(&elsewhere)),
        &[],
        1,
        &["was not listening", &elsewhere],
    );
}

/// A run in the midst of its slices, of a server of ours, or in the midst of preparing
/// another.
fn running(places: &Places, prepares: bool) -> Child {
    let mut command = iotoll();
    command.args(["compare", &place("ram", places.ram.path()), "--study", "serve"]);
    command.args(["--budget", "10min", "--set", "serve.connections=400"]);
    if prepares {
        // What goes its own way is found all the same.
        let sleeper = "sh -c 'sleep 600; true' {place} __serve";
        let prepare = &format!("serve.prepare=setsid -f {sleeper}; {sleeper}");
        command.args(["--strategy", "command", "--set", prepare]);
        command.args(["--set", "serve.command=true {port}", "--set", "serve.ready_within=10min"]);
    }
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let waited = Instant::now();
    while servers(places.ram.path()) == 0 {
        assert!(waited.elapsed() < Duration::from_secs(60), "no server was started");
        sleep(Duration::from_millis(20));
    }
    child
}

/// Processes that serve from a folder below this one: they are in it, or name it.
fn servers(folder: &Path) -> usize {
    let serves = |process: &Path| {
        let words = fs::read(process.join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        // The run itself names both, where it is asked to.
        let is_run = words.contains("compare\0");
        let is_in = fs::read_link(process.join("cwd")).is_ok_and(|it| it.starts_with(folder));
        !is_run && words.contains("__serve") && (is_in || words.contains(folder.to_str().unwrap()))
    };
    entries(Path::new("/proc")).iter().filter(|process| serves(process)).count()
}

#[test]
fn no_server_is_left_by_a_run_that_is_interrupted_or_killed() {
    for (which, prepares) in
        [(Signal::INT, false), (Signal::KILL, false), (Signal::INT, true), (Signal::KILL, true)]
    {
        let places = Places::new();
        let child = running(&places, prepares);
        kill_process(Pid::from_child(&child), which).unwrap();
        let output = child.wait_with_output().unwrap();
        if which == Signal::INT {
            assert_eq!(output.status.code(), Some(130));
            assert!(stdout(&output).contains("interrupted after"), "{}", stdout(&output));
            places.assert_empty();
        }
        let waited = Instant::now();
        while servers(places.ram.path()) > 0 {
            assert!(waited.elapsed() < Duration::from_secs(30), "a server is left");
            sleep(Duration::from_millis(20));
        }
    }
}
