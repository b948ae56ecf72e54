//! Records with something in each field that may be left out.

use std::time::Duration;

use iotoll_testkit::{ArmBehaviour, SimulatedRunner, run_article};
use model::article::MissingProgram;
use model::article_spec::Repetition;
use model::document::SCHEMA;
use model::integrity::Integrity;
use model::place::{Detail, DeviceLayer, PlaceRequest};
use model::run::{ArmFailure, LeftOut, PlaceAfter, Run};
use serde_json::{Value, json};
use studies::articles;

use super::as_file;

const SLICES: usize = 7;
const BUCKETS: usize = 3;

fn seed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A small comparison that was really measured.
pub(crate) fn measured() -> Run {
    let mut run = Run::read(include_str!("../../../../../tools/fuzz/seeds/log.json")).unwrap();
    run.slices.truncate(SLICES);
    // Histograms are most of it, and one bucket of theirs is like another.
    run.slices.iter_mut().for_each(|slice| slice.latencies.buckets.truncate(BUCKETS));
    run
}

/// The same with something in each field that may be left out.
pub(crate) fn comparison() -> Value {
    let mut run = measured();
    let text = || "some text".to_owned();
    run.run.ended_early = Some(text());
    run.unread.push(text());
    run.run.left_out.push(LeftOut { label: text(), target: text(), why: text() });
    let last = run.plan.arms.len() - 1;
    run.failures.push(ArmFailure { arm: last, why: text() });
    let detail = || Detail { name: text(), value: text(), source: text() };
    run.places[0].devices.push(DeviceLayer {
        name: text(),
        kind: "partition".to_owned(),
        major: 254,
        minor: 1,
        model: Some(text()),
        rotational: Some(false),
        write_cache: Some(text()),
        scheduler: Some(text()),
        details: vec![detail()],
        below: vec![text()],
    });
    run.places[0].unread.push(text());
    run.places[0].details.push(detail());
    run.places[0].created = Some("image:ext4:128MiB:noatime@/srv".to_owned());
    run.places_after[1] = PlaceAfter::Unreadable(text());
    run.watch.after.unread.push(text());
    let slices = run.slices.iter_mut().filter(|slice| slice.block().is_some());
    for (number, slice) in slices.enumerate() {
        let outcome = &mut slice.outcome;
        outcome.untrusted = (number % 3 == 0).then(text);
        outcome.evidence.insert(text(), 3.0);
        outcome.failed = Some(1);
        let example = Some(text());
        outcome.integrity =
            Some(Integrity { example, torn: 1, records: 9, ..Integrity::default() });
    }
    as_file(SCHEMA, serde_json::to_value(&run).unwrap())
}

/// A run that repeats an article.
pub(crate) fn article() -> Value {
    let spec = articles::find("shm-cache").unwrap();
    let mut draft = spec.draft(&studies::specs(), true, &[]).unwrap();
    draft.budget = Some(Duration::from_millis(200));
    let made = spec.places_without(&[]).map(|place| place.label);
    let labels = ["disk", "ram"].into_iter().chain(made);
    draft.places = labels.map(|label| PlaceRequest::directory(label, "/")).collect();
    let plan = draft.finish(1).unwrap();
    let labels = ["disk", "ram"].map(str::to_owned);
    let repetition =
        Repetition { spec, labels, is_quick: true, missing: Vec::new(), held: Vec::new() };
    let arms = vec![ArmBehaviour::steady(2000.0, 0.01); plan.arms().len()];
    let mut runner = SimulatedRunner::new(arms, 1);
    let mut run = run_article(&plan, repetition.article(&plan), &mut runner);
    run.slices.retain(|slice| slice.block().is_some_and(|block| block < 3));
    let text = || "some text".to_owned();
    if let Some(article) = &mut run.article {
        article.missing.push(MissingProgram { what: text(), install: text() });
    }
    as_file(SCHEMA, serde_json::to_value(&run).unwrap())
}

/// A load with errors and a server that was watched.
pub(crate) fn load() -> Value {
    let mut load = seed(include_str!("../../../../../tools/fuzz/seeds/load.json"));
    let text = json!("some text");
    load["preflight"]["warnings"] = json!([text]);
    load["steps"][0]["first_error"] = text.clone();
    load["steps"][0]["server"] = json!(model::load::ServerUse {
        sync_note: Some("some text".to_owned()),
        ..model::load::ServerUse::default()
    });
    load
}

/// A search for the highest rate.
pub(crate) fn search() -> Value {
    let mut search = seed(include_str!("../../../../../tools/fuzz/seeds/max.json"));
    let text = json!("some text");
    search["search"]["limit"] = text.clone();
    search["search"]["tries"] =
        json!([{ "rate": 100.0, "connections": 5, "held": false, "why_not": text }]);
    search
}

/// A selftest that does not trust the machine.
pub(crate) fn selftest() -> Value {
    let mut selftest = seed(include_str!("../../../../../tools/fuzz/seeds/selftest.json"));
    selftest["objections"] = json!(["some text"]);
    selftest["places"][0]["failure"] = json!("some text");
    selftest
}
