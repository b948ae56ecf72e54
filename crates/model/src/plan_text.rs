//! A plan as a plan file has it, so that it can be kept, changed and measured again.

use std::fmt::Write as _;
use std::path::absolute;

use units::{Limit, exact_duration, exact_size, parse_share};

use crate::place::{PlaceRequest, Target};
use crate::plan::{Plan, PlanError, StudyPlan};

impl Plan {
    /// The text of a plan file from which this plan is read again. Directories are written from
    /// the root on, as the file may be read elsewhere.
    pub fn written(&self) -> Result<String, PlanError> {
        if i64::try_from(self.seed).is_err() {
            return Err(PlanError(format!(
                "the seed {} is too large for a plan file: choose one up to {}",
                self.seed,
                i64::MAX
            )));
        }
        let mut text = format!(
            "threshold = {}\nerror_rate = {}\nbudget = {}\nseed = {}\n{}{}\n[places]\n",
            quoted(&share(self.threshold)),
            quoted(&share(self.error_rate)),
            quoted(&exact_duration(self.budget)),
            self.seed,
            self.run_limits(),
            limits(&self.fail)
        );
        for PlaceRequest { label, target } in &self.places {
            let target = match target {
                Target::Directory(path) => absolute(path).unwrap_or_else(|_| path.clone()),
                Target::Created(created) => created.to_string().into(),
            };
            let target = target.to_str().ok_or_else(|| {
                PlanError(format!(
                    "the path of the place {label} is not UTF-8, and a plan file is: name it by \
                     another path"
                ))
            })?;
            let _ = writeln!(text, "{} = {}", quoted(label), quoted(target));
        }
        self.studies.iter().for_each(|study| write_study(&mut text, study));
        Ok(text)
    }

    /// The lines on rounds, on other programs and on writes, as far as the user set these.
    fn run_limits(&self) -> String {
        let rounds = self.rounds.map(|rounds| format!("rounds = {rounds}\n"));
        let gentle = self.gentle.then(|| "gentle = true\n".to_owned());
        let limit = self.write_limit_bytes.map(|bytes| quoted(&exact_size(bytes)));
        let limit = limit.map(|limit| format!("write_limit = {limit}\n"));
        [rounds, gentle, limit].into_iter().flatten().collect()
    }
}

fn write_study(text: &mut String, study: &StudyPlan) {
    text.push('\n');
    for line in study.taken_for.iter().flat_map(|why| why.lines()) {
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        let _ = writeln!(text, "# {line}");
    }
    let _ = writeln!(text, "[[study]]\nname = {}", quoted(&study.spec.name));
    if let Some(label) = &study.label {
        let _ = writeln!(text, "label = {}", quoted(label));
    }
    if let Some(rate) = study.per_second {
        let _ = writeln!(text, "per_second = {}", quoted(&rate.to_string()));
    }
    let strategies = study.strategies.iter().map(|strategy| quoted(&strategy.name));
    let _ = writeln!(text, "strategy = [{}]", strategies.collect::<Vec<_>>().join(", "));
    for (name, values) in &study.factors {
        let values: Vec<String> = values.iter().map(|value| quoted(&value.to_string())).collect();
        let _ = match values.as_slice() {
            [value] => writeln!(text, "{name} = {value}"),
            values => writeln!(text, "{name} = [{}]", values.join(", ")),
        };
    }
}

/// A line with the limits; nothing where there are none.
fn limits(limits: &[Limit]) -> String {
    let texts: Vec<String> = limits.iter().map(|limit| quoted(&limit.text)).collect();
    if texts.is_empty() { String::new() } else { format!("fail = [{}]\n", texts.join(", ")) }
}

/// A share as a percentage that is read as the same number, the shortest that is.
fn share(share: f64) -> String {
    let rounded = [0, 1, 2, 4, 8].map(|digits| format!("{:.digits$}%", share * 100.0));
    let mut rounded = rounded.into_iter();
    let same = rounded.find(|text| parse_share(text) == Ok(share));
    same.unwrap_or_else(|| format!("{}%", share * 100.0))
}

