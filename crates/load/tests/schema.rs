//! The result's form is what `docs/schema/load-1.json` says.
//!
//! Run with `UPDATE_SCHEMA=1` to write the file anew after a change. A change
//! that takes away or renames a field needs a new version.

#![allow(clippy::unwrap_used)]

mod common;

use common::{OK, answer, closed, open, plan, result, server};
use iotoll_load::{LoadResult, SCHEMA, Server, Steps, free_port, run};
use std::{fs, path::PathBuf, sync::atomic::AtomicBool};

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/load-1.json")
}

#[test]
fn the_committed_schema_is_up_to_date() {
    let schema = schemars::schema_for!(LoadResult);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::create_dir_all(file().parent().unwrap()).unwrap();
        fs::write(file(), &text).unwrap();
    }
    let committed = fs::read_to_string(file()).unwrap();
    assert!(committed == text, "docs/schema/load-1.json is stale: run with UPDATE_SCHEMA=1");
}

#[test]
fn real_results_of_all_kinds_are_valid() {
    let schema = serde_json::from_str(&fs::read_to_string(file()).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let url = format!("http://{}/", server(answer(OK)));
    let refused = format!("http://127.0.0.1:{}/", free_port().unwrap());
    let process = Server::start("sleep 1000", free_port().unwrap()).unwrap();
    let beside =
        run(&plan(&url, open(10)), Some(&process.watch()), &mut |_| (), &AtomicBool::new(false));
    let results = [
        result(&plan(&url, open(10))),
        result(&plan(&url, closed(2, 10))),
        result(&plan(&refused, open(3))),
        result(&plan(&refused, Steps::MaxRate { connections: None })),
        beside.unwrap(),
    ];
    for result in results {
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json["schema"], SCHEMA);
        let wrong: Vec<_> = validator.iter_errors(&json).map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    let wrong = serde_json::json!({ "schema": SCHEMA, "steps": [] });
    assert!(!validator.is_valid(&wrong), "the schema takes anything");
}
