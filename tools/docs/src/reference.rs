//! The reference, in `docs/reference`: what the program says of its commands, studies, causes
//! and formats of files.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use analysis::analyse;
use anyhow::{Context as _, Result};
use model::cause::CauseCode;
use model::grouped::group_of;
use model::strategy::Recipe;
use model::study::{ParamDescription, StrategyDescription, StudyDescription};
use report::formats::csv::{self, Rows};
use report::formats::openmetrics;
use serde_json::Value;
use units::capitalised;
use xtask::process;

use crate::example;
use crate::generated::Generated;

const MADE: &str =
    "Made by `cargo xtask generate` from the program itself; changes here would be lost.\n";
/// Every table of figures for people has the columns of parameters, which depend on the run.
const OF_PARAMETERS: &str = "param_";
/// The tables of `--csv-rows`.
const TABLES: [(&str, &str, Rows); 4] = [
    ("arms", "each combination of a study, a way, its parameters and a place", Rows::Arms),
    ("rounds", "each combination in one round, in the order in which they ran", Rows::Blocks),
    ("buckets", "each bucket of a combination's latency histogram", Rows::Buckets),
    ("comparisons", "each pair that was compared", Rows::Comparisons),
];

/// A format of JSON: its name, what writes it, and its schema.
pub(crate) struct Schema {
    pub(crate) name: &'static str,
    pub(crate) writer: &'static str,
    pub(crate) json: fn() -> Value,
}

impl Schema {
    pub(crate) const fn new(name: &'static str, writer: &'static str, json: fn() -> Value) -> Self {
        Self { name, writer, json }
    }

    /// Where that is in `docs`.
    pub(crate) fn path(&self) -> String {
        let name = self.name.trim_start_matches("iotoll.").replace('/', "-");
        format!("schema/{name}.json")
    }
}

/// All pages.
pub(crate) fn pages(iotoll: &Path, schemas: &[Schema]) -> Result<Vec<Generated>> {
    let mut pages = vec![
        Generated::new("docs/reference/commands.md", commands_page(iotoll)?),
        Generated::new("docs/reference/causes.md", causes_page()),
        Generated::new("docs/reference/formats.md", formats_page(schemas)?),
    ];
    for study in studies::specs() {
        let path = format!("docs/reference/studies/{}.md", study.name);
        pages.push(Generated::new(path, study_page(study)));
    }
    Ok(pages)
}

