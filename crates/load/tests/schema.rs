//! The record's form is what `docs/schema/load-2.json` says, and it reads back
//! as it was written. `cargo xtask generate` writes the schema; a change that
//! takes away or renames a field needs a new version.

#![allow(clippy::unwrap_used)]

mod common;

use common::{OK, answer, closed, open, plan, result, server};
use iotoll_load::{LoadRun, Measured, SCHEMA, Server, Steps, analyse_load, free_port, run};
use model::{load::Run, run::Machine};
use std::{fs, path::PathBuf, sync::atomic::AtomicBool};

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

#[test]
fn the_committed_schema_is_up_to_date() {
    assert!(schema() == LoadRun::json_schema(), "run cargo xtask generate");
}

#[test]
fn real_records_of_all_kinds_are_valid_and_read_back_the_same() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let url = format!("http://{}/", server(answer(OK)));
    let refused = format!("http://127.0.0.1:{}/", free_port().unwrap());
    let process = Server::start("sleep 1000", free_port().unwrap()).unwrap();
    let beside =
        run(&plan(&url, open(10)), Some(&process.watch()), &mut |_| (), &AtomicBool::new(false));
    let all = [
        result(&plan(&url, open(10))),
        result(&plan(&url, closed(2, 10))),
        result(&plan(&refused, open(3))),
        result(&plan(&refused, Steps::MaxRate { connections: None })),
        beside.unwrap(),
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
