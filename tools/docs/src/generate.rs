//! `cargo xtask generate`: reference files and examples that are made from the program, so
//! that they cannot say anything else.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use model::check_document::CheckDocument;
use model::diff::Diff;
use model::document::Document;
use model::load::LoadRun;
use model::selftest::SelftestResult;
use model::study::StudyDescription;
use trace::Bill;

use xtask::process;

use crate::example;
use crate::generated::Generated;

/// As much of a line is shown where it differs: a report has lines of some 100 kB.
#[cfg(test)]
const HINT_CHARS_MAX: usize = 200;

pub(crate) fn run() -> Result<()> {
    for generated in all(&process::built_iotoll())? {
        let file = process::root().join(generated.path);
        fs::create_dir_all(file.parent().context("a file is in a folder")?)?;
        fs::write(&file, generated.text).with_context(|| generated.path.to_owned())?;
        println!("{}", generated.path);
    }
    Ok(())
}

/// An error where a file is not as this program says.
#[cfg(test)]
fn check(iotoll: &Path) -> Result<()> {
    let mut stale = Vec::new();
    for Generated { path, text } in all(iotoll)? {
        let found = fs::read_to_string(process::root().join(path)).unwrap_or_default();
        stale.extend(difference(&found, &text).map(|hint| format!("{path}, {hint}")));
    }
    stale.extend(example::misquoted()?);
    if !stale.is_empty() {
        anyhow::bail!(
            "out of date; `cargo xtask generate` writes anew, and `git diff` shows what changes:\n{}",
            stale.join("\n")
        );
    }
    Ok(())
}

fn all(iotoll: &Path) -> Result<Vec<Generated>> {
    let text = |schema| serde_json::to_string_pretty(&schema).map(|text| text + "\n");
    let of_the_program = [
        Generated { path: "docs/schema/result-2.json", text: text(Document::json_schema())? },
        Generated { path: "docs/schema/check-1.json", text: text(CheckDocument::json_schema())? },
        Generated { path: "docs/schema/load-2.json", text: text(LoadRun::json_schema())? },
        Generated {
            path: "docs/schema/selftest-3.json",
            text: text(SelftestResult::json_schema())?,
        },
        Generated { path: "docs/schema/diff-1.json", text: text(Diff::json_schema())? },
        Generated { path: "docs/schema/bill-1.json", text: text(Bill::json_schema())? },
        Generated { path: "docs/reference.md", text: reference(iotoll)? },
    ];
    Ok(of_the_program.into_iter().chain(example::files()?).collect())
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

/// What `iotoll` says about itself, and its studies.
fn reference(iotoll: &Path) -> Result<String> {
    let overview = help(iotoll, None)?;
    let mut text = format!(
        "# Reference\n\n\
         Made by `cargo xtask generate` from the program itself; changes here would be lost.\n\n\
         ## Commands\n\n```text\n{overview}```\n"
    );
    for command in commands(&overview) {
        let help = help(iotoll, Some(command))?;
        write!(text, "\n### iotoll {command}\n\n```text\n{help}```\n")?;
    }
    text.push_str("\n## Studies\n");
    for spec in studies::specs() {
        describe(spec, &mut text)?;
    }
    Ok(text)
}

/// As on a terminal of 80 columns.
fn help(iotoll: &Path, command: Option<&str>) -> Result<String> {
    let mut asked = Command::new(iotoll);
    let text = process::output(asked.args(command).arg("--help").env("COLUMNS", "80"))?;
    // Between paragraphs there are blanks.
    Ok(text.lines().map(|line| line.trim_end().to_owned() + "\n").collect())
}

/// The commands that the overview lists in groups before the options, each on a line that is set
/// in by two; but for clap's own.
fn commands(overview: &str) -> impl Iterator<Item = &str> {
    let listed = overview.lines().take_while(|line| *line != "Options:");
    listed
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
}

fn describe(spec: &StudyDescription, text: &mut String) -> Result<()> {
    write!(text, "\n### {}\n\n{}.\n", spec.name, capitalised(&spec.about))?;
    text.push_str("\n| strategy | what it does | what it promises | by default |\n");
    text.push_str("| --- | --- | --- | --- |\n");
    for s in &spec.strategies {
        let by_default = if s.by_default { "yes" } else { "no" };
        writeln!(
            text,
            "| `{}` | {} | {} | {by_default} |",
            s.name,
            cell(&s.about),
            cell(&s.promise)
        )?;
    }
    if !spec.promise_when.is_empty() {
        text.push_str("\n| where | it promises instead |\n| --- | --- |\n");
    }
    for rule in &spec.promise_when {
        let promise = if rule.promise.is_empty() { "nothing is written" } else { &rule.promise };
        writeln!(text, "| {} | {} |", cell(&rule.when.to_string()), cell(promise))?;
    }
    if !spec.relies_on.is_empty() {
        text.push_str(
            "\n| relied on where several processes share the files | by |\n| --- | --- |\n",
        );
    }
    for rule in &spec.relies_on {
        writeln!(text, "| {} | {} |", rule.on.shown(), cell(&rule.when.to_string()))?;
    }
    text.push_str("\n| parameter | what it means | what it may be | default |\n");
    text.push_str("| --- | --- | --- | --- |\n");
    for p in &spec.params {
        let (about, accepts) = (cell(&p.about), cell(&p.accepts));
        writeln!(text, "| `{}` | {about} | {accepts} | `{}` |", p.name, p.default.join(", "))?;
    }
    if !spec.figures.is_empty() {
        text.push_str("\n| figure beside the toll | what it is |\n| --- | --- |\n");
    }
    for f in &spec.figures {
        writeln!(text, "| `{}` | {} |", f.name, cell(&f.about))?;
    }
    Ok(())
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(letters).collect()
}

/// Text that does not end its cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', r"\|")
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

    #[test]
    fn commands_are_those_in_their_section() {
        let overview = "Usage: x\n\nMeasure:\n  load   Send\n         requests\n\nOther:\n  \
                        clean  Remove\n  help   Print\n\nOptions:\n  -h\n";
        assert!(commands(overview).eq(["load", "clean"]));
    }

    #[test]
    fn every_study_is_described() {
        let docs = process::root().join("docs");
        let studies = fs::read_to_string(docs.join("studies.md")).expect("it is there");
        for name in studies::specs().into_iter().map(|spec| &spec.name) {
            let is_described = studies.lines().any(|line| line == format!("## {name}"))
                || docs.join(format!("{name}.md")).exists();
            assert!(is_described, "neither docs/studies.md nor docs/{name}.md describes {name}");
        }
    }
}
