//! Which combinations of two runs are the same: one rule for all that puts runs side by side.
//!
//! They have one study, strategy and label, the same place, and the same parameters by value:
//! `1 KiB` is `1024 B`, and `./a//b/` is `a/b`. Places are the same by their labels, and those
//! that no label matches in their order.

use std::collections::BTreeMap;
use std::str::FromStr;

use units::{parse_duration, parse_size};

use crate::diff::Missing;
use crate::param::ParamForm;
use crate::plan::{PlanError, suggestion};
use crate::run::{ArmRecord, Run};

/// A parameter in which combinations may differ: `exec.command=*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyValue {
    study: String,
    param: String,
}

impl FromStr for AnyValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = text.strip_suffix("=*").and_then(|name| name.split_once('.'));
        let (study, param) = named.ok_or_else(|| {
            format!("`{text}` is not of the form STUDY.KEY=*, as in exec.command=*")
        })?;
        Ok(Self { study: study.to_owned(), param: param.to_owned() })
    }
}

/// How combinations of two runs are matched.
#[derive(Clone, Debug, Default)]
pub struct Matching {
    /// Parameters that may differ.
    pub any: Vec<AnyValue>,
}

/// The places of the earlier run that are those of the later one: by their labels, and those
/// that no label matches in their order.
pub fn same_places(before: &Run, after: &Run) -> Vec<(usize, usize)> {
    let labelled = |run: &Run, label: &str| run.places.iter().position(|p| p.label == label);
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (old, place) in before.places.iter().enumerate() {
        pairs.extend(labelled(after, &place.label).map(|new| (old, new)));
    }
    let mut unmatched =
        (0..after.places.len()).filter(|new| labelled(before, &after.places[*new].label).is_none());
    for (old, place) in before.places.iter().enumerate() {
        if labelled(after, &place.label).is_none() {
            pairs.extend(unmatched.next().map(|new| (old, new)));
        }
    }
    pairs.sort_unstable();
    pairs
}

impl Matching {
    /// An error where neither run has a parameter that may differ.
    pub fn check(&self, runs: [&Run; 2]) -> Result<(), PlanError> {
        let arms = || runs.iter().flat_map(|run| &run.plan.arms);
        for AnyValue { study, param } in &self.any {
            if arms().any(|arm| arm.study == *study && arm.params.contains_key(param)) {
                continue;
            }
            let names =
                arms().flat_map(|arm| arm.params.keys().map(|p| format!("{}.{p}", arm.study)));
            let mut names: Vec<String> = names.collect();
            names.sort();
            names.dedup();
            let typed = format!("{study}.{param}");
            let near = suggestion(&typed, names.iter().map(String::as_str));
            return Err(PlanError(format!("--match {typed}=*: neither run has {typed}{near}")));
        }
        Ok(())
    }

    /// The combinations of the earlier run that are those of the later one, in the order of
    /// the later one.
    pub fn arms(&self, before: &Run, after: &Run) -> Vec<(usize, usize)> {
        let places = same_places(before, after);
        let exact = Self::default();
        let mut taken = vec![false; before.plan.arms.len()];
        let mut pairs = Vec::new();
        // What is the same in everything comes before what may differ.
        for rule in [&exact, self] {
            for (new, arm) in after.plan.arms.iter().enumerate() {
                if pairs.iter().any(|(_, known)| *known == new) {
                    continue;
                }
                let is_same = |old: &ArmRecord| {
                    places.contains(&(old.place, arm.place))
                        && is_same_way(old, arm)
                        && rule.apart(before, old, after, arm).is_empty()
                };
                let mut known = before.plan.arms.iter().zip(&taken);
                if let Some(old) = known.position(|(old, taken)| !taken && is_same(old)) {
                    taken[old] = true;
                    pairs.push((old, new));
                }
            }
        }
        pairs.sort_unstable_by_key(|(_, new)| *new);
        pairs
    }

    /// The combinations that only one of the runs has, each with what keeps it apart.
    pub fn unmatched(&self, before: &Run, after: &Run) -> Vec<Missing> {
        let pairs = self.arms(before, after);
        let places = same_places(before, after);
        let back: Vec<(usize, usize)> = places.iter().map(|(old, new)| (*new, *old)).collect();
        let gone = before.plan.arms.iter().enumerate();
        let gone = gone.filter(|(arm, _)| pairs.iter().all(|(old, _)| old != arm));
        let gone = gone.map(|(_, arm)| Missing {
            id: arm.id.clone(),
            why: self.why("earlier", (before, arm), ("later", after), &places),
            failed: false,
            lost: true,
        });
        let added = after.plan.arms.iter().enumerate();
        let added = added.filter(|(arm, _)| pairs.iter().all(|(_, new)| new != arm));
        let added = added.map(|(_, arm)| Missing {
            id: arm.id.clone(),
            why: self.why("later", (after, arm), ("earlier", before), &back),
            failed: false,
            lost: false,
        });
        gone.chain(added).collect()
    }

    /// Why the other run has no such combination: the parameters of the one that is nearest.
    fn why(
        &self,
        which: &str,
        (run, arm): (&Run, &ArmRecord),
        (other_name, other): (&str, &Run),
        places: &[(usize, usize)],
    ) -> String {
        let only = format!("only in the {which} run");
        let alike = other.plan.arms.iter().filter(|its| is_same_way(arm, its));
        let apart = alike.map(|its| {
            let elsewhere = !places.contains(&(arm.place, its.place));
            (elsewhere, self.apart(run, arm, other, its))
        });
        let nearest = apart.min_by_key(|(elsewhere, apart)| (*elsewhere, apart.len()));
        let Some((false, apart)) = nearest.filter(|(_, apart)| !apart.is_empty()) else {
            return only;
        };
        let each = apart.iter().map(|Apart { param, own, other }| {
            let value = |value: &Option<String>| {
                value.as_ref().map_or("none".to_owned(), |v| format!("`{v}`"))
            };
            format!("{param} is {} here and {} in the {other_name} run", value(own), value(other))
        });
        let matched = apart.iter().map(|apart| format!("--match {}.{}=*", arm.study, apart.param));
        format!(
            "{only}: {}; `{}` pairs them",
            each.collect::<Vec<_>>().join(", "),
            matched.collect::<Vec<_>>().join(" ")
        )
    }

