//! The record's form is what `docs/schema/load-2.json` says, and it reads back
//! as it was written. `cargo xtask generate` writes the schema; a change that
//! takes away or renames a field needs a new version.

#![allow(clippy::unwrap_used)]

use crate::common;

use common::{OK, Refusing, answer, closed, open, plan, result, server};
use iotoll_load::{LoadRun, Measured, SCHEMA, ServerMeter, ServerUse, Steps, analyse_load, run};
use model::{
    document::json_schema_of,
    load::{AnalysedStep, Run},
    run::Machine,
};
use std::{cell::Cell, fs, path::PathBuf, sync::atomic::AtomicBool};

fn schema() -> serde_json::Value {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/load-2.json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn record(measured: Measured) -> LoadRun {
    let machine = Machine {
        kernel: String::from("6.1"),
        cpu: String::from("made up"),
        cpus: 2,
        memory_bytes: 1 << 30,
        memory_limit_bytes: None,
    };
    let run = Run { id: String::from("x"), seconds: 0.1 + 0.2, ..Run::default() };
    measured.into_record(run, machine)
}

/// A server that reads once for each of its replies.
#[derive(Default)]
struct MadeUp {
    steps: Cell<u64>,
}

impl ServerMeter for MadeUp {
    fn begin(&self) -> Box<dyn FnOnce(u64) -> ServerUse + '_> {
        self.steps.set(self.steps.get() + 1);
        Box::new(|replies| ServerUse { read_calls: replies, ..ServerUse::default() })
    }
}

#[test]
fn the_committed_schema_is_up_to_date() {
    assert!(schema() == json_schema_of::<LoadRun<AnalysedStep>>(), "run cargo xtask generate");
}

#[test]
fn real_records_of_all_kinds_are_valid_and_read_back_the_same() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let url = format!("http://{}/", server(answer(OK)));
    let nobody = Refusing::new();
    let refused = nobody.url();
    let meter = MadeUp::default();
    let beside = run(&plan(&url, open(10)), Some(&meter), &mut |_| (), &AtomicBool::new(false));
    let beside = beside.unwrap();
    assert_eq!(meter.steps.get(), 1, "it is read once for each step");
    assert_eq!(beside.steps[0].server.as_ref().unwrap().read_calls, 10);
    let all = [
        result(&plan(&url, open(10))),
        result(&plan(&url, closed(2, 10))),
        result(&plan(&refused, open(3))),
        result(&plan(&refused, Steps::MaxRate { connections: None })),
        beside,
    ];
    for measured in all {
        let record = record(measured);
        let analysis = analyse_load(&record);
        let text = serde_json::to_string(&record.with_analysis(&analysis)).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["schema"], SCHEMA);
        let wrong: Vec<_> = validator.iter_errors(&json).map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        let again: LoadRun = serde_json::from_str(&text).unwrap();
        assert_eq!(again, record);
        assert_eq!(analyse_load(&again), analysis);
    }
    let wrong = serde_json::json!({ "schema": SCHEMA, "steps": [] });
    assert!(!validator.is_valid(&wrong), "the schema takes anything");
}
