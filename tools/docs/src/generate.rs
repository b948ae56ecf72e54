//! `cargo xtask generate`: reference files and examples that are made from the program, so
//! that they cannot say anything else.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use model::check_document::CheckDocument;
use model::diff::Diff;
use model::document::{Document, json_schema_of};
use model::load::{AnalysedStep, LoadRun};
use model::selftest::SelftestResult;
use model::trial::TryResult;
use trace::Bill;

use xtask::process;

use crate::example;
use crate::generated::Generated;
use crate::reference::{self, Schema};

/// The formats of JSON.
const SCHEMAS: [Schema; 7] = [
    Schema::new(
        "iotoll.result/2",
        "`compare`, `rerun`, `reproduce`, `bench`, `show`: the whole record and its analysis",
        json_schema_of::<Document>,
    ),
    Schema::new("iotoll.diff/1", "`diff`: what differs between runs", json_schema_of::<Diff>),
    Schema::new(
        "iotoll.bill/1",
        "`record`, `watch`, `show` of a recording",
        json_schema_of::<Bill>,
    ),
    Schema::new(
        "iotoll.load/2",
        "`load`: each step of a load",
        json_schema_of::<LoadRun<AnalysedStep>>,
    ),
    Schema::new(
        "iotoll.selftest/3",
        "`selftest`: what this machine can resolve",
        json_schema_of::<SelftestResult>,
    ),
    Schema::new(
        "iotoll.check/1",
        "`check`: is storage good enough",
        json_schema_of::<CheckDocument>,
    ),
    Schema::new("iotoll.try/1", "`try`: what each variant saves", json_schema_of::<TryResult>),
];

/// As much of a line is shown where it differs: a report has lines of some 100 kB.
#[cfg(test)]
const HINT_CHARS_MAX: usize = 200;

pub(crate) fn run() -> Result<()> {
    for generated in all(&process::built_iotoll())? {
        let file = process::root().join(&generated.path);
        fs::create_dir_all(file.parent().context("a file is in a folder")?)?;
        fs::write(&file, generated.text).with_context(|| generated.path.clone())?;
        println!("{}", generated.path);
    }
    Ok(())
}

/// An error where a file is not as this program says.
#[cfg(test)]
fn check(iotoll: &Path) -> Result<()> {
    let mut stale = Vec::new();
    for Generated { path, text } in all(iotoll)? {
        let found = fs::read_to_string(process::root().join(&path)).unwrap_or_default();
        stale.extend(difference(&found, &text).map(|hint| format!("{path}, {hint}")));
    }
    stale.extend(example::misquoted()?);
    anyhow::ensure!(
        stale.is_empty(),
        "out of date; `cargo xtask generate` writes anew, and `git diff` shows what changes:\n{}",
        stale.join("\n")
    );
    Ok(())
}

fn all(iotoll: &Path) -> Result<Vec<Generated>> {
    let mut files = example::files()?.into_iter().collect::<Vec<_>>();
    for schema in &SCHEMAS {
        let text = serde_json::to_string_pretty(&(schema.json)())? + "\n";
        files.push(Generated::new(format!("docs/{}", schema.path()), text));
    }
    files.extend(reference::pages(iotoll, &SCHEMAS)?);
    Ok(files)
}

/// Where two texts begin to differ, if they do.
#[cfg(test)]
fn difference(found: &str, wanted: &str) -> Option<String> {
    if found == wanted {
        return None;
    }
    let same = found.lines().zip(wanted.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| {
        let line = text.lines().nth(same).unwrap_or("(the end)").trim();
        model::printable::shortened(line, HINT_CHARS_MAX).into_owned()
    };
    let (is, should) = (line(found), line(wanted));
    Some(format!("line {}:\n  is      {is}\n  should  {should}", same + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_current() {
        check(&process::built_iotoll()).expect("they are");
    }

    #[test]
    fn a_difference_names_its_line() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        let hint = difference("a\nb\n", "a\nc\n").expect("they differ");
        assert_eq!(hint, "line 2:\n  is      b\n  should  c");
        let hint = difference("", "a\n").expect("they differ");
        assert_eq!(hint, "line 1:\n  is      (the end)\n  should  a");
    }
}
