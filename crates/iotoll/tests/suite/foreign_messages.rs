//! What others wrote, as messages name it: no line of theirs passes for one of the program's,
//! or for a command to a build server.

#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::{iotoll, stderr, stdout};
use model::printable::is_unprintable;
use model::run::Run;
use serde_json::json;
use store::{Entry, Kind, State, Store, Summary};

const HOSTILE: &str =
    "a\u{1b}]0;t\u{7}\r\n::error title=x::pwn\n  ##[error]x\niotoll: saved\u{202e}";

fn run(command: &mut Command, code: i32) -> Output {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}{}", stdout(&output), stderr(&output));
    for text in [stdout(&output), stderr(&output)] {
        assert!(!text.contains(|c| c != '\n' && is_unprintable(c)), "{text:?}");
        assert!(!text.contains("##["), "{text}");
        let forged = |line: &&str| line.starts_with("::") || line.starts_with("iotoll: saved");
        assert_eq!(text.lines().map(str::trim_start).find(forged), None, "{text}");
    }
    output
}

#[test]
fn no_message_has_a_line_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let named = folder.path().join("a\n::error title=x::pwn\n.json");
    fs::write(&named, json!({ "schema": format!("iotoll.{HOSTILE}") }).to_string()).unwrap();
    for command in ["show", "report", "share", "rerun", "diff"] {
        let output = run(iotoll().arg(command).arg(&named), 2);
        let said = stderr(&output);
        assert!(said.contains(r"::error title=x::pwn\n") || said.contains("  | ::error"), "{said}");
    }
    for wrong in [["--threshold", HOSTILE], ["--study", HOSTILE], [HOSTILE, HOSTILE]] {
        run(iotoll().args(["compare", "/tmp", "--dry-run"]).args(wrong), 2);
    }
    run(iotoll().arg(HOSTILE), 2);
    run(iotoll().arg(format!("--{HOSTILE}")), 2);
}

#[test]
fn a_password_in_a_url_is_not_shown() {
    for url in ["http://me:secret@a/", "https://me:secret@a/", "me:secret@a"] {
        let said = stderr(&run(iotoll().args(["load", url, "--rate=1", "--connections=1"]), 2));
        assert!(said.contains("me:…@a") && !said.contains("secret"), "{said}");
    }
}

/// A store as somebody else may have left it.
fn hostile_store(folder: &Path) {
    let text = || HOSTILE.to_owned();
    let mut store = Store::open(folder).unwrap();
    let entry = Entry {
        id: "ab12cd34ab12cd34".to_owned(),
        kind: Kind::Load,
        started: text(),
        subject: text(),
        state: State::Finished,
        seconds: 1.0,
        blocks: 1,
        studies: vec![text()],
        places: vec![text()],
        summary: None,
    };
    store.keep(&entry, &json!({ "schema": format!("iotoll.{HOSTILE}") })).unwrap();
    let other = Entry { id: "ef12cd34ab12cd34".to_owned(), ..entry };
    store.keep(&other, &json!({})).unwrap();
    store.summarise(&other.id, &Summary { ended: text(), answer: text() }, &[]).unwrap();
    let seed = include_str!("../../../../tools/fuzz/seeds/log.json");
    let mut killed = Run::read(seed).unwrap();
    killed.run.started = text();
    killed.places[0].label = text();
    killed.plan.arms[0].id = text();
    drop(store.begin(&killed).unwrap());
}

#[test]
fn a_list_of_saved_runs_has_no_line_of_others() {
    let folder = tempfile::tempdir().unwrap();
    hostile_store(folder.path());
    let at = || {
        let mut command = iotoll();
        command.env("IOTOLL_DIR", folder.path());
        command
    };
    let listed = run(at().arg("history"), 0);
    assert!(
        stderr(&listed).contains("was killed before its first round was complete"),
        "{}",
        stderr(&listed)
    );
    assert!(stdout(&listed).contains(r"\u{1b}"), "{}", stdout(&listed));
    let listed = run(at().args(["history", "--json", "-"]), 0);
    let document: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(document["runs"][0]["places"][0], HOSTILE);
    run(at().args(["show", "ab12"]), 2);
    run(at().args(["prune", "--dry-run", "--keep=0"]), 0);
}
