//! Plan files: TOML in which every mistake is answered with its line.

use std::collections::HashSet;
use std::ops::Range;

use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::parse_size;

use crate::place::{PlaceRequest, parse_label};
use crate::plan::{
    Draft, StudyPlan, find_study, parse_budget, parse_per_second, parse_rounds, said_twice,
    suggestion, unknown_key,
};
use crate::study::{
    ParamDescription, ParamValue, StudyDescription, parse_error_rate, parse_threshold,
};

/// A mistake in a plan file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{file}:{line}:{column}: {message}")]
pub struct PlanFileError {
    /// The file's name, as it was given.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong and what would be right.
    pub message: String,
}

/// The keys of a plan. Two of them have another name as well.
const KEYS: [&str; 10] = [
    "threshold",
    "error_rate",
    "budget",
    "rounds",
    "gentle",
    "write_limit",
    "seed",
    "fail",
    "places",
    "study",
];

/// A mistake at a place in the text.
type Mistake = (Range<usize>, String);
type Entry<'a, 'i> = (&'a Spanned<std::borrow::Cow<'i, str>>, &'a Spanned<DeValue<'i>>);

/// Reads a plan file's text.
pub fn parse(
    text: &str,
    file: &str,
    registry: &[&'static StudyDescription],
) -> Result<Draft, PlanFileError> {
    let table = DeTable::parse(text)
        .map_err(|e| (e.span().unwrap_or(0..0), e.message().to_owned()))
        .and_then(|table| read_top(table.get_ref(), registry));
    table.map_err(|(span, message)| {
        let (line, column) = position(text, span.start);
        PlanFileError { file: file.to_owned(), line, column, message }
    })
}

fn read_top(table: &DeTable<'_>, registry: &[&'static StudyDescription]) -> Result<Draft, Mistake> {
    let mut draft = Draft::default();
    let mut names = HashSet::new();
    for (key, value) in in_file_order(table) {
        let name = match key.get_ref().as_ref() {
            // An older name, and the other name of the flag.
            "worth" => "threshold",
            "blocks" => "rounds",
            name => name,
        };
        if !names.insert(name) {
            let message = format!("`{name}` is given twice, by both of its names: keep one");
            return Err((key.span(), message));
        }
        match name {
            "threshold" => draft.threshold = Some(read_text(value, parse_threshold)?),
            "error_rate" => draft.error_rate = Some(read_text(value, parse_error_rate)?),
            "budget" => draft.budget = Some(read_text(value, parse_budget)?),
            "rounds" => draft.rounds = Some(read_text(value, parse_rounds)?),
            "gentle" => draft.gentle = read_bool(value)?,
            "write_limit" => draft.write_limit_bytes = Some(read_text(value, parse_size)?),
            "seed" => draft.seed = Some(read_seed(value)?),
            "fail" => draft.fail = read_list(value, str::parse)?,
            "places" => draft.places = read_places(value)?,
            "study" => draft.studies = read_studies(value, registry)?,
            other => {
                let message = format!("a plan has no key `{other}`{}", suggestion(other, KEYS));
                return Err((key.span(), message));
            }
        }
    }
    Ok(draft)
}

fn read_places(value: &Spanned<DeValue<'_>>) -> Result<Vec<PlaceRequest>, Mistake> {
    let table = value.get_ref().as_table().ok_or_else(|| {
        (
            value.span(),
            "places is a table of labels and paths: [places], then disk = \"/path\"".into(),
        )
    })?;
    in_file_order(table)
        .into_iter()
        .map(|(label, target)| {
            let path = read_text(target, |text| Ok::<_, String>(text.to_owned()))?;
            PlaceRequest::new(label.get_ref(), &path).map_err(|e| (label.span(), e.to_string()))
        })
        .collect()
}

