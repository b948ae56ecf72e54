//! The dashboard in `examples/grafana`: each of its queries answers in a Prometheus that scrapes
//! the file of a run, with that run's figures.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::runs::{Kept, json};

/// How long Prometheus may take to start and to scrape.
const PATIENCE: Duration = Duration::from_secs(120);

/// A figure of a combination in a run's JSON.
type Figure<'a> = &'a dyn Fn(&Value) -> f64;

/// A Prometheus that scrapes a text, until it is dropped.
struct Prometheus {
    child: Child,
    address: String,
    _folder: TempDir,
}

impl Prometheus {
    /// Nothing where it is not installed.
    fn scraping(text: String) -> Option<Self> {
        let scraped = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = scraped.local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("prometheus.yml");
        let job = format!(
            "scrape_configs:\n- job_name: node\n  scrape_interval: 1s\n  static_configs:\n  \
             - targets: ['{target}']\n"
        );
        fs::write(&config, job).unwrap();
        // It cannot say which port it took, so that it gets one that was free just now.
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address={free}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        thread::spawn(move || serve(&scraped, &text));
        Some(Self { child, address: free.to_string(), _folder: folder })
    }

    /// What it answers at a path; nothing as long as it does not listen.
    fn get(&self, path: &str) -> Option<Value> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
    }

    /// The series of a query, each with its value.
    fn query(&self, query: &str) -> Option<Vec<(BTreeMap<String, String>, f64)>> {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let answer = self.get(&format!("/api/v1/query?query={encoded}"))?;
        let series = answer["data"]["result"].as_array();
        let series = series.unwrap_or_else(|| panic!("{query}: {answer}"));
        let of = |one: &Value| {
            let labels = serde_json::from_value(one["metric"].clone()).unwrap();
            (labels, one["value"][1].as_str().unwrap().parse().unwrap())
        };
        Some(series.iter().map(of).collect())
    }

    fn wait_for_the_run(&self) {
        let began = Instant::now();
        while self.query("iotoll_run_info").is_none_or(|series| series.is_empty()) {
            assert!(began.elapsed() < PATIENCE, "Prometheus has scraped nothing");
            thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Answers each request with the text, as `node_exporter` does with its folder's files.
fn serve(listener: &TcpListener, text: &str) {
    for mut stream in listener.incoming().flatten() {
        let mut request = [0; 4096];
        let _ = stream.read(&mut request);
        let head = "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n\r\n";
        let _ = write!(stream, "{head}{text}");
    }
}

/// The queries of the dashboard's panels by title, with all studies and places chosen.
fn queries() -> BTreeMap<String, String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/grafana/iotoll.json");
    let dashboard = json(&fs::read_to_string(file).unwrap());
    let query = |panel: &Value| {
        let expression = panel["targets"][0]["expr"].as_str().unwrap();
        let all = expression.replace("$study", ".+").replace("$place", ".+");
        (panel["title"].as_str().unwrap().to_owned(), all)
    };
    dashboard["panels"].as_array().unwrap().iter().map(query).collect()
}

#[test]
fn each_query_of_the_dashboard_answers_with_the_figures_of_the_run() {
    let kept = Kept::with_a_run();
    let Some(prometheus) = Prometheus::scraping(kept.said(&["show", "--openmetrics", "-"])) else {
        eprintln!("SKIPPED: prometheus is not installed");
        return;
    };
    prometheus.wait_for_the_run();
    let queries = queries();
    let answer = |title: &str| {
        let series = prometheus.query(&queries[title]).unwrap();
        assert!(!series.is_empty(), "{title} shows nothing");
        series
    };
    let run = json(&kept.said(&["show", "--json", "-"]));
    let arms = run["arms"].as_array().unwrap();
    let per_operation = |arm: &Value, name: &str| {
        arm["io"][name].as_f64().unwrap() / arm["operations"].as_f64().unwrap()
    };
    let of_arms: [(&str, Figure<'_>); 5] = [
        ("Time per operation", &|arm| arm["toll_ns"].as_f64().unwrap() / 1e9),
        ("99th percentile", &|arm| arm["time_per_op_ns"]["p99"].as_f64().unwrap() / 1e9),
        ("Syncs per operation", &|arm| per_operation(arm, "sync_calls")),
        ("Bytes per operation", &|arm| per_operation(arm, "requested_bytes")),
        ("Processor time per operation", &|arm| {
            let cpu = &arm["cpu_ns_per_op"];
            (cpu["user"].as_f64().unwrap() + cpu["system"].as_f64().unwrap()) / 1e9
        }),
    ];
    for (title, figure) in of_arms {
        let series = answer(title);
        assert_eq!(series.len(), arms.len(), "{title}");
        for arm in arms {
            let is_of = |labels: &BTreeMap<String, String>| {
                ["study", "strategy", "place"].iter().all(|name| arm[*name] == labels[*name])
            };
            let (_, value) = series.iter().find(|(labels, _)| is_of(labels)).unwrap();
            assert_close(*value, figure(arm), title);
        }
    }
    let comparison = &run["comparisons"][0];
    let ratios = answer("Compared with now");
    assert_eq!(ratios.len(), run["comparisons"].as_array().unwrap().len());
    assert_eq!(comparison["base"], ratios[0].0["base"]);
    assert_close(ratios[0].1, comparison["ratio"].as_f64().unwrap(), "Compared with now");
    let sum = |of: &dyn Fn(&Value) -> u64| arms.iter().map(of).sum::<u64>() as f64;
    let operations = sum(&|arm| arm["operations"].as_u64().unwrap());
    let at_most = answer("Single operations of the last run");
    let all = at_most.iter().find(|(labels, _)| labels["le"] == "+Inf").unwrap().1;
    assert_close(all, operations, "Single operations of the last run");
    for title in ["Broken records", "Failed"] {
        assert_close(answer(title)[0].1, 0.0, title);
    }
    let comparisons = run["comparisons"].as_array().unwrap();
    let slower = comparisons.iter().filter(|comparison| comparison["verdict"] == "slower").count();
    assert_close(answer("Slower than now")[0].1, slower as f64, "Slower than now");
    assert!(answer("Time since the last run")[0].1 > 0.0);
    assert_eq!(queries.len(), 11, "a panel that is not checked");
}

/// Prometheus keeps all digits of what it is given.
fn assert_close(value: f64, expected: f64, title: &str) {
    assert!((value - expected).abs() <= expected.abs() * 1e-9, "{title}: {value}, not {expected}");
}