    /// The parameters that keep two combinations apart. One that only the other version of
    /// iotoll has does not, at its default.
    fn apart(&self, run: &Run, arm: &ArmRecord, other: &Run, its: &ArmRecord) -> Vec<Apart> {
        let study = |run: &Run, name: &str| {
            run.study(&arm.study).and_then(|study| study.param(name)).cloned()
        };
        let mut values: BTreeMap<&str, [Option<&String>; 2]> = BTreeMap::new();
        for (side, params) in [&arm.params, &its.params].into_iter().enumerate() {
            for (name, value) in params {
                values.entry(name).or_default()[side] = Some(value);
            }
        }
        values.retain(|name, [own, theirs]| {
            let is_any = |any: &AnyValue| any.study == arm.study && any.param == *name;
            if self.any.iter().any(is_any) {
                return false;
            }
            let param = study(run, name).or_else(|| study(other, name));
            let default = param.as_ref().and_then(|param| param.default.first());
            let form = param.as_ref().map_or(ParamForm::Name, |param| param.kind);
            let value = |value: Option<&String>| value.or(default).map(|text| by_value(form, text));
            value(*own) != value(*theirs) || own.or(*theirs).is_some() && value(*own).is_none()
        });
        let apart = values.into_iter().map(|(name, [own, other])| Apart {
            param: name.to_owned(),
            own: own.cloned(),
            other: other.cloned(),
        });
        apart.collect()
    }
}

/// A parameter whose values differ.
struct Apart {
    param: String,
    own: Option<String>,
    other: Option<String>,
}

/// Whether all but place and parameters is the same.
fn is_same_way(a: &ArmRecord, b: &ArmRecord) -> bool {
    let is_called_otherwise =
        a.label.as_ref().zip(b.label.as_ref()).is_some_and(|(one, other)| one != other);
    a.study == b.study && !is_called_otherwise && a.strategy == b.strategy
}

/// A value as a text that is the same wherever the value is.
fn by_value(form: ParamForm, text: &str) -> String {
    let text = text.trim();
    let size = |text: &str| parse_size(text).map_or(text.to_owned(), |bytes| bytes.to_string());
    let length = |text: &str| {
        parse_duration(text).map_or(text.to_owned(), |length| format!("{} ns", length.as_nanos()))
    };
    match form {
        ParamForm::Size => size(text),
        ParamForm::Sizes => {
            match text.strip_prefix("uniform ").and_then(|it| it.split_once("..")) {
                Some((least, most)) => format!("{}..{}", size(least), size(most)),
                None => size(text),
            }
        }
        ParamForm::Duration => length(text),
        ParamForm::Rate => text.strip_suffix("/s").unwrap_or(text).trim().to_owned(),
        // `every 100` is a number of records, and `every 10ms` a time.
        ParamForm::Sync => match text.strip_prefix("every ") {
            Some(every) if every.ends_with(char::is_alphabetic) => length(every.trim()),
            Some(every) => every.trim().to_owned(),
            None => text.to_owned(),
        },
        ParamForm::Text | ParamForm::Shell => {
            text.split_whitespace().map(path).collect::<Vec<_>>().join(" ")
        }
        ParamForm::Count | ParamForm::Choice | ParamForm::Name => text.to_owned(),
    }
}

/// A word without what means nothing in a path: `./`, `//` and a slash at its end. An address
/// on the web is no path.
fn path(word: &str) -> String {
    if !word.contains('/') || word.contains("://") {
        return word.to_owned();
    }
    let parts = word.split('/').filter(|part| !part.is_empty() && *part != ".");
    let joined = parts.collect::<Vec<_>>().join("/");
    match (word.starts_with('/'), joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_however_they_are_written() {
        for (form, one, other) in [
            (ParamForm::Size, "1 KiB", "1024"),
            (ParamForm::Sizes, "uniform 1 KiB..2KiB", "uniform 1024 B..2048"),
            (ParamForm::Duration, "1s", "1000ms"),
            (ParamForm::Sync, "every 1s", "every 1000 ms"),
            (ParamForm::Rate, "100/s", "100"),
            (ParamForm::Text, "./cache//set/", "cache/set"),
            (ParamForm::Shell, "php  ./a.php /srv//b/.", "php a.php /srv/b"),
        ] {
            assert_eq!(by_value(form, one), by_value(form, other), "{one}");
        }
        for (form, one, other) in [
            (ParamForm::Size, "1 KiB", "1 kB"),
            (ParamForm::Sync, "every 10", "every 10ms"),
            (ParamForm::Text, "/a", "a"),
            (ParamForm::Text, "../a", "a"),
            (ParamForm::Shell, "curl http://a/b", "curl http:/a/b"),
            (ParamForm::Name, "a/", "a"),
        ] {
            assert_ne!(by_value(form, one), by_value(form, other), "{one}");
        }
    }

    #[test]
    fn only_a_star_may_be_any_value() {
        assert!("exec.command=*".parse::<AnyValue>().is_ok());
        for text in ["exec.command", "exec.command=a", "command=*"] {
            assert!(text.parse::<AnyValue>().is_err(), "{text}");
        }
    }
}
