//! Records to pass on: nothing of what a person chose is in them, and they say the same.

#![allow(clippy::unwrap_used, missing_docs)]

use analysis::analyse;
use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run};
use model::anonymous::{load_without_names, without_names};
use model::integrity::Integrity;
use model::load::{LoadRun, RateSearch, ServerUse, Step, Try};
use model::place::{Detail, DeviceLayer};
use model::plan::Plan;
use model::run::{ArmFailure, LeftOut, PlaceAfter, Run};
use model::watch::OtherProcess;
use serde_json::Value;

/// Planted in a text after the other.
const NAME: &str = "Alice7SN";

/// Texts that the hardware, the kernel or iotoll gives: the record's path to each, without
/// numbers of arms and slices.
const NOT_A_PERSONS: &[&str] = &[
    "schema",
    "run/id",
    "run/started",
    "run/version",
    "machine/cpu",
    "clients/cpu",
    "clients/mounts",
    "floor/clock",
    "plan/arms/study",
    "plan/arms/strategy",
    "places/filesystem",
    "places/mount_options",
    "places/devices/name",
    "places/devices/kind",
    "places/devices/model",
    "places/devices/write_cache",
    "places/devices/scheduler",
    "places/devices/below",
    "places/devices/details/value",
    "places/details/value",
    "watch/frequency/governors",
    "slices/outcome/figures",
];

fn plan() -> Plan {
    let places = ["alice=/home/alice/app", "ram=/dev/shm"];
    let settings = ["log.record=70,137", "page.set=/home/alice/site"];
    iotoll_testkit::plan(&studies::specs(), &["log", "page"], &places, &settings).unwrap()
}

/// Read below somebody's directory.
fn detail(name: &str) -> Detail {
    let source = "/home/alice/mountinfo".to_owned();
    let value = if matches!(name, "file" | "bind mount") { "/home/alice" } else { "512 B" };
    Detail { name: name.to_owned(), value: value.to_owned(), source }
}

/// A run with something in each field that may have a text.
fn full() -> Run {
    let mut plan = plan();
    let page = &mut plan.studies[1];
    page.label = Some("alice.site".to_owned());
    page.taken_for = Some("the files of alice's page".to_owned());
    page.per_second = Some(4.0);
    let arms =
        (0..plan.arms().len()).map(|arm| ArmBehaviour::steady(4000.0 / (1 + arm % 3) as f64, 0.05));
    let mut run = run(&plan, &mut SimulatedRunner::new(arms.collect(), 1));
    let text = || Some("/home/alice is full".to_owned());
    run.run.ended_early = text();
    run.unread.extend(text());
    run.failures.push(ArmFailure { arm: 1, why: "/home/alice is gone".to_owned() });
    run.places[0].unread.extend(text());
    run.places[0].devices.push(DeviceLayer {
        name: "vda1".to_owned(),
        kind: "partition".to_owned(),
        major: 254,
        minor: 1,
        model: Some("a disk".to_owned()),
        rotational: Some(false),
        write_cache: Some("write back".to_owned()),
        scheduler: Some("none".to_owned()),
        details: vec![detail("sectors"), detail("file")],
        below: vec!["vda".to_owned()],
    });
    run.places[0].details = vec![detail("journal"), detail("bind mount")];
    run.places[0].created = Some("image:ext4:128MiB:noatime@/home/alice".to_owned());
    run.places[1].created = Some("overlay:/home/alice".to_owned());
    run.run.left_out.push(LeftOut {
        label: "alice".to_owned(),
        target: "tmpfs:128MiB".to_owned(),
        why: "/home/alice is gone".to_owned(),
    });
    run.places_after[1] = PlaceAfter::Unreadable("/home/alice is gone".to_owned());
    for reading in [&mut run.watch.before, &mut run.watch.after] {
        reading.unread.extend(text());
        reading.frequency.governors.push("performance".to_owned());
        reading.others.push(OtherProcess { name: "alices-job".to_owned(), ..Default::default() });
    }
    let outcome = &mut run.slices[3].outcome;
    outcome.untrusted = text();
    outcome.evidence.insert("alice.requests".to_owned(), 3.0);
    outcome.figures.insert("figure".to_owned(), 3.0);
    outcome.integrity = Some(Integrity { example: text(), ..Integrity::default() });
    run
}