fn read_studies(
    value: &Spanned<DeValue<'_>>,
    registry: &[&'static StudyDescription],
) -> Result<Vec<StudyPlan>, Mistake> {
    let shape =
        |span| (span, "each study is a table of its own: [[study]], then name = \"log\"".into());
    let array = value.get_ref().as_array().ok_or_else(|| shape(value.span()))?;
    array
        .iter()
        .map(|item| {
            let table = item.get_ref().as_table().ok_or_else(|| shape(item.span()))?;
            read_study(table, item.span(), registry)
        })
        .collect()
}

fn read_study(
    table: &DeTable<'_>,
    span: Range<usize>,
    registry: &[&'static StudyDescription],
) -> Result<StudyPlan, Mistake> {
    let entries = in_file_order(table);
    let name = entries.iter().find(|(key, _)| key.get_ref() == "name");
    let (_, name) = name.ok_or((span, "this study has no name: add name = \"log\"".to_owned()))?;
    let spec = read_text(name, |text| find_study(text, registry))?;
    let mut study = StudyPlan::new(spec);
    for (key, value) in entries {
        match key.get_ref().as_ref() {
            "name" => {}
            "label" => study.label = Some(read_text(value, parse_label)?),
            "per_second" => study.per_second = Some(read_text(value, parse_per_second)?),
            "strategy" => {
                study.strategies = read_list(value, |text| {
                    spec.strategy(text).ok_or_else(|| {
                        let known = spec.strategies.iter().map(|s| s.name.as_str());
                        format!(
                            "the study {} has no strategy `{text}`{}",
                            spec.name,
                            suggestion(text, known)
                        )
                    })
                })?;
            }
            other => {
                let param = spec
                    .param(other)
                    .ok_or_else(|| (key.span(), unknown_key(other, spec).to_string()))?;
                study.set(&param.name, read_values(value, param)?);
            }
        }
    }
    Ok(study)
}

fn read_values(
    value: &Spanned<DeValue<'_>>,
    param: &ParamDescription,
) -> Result<Vec<ParamValue>, Mistake> {
    let read = |text: &str| param.parse(text).map_err(|e| format!("{}: {e}", param.name));
    let values = read_list(value, read)?;
    match said_twice(&values) {
        Some(twice) => Err((value.span(), format!("{}{twice}", param.name))),
        None => Ok(values),
    }
}

/// One value, or a list of at least one.
fn read_list<T, E: ToString>(
    value: &Spanned<DeValue<'_>>,
    read: impl Fn(&str) -> Result<T, E>,
) -> Result<Vec<T>, Mistake> {
    match value.get_ref() {
        DeValue::Array(items) if items.is_empty() => {
            Err((value.span(), "an empty list: name at least one value".to_owned()))
        }
        DeValue::Array(items) => items.iter().map(|item| read_text(item, &read)).collect(),
        _ => Ok(vec![read_text(value, read)?]),
    }
}

/// A string, or a number where a string would do.
fn read_text<T, E: ToString>(
    value: &Spanned<DeValue<'_>>,
    read: impl Fn(&str) -> Result<T, E>,
) -> Result<T, Mistake> {
    let text = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        other => {
            return Err((
                value.span(),
                format!("expected a string in quotes here, not this {}", other.type_str()),
            ));
        }
    };
    read(&text).map_err(|e| (value.span(), e.to_string()))
}

fn read_bool(value: &Spanned<DeValue<'_>>) -> Result<bool, Mistake> {
    let read = value.get_ref().as_bool();
    read.ok_or_else(|| (value.span(), "expected true or false here".to_owned()))
}

fn read_seed(value: &Spanned<DeValue<'_>>) -> Result<u64, Mistake> {
    let number = value.get_ref().as_integer().map(ToString::to_string);
    number
        .and_then(|n| n.parse().ok())
        .ok_or_else(|| (value.span(), format!("a seed is a whole number from 0 to {}", i64::MAX)))
}

/// The table's entries as the file has them: the first place is the base.
fn in_file_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<Entry<'a, 'i>> {
    let mut entries: Vec<Entry<'a, 'i>> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_given_by_one_of_its_names_alone() {
        let why = |text: &str| parse(text, "a.toml", &[]).err().map(|error| error.to_string());
        let twice = "is given twice, by both of its names: keep one";
        assert_eq!(
            why("rounds = 4\nseed = 1\nblocks = 9\n"),
            Some(format!("a.toml:3:1: `rounds` {twice}"))
        );
        assert_eq!(
            why("worth = \"2%\"\nthreshold = \"2%\"\n"),
            Some(format!("a.toml:2:1: `threshold` {twice}"))
        );
        assert_eq!(why("blocks = 9\nworth = \"2%\"\n"), None);
    }
}