/// A string as TOML's basic strings are: <https://toml.io/en/v1.0.0#string>.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => _ = write!(quoted, "\\U{:08X}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::num::NonZeroU32;
    use std::sync::LazyLock;
    use std::time::Duration;

    use super::*;
    use crate::plan::Draft;
    use crate::plan_file::parse;
    use crate::study::{
        ParamDescription, ParamKind, ParamValue, StrategyDescription, StudyDescription,
    };

    static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| StudyDescription {
        strategies: ["one", "two"].map(|name| StrategyDescription::new(name, "", "")).to_vec(),
        params: vec![
            ParamDescription::new("size", "", ParamKind::Count { min: 1, max: 99 }, "1,2"),
            ParamDescription::new("sync", "", ParamKind::Sync, "never"),
            ParamDescription::new("set", "", ParamKind::Path(""), ""),
        ],
        ..StudyDescription::new("made", "", "step")
    });

    fn read_again(text: &str) -> Plan {
        let registry: [&'static StudyDescription; 1] = [&SPEC];
        parse(text, "kept.toml", &registry)
            .unwrap_or_else(|e| panic!("{e}\n{text}"))
            .finish(0)
            .unwrap()
    }

    #[test]
    fn a_plan_that_was_written_is_read_as_the_same() {
        let study = |label: &str, set: &str| {
            let mut study = StudyPlan::new(&SPEC);
            study.label = Some(label.to_owned());
            study.taken_for = Some("a log,\nfor it \u{1b}says so".to_owned());
            study.strategies = vec![SPEC.strategy("two").unwrap(), SPEC.strategy("one").unwrap()];
            study.set("size", vec![ParamValue::Count(7), ParamValue::Count(2)]);
            study.set("sync", vec![SPEC.param("sync").unwrap().parse("every 100").unwrap()]);
            study.set("set", vec![ParamValue::text(set)]);
            study.per_second = Some(0.1 + 0.2);
            study
        };
        let odd = "/srv/a \"b\"\\ # [c]\n\u{7f}\u{85}ä, \u{1b}[2J";
        let places = ["disk=/srv", "ram=tmpfs:64M", "x.y=/a b"].map(|p| p.parse().unwrap());
        let draft = Draft {
            threshold: Some(0.07),
            error_rate: Some(0.05 / 3.0),
            budget: Some(Duration::from_millis(90_500)),
            rounds: NonZeroU32::new(12),
            gentle: true,
            write_limit_bytes: Some(3 << 29),
            seed: Some(7),
            fail: vec!["made.p99 > 5ms".parse().unwrap(), "made.syncs > 3/op".parse().unwrap()],
            places: places.to_vec(),
            studies: vec![study("shop.log", odd), study("b", "/b"), StudyPlan::new(&SPEC)],
        };
        let plan = draft.finish(0).unwrap();
        let text = plan.written().unwrap();
        let again = read_again(&text);
        let without_comments = |text: &str| -> Vec<String> {
            text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
        };
        assert_eq!(without_comments(&again.written().unwrap()), without_comments(&text));
        assert!(text.contains("\n# a log,\n# for it says so\n"), "{text}");
        let facts = |plan: &Plan| {
            let arms = plan.arms().into_iter().map(|arm| (arm.id, arm.params, arm.label));
            let rates = plan.studies.iter().map(|study| study.per_second);
            (arms.collect::<Vec<_>>(), rates.collect::<Vec<_>>(), plan.places.clone())
        };
        assert_eq!(facts(&again), facts(&plan));
        assert_eq!(
            (again.threshold.to_bits(), again.error_rate.to_bits()),
            (plan.threshold.to_bits(), plan.error_rate.to_bits())
        );
        assert_eq!((again.budget, again.seed), (plan.budget, plan.seed));
        assert_eq!((again.rounds, again.gentle), (plan.rounds, true));
        assert_eq!(again.write_limit_bytes, Some(3 << 29));
        assert_eq!((again.fail.len(), &again.fail), (2, &plan.fail));
        assert!(text.contains("threshold = \"7%\"\n"), "{text}");
    }

    #[test]
    fn a_directory_is_written_from_the_root_on() {
        let places = vec!["here=.".parse().unwrap()];
        let draft = Draft { places, studies: vec![StudyPlan::new(&SPEC)], ..Draft::default() };
        let here = std::env::current_dir().unwrap();
        let again = read_again(&draft.finish(1).unwrap().written().unwrap());
        assert_eq!(again.places[0].target, Target::Directory(here));
    }

    #[test]
    fn what_a_plan_file_cannot_have_is_refused() {
        let places = vec!["here=.".parse().unwrap()];
        let draft = Draft { places, studies: vec![StudyPlan::new(&SPEC)], ..Draft::default() };
        let error = draft.finish(u64::MAX).unwrap().written().unwrap_err();
        assert!(error.0.contains("too large for a plan file"), "{error}");
    }
}