/// What `iotoll` says about itself.
fn commands_page(iotoll: &Path) -> Result<String> {
    let overview = help(iotoll, None)?;
    let mut text = format!("# Commands\n\n{MADE}\n```text\n{overview}```\n");
    for command in commands(&overview) {
        let help = help(iotoll, Some(command))?;
        write!(text, "\n## iotoll {command}\n\n```text\n{help}```\n")?;
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

fn causes_page() -> String {
    let mut text = format!(
        "# Causes\n\n{MADE}\nA report names a cause only if the run's own readings show it. \
         [Where the time goes](../causes.md) explains how. The heading is the name in results.\n"
    );
    for code in CauseCode::KNOWN {
        let lines = code.about().lines().map(str::trim).collect::<Vec<_>>().join("\n");
        let _ = write!(text, "\n## `{code}`\n\n*{}*\n\n{lines}\n", capitalised(&code.in_short()));
    }
    text
}

/// The forms in which results are written.
fn formats_page(schemas: &[Schema]) -> Result<String> {
    let run = example::run()?;
    let analysis = analyse(&run);
    let mut text = format!(
        "# Formats\n\n{MADE}\n`compare`, `rerun` and `show` write a result with `--json`, `--html`, \
         `--markdown`, `--csv` and `--openmetrics`, several at once if you like. `-` as the file \
         prints it.\n\n## JSON\n\n| format | written by |\n| --- | --- |\n"
    );
    for schema in schemas {
        let Schema { name, writer, .. } = schema;
        writeln!(text, "| [`{name}`](../{}) | {writer} |", schema.path())?;
    }
    text.push_str(
        "\n## CSV\n\nTimes are in nanoseconds, sizes in bytes. A cell is empty where nothing is \
         known. Each table also has a column `param_…` for each parameter, with its unit.\n\n\
         | `--csv-rows` | a row for | columns |\n| --- | --- | --- |\n",
    );
    for (name, what, rows) in TABLES {
        let table = String::from_utf8(csv::table(&run, &analysis, rows))?;
        let head = table.lines().next().context("a table has a head")?;
        let columns = head.split(',').filter(|column| !column.starts_with(OF_PARAMETERS));
        let columns: Vec<String> = columns.map(|column| format!("`{column}`")).collect();
        writeln!(text, "| `{name}` | {what} | {} |", columns.join(", "))?;
    }
    text.push_str(
        "\n## OpenMetrics\n\nThe textfile collector of Prometheus' node_exporter reads it. Labels \
         are `study`, `strategy`, `place`, `parameters` and `label`.\n\n\
         | metric | what it is |\n| --- | --- |\n",
    );
    let metrics = openmetrics::text(&run, &analysis);
    for line in metrics.lines().filter_map(|line| line.strip_prefix("# HELP ")) {
        let (name, what) = line.split_once(' ').context("a metric has a help")?;
        writeln!(text, "| `{name}` | {} |", cell(what))?;
    }
    Ok(text)
}

fn study_page(study: &StudyDescription) -> String {
    let name = &study.name;
    let when = if study.by_default { " It runs unless `--study` names others." } else { "" };
    let mut text = format!(
        "# Study `{name}`\n\n{MADE}\n*{}, timed per {}.*{when}\n\n    iotoll compare --study \
         {name}\n\n{}\n",
        capitalised(&study.about),
        study.operation,
        study.details
    );
    table(
        &mut text,
        "Ways",
        ["`--strategy`", "what it does", "by default"],
        study.strategies.iter().map(|way| {
            let by_default = if way.by_default { "yes" } else { "" };
            [code(&way.name), cell(&way.about), by_default.to_owned()]
        }),
    );
    promises(study, &mut text);
    table(
        &mut text,
        "Parameters",
        [&format!("`--set {name}.…`"), "what it means", "values; the default first"],
        study.params.iter().map(|param| [code(&param.name), cell(&param.about), values(param)]),
    );
    let figures = study.figures.iter().map(|figure| [code(&figure.name), cell(&figure.about)]);
    table(&mut text, "Figures", ["in results", "what it is"], figures);
    let recipes = study.strategies.iter().filter_map(recipe);
    table(
        &mut text,
        "Recipes",
        ["way", "how to adopt it", "how to check", "how to undo it"],
        recipes,
    );
    text
}

/// What survives a crash: each promise once, with the ways that make it.
fn promises(study: &StudyDescription, text: &mut String) {
    let mut promises = Vec::new();
    for StrategyDescription { name, promise, .. } in &study.strategies {
        group_of(&mut promises, promise).push(code(name));
    }
    let always = promises.into_iter().filter(|(promise, _)| !promise.is_empty());
    let always = always.map(|(promise, names)| [names.join(", "), cell(promise)]);
    let instead = study.promise_when.iter().map(|rule| {
        let promise = if rule.promise.is_empty() { "nothing is written" } else { &rule.promise };
        [cell(&rule.when.to_string()), cell(promise)]
    });
    table(text, "What survives a crash", ["way", "promise"], always.chain(instead));
    let relied_on = study.relies_on.iter();
    let relied_on =
        relied_on.map(|rule| [rule.on.shown().to_owned(), cell(&rule.when.to_string())]);
    table(
        text,
        "What it relies on if several processes share the files",
        ["what", "way"],
        relied_on,
    );
}

/// A heading and a table, unless it has no rows.
fn table<const N: usize>(
    text: &mut String,
    title: &str,
    head: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) {
    let rows: Vec<String> = rows.map(|row| format!("| {} |\n", row.join(" | "))).collect();
    if !rows.is_empty() {
        let rule = ["---"; N].join(" | ");
        let _ =
            write!(text, "\n## {title}\n\n| {} |\n| {rule} |\n{}", head.join(" | "), rows.concat());
    }
}

fn recipe(way: &StrategyDescription) -> Option<[String; 4]> {
    match &way.facts.recipe {
        Recipe::Change { adopt, check, undo } => {
            Some([code(&way.name), cell(adopt), cell(check), cell(undo)])
        }
        Recipe::Control | Recipe::AsItIs => None,
    }
}

fn values(param: &ParamDescription) -> String {
    let defaults: Vec<String> =
        param.default.iter().filter(|value| !value.is_empty()).map(|value| code(value)).collect();
    if defaults.is_empty() {
        return cell(&param.accepts);
    }
    format!("{}; {}", defaults.join(", "), cell(&param.accepts))
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Text that does not end its cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', r"\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_in_their_section() {
        let overview = "Usage: x\n\nMeasure:\n  load   Send\n         requests\n\nOther:\n  \
                        clean  Remove\n  help   Print\n\nOptions:\n  -h\n";
        assert!(commands(overview).eq(["load", "clean"]));
    }

    #[test]
    fn each_study_says_what_an_operation_is() {
        for study in studies::specs() {
            assert!(study.details.len() > 100, "{} has no details", study.name);
        }
    }

    #[test]
    fn a_table_without_rows_is_left_out_and_cells_stay_whole() {
        let mut text = String::new();
        table(&mut text, "None", ["a"], std::iter::empty());
        table(&mut text, "One", ["a", "b"], [["x".to_owned(), cell("y|z\nw")]].into_iter());
        assert_eq!(text, "\n## One\n\n| a | b |\n| --- | --- |\n| x | y\\|z w |\n");
    }
}