/// The places of all texts and keys in a document, as RFC 6901 has them; a key has a `*`
/// in front.
fn texts(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(n, v)| texts(v, &format!("{at}/{n}"), found));
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                found.push(format!("*{at}/{key}"));
                texts(value, &format!("{at}/{key}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The document with the name in one of its texts or keys.
fn planted(document: &Value, at: &str) -> Value {
    let mut changed = document.clone();
    if let Some(path) = at.strip_prefix('*') {
        let (parent, key) = path.rsplit_once('/').unwrap();
        let fields = changed.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        let value = fields.remove(key).unwrap();
        fields.insert(format!("{key}{NAME}"), value);
    } else {
        let Some(Value::String(text)) = changed.pointer_mut(at) else { panic!("no text at {at}") };
        text.push_str(NAME);
    }
    changed
}

fn is_a_persons(at: &str) -> bool {
    let parts = at.trim_start_matches('*').split('/').skip(1);
    let words: Vec<&str> = parts.filter(|part| part.parse::<usize>().is_err()).collect();
    let words = words.join("/").replace("places_after/facts", "places");
    let words = words.replace("watch/before", "watch").replace("watch/after", "watch");
    !words.starts_with("studies/") && !NOT_A_PERSONS.iter().any(|known| words.starts_with(known))
}

/// Plants a name in each text in turn; those after which the record can still be read must
/// not have it when they are passed on. How many could.
fn check<T: serde::de::DeserializeOwned>(
    document: &Value,
    passed_on: impl Fn(T) -> String,
) -> usize {
    let mut all = Vec::new();
    texts(document, "", &mut all);
    let asked = all.into_iter().filter(|at| is_a_persons(at));
    let tried = asked.filter_map(|at| {
        let record = serde_json::from_value(planted(document, &at)).ok()?;
        let text = passed_on(record);
        assert!(!text.to_lowercase().contains(&NAME.to_lowercase()), "{at} is passed on");
        Some(at)
    });
    tried.count()
}

/// With few slices, for each is looked at in turn.
fn short(mut run: Run) -> Run {
    run.slices.truncate(8);
    run
}

#[test]
fn a_name_planted_anywhere_in_a_comparison_is_not_passed_on() {
    let document = serde_json::to_value(short(full())).unwrap();
    let tried = check(&document, |run: Run| serde_json::to_string(&without_names(run)).unwrap());
    assert!(tried > 60, "only {tried} texts");
}

#[test]
fn a_comparison_says_the_same_without_names() {
    let before = full();
    let after = without_names(before.clone());
    let text = serde_json::to_string(&after).unwrap().to_lowercase();
    assert!(!text.contains("alice") && !text.contains("/home"), "{text}");
    for (arm, own) in after.plan.arms.iter().zip(&before.plan.arms) {
        assert_eq!(arm.id, own.id.replace("@alice", "@place-1").replace("alice.site", "label-1"));
    }
    let figures = |run: &Run| {
        let comparisons = analyse(run).comparisons;
        comparisons.into_iter().map(|c| (c.verdict, c.ratio)).collect::<Vec<_>>()
    };
    assert_eq!(figures(&after), figures(&before));
    // What is read back is what was written, and to share it again changes nothing.
    assert_eq!(without_names(after.clone()), after);
}

#[test]
fn a_name_planted_anywhere_in_a_load_is_not_passed_on() {
    let text = || Some("alice.example is away".to_owned());
    let step = Step {
        first_error: text(),
        server: Some(ServerUse { sync_note: text(), ..ServerUse::default() }),
        ..Step::default()
    };
    let why_not = text();
    let search = RateSearch {
        max_rate: None,
        limit: text(),
        tries: vec![Try { rate: 1.0, connections: 1, held: false, why_not }],
    };
    let document = serde_json::json!({
        "schema": "iotoll.load/2",
        "run": { "id": "0", "started": "", "seconds": 1.0, "version": "0", "interrupted": false },
        "machine": full().machine,
        "url": "http://alice.example/x", "host": "alice.example", "port": 8080, "path": "/x",
        "address": "10.1.2.3:8080", "method": "GET", "http": "1.1", "mode": "open",
        "rates": [100.0], "connections": 10, "concurrency": null, "requests": null,
        "gap": null, "seed": 1, "timeout_s": 1.0, "requests_per_connection": null,
        "request_bytes": 10, "server_software": "alice/1",
        "preflight": {
            "connections_at_worst": 1, "descriptors": 1, "ports_per_source": 1, "sources": 1,
            "warnings": text()
        },
        "steps": [step],
        "search": search,
    });
    let mut document = document;
    document["preflight"]["warnings"] = serde_json::json!([text()]);
    let text = |run: LoadRun| serde_json::to_string(&load_without_names(run)).unwrap();
    let tried = check(&document, text);
    assert!(tried > 10, "only {tried} texts");
    let passed_on = text(serde_json::from_value(document).unwrap());
    assert!(!passed_on.contains("alice") && !passed_on.contains("10.1.2.3"), "{passed_on}");
}
