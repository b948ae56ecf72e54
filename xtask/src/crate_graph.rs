//! Keeps the picture of the crates in `ARCHITECTURE.md` true.
//!
//! The picture is the text block whose lines each name a crate, say what it is
//! for, and list after `->` the crates of ours that it depends on:
//!
//! ```text
//! model      nouns, units, plan, result; no I/O      -> stats
//! ```
//!
//! What the program is built from is meant: what tests alone use is not drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context as _, Result};
use serde_json::Value;

use xtask::process;

/// Where the picture is.
const FILE: &str = "ARCHITECTURE.md";
/// What stands before the crates that one depends on.
const ARROW: &str = "->";
/// What the names of our packages begin with, and names in the picture do not.
const PREFIX: &str = "iotoll-";

/// Each crate of ours, and those that it depends on.
type Crates = BTreeMap<String, BTreeSet<String>>;

/// What the picture gets wrong, each with its file and line.
pub(crate) fn check() -> Result<Vec<String>> {
    let text = fs::read_to_string(process::root().join(FILE)).context(FILE)?;
    let arguments = ["metadata", "--format-version=1", "--no-deps", "--offline"];
    let crates = crates(&process::json(&mut process::cargo(&arguments))?);
    let mistakes = mistakes(&picture(&text), &crates);
    Ok(mistakes.into_iter().map(|(line, what)| format!("{FILE}:{line}: {what}")).collect())
}

/// Our crates as their `Cargo.toml` files have them; xtask and the tools are not drawn.
fn crates(metadata: &Value) -> Crates {
    let all = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let short = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        name.strip_prefix(PREFIX).unwrap_or(name).to_owned()
    };
    let packages = all(&metadata["packages"]);
    let is_drawn = |package: &&Value| {
        package["manifest_path"].as_str().is_some_and(|path| path.contains("/crates/"))
    };
    let packages = packages.iter().filter(is_drawn);
    let needs = |package: &Value| {
        let dependencies = all(&package["dependencies"]);
        let ours = dependencies.iter().filter(|d| d["kind"].is_null() && d["path"].is_string());
        ours.map(|dependency| short(&dependency["name"])).collect()
    };
    packages.map(|package| (short(&package["name"]), needs(package))).collect()
}

/// One line of the picture.
struct Drawn {
    line: usize,
    name: String,
    needs: BTreeSet<String>,
}

/// The entries of the first block with an arrow in it.
fn picture(text: &str) -> Vec<Drawn> {
    let mut lines = text.lines().zip(1..);
    while lines.by_ref().any(|(line, _)| line.starts_with("```")) {
        let block: Vec<_> = lines.by_ref().take_while(|(line, _)| *line != "```").collect();
        if block.iter().any(|(line, _)| line.contains(ARROW)) {
            return entries(&block);
        }
    }
    Vec::new()
}

/// A line that is set in goes on with the one before.
fn entries(block: &[(&str, usize)]) -> Vec<Drawn> {
    let mut whole: Vec<(String, usize)> = Vec::new();
    for (text, line) in block {
        match whole.last_mut() {
            Some((before, _)) if text.starts_with(char::is_whitespace) => *before += text,
            _ => whole.push(((*text).to_owned(), *line)),
        }
    }
    whole.iter().filter_map(|(text, line)| drawn(text, *line)).collect()
}

fn drawn(text: &str, line: usize) -> Option<Drawn> {
    let (words, needs) = text.split_once(ARROW).unwrap_or((text, ""));
    let name = words.split_whitespace().next()?.to_owned();
    let needs = needs.split(',').map(|need| need.trim().to_owned());
    Some(Drawn { line, name, needs: needs.filter(|need| !need.is_empty()).collect() })
}

/// Where the picture and the crates differ, in either direction.
fn mistakes(picture: &[Drawn], crates: &Crates) -> Vec<(usize, String)> {
    let mut mistakes = Vec::new();
    for Drawn { line, name, needs } in picture {
        let Some(real) = crates.get(name) else {
            mistakes.push((*line, format!("there is no crate {name}")));
            continue;
        };
        let missing = real.difference(needs);
        let false_ones = needs.difference(real);
        mistakes.extend(missing.map(|n| (*line, format!("{name} depends on {n}: no arrow"))));
        mistakes.extend(false_ones.map(|n| (*line, format!("{name} does not depend on {n}"))));
    }
    for name in crates.keys() {
        let lines: Vec<usize> =
            picture.iter().filter(|drawn| drawn.name == *name).map(|drawn| drawn.line).collect();
        match lines[..] {
            [] => mistakes.push((1, format!("the picture of the crates lacks {name}"))),
            [_] => {}
            [.., again] => mistakes.push((again, format!("{name} is drawn twice"))),
        }
    }
    mistakes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "# Title\n\n```sh\nx\n```\n\n```text\n\
        iotoll   the binary        -> model,\n                               stats\n\
        model    nouns,            -> stats\n\
        stats    numbers\n         and more of them\n```\n\n```text\nother -> model\n```\n";

    fn house(crates: &[(&str, &[&str])]) -> Crates {
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        crates.iter().map(|(name, needs)| ((*name).to_owned(), set(needs))).collect()
    }

    fn found(text: &str, crates: &[(&str, &[&str])]) -> Vec<(usize, String)> {
        mistakes(&picture(text), &house(crates))
    }

    const REAL: [(&str, &[&str]); 3] =
        [("iotoll", &["model", "stats"]), ("model", &["stats"]), ("stats", &[])];

    #[test]
    fn a_true_picture_has_no_mistakes() {
        assert_eq!(found(TEXT, &REAL), []);
    }

    #[test]
    fn an_arrow_too_few_and_one_too_many_are_found() {
        let [_, _, stats] = REAL;
        let crates = [("iotoll", &["stats"][..]), ("model", &["iotoll", "stats"]), stats];
        let [first, second] =
            ["iotoll does not depend on model", "model depends on iotoll: no arrow"];
        assert_eq!(found(TEXT, &crates), [(8, first.to_owned()), (10, second.to_owned())]);
    }

    #[test]
    fn crates_that_are_missing_made_up_or_drawn_twice_are_found() {
        let [iotoll, model, stats] = REAL;
        let missing = "the picture of the crates lacks host";
        assert_eq!(found(TEXT, &[iotoll, model, stats, ("host", &[])]), [(1, missing.to_owned())]);
        let made_up = "there is no crate stats";
        assert_eq!(found(TEXT, &[iotoll, model]), [(11, made_up.to_owned())]);
        let twice = TEXT.replace("stats    numbers\n", "stats    numbers\nstats    again\n");
        assert_eq!(found(&twice, &REAL), [(12, "stats is drawn twice".to_owned())]);
        assert_eq!(found("no picture", &REAL).len(), 3);
    }

    #[test]
    fn what_tests_alone_use_is_not_drawn() {
        let dependency = |name: &str, kind: Value| json!({"name": name, "kind": kind, "path": "x"});
        let model = json!({"name": "iotoll-model", "manifest_path": "/w/crates/model/Cargo.toml", "dependencies": [
            dependency("iotoll-stats", Value::Null),
            dependency("iotoll-places", json!("dev")),
            {"name": "serde", "kind": null},
        ]});
        let xtask =
            json!({"name": "xtask", "manifest_path": "/w/xtask/Cargo.toml", "dependencies": []});
        let found = crates(&json!({ "packages": [model, xtask] }));
        assert_eq!(found, house(&[("model", &["stats"])]));
    }
}
