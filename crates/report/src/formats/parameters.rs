//! A column for each parameter of a run, in plain numbers with the unit in its head.

use std::collections::BTreeMap;

use model::analysis::{Analysis, ArmResult};
use model::description::ParamForm;
use model::run::Run;
use units::{parse_duration, parse_size};

/// The columns, with which values they have.
pub(super) struct Parameters(BTreeMap<String, (String, Part)>);

/// The part of a parameter's value that a column has.
#[derive(Clone, Copy)]
enum Part {
    Text,
    Size,
    /// The ends of a range of sizes.
    Least,
    Most,
    Duration,
    Rate,
}

impl Parameters {
    /// Those of all of its studies. Parameters of one name and kind share a column.
    pub(super) fn of(run: &Run, analysis: &Analysis) -> Self {
        let mut columns = BTreeMap::new();
        for arm in &analysis.arms {
            for name in arm.params.keys() {
                let param = run.study(&arm.study).and_then(|study| study.param(name));
                let parts = parts(param.map_or(ParamForm::Text, |param| param.kind));
                columns.extend(
                    parts
                        .iter()
                        .map(|(end, part)| (format!("param_{name}{end}"), (name.clone(), *part))),
                );
            }
        }
        Self(columns)
    }

    pub(super) fn heads(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The cells of a row; empty where it has no such parameter, or no number.
    pub(super) fn cells(&self, run: &Run, arm: &ArmResult) -> Vec<String> {
        let study = run.study(&arm.study);
        let cell = |(head, (name, part)): (&String, &(String, Part))| {
            let value = arm.params.get(name)?;
            let form =
                study.and_then(|study| study.param(name)).map_or(ParamForm::Text, |p| p.kind);
            // The same name may be of another kind in another study.
            let is_own = parts(form).iter().any(|(end, _)| *head == format!("param_{name}{end}"));
            if is_own { part.of(value) } else { None }
        };
        self.0.iter().map(|column| cell(column).unwrap_or_default()).collect()
    }
}

fn parts(form: ParamForm) -> &'static [(&'static str, Part)] {
    match form {
        ParamForm::Size => &[("_bytes", Part::Size)],
        ParamForm::Sizes => &[("_min_bytes", Part::Least), ("_max_bytes", Part::Most)],
        ParamForm::Duration => &[("_ns", Part::Duration)],
        ParamForm::Rate => &[("_per_second", Part::Rate)],
        ParamForm::Count
        | ParamForm::Choice
        | ParamForm::Sync
        | ParamForm::Text
        | ParamForm::Name
        | ParamForm::Shell => &[("", Part::Text)],
    }
}

impl Part {
    fn of(self, value: &str) -> Option<String> {
        let size = |text: &str| parse_size(text).ok().map(|bytes| bytes.to_string());
        let ends = value.strip_prefix("uniform ").and_then(|range| range.split_once(".."));
        match self {
            Self::Text => Some(value.to_owned()),
            Self::Size => size(value),
            Self::Least => size(ends.map_or(value, |(least, _)| least)),
            Self::Most => size(ends.map_or(value, |(_, most)| most)),
            Self::Duration => parse_duration(value).ok().map(|time| time.as_nanos().to_string()),
            // As fast as it goes is no number.
            Self::Rate => value.parse::<u64>().ok().map(|rate| rate.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_plain_numbers_in_the_unit_of_the_head() {
        for (form, value, expected) in [
            (ParamForm::Size, "4 KiB", vec!["4096"]),
            (ParamForm::Sizes, "70 B", vec!["70", "70"]),
            (ParamForm::Sizes, "uniform 50 B..4 KiB", vec!["50", "4096"]),
            (ParamForm::Duration, "1.5s", vec!["1500000000"]),
            (ParamForm::Rate, "1000", vec!["1000"]),
            (ParamForm::Sync, "every 10ms", vec!["every 10ms"]),
        ] {
            let cells: Option<Vec<String>> =
                parts(form).iter().map(|(_, part)| part.of(value)).collect();
            assert_eq!(cells.unwrap_or_default(), expected, "{value}");
        }
        assert_eq!(Part::Rate.of("max"), None);
    }
}
